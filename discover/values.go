package discover

import (
	"bytes"

	"github.com/arcrawl/arcrawl/uri"
)

const whitespace = " \t\r\n\f"

// srcset adds the references of an image list, by the rules of the HTML standard. A reference ends at white space, so
// that it may have commas in it. Only commas at its end separate it from the next.
func (p *page) srcset(s []byte) {
	for {
		s = bytes.TrimLeft(s, whitespace+",")
		if len(s) == 0 {
			return
		}
		end := bytes.IndexAny(s, whitespace)
		if end < 0 {
			end = len(s)
		}
		ref := bytes.TrimRight(s[:end], ",")
		described := len(ref) == end
		s = s[end:]
		if described {
			s = s[descriptors(s):]
		}
		p.reference(ref, uri.Embed)
	}
}

// descriptors returns the length of the descriptors at the start of s, up to a comma outside parentheses.
func descriptors(s []byte) int {
	inside := false
	for i, c := range s {
		switch {
		case c == '(':
			inside = true
		case c == ')':
			inside = false
		case c == ',' && !inside:
			return i
		}
	}
	return len(s)
}

// refreshTarget returns the target in the value of a Refresh header or meta element ("5; url=/next"), by the rules of
// the HTML standard. It returns false if the value only reloads the document.
func refreshTarget(s []byte) ([]byte, bool) {
	s = bytes.TrimLeft(s, whitespace)
	seconds := len(s) - len(bytes.TrimLeft(s, "0123456789."))
	if seconds == 0 {
		return nil, false
	}
	s = s[seconds:]
	if len(s) == 0 || bytes.IndexByte([]byte(whitespace+";,"), s[0]) < 0 {
		return nil, false
	}
	s = bytes.TrimLeft(s, whitespace)
	if len(s) > 0 && (s[0] == ';' || s[0] == ',') {
		s = bytes.TrimLeft(s[1:], whitespace)
	}
	if len(s) >= 3 && bytes.EqualFold(s[:3], []byte("url")) {
		if rest := bytes.TrimLeft(s[3:], whitespace); len(rest) > 0 && rest[0] == '=' {
			s = bytes.TrimLeft(rest[1:], whitespace)
		}
	}
	if len(s) > 0 && (s[0] == '"' || s[0] == '\'') {
		quote := s[0]
		s, _, _ = bytes.Cut(s[1:], []byte{quote})
	}
	return s, len(s) > 0
}
