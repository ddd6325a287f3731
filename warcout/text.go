package warcout

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Escape makes any text fit for one line of a warcinfo or metadata record: control characters, bytes that are no UTF-8
// and blanks at either end are written as \xNN, one for each byte. Text without them is left exactly as it is, backslashes
// too, so the escape is for the eye and cannot be undone with certainty.
func Escape(s string) string {
	if fits(s) {
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

// fits reports whether s can stand in a header line and will be read back as it is.
func fits(s string) bool {
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

// representable is s, or nothing when a header cannot hold it.
func representable(s string) string {
	if fits(s) {
		return s
	}
	return ""
}

// isControl reports the control characters of ASCII and Latin-1 and the line ends of Unicode.
func isControl(r rune) bool {
	return r < 0x20 || r >= 0x7f && r < 0xa0 || r == '\u2028' || r == '\u2029'
}

// isBlank reports what one reader or another trims from the ends of a value.
func isBlank(r rune) bool { return unicode.IsSpace(r) || r == '\ufeff' }

// tokenPunctuation is what RFC 9110, section 5.6.2, allows in a token beside letters and digits.
const tokenPunctuation = "!#$%&'*+-.^_`|~"

func isToken(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
		return !letter && !strings.ContainsRune(tokenPunctuation, r)
	})
}

// fieldBlock is the content of an application/warc-fields record.
func fieldBlock(fields []Field) ([]byte, error) {
	b := make([]byte, 0, 256)
	for _, f := range fields {
		if !isToken(f.Name) {
			return nil, fmt.Errorf("field name %q is no token", f.Name)
		}
		b = append(append(b, f.Name...), ": "...)
		b = append(append(b, Escape(f.Value)...), "\r\n"...)
	}
	return b, nil
}
