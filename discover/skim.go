package discover

import (
	"bytes"
	"slices"

	"golang.org/x/net/html"
)

// The tokenizer of golang.org/x/net/html decides what a page says. But it copies the page byte by byte, and makes two
// objects for each attribute of each tag, most of which nobody asks for. So what is plain is skimmed over here: text,
// comments, end tags and start tags of ordinary elements without character references. Whatever needs a thought, the
// tokenizer is given, until it comes to a place between two tokens again. That both find the same is tested against
// each other.

// maxSkimmed is how many attributes a plain tag has at most: each is compared with those before it.
const maxSkimmed = 32

// skim adds what plain markup at the beginning of text names, and gives how far it came: to the end, or to the '<' of
// something that the tokenizer must read.
func (p *page) skim(text []byte) int {
	for at := 0; ; {
		next := bytes.IndexByte(text[at:], '<')
		if next < 0 {
			return len(text)
		}
		at += next
		n := p.plain(text[at:])
		if n == 0 {
			return at
		}
		at += n
	}
}

// plain reads what begins with the '<' of text, and gives its length; 0 says that it is not plain.
func (p *page) plain(text []byte) int {
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

// maxComment is how far the end of a plain comment is looked for, so that many that have none cost no more than their
// length.
const maxComment = 4 << 10

// comment is the length of a comment; 0 for those that are long or end in an odd way.
func comment(text []byte) int {
	const begin, end = len("<!--"), len("-->")
	inside := text[begin:min(len(text), maxComment)]
	n := bytes.Index(inside, []byte("-->"))
	if n < 0 || inside[0] == '>' || bytes.HasPrefix(inside, []byte("->")) || bytes.Contains(inside[:n], []byte("--!")) {
		return 0
	}
	return begin + n + end
}

// endTag is the length of an end tag without attributes.
func (p *page) endTag(text []byte) int {
	n := bytes.IndexByte(text, '>') + 1
	if n == 0 || bytes.IndexByte(text[:n], '=') >= 0 {
		return 0
	}
	name := text[2 : n-1]
	if end := bytes.IndexAny(name, " \n\r\t\f/"); end >= 0 {
		name = name[:end]
	}
	if len(name) == len("svg") && bytes.EqualFold(name, []byte("svg")) {
		p.svg = false
	}
	return n
}

// startTag adds what a start tag names, and gives its length.
func (p *page) startTag(text []byte) int {
	end := nameEnd(text[1:]) + 1
	name, ok := p.lower(text[1:end])
	if name = p.localName(name); !ok || isRaw(name) {
		return 0
	}
	attrs := p.attrs[:0]
	for {
		end += space(text[end:])
		if end == len(text) {
			return 0
		}
		if text[end] == '>' {
			end++
			break
		}
		key, val, n := attributeOf(text[end:])
		if n == 0 || len(attrs) == maxSkimmed {
			return 0
		}
		if len(key) > 0 {
			lowered, ok := p.lower(key)
			if !ok || bytes.IndexByte(val, '&') >= 0 || bytes.IndexByte(val, '\r') >= 0 || bytes.IndexByte(val, 0) >= 0 {
				return 0
			}
			if _, known := value(attrs, string(lowered)); !known {
				attrs = append(attrs, attribute{lowered, val})
			}
		}
		end += n
	}
	p.attrs = attrs
	if end > maxToken {
		return 0
	}
	for i := range attrs {
		attrs[i].val = slices.Clip(attrs[i].val) // whoever appends to it must not write into the page
	}
	p.element(name, attrs)
	return end
}

// isRaw tells whether the tokenizer takes what follows a tag for text, or has another reason to see it.
func isRaw(name []byte) bool {
	switch string(name) {
	case "script", "style", "title", "textarea", "iframe", "xmp", "plaintext", "svg":
		return true
	}
	return false
}

// lower is s in lower case; false if it has a NUL in it, which stands for another character. What it gives holds until
// the next tag.
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

// nameEnd is the length of the name of a tag.
func nameEnd(s []byte) int {
	for i, c := range s {
		switch c {
		case ' ', '\n', '\r', '\t', '\f', '/', '>':
			return i
		}
	}
	return len(s)
}

// space is the length of the white space at the beginning of s.
func space(s []byte) int {
	for i, c := range s {
		if c != ' ' && c != '\n' && c != '\r' && c != '\t' && c != '\f' {
			return i
		}
	}
	return len(s)
}

// attributeOf reads an attribute as the HTML standard has it, sections 13.2.5.32 to 13.2.5.39. A length of 0 says that
// the text ends inside of it.
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

// minStretch is how much the tokenizer reads at least, since making one costs as much as reading that.
const minStretch = 512

// done reports whether the tokenizer, after so many bytes, has come to a place where it is not needed: behind a token
// that is not text, outside of all raw text.
func done(read int, kind html.TokenType, within string) bool {
	return read >= minStretch && kind != html.TextToken && within == ""
}
