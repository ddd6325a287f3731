package schema

import "strings"

// maxWord bounds the words that [Nearest] considers, in bytes.
const maxWord = 128

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
		n := distance(s, strings.ReplaceAll(w, "-", "_"))
		if n < minimum || n == 0 || n == minimum && best == "" {
			best, minimum = w, n
		}
	}
	return best, best != ""
}

// distance returns the Levenshtein distance of two words, where two neighboring letters that changed places count as
// one edit.
func distance(a, b string) int {
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
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				below[j+1] = min(below[j+1], before[j-1]+1)
			}
		}
		before, row = row, below
	}
	return row[len(b)]
}
