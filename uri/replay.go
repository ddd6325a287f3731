package uri

import (
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// Parts of a URI that replay tools leave out of the key, because they identify a reader and not a page.
var (
	wwwLabel     = regexp.MustCompile(`^www\d*\.`)
	pathSession  = regexp.MustCompile(`(?i)^(.*/)(\((?:[a-z]\([0-9a-z]{24}\))+\)/|\([0-9a-z]{24}\)/)([^?]+\.aspx.*)$`)
	javaSession  = regexp.MustCompile(`(?i);jsessionid=[0-9a-z]{32}(?:\.[0-9a-z]+)?(.*)$`)
	querySession = []*regexp.Regexp{
		regexp.MustCompile(`(?i)^(.*&|)(?:jsessionid=[0-9a-z]{32}|phpsessid=[0-9a-z]{32}|sid=[0-9a-z]{32}|aspsessionid[a-z]{8}=[a-z]{24})(?:&(.*))?$`),
		regexp.MustCompile(`(?i)^(.*&|)cfid=[^&]+&cftoken=[^&]+(?:&(.*))?$`),
	}
)

// ReplayKey returns the key of a URI in an index for replay tools such as pywb: a sort-friendly form (SURT) with the
// host reversed. It ignores parts that rarely make a difference: the scheme, a leading www, upper case, the order of
// the query, a trailing slash, session ids. So several URIs may have the same key. A URI that is not http or https is
// its own key.
func ReplayKey(uri string) string {
	scheme, rest, ok := strings.Cut(uri, "://")
	if scheme = strings.ToLower(scheme); !ok || scheme != "http" && scheme != "https" {
		return escape(uri)
	}
	rest, _, _ = strings.Cut(rest, "#")
	authority, rest := cutBefore(rest, "/?")
	path, query, _ := strings.Cut(rest, "?")
	return hostKey(scheme, authority) + ")" + pathKey(path) + queryKey(query)
}

// cutBefore cuts s before the first of any of the characters.
func cutBefore(s, chars string) (before, after string) {
	if i := strings.IndexAny(s, chars); i >= 0 {
		return s[:i], s[i:]
	}
	return s, ""
}

func hostKey(scheme, authority string) string {
	if i := strings.LastIndexByte(authority, '@'); i >= 0 {
		authority = authority[i+1:]
	}
	host, port := strings.ToLower(authority), ""
	if i := strings.LastIndexByte(host, ':'); i >= 0 && !strings.HasSuffix(host, "]") {
		host, port = host[:i], host[i:]
	}
	if scheme == "http" && port == ":80" || scheme == "https" && port == ":443" || port == ":" {
		port = ""
	}
	if host = strings.Trim(unescape(host), "."); strings.HasPrefix(host, "www") {
		host = wwwLabel.ReplaceAllString(host, "")
	}
	labels := strings.FieldsFunc(host, func(r rune) bool { return r == '.' })
	slices.Reverse(labels)
	return escape(strings.Join(labels, ",")) + port
}

func pathKey(path string) string {
	var kept []string
	for part := range strings.SplitSeq(unescape(path), "/") {
		switch part {
		case "", ".":
		case "..":
			kept = kept[:max(0, len(kept)-1)]
		default:
			kept = append(kept, part)
		}
	}
	path = "/" + strings.Join(kept, "/")
	if strings.Contains(path, "(") {
		if m := pathSession.FindStringSubmatch(path); m != nil {
			path = m[1] + m[3]
		}
	}
	if strings.Contains(path, ";") {
		path = javaSession.ReplaceAllString(path, "$1")
	}
	return strings.ToLower(escape(path))
}

func queryKey(query string) string {
	if query == "" {
		return ""
	}
	query = unescape(query)
	for _, session := range querySession {
		if m := session.FindStringSubmatch(query); m != nil {
			query = m[1] + m[2]
		}
	}
	if query == "" {
		return ""
	}
	parts := strings.Split(strings.ToLower(escape(query)), "&")
	slices.Sort(parts)
	return "?" + strings.Join(parts, "&")
}

// maxUnescape is the maximum depth of escapes within escapes that are decoded.
const maxUnescape = 8

// unescape decodes percent escapes, and escapes within them, to a depth of maxUnescape. Invalid escapes stay.
func unescape(s string) string {
	for range maxUnescape {
		if !strings.Contains(s, "%") {
			return s
		}
		var b strings.Builder
		for i := 0; i < len(s); i++ {
			if s[i] == '%' && i+2 < len(s) {
				if plain, err := url.PathUnescape(s[i : i+3]); err == nil {
					b.WriteString(plain)
					i += 2
					continue
				}
			}
			b.WriteByte(s[i])
		}
		if b.String() == s {
			return s
		}
		s = b.String()
	}
	return s
}

// mustEscape reports whether a byte must be escaped in a line of an index. Bytes beyond ASCII must be.
func mustEscape(c rune) bool { return c <= ' ' || c >= 0x7f || c == '#' || c == '%' }

// escape returns s with each byte escaped that must be.
func escape(s string) string {
	const hex = "0123456789ABCDEF"
	if strings.IndexFunc(s, mustEscape) < 0 {
		return s
	}
	var b strings.Builder
	for i := range len(s) {
		if c := s[i]; mustEscape(rune(c)) {
			b.WriteByte('%')
			b.WriteByte(hex[c>>4])
			b.WriteByte(hex[c&15])
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}
