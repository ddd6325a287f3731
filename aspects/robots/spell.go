package robots

import (
	"strconv"
	"strings"
	"unicode"
)

// spellOut brings a whole file to one spelling, line by line, before the parser reads it. The parser would damage
// escapes that contain a digit when it makes them upper-case: %c3 becomes a percent sign and two control characters,
// so that the rule never matches.
func spellOut(body []byte) string {
	var b strings.Builder
	b.Grow(len(body) + len(body)/8)
	rest := string(body)
	for rest != "" {
		line := rest
		if end := strings.IndexAny(rest, "\r\n"); end >= 0 {
			line, rest = rest[:end], rest[end+1:]
		} else {
			rest = ""
		}
		line, _, _ = strings.Cut(line, "#")
		writeLine(&b, strings.TrimFunc(line, blank))
	}
	return b.String()
}

func writeLine(b *strings.Builder, line string) {
	if line == "" {
		return
	}
	key, value, ok := strings.Cut(line, ":")
	if !ok {
		// The parser accepts a missing colon if a line has exactly two words.
		i := strings.IndexAny(line, " \t")
		if i < 0 {
			return
		}
		key, value = line[:i], strings.TrimLeftFunc(line[i:], blank)
		if strings.ContainsAny(value, " \t") {
			return
		}
	}
	key, value = strings.TrimFunc(key, blank), strings.TrimFunc(value, blank)
	if key == "" {
		return
	}
	if key[0] != 'u' && key[0] != 'U' { // the name in a User-agent line is not part of any URI
		value = spell(value, true)
	}
	b.WriteString(key)
	b.WriteByte(':')
	b.WriteString(value)
	b.WriteByte('\n')
}

// blank reports whether c may surround keys and values. Byte order marks are found in the middle of files that were
// joined, no-break and zero-width spaces in rules that were copied from a web page.
func blank(c rune) bool { return unicode.IsSpace(c) || c == '\uFEFF' || c == '\u200B' }

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
