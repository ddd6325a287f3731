package compare

import (
	"strings"
	"unicode"

	"github.com/aymanbagabas/go-udiff"

	"github.com/arcrawl/arcrawl/admin/api"
)

func (c *comparison) compare(left, right []line) {
	a, b := keys(left), keys(right)
	at, to := 0, 0 // lines that have rows
	for _, e := range udiff.Lines(a, b) {
		from, end := strings.Count(a[:e.Start], "\n"), strings.Count(a[:e.End], "\n")
		c.same(left[at:from], right[to:to+from-at], at == 0, false)
		to += from - at
		added := strings.Count(e.New, "\n")
		c.differ(left[from:end], right[to:to+added])
		at, to = end, to+added
	}
	c.same(left[at:], right[to:], at == 0, true)
}

// keys returns the keys of lines, each on a line.
func keys(lines []line) string {
	var b strings.Builder
	for _, l := range lines {
		b.WriteString(strings.ReplaceAll(l.key(), "\n", " "))
		b.WriteByte('\n')
	}
	return b.String()
}

// same adds rows for equal lines. It folds lines that are not next to a difference; first and last say on which side
// there is none. Lines in which hidden parts differ are shown.
func (c *comparison) same(left, right []line, first, last bool) {
	far := func(i int) bool {
		near := !first && i < around || !last && i >= len(left)-around
		return !near && left[i].text() == right[i].text()
	}
	for i := 0; i < len(left); {
		n := 0
		for i+n < len(left) && far(i+n) {
			n++
		}
		if n >= fewest {
			c.add(api.CompareRow{Kind: "folded", Folded: n})
			i += n
			continue
		}
		for range max(1, n) {
			c.add(api.CompareRow{Kind: "same", Left: c.line(left[i], nil), Right: c.line(right[i], nil)})
			i++
		}
	}
}

// differ adds rows for lines that were replaced by others.
func (c *comparison) differ(left, right []line) {
	for i := range max(len(left), len(right)) {
		switch {
		case i >= len(left):
			c.add(api.CompareRow{Kind: "added", Right: c.line(right[i], nil)})
		case i >= len(right):
			c.add(api.CompareRow{Kind: "removed", Left: c.line(left[i], nil)})
		default:
			gone, fresh := wordEdits(left[i], right[i])
			c.add(api.CompareRow{Kind: "changed", Left: c.line(left[i], gone), Right: c.line(right[i], fresh)})
		}
		c.out.Changed++
	}
}

// add adds a row, if there is room.
func (c *comparison) add(r api.CompareRow) {
	if len(c.out.Rows) == maxRows {
		c.note("There are more differences than this page can show.")
		return
	}
	c.out.Rows = append(c.out.Rows, r)
}

// interval is a part of the text of a line, in bytes.
type interval struct{ from, to int }

// wordEdits returns the parts of two lines that differ, as whole words. Parts that a rule hides are hidden in both.
func wordEdits(left, right line) (gone, fresh []interval) {
	a, b := words(plain(left)), words(plain(right))
	at := func(text string, end int) int { return end - strings.Count(text[:end], "\n") } // in the line
	shift := 0
	for _, e := range udiff.Lines(a, b) {
		from, to := at(a, e.Start), at(a, e.End)
		size := at(e.New, len(e.New))
		if to > from {
			gone = append(gone, interval{from, to})
		}
		if size > 0 {
			fresh = append(fresh, interval{from + shift, from + shift + size})
		}
		shift += size - (to - from)
	}
	return gone, fresh
}

// words returns a text with a line break behind each word and each other character.
func words(text string) string {
	var b strings.Builder
	inWord := false
	for i, c := range text {
		in := unicode.IsLetter(c) || unicode.IsDigit(c)
		if i > 0 && (!in || !inWord) {
			b.WriteByte('\n')
		}
		inWord = in
		if c == '\n' {
			c = ' '
		}
		b.WriteRune(c)
	}
	b.WriteByte('\n')
	return b.String()
}

// plain returns the text of a line. A part that a rule hides has the same length and no content.
func plain(l line) string {
	var b strings.Builder
	for _, s := range l.spans {
		if s.rule == "" {
			b.WriteString(s.text)
		} else {
			b.WriteString(strings.Repeat(hidden, len(s.text)))
		}
	}
	return b.String()
}

// line returns a line of an answer. The parts in differs are marked.
func (c *comparison) line(l line, differs []interval) *api.CompareLine {
	out := &api.CompareLine{Number: l.number, Parts: []api.ComparePart{}}
	at := 0
	for _, s := range l.spans {
		for s.text != "" {
			for len(differs) > 0 && differs[0].to <= at {
				differs = differs[1:]
			}
			n, marked := len(s.text), false
			if len(differs) > 0 {
				if marked = differs[0].from <= at; marked {
					n = min(n, differs[0].to-at)
				} else {
					n = min(n, differs[0].from-at)
				}
			}
			out.Parts = append(out.Parts, c.part(span{s.text[:n], s.rule}, marked))
			s.text, at = s.text[n:], at+n
		}
	}
	return out
}
