package digest

import (
	"bytes"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
	"golang.org/x/net/html/charset"
)

// Decode returns a content in UTF-8. Bytes that are invalid in its charset become U+FFFD.
func Decode(content []byte, contentType string) []byte {
	from, name, certain := charset.DetermineEncoding(content, contentType)
	if name == "utf-8" || !certain && name != "iso-2022-jp" && utf8.Valid(content) {
		return bytes.TrimPrefix(content, []byte("\xEF\xBB\xBF"))
	}
	text, err := from.NewDecoder().Bytes(content)
	if err != nil {
		return content
	}
	return bytes.TrimPrefix(text, []byte("\xEF\xBB\xBF"))
}

// Invisible reports whether the content of an element is not shown.
func Invisible(a atom.Atom) bool {
	switch a {
	case atom.Script, atom.Style, atom.Noscript, atom.Template, atom.Iframe, atom.Object, atom.Svg, atom.Math:
		return true
	}
	return false
}

// inline reports whether an element is part of a line, so that there is no space around its text.
func inline(a atom.Atom) bool {
	switch a {
	case atom.A, atom.Abbr, atom.B, atom.Bdi, atom.Bdo, atom.Cite, atom.Code, atom.Data, atom.Del, atom.Dfn, atom.Em,
		atom.Font, atom.I, atom.Ins, atom.Kbd, atom.Mark, atom.Q, atom.S, atom.Samp, atom.Small, atom.Span, atom.Strong,
		atom.Sub, atom.Sup, atom.Time, atom.Tt, atom.U, atom.Var, atom.Wbr:
		return true
	}
	return false
}

// Visible returns the visible text of an HTML page, including its title, with each run of white space as one space.
// It reads the page once, tag by tag. It leaves out only elements that are always invisible, and ignores style
// sheets.
func Visible(page []byte) []byte {
	z := html.NewTokenizer(bytes.NewReader(page))
	var text spaced
	var skipping atom.Atom // the invisible element that is being skipped
	depth := 0             // of elements with the same name inside it
	for {
		switch z.Next() {
		case html.ErrorToken:
			return text.b
		case html.TextToken:
			if skipping == 0 {
				text.add(z.Text())
			}
		case html.StartTagToken:
			name, _ := z.TagName()
			a := atom.Lookup(name)
			if skipping != 0 {
				if a == skipping {
					depth++
				}
				continue
			}
			if Invisible(a) {
				skipping, depth = a, 0
			}
			text.part(a)
		case html.EndTagToken:
			name, _ := z.TagName()
			a := atom.Lookup(name)
			if skipping == 0 {
				text.part(a)
			} else if a == skipping {
				if depth--; depth < 0 {
					skipping = 0
				}
			}
		case html.SelfClosingTagToken:
			name, _ := z.TagName()
			if skipping == 0 {
				text.part(atom.Lookup(name))
			}
		}
	}
}

// spaced collects text with one space between words.
type spaced struct {
	b     []byte
	space bool // write a space before the next word
}

func (s *spaced) add(text []byte) {
	for _, c := range text {
		switch c {
		case ' ', '\t', '\n', '\r', '\f':
			s.space = true
			continue
		}
		if s.space && len(s.b) > 0 {
			s.b = append(s.b, ' ')
		}
		s.space = false
		s.b = append(s.b, c)
	}
}

func (s *spaced) part(a atom.Atom) {
	if !inline(a) {
		s.space = true
	}
}
