package changes

import (
	"strings"
	"unicode"

	"github.com/aymanbagabas/go-udiff"
	"github.com/clipperhouse/uax29/v2/sentences"
	"github.com/clipperhouse/uax29/v2/words"
)

// isWord reports whether a segment has a letter or a digit.
func isWord(segment string) bool {
	return strings.ContainsFunc(segment, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) })
}

func countWords(text string) (n int) {
	for w := words.FromString(text); w.Next(); {
		if isWord(w.Value()) {
			n++
		}
	}
	return n
}

// wordSet returns the words of a text in lower case.
func wordSet(text string) map[string]bool {
	set := map[string]bool{}
	for w := words.FromString(text); w.Next(); {
		if isWord(w.Value()) {
			set[strings.ToLower(w.Value())] = true
		}
	}
	return set
}

// sentencesOf returns the sentences of a text.
func sentencesOf(text string) (all []string) {
	for s := sentences.FromString(text); s.Next(); {
		if one := strings.TrimSpace(s.Value()); one != "" {
			all = append(all, one)
		}
	}
	return all
}

// Part is a part of a sentence: in both versions, only in the one before, or only in the one after.
type Part struct {
	Text    string `json:"text"`
	Removed bool   `json:"removed,omitempty"`
	Added   bool   `json:"added,omitempty"`
}

// segments returns the words of a text, and what is between them.
func segments(text string) (all []string) {
	for w := words.FromString(text); w.Next(); {
		all = append(all, w.Value())
	}
	return all
}

// onLines returns segments, each on a line.
func onLines(all []string) string {
	var b strings.Builder
	for _, s := range all {
		b.WriteString(strings.ReplaceAll(s, "\n", " "))
		b.WriteByte('\n')
	}
	return b.String()
}

// hunk is a run of elements of a list that were replaced by a run of another one.
type hunk struct{ from, to, newFrom, newTo int }

// hunks compares two lists.
func hunks(before, after []string) (all []hunk) {
	a, b := onLines(before), onLines(after)
	lines, bytes, shift := 0, 0, 0
	for _, e := range udiff.Lines(a, b) {
		lines += strings.Count(a[bytes:e.Start], "\n")
		n, added := strings.Count(a[e.Start:e.End], "\n"), strings.Count(e.New, "\n")
		all = append(all, hunk{lines, lines + n, lines + shift, lines + shift + added})
		bytes, lines, shift = e.End, lines+n, shift+added-n
	}
	return all
}

// wordParts compares two texts word by word.
func wordParts(before, after string) (parts []Part) {
	a, b := segments(before), segments(after)
	at := 0
	add := func(p Part) {
		if p.Text != "" {
			parts = append(parts, p)
		}
	}
	for _, h := range hunks(a, b) {
		add(Part{Text: strings.Join(a[at:h.from], "")})
		add(Part{Text: strings.Join(a[h.from:h.to], ""), Removed: true})
		add(Part{Text: strings.Join(b[h.newFrom:h.newTo], ""), Added: true})
		at = h.to
	}
	add(Part{Text: strings.Join(a[at:], "")})
	return parts
}
