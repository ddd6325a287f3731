package crawllog

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/arcrawl/arcrawl/uri"
)

// lostHop stands for a hop whose letter is not known.
const lostHop = '?'

// duplicatePrefix begins the annotations that say that a payload is archived already.
const duplicatePrefix = "duplicate:"

// maxMIME is twice what RFC 6838, 4.2 allows for each of type and subtype in practice (64), and the slash.
const maxMIME = 129

// The words for no MIME type: Heritrix's for an answer without, and for no answer.
const (
	noType      = "no-type"
	unknownType = "unknown"
)

const upperHex = "0123456789ABCDEF"

// appendURI writes a URI so that it is one word of ASCII, no longer than a URI can be. A canonical one is that already.
func appendURI(b []byte, s string) []byte {
	if s == "" {
		return append(b, '-')
	}
	end := len(b) + uri.MaxLength
	for i := 0; i < len(s) && len(b) < end; i++ {
		if c := s[i]; c > ' ' && c < 0x7f {
			b = append(b, c)
		} else {
			b = append(b, '%', upperHex[c>>4], upperHex[c&15])
		}
	}
	return b[:min(len(b), end)]
}

func appendMIME(b []byte, mime string, status int) []byte {
	word := mime
	if i := strings.IndexFunc(word, func(r rune) bool { return r == ';' || r == ',' || unicode.IsSpace(r) }); i >= 0 {
		word = word[:i]
	}
	if isNoType(word) {
		if status > 0 {
			return append(b, noType...)
		}
		return append(b, unknownType...)
	}
	for i := 0; i < min(len(word), maxMIME); i++ {
		if c := word[i]; c > ' ' && c < 0x7f {
			b = append(b, c)
		} else {
			b = append(b, '_')
		}
	}
	return b
}

func isNoType(mime string) bool {
	return mime == "" || mime == "-" || mime == noType || mime == unknownType
}

// appendAnnotation writes at most maxAnnotation bytes of s, as one word without commas and stray duplicates.
func appendAnnotation(b []byte, s string) []byte {
	claim := ""
	if rest, ok := strings.CutPrefix(s, duplicatePrefix); ok {
		claim, s = duplicatePrefix, rest
	}
	if len(s) > 4*maxAnnotation {
		s = s[:4*maxAnnotation] // nothing behind it can be written
	}
	s = withoutDuplicate(s)
	end := len(b) + maxAnnotation
	b = append(b, claim...)
	for _, r := range s {
		switch {
		case r == ',':
			r = ';'
		case r == ' ' || !unicode.IsPrint(r):
			r = '_'
		}
		if len(b)+utf8.RuneLen(r) > end {
			break
		}
		b = utf8.AppendRune(b, r)
	}
	return b
}

// withoutDuplicate says "repeat" for "duplicate", in any case of letters.
func withoutDuplicate(s string) string {
	const word, other = "duplicate", "repeat"
	for i := 0; i+len(word) <= len(s); {
		if strings.EqualFold(s[i:i+len(word)], word) {
			s = s[:i] + other + s[i+len(word):]
			i += len(other)
		} else {
			i++
		}
	}
	return s
}
