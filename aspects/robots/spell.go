package robots

import (
	"strconv"
	"strings"
)

// spell returns s in one spelling: escapes of unreserved characters are decoded, other escapes are in upper case, and
// characters that a URI cannot have are escaped (RFC 9309, section 2.2.2; RFC 3986, section 6.2.2). In a URI, * and $
// are literal and escaped. In a pattern, every * and a $ at the end are not. A percent sign that begins no escape is
// escaped, so that it does not make one with the characters after it.
func spell(s string, isPattern bool) string {
	clean := true
	for i := 0; i < len(s) && clean; i++ {
		clean = plain(s[i])
	}
	if clean {
		return s
	}
	b := make([]byte, 0, len(s)+16)
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case plain(c), c == '*' && isPattern, c == '$' && isPattern && i == len(s)-1:
			b = append(b, c)
		case c == '%' && i+2 < len(s):
			n, err := strconv.ParseUint(s[i+1:i+3], 16, 8)
			if err == nil {
				c = byte(n)
				i += 2
			}
			if err == nil && unreserved(c) {
				b = append(b, c)
			} else {
				b = appendEscape(b, c)
			}
		default:
			b = appendEscape(b, c)
		}
	}
	return string(b)
}

func appendEscape(b []byte, c byte) []byte {
	const digits = "0123456789ABCDEF"
	return append(b, '%', digits[c>>4], digits[c&15])
}

func unreserved(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("-._~", c) >= 0
}

// plain reports whether c has no special meaning in a URI and in a pattern.
func plain(c byte) bool {
	return unreserved(c) || strings.IndexByte("/?:@!&'()+,;=[]", c) >= 0
}
