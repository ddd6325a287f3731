package discover

import (
	"bytes"
	"strings"

	"github.com/arcrawl/arcrawl/uri"
)

// resolvePlain resolves a plain reference in a hundredth of the time of [uri.URI.Join]: a path, a file in the folder
// of the base, a query, or an address whose origin is remembered, all without characters that a rule changes. Most
// references of most pages are plain. It returns the text of the URI that Join would return, or nil if the reference
// is not plain. The text is valid until the next call.
func (p *page) resolvePlain(ref []byte) []byte {
	from, path := p.split(ref)
	if path == nil || len(from)+len(path) > uri.MaxLength || !isPlain(path) {
		return nil
	}
	p.text = append(append(p.text[:0], from...), path...)
	return p.text
}

// split returns the beginning of the URI of a reference, in canonical form, and the rest of the reference: a path, a
// part of a path, or a query. The rest is nil if the reference is not plain.
func (p *page) split(ref []byte) (from string, rest []byte) {
	switch c := ref[0]; {
	case c == '/' && (len(ref) == 1 || ref[1] != '/'):
		return p.origin, ref
	case c == '/':
		scheme := p.base.Scheme() + ":"
		for _, o := range p.origins[:min(p.originCount, maxOrigins)] {
			if after, ok := strings.CutPrefix(o, scheme); ok && begins(ref, after) {
				return o, ref[len(after):]
			}
		}
	case c == '?':
		return p.bare, ref
	case c == 'h' && bytes.HasPrefix(ref, []byte("http")) && bytes.IndexByte(ref, ':') >= 0:
		if begins(ref, p.origin) {
			return p.origin, ref[len(p.origin):]
		}
		for _, o := range p.origins[:min(p.originCount, maxOrigins)] {
			if begins(ref, o) {
				return o, ref[len(o):]
			}
		}
	case plainBytes[c] == always && bytes.IndexByte(ref, ':') < 0:
		return p.folder, ref
	}
	return "", nil
}

// begins reports whether a reference consists of an origin and a path.
func begins(ref []byte, origin string) bool {
	return len(ref) > len(origin) && ref[len(origin)] == '/' && string(ref[:len(origin)]) == origin
}

// rememberOrigin remembers the origin of a URI if its reference begins with that origin in canonical form. Then the
// same beginning leads to the same origin for every other path.
func (p *page) rememberOrigin(ref string, u uri.URI) {
	o := origin(u)
	if o != p.origin && strings.HasPrefix(ref, o) && strings.HasPrefix(ref[len(o):], "/") {
		p.origins[p.originCount%maxOrigins] = strings.Clone(o)
		p.originCount++
	}
}

// These values say whether a byte of a path or query stays unchanged.
const (
	never  = iota // a rule may change it
	always        // it stays unchanged
	dot           // it stays unchanged unless it begins a segment
	escape        // it stays unchanged if two hexadecimal digits follow that do not mean a dot
)

var plainBytes = tableOfPlainBytes()

func tableOfPlainBytes() (t [256]uint8) {
	for c := range 256 {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' {
			t[c] = always
		}
	}
	for _, c := range []byte("/-_~?=&+,:;@!$()*") {
		t[c] = always
	}
	t['.'], t['%'] = dot, escape
	return t
}

// isPlain reports whether a path, a part of a path, or a query stays unchanged.
func isPlain(path []byte) bool {
	for i, c := range path {
		switch plainBytes[c] {
		case always:
		case dot:
			if i == 0 || path[i-1] == '/' {
				return false
			}
		case escape:
			if i+2 >= len(path) || !isHex(path[i+1]) || !isHex(path[i+2]) || path[i+1] == '2' && path[i+2]|0x20 == 'e' {
				return false
			}
		default:
			return false
		}
	}
	return true
}

func isHex(c byte) bool { return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'f' }
