package captures

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/aymanbagabas/go-udiff"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// Lengths of lines, in bytes. A longer line is divided behind a tag or a space, or at the maximum.
const (
	niceLine = 160
	maxLine  = 1000
)

// maxLines is the maximum number of lines of a version that are compared.
const maxLines = 100_000

// longParagraph is the size of a paragraph that is ended, in bytes of the page.
const longParagraph = 16 << 10

// span is a part of a line. rule is the scrubbing rule that leaves it out; "" if there is none.
type span struct{ text, rule string }

// line is a line of a version.
type line struct {
	number int // in the source; of the whole line, if it was divided
	spans  []span
}

// hidden stands for a part that a rule leaves out, when lines are compared.
const hidden = "\x00"

// key returns the text of a line without the parts that rules leave out.
func (l line) key() string {
	var b strings.Builder
	for _, s := range l.spans {
		if s.rule == "" {
			b.WriteString(s.text)
		} else if !strings.HasSuffix(b.String(), hidden) {
			b.WriteString(hidden)
		}
	}
	return strings.TrimSpace(b.String())
}

// text returns the text of a line with all its parts.
func (l line) text() string {
	var b strings.Builder
	for _, s := range l.spans {
		b.WriteString(s.text)
	}
	return b.String()
}

func (l *line) add(text, rule string) {
	if text == "" {
		return
	}
	if n := len(l.spans); n > 0 && l.spans[n-1].rule == rule {
		l.spans[n-1].text += text
		return
	}
	l.spans = append(l.spans, span{text, rule})
}

// pieces divides text[from:to] at the borders of marks, and calls do with each piece and its rule. Marks before from
// are skipped; the rest of the marks is returned.
func pieces(text []byte, from, to int, marks []Mark, do func(piece []byte, rule string)) []Mark {
	for from < to {
		for len(marks) > 0 && marks[0].To <= from {
			marks = marks[1:]
		}
		end, rule := to, ""
		switch {
		case len(marks) == 0:
		case marks[0].From <= from:
			end, rule = min(to, marks[0].To), marks[0].Rule
		default:
			end = min(to, marks[0].From)
		}
		do(text[from:end], rule)
		from = end
	}
	return marks
}

func sourceLines(text []byte, marks []Mark) (lines []line) {
	at, number := 0, 0
	for whole := range bytes.Lines(text) {
		number++
		for len(whole) > 0 {
			if len(lines) >= maxLines {
				return lines
			}
			n := cut(whole)
			l := line{number: number}
			marks = pieces(text, at, at+n, marks, func(piece []byte, rule string) {
				l.add(strings.TrimRight(string(piece), "\r\n"), rule)
			})
			lines = append(lines, l)
			at, whole = at+n, whole[n:]
		}
	}
	return lines
}

// cut returns the length of the first part of a long line. It depends only on the text nearby, so that a difference
// moves no border behind it.
func cut(text []byte) int {
	if len(text) <= niceLine {
		return len(text)
	}
	for _, end := range []string{">", " "} {
		if i := bytes.Index(text[niceLine/2:min(len(text), maxLine)], []byte(end)); i >= 0 {
			return niceLine/2 + i + 1
		}
	}
	n := min(len(text), maxLine)
	for n < len(text) && n > maxLine-utf8.UTFMax && !utf8.RuneStart(text[n]) {
		n--
	}
	return n
}

// readerLines returns the text of a page as a reader sees it: a line for each paragraph, heading, cell or item.
func readerLines(page []byte, marks []Mark) (lines []line) {
	r := reader{page: page, marks: marks}
	z := html.NewTokenizer(bytes.NewReader(page))
	at := 0
	for kind := z.Next(); kind != html.ErrorToken && len(r.lines) < maxLines; kind = z.Next() {
		from := at
		at += len(z.Raw())
		switch kind {
		case html.TextToken:
			if r.skipping == 0 {
				r.text(from, at)
			}
		case html.StartTagToken, html.SelfClosingTagToken:
			r.start(z, kind == html.SelfClosingTagToken, from)
		case html.EndTagToken:
			name, _ := z.TagName()
			r.end(atom.Lookup(name))
		}
	}
	r.flush()
	return r.lines[:min(len(r.lines), maxLines)]
}

// reader collects the text that a reader sees.
type reader struct {
	page     []byte
	marks    []Mark
	lines    []line
	current  line
	size     int       // of current, in bytes of the page
	newlines int       // up to counted
	counted  int       // bytes of the page
	skipping atom.Atom // the invisible element that is being skipped
	depth    int       // of elements with the same name inside it
	linked   bool      // a link has just ended
}

// unseen are the elements whose content a reader does not see.
var unseen = []atom.Atom{
	atom.Script, atom.Style, atom.Noscript, atom.Template, atom.Iframe, atom.Object, atom.Svg, atom.Math,
}

// inLine are the elements that are part of a line.
var inLine = []atom.Atom{
	atom.A, atom.Abbr, atom.B, atom.Bdi, atom.Bdo, atom.Button, atom.Cite, atom.Code, atom.Data, atom.Del, atom.Dfn,
	atom.Em, atom.Font, atom.I, atom.Img, atom.Input, atom.Ins, atom.Kbd, atom.Label, atom.Mark, atom.Q, atom.S,
	atom.Samp, atom.Small, atom.Span, atom.Strong, atom.Sub, atom.Sup, atom.Time, atom.U, atom.Var, atom.Wbr,
}

func (r *reader) start(z *html.Tokenizer, alone bool, from int) {
	name, more := z.TagName()
	a := atom.Lookup(name)
	if r.skipping != 0 {
		if a == r.skipping && !alone {
			r.depth++
		}
		return
	}
	if slices.Contains(unseen, a) {
		if !alone {
			r.skipping, r.depth = a, 0
		}
		return
	}
	if !slices.Contains(inLine, a) {
		r.flush()
	} else if a == atom.A && r.linked && len(r.current.spans) > 0 {
		r.current.add(" ", "") // a reader sees two links, as of a menu
	}
	for a == atom.Img && more {
		var key, value []byte
		if key, value, more = z.TagAttr(); string(key) == "alt" && len(value) > 0 {
			rule := ""
			r.marks = pieces(r.page, from, from+1, r.marks, func(_ []byte, hiding string) { rule = hiding })
			r.current.add("["+string(value)+"]", rule)
			r.grow(len(z.Raw()))
		}
	}
}

func (r *reader) end(a atom.Atom) {
	r.linked = a == atom.A
	switch {
	case r.skipping != 0 && a == r.skipping:
		if r.depth--; r.depth < 0 {
			r.skipping = 0
		}
	case r.skipping == 0 && !slices.Contains(inLine, a):
		r.flush()
	}
}

func (r *reader) text(from, to int) {
	r.linked = false
	if r.current.number == 0 {
		begin := from + len(r.page[from:to]) - len(bytes.TrimLeft(r.page[from:to], " \t\r\n\f"))
		r.newlines += bytes.Count(r.page[r.counted:begin], []byte("\n"))
		r.counted, r.current.number = begin, r.newlines+1
	}
	r.marks = pieces(r.page, from, to, r.marks, func(piece []byte, rule string) {
		r.current.add(html.UnescapeString(string(piece)), rule)
	})
	r.grow(to - from)
}

// grow counts bytes of the page, and ends a line that has too many.
func (r *reader) grow(n int) {
	if r.size += n; r.size > longParagraph {
		r.flush()
	}
}

func (r *reader) flush() {
	l := line{number: r.current.number}
	space := false
	for _, s := range r.current.spans {
		var b strings.Builder
		for _, c := range s.text {
			if c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\f' {
				space = true
				continue
			}
			if space && (len(l.spans) > 0 || b.Len() > 0) {
				b.WriteByte(' ')
			}
			space = false
			b.WriteRune(c)
		}
		l.add(b.String(), s.rule)
	}
	r.current, r.size = line{}, 0
	if len(l.spans) > 0 {
		r.lines = append(r.lines, l.divided()...)
	}
}

// divided returns a line in parts that are not too long.
func (l line) divided() (parts []line) {
	part, size := line{number: l.number}, 0
	for _, s := range l.spans {
		for text := s.text; text != ""; {
			n := len(text)
			if size+n > maxLine {
				n = max(1, min(cut([]byte(text)), maxLine-min(size, maxLine)))
				for n < len(text) && !utf8.RuneStart(text[n]) {
					n++
				}
			}
			part.add(text[:n], s.rule)
			size, text = size+n, text[n:]
			if size >= maxLine || text != "" {
				parts, part, size = append(parts, part), line{number: l.number}, 0
			}
		}
	}
	if len(part.spans) > 0 {
		parts = append(parts, part)
	}
	return parts
}

// Harmless returns a text in which characters that could mislead a reader are replaced by their code points. Line
// breaks and tabs stay.
func Harmless(text string) string {
	bad := func(c rune) bool {
		return c != '\t' && c != '\n' && (unicode.Is(unicode.Cc, c) || unicode.Is(unicode.Bidi_Control, c))
	}
	text = strings.ToValidUTF8(text, "\uFFFD")
	if strings.IndexFunc(text, bad) < 0 {
		return text
	}
	var b strings.Builder
	for _, c := range text {
		if bad(c) {
			fmt.Fprintf(&b, "[U+%04X]", c)
		} else {
			b.WriteRune(c)
		}
	}
	return b.String()
}

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
			c.add(CompareRow{Kind: "folded", Folded: n})
			i += n
			continue
		}
		for range max(1, n) {
			c.add(CompareRow{Kind: "same", Left: c.line(left[i], nil), Right: c.line(right[i], nil)})
			i++
		}
	}
}

// differ adds rows for lines that were replaced by others.
func (c *comparison) differ(left, right []line) {
	for i := range max(len(left), len(right)) {
		switch {
		case i >= len(left):
			c.add(CompareRow{Kind: "added", Right: c.line(right[i], nil)})
		case i >= len(right):
			c.add(CompareRow{Kind: "removed", Left: c.line(left[i], nil)})
		default:
			gone, fresh := wordEdits(left[i], right[i])
			c.add(CompareRow{Kind: "changed", Left: c.line(left[i], gone), Right: c.line(right[i], fresh)})
		}
		c.out.Changed++
	}
}

// add adds a row, if there is room.
func (c *comparison) add(r CompareRow) {
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
func (c *comparison) line(l line, differs []interval) *CompareLine {
	out := &CompareLine{Number: l.number, Parts: []ComparePart{}}
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
