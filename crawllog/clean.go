package crawllog

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/arcrawl/arcrawl/uri"
)

// unknownHop is written for a hop whose letter is not valid or was left out.
const unknownHop = '?'

// duplicatePrefix begins the annotations that say that a payload was archived before.
const duplicatePrefix = "duplicate:"

// maxMIME is the maximum length of a MIME type: 64 bytes for each of type and subtype (RFC 6838, 4.2), and the slash.
const maxMIME = 129

// Heritrix's words for a response without a MIME type, and for no response.
const (
	noType      = "no-type"
	unknownType = "unknown"
)

const upperHex = "0123456789ABCDEF"

// appendURI writes a URI as one word of ASCII of at most [uri.MaxLength] bytes. A canonical URI stays unchanged.
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

// appendAnnotation writes s as one word without commas, with at most maxAnnotation or maxErrorAnnotation bytes. It
// replaces "duplicate" where the word does not begin an annotation.
func appendAnnotation(b []byte, s string) []byte {
	prefix := ""
	if rest, ok := strings.CutPrefix(s, duplicatePrefix); ok {
		prefix, s = duplicatePrefix, rest
	}
	limit := maxAnnotation
	if strings.HasPrefix(s, errorPrefix) {
		limit = maxErrorAnnotation
	}
	if len(s) > 4*limit {
		s = s[:4*limit] // the rest does not fit in any case
	}
	s = withoutDuplicate(s)
	end := len(b) + limit
	b = append(b, prefix...)
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

// withoutDuplicate replaces "duplicate", in any case of letters, by "repeat".
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
