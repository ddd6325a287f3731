package warcout

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Escape returns a text in a form that fits into one line of a warcinfo or metadata record. It writes each byte of
// control characters, invalid UTF-8 and outer blanks as \xNN. Other text stays unchanged, including backslashes. So
// the escape is meant for readers and cannot be reversed with certainty.
func Escape(s string) string {
	if FitsHeader(s) {
		return s
	}
	inner := strings.TrimFunc(s, isBlank)
	first := len(s) - len(strings.TrimLeftFunc(s, isBlank))
	var b strings.Builder
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		outside := i < first || i >= first+len(inner)
		if outside || isControl(r) || r == utf8.RuneError && n == 1 {
			for _, c := range []byte(s[i : i+n]) {
				fmt.Fprintf(&b, `\x%02x`, c)
			}
		} else {
			b.WriteString(s[i : i+n])
		}
		i += n
	}
	return b.String()
}

// FitsHeader reports whether a header of a record can hold s, and readers return it unchanged. The URI and the record
// id of an original must fit.
func FitsHeader(s string) bool {
	if isPlain(s) {
		return true
	}
	return utf8.ValidString(s) && !strings.ContainsFunc(s, isControl) && strings.TrimFunc(s, isBlank) == s
}

// isPlain reports whether s is printable ASCII without outer blanks, as nearly all values are.
func isPlain(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return s == "" || s[0] != ' ' && s[len(s)-1] != ' '
}

// representable returns s, or an empty text if a header cannot hold it.
func representable(s string) string {
	if FitsHeader(s) {
		return s
	}
	return ""
}

// isControl reports whether r is a control character of ASCII or Latin-1, or a line end of Unicode.
func isControl(r rune) bool {
	return r < 0x20 || r >= 0x7f && r < 0xa0 || r == '\u2028' || r == '\u2029'
}

// isBlank reports whether some reader trims r from the ends of a value.
func isBlank(r rune) bool { return unicode.IsSpace(r) || r == '\ufeff' }

// tokenPunctuation holds the characters that RFC 9110, 5.6.2, allows in a token besides letters and digits.
const tokenPunctuation = "!#$%&'*+-.^_`|~"

func isToken(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
		return !letter && !strings.ContainsRune(tokenPunctuation, r)
	})
}

// fieldBlock returns the content of an application/warc-fields record.
func fieldBlock(fields []Field) ([]byte, error) {
	b := make([]byte, 0, 256)
	for _, f := range fields {
		if !isToken(f.Name) {
			return nil, fmt.Errorf("%w: field name %q is not a token of RFC 9110", ErrRefused, f.Name)
		}
		b = append(append(b, f.Name...), ": "...)
		b = append(append(b, Escape(f.Value)...), "\r\n"...)
	}
	return b, nil
}
