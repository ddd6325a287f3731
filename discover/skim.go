package discover

import (
	"bytes"
	"slices"

	"golang.org/x/net/html"
)

// The tokenizer of golang.org/x/net/html defines how a page is read. But it copies the page byte by byte, and
// allocates two objects for each attribute of each tag, most of which are not needed. So plain markup is skimmed here:
// text, comments, end tags, titles, scripts, style sheets, and start tags of ordinary elements without character
// references. The tokenizer reads everything else, until it is between two tokens again. A test checks that both ways
// find the same links.

// maxSkimmed is the maximum number of attributes of a plain tag. Each attribute is compared with all before it.
const maxSkimmed = 32

// skim adds the links of the plain markup at the beginning of text. It returns how far it read: to the end, or to the
// '<' of markup that the tokenizer must read.
func (p *page) skim(text []byte) int {
	for pos := 0; ; {
		next := bytes.IndexByte(text[pos:], '<')
		if next < 0 {
			p.shows(text[pos:])
			return len(text)
		}
		p.shows(text[pos : pos+next])
		pos += next
		n := p.skimOne(text[pos:])
		switch n {
		case 0:
			return pos
		case 1: // a '<' in a text
			p.wording.text(text[pos : pos+1])
		}
		pos += n
	}
}

// skimOne reads the markup that begins with the '<' of text, and returns its length. It returns 0 if it is not plain.
func (p *page) skimOne(text []byte) int {
	if len(text) < 2 {
		return 0
	}
	switch c := text[1]; {
	case isLetter(c):
		return p.startTag(text)
	case c == '/' && len(text) > 2 && isLetter(text[2]):
		return p.endTag(text)
	case c == '!' && bytes.HasPrefix(text, []byte("<!--")):
		return comment(text)
	case c == '/' || c == '!':
		return bytes.IndexByte(text, '>') + 1
	case c == '?':
		n := bytes.IndexByte(text, '>') + 1
		p.instruction(text[:n])
		return n
	}
	return 1 // text
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// maxComment is how far skimming searches for the end of a comment. The bound keeps many comments without an end from
// taking time beyond their length.
const maxComment = 4 << 10

// comment returns the length of a comment, 0 if it is long or ends in an unusual way.
func comment(text []byte) int {
	const begin, end = len("<!--"), len("-->")
	inside := text[begin:min(len(text), maxComment)]
	n := bytes.Index(inside, []byte("-->"))
	if n < 0 || inside[0] == '>' || bytes.HasPrefix(inside, []byte("->")) || bytes.Contains(inside[:n], []byte("--!")) {
		return 0
	}
	return begin + n + end
}

// endTag returns the length of an end tag, 0 if it has attributes.
func (p *page) endTag(text []byte) int {
	n := bytes.IndexByte(text, '>') + 1
	if n == 0 || bytes.IndexByte(text[:n], '=') >= 0 {
		return 0
	}
	name := text[2 : n-1]
	if end := bytes.IndexAny(name, " \n\r\t\f/"); end >= 0 {
		name = name[:end]
	}
	p.closes(name)
	return n
}

// startTag adds the links of a start tag, and returns its length, 0 if it is not plain. Of a script or a style sheet it
// reads the whole element.
func (p *page) startTag(text []byte) int {
	end := nameEnd(text[1:]) + 1
	name, ok := p.lower(text[1:end])
	name = p.localName(name)
	switch {
	case !ok:
		return 0
	case string(name) == "title":
		return p.plainTitle(text)
	case isRaw(name) && !p.hasRawText(name):
		return 0
	}
	attrs, n := p.plainAttributes(text[end:])
	if end += n; n == 0 || end > maxToken {
		return 0
	}
	if !isRaw(name) {
		p.element(name, attrs)
		return end
	}
	inside, n := plainRawText(text[end:], name)
	if n == 0 {
		return 0
	}
	p.element(name, attrs)
	if len(inside) > 0 {
		p.scriptKind = kindOfScript(attrs)
		p.rawContent(func() []byte { return inside }, string(name))
	}
	return end + n
}

// plainAttributes reads the attributes of a tag. It returns their length with the end of the tag, 0 if they are not
// plain.
func (p *page) plainAttributes(text []byte) (attrs []attribute, end int) {
	attrs = p.attrs[:0]
	for {
		end += space(text[end:])
		if end == len(text) {
			return nil, 0
		}
		if text[end] == '>' {
			end++
			break
		}
		key, val, n := attributeOf(text[end:])
		if n == 0 || len(attrs) == maxSkimmed {
			return nil, 0
		}
		if len(key) > 0 {
			lowered, ok := p.lower(key)
			if !ok || bytes.IndexByte(val, '&') >= 0 || bytes.IndexByte(val, '\r') >= 0 || bytes.IndexByte(val, 0) >= 0 {
				return nil, 0
			}
			if _, known := value(attrs, string(lowered)); !known {
				attrs = append(attrs, attribute{lowered, val})
			}
		}
		end += n
	}
	p.attrs = attrs
	for i := range attrs {
		attrs[i].val = slices.Clip(attrs[i].val) // so that appending to it does not write into the page
	}
	return attrs, end
}

// hasRawText reports whether an element is a script or a style sheet whose content can be skimmed.
func (p *page) hasRawText(name []byte) bool {
	return !p.xhtml && !p.svg && (string(name) == "script" || string(name) == "style")
}

// plainRawText returns the content of a script or style sheet, and its length with the end tag. The length is 0 if the
// content may end elsewhere or is not plain: comments and scripts inside of a script have rules of their own.
func plainRawText(text, name []byte) (inside []byte, n int) {
	text = text[:min(len(text), maxToken)]
	for {
		next := bytes.Index(text[n:], []byte("</"))
		if next < 0 {
			return nil, 0
		}
		n += next
		end := n + len("</") + len(name)
		if end < len(text) && bytes.EqualFold(text[n+len("</"):end], name) {
			inside = text[:n:n]
			if text[end] != '>' || bytes.ContainsAny(inside, "\r\x00") || bytes.Contains(inside, []byte("<!--")) {
				return nil, 0
			}
			return inside, end + 1
		}
		n += len("</")
	}
}

// plainTitle reads a title, which nearly every page has. It returns the length of the whole element, 0 if text does not
// begin with one, or with one that the tokenizer must read.
func (p *page) plainTitle(text []byte) int {
	const begin, end = "<title>", "</title>"
	if len(text) < len(begin) || !bytes.EqualFold(text[:len(begin)], []byte(begin)) {
		return 0
	}
	inside := text[len(begin):min(len(text), maxToken)]
	n := bytes.IndexByte(inside, '<')
	if n < 0 || len(inside) < n+len(end) || !bytes.EqualFold(inside[n:n+len(end)], []byte(end)) ||
		bytes.ContainsAny(inside[:n], "&\r\x00") {
		return 0
	}
	if p.result.Title == "" {
		p.result.Title = titleOf(inside[:n])
	}
	return len(begin) + n + len(end)
}

// isRaw reports whether the tokenizer must read a tag, because raw text follows it or for another reason.
func isRaw(name []byte) bool {
	switch string(name) {
	case "script", "style", "title", "textarea", "iframe", "xmp", "plaintext", "svg":
		return true
	}
	return false
}

// lower returns s in lower case. It returns false if s has a NUL, which means another character in HTML.
func (p *page) lower(s []byte) ([]byte, bool) {
	plain := true
	for _, c := range s {
		if c == 0 {
			return nil, false
		}
		plain = plain && (c < 'A' || c > 'Z')
	}
	if plain {
		return s, true
	}
	out := make([]byte, len(s))
	for i, c := range s {
		if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		out[i] = c
	}
	return out, true
}

// nameEnd returns the length of the name of a tag.
func nameEnd(s []byte) int {
	for i, c := range s {
		switch c {
		case ' ', '\n', '\r', '\t', '\f', '/', '>':
			return i
		}
	}
	return len(s)
}

// space returns the length of the white space at the beginning of s.
func space(s []byte) int {
	for i, c := range s {
		if c != ' ' && c != '\n' && c != '\r' && c != '\t' && c != '\f' {
			return i
		}
	}
	return len(s)
}

// attributeOf reads an attribute by the rules of the HTML standard, sections 13.2.5.32 to 13.2.5.39. It returns length
// 0 if the text ends inside the attribute.
func attributeOf(s []byte) (key, val []byte, n int) {
	for n < len(s) && (s[n] == '=' && n == 0 || !endsKey(s[n])) {
		n++
	}
	key, val = s[:n], s[n:n]
	n += space(s[n:])
	if n == len(s) {
		return nil, nil, 0
	}
	switch s[n] {
	case '=':
	case '/':
		return key, val, n + 1
	default:
		return key, val, n
	}
	n++
	n += space(s[n:])
	if n == len(s) {
		return nil, nil, 0
	}
	switch quote := s[n]; quote {
	case '>':
		return key, val, n
	case '\'', '"':
		length := bytes.IndexByte(s[n+1:], quote)
		if length < 0 {
			return nil, nil, 0
		}
		return key, s[n+1 : n+1+length], n + 1 + length + 1
	}
	start := n
	for ; n < len(s); n++ {
		switch s[n] {
		case ' ', '\n', '\r', '\t', '\f':
			return key, s[start:n], n + 1
		case '>':
			return key, s[start:n], n
		}
	}
	return nil, nil, 0
}

func endsKey(c byte) bool {
	switch c {
	case '=', ' ', '\n', '\r', '\t', '\f', '/', '>':
		return true
	}
	return false
}

// minTokenized is the minimum number of bytes that the tokenizer reads, because creating one takes as long as reading
// them.
const minTokenized = 512

// canSkim reports whether skimming can continue after the tokenizer has read some bytes: after a token that is not
// text, and outside raw text.
func canSkim(read int, kind html.TokenType, within string) bool {
	return read >= minTokenized && kind != html.TextToken && within == ""
}
