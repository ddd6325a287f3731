package schema

import "strings"

// maxWord bounds the words that [Nearest] considers, and maxHost the names that [Edits] compares, in bytes.
const (
	maxWord = 128
	maxHost = 253
)

// Nearest returns the word of which s is probably a misspelling.
func Nearest(s string, words []string) (string, bool) {
	s = strings.ReplaceAll(strings.ToLower(s), "-", "_")
	best, minimum := "", len(s)/3+1
	if len(s) > maxWord {
		return "", false
	}
	for _, w := range words {
		if len(s) >= 4 && strings.HasPrefix(w, s) {
			return w, true
		}
		n := Edits(s, strings.ReplaceAll(w, "-", "_"), true)
		if n < minimum || n == 0 || n == minimum && best == "" {
			best, minimum = w, n
		}
	}
	return best, best != ""
}

// Edits returns the Levenshtein distance of two words. With swaps, two neighboring letters that changed places count as
// one edit.
func Edits(a, b string, swaps bool) int {
	if max(len(a), len(b)) > maxHost {
		return maxHost
	}
	var before []int
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		below := make([]int, len(b)+1)
		below[0] = i + 1
		for j := range len(b) {
			change := row[j]
			if a[i] != b[j] {
				change++
			}
			below[j+1] = min(change, row[j+1]+1, below[j]+1)
			if swaps && i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				below[j+1] = min(below[j+1], before[j-1]+1)
			}
		}
		before, row = row, below
	}
	return row[len(b)]
}
