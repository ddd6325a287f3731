package uri

import (
	"cmp"
	"encoding/binary"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/idna"
)

// Parts of a URI in lower case that replay tools leave out of the key, because they identify a reader and not a page.
var (
	wwwLabel    = regexp.MustCompile(`^www\d*\.`)
	pathSession = []*regexp.Regexp{
		regexp.MustCompile(`^(.*/)\((?:[a-z]\([0-9a-z]{24}\))+\)/([^?]+\.aspx.*)$`),
		regexp.MustCompile(`^(.*/)\([0-9a-z]{24}\)/([^?]+\.aspx.*)$`),
	}
	querySession = []*regexp.Regexp{
		regexp.MustCompile(`^(.*)jsessionid=[0-9a-z]{32}(?:&(.*))?$`),
		regexp.MustCompile(`^(.*)phpsessid=[0-9a-z]{32}(?:&(.*))?$`),
		regexp.MustCompile(`^(.*)sid=[0-9a-z]{32}(?:&(.*))?$`),
		regexp.MustCompile(`^(.*)aspsessionid[a-z]{8}=[a-z]{24}(?:&(.*))?$`),
		regexp.MustCompile(`^(.*)cfid=[^&]+&cftoken=[^&]+(?:&(.*))?$`),
	}
)

// ReplayKey returns the key of a URI in an index for replay tools such as pywb: a sort-friendly form (SURT) with the
// host reversed, as the Python module surt makes it. It ignores parts that rarely make a difference: the scheme, a
// leading www, upper case, the order of the query, a trailing slash, session ids. So several URIs may have the same
// key.
func ReplayKey(uri string) string {
	if strings.HasPrefix(uri, "filedesc") {
		return escape(uri)
	}
	if strings.ContainsAny(uri, "\t\r\n") {
		uri = strings.NewReplacer("\t", "", "\r", "", "\n", "").Replace(uri)
	}
	if uri = strings.Trim(uri, " \v\f"); uri == "" {
		return "-"
	}
	scheme, rest := cutScheme(uri)
	rest, _, _ = strings.Cut(rest, "#")
	authority, ok := strings.CutPrefix(rest, "//")
	if ok {
		authority, rest = cutBefore(authority, "/?")
	} else {
		authority = ""
	}
	path, query, _ := strings.Cut(rest, "?")
	if authority == "" && path != "" && strings.HasPrefix(scheme, "http") {
		authority, path = cutBefore(strings.TrimLeft(path, "/"), "/")
	}
	path = unescape(path)
	if authority == "" {
		return escape(scheme) + ":" + pathKey(path) + queryKey(query)
	}
	return hostKey(scheme, authority) + ")" + pathKey(resolve(path)) + queryKey(query)
}

// cutScheme cuts the scheme from a URI; without one it is http. Of several, as in http://https://a.example, it returns
// the last.
func cutScheme(uri string) (scheme, rest string) {
	for {
		isScheme := func(s string) bool {
			for i := range len(s) {
				letter := 'a' <= s[i]|0x20 && s[i]|0x20 <= 'z'
				if !letter && (i == 0 || strings.IndexByte("0123456789+-.", s[i]) < 0) {
					return false
				}
			}
			return s != ""
		}
		scheme, rest, _ = strings.Cut(uri, ":")
		if !isScheme(scheme) || len(scheme) == len(uri) {
			return "http", "//" + uri
		}
		next, ok := strings.CutPrefix(rest, "//")
		if !ok || !strings.HasPrefix(next, "http://") && !strings.HasPrefix(next, "https://") {
			return scheme, rest
		}
		uri = next
	}
}

// cutBefore cuts s before the first of any of the characters.
func cutBefore(s, chars string) (before, after string) {
	if i := strings.IndexAny(s, chars); i >= 0 {
		return s[:i], s[i:]
	}
	return s, ""
}

func hostKey(scheme, authority string) string {
	authority = strings.TrimRight(authority[strings.LastIndexByte(authority, '@')+1:], ":")
	host, port, _ := strings.Cut(authority, ":")
	if _, inside, ok := strings.Cut(authority, "["); ok {
		host, port, _ = strings.Cut(inside, "]")
		port = strings.TrimPrefix(port, ":")
	}
	if n, err := strconv.Atoi(port); err == nil {
		port = strconv.Itoa(n)
	}
	if scheme = strings.ToLower(scheme); scheme == "http" && port == "80" || scheme == "https" && port == "443" ||
		port == "0" || port == "" {
		port = ""
	} else {
		port = ":" + escape(port)
	}
	host = unescape(host)
	if len(host) <= maxRawHost && strings.ContainsFunc(host, func(r rune) bool { return r >= utf8.RuneSelf }) {
		if ascii, err := idna.Lookup.ToASCII(host); err == nil {
			host = ascii
		}
	}
	host = strings.Trim(strings.ReplaceAll(host, "..", "."), ".")
	if host = cmp.Or(ipv4(host), strings.ToLower(escape(host))); strings.HasPrefix(host, "www") {
		host = wwwLabel.ReplaceAllString(host, "")
	}
	labels := strings.Split(host, ".")
	slices.Reverse(labels)
	return strings.Join(labels, ",") + port
}

// ipv4 returns the usual form of an IPv4 address: 10.0.1.2 for 10.0.258. It returns "" for another host name. Of a
// single number it takes the last 32 bits.
func ipv4(host string) string {
	parts := strings.Split(host, ".")
	if host == "" || len(parts) > 4 || strings.Trim(host, "0123456789.") != "" {
		return ""
	}
	var all uint32
	if len(parts) == 1 {
		for _, c := range []byte(host) {
			all = all*10 + uint32(c-'0')
		}
	} else {
		for i, part := range parts {
			bits := 8
			if i == len(parts)-1 {
				bits = 8 * (5 - len(parts))
			}
			n, err := strconv.ParseUint(part, 0, bits)
			if err != nil {
				return ""
			}
			all = all<<bits | uint32(n)
		}
	}
	return netip.AddrFrom4([4]byte(binary.BigEndian.AppendUint32(nil, all))).String()
}

// resolve resolves the dots in a path, and takes several slashes as one. A path that leads above the root keeps its
// dots.
func resolve(path string) string {
	var kept []string
	_, path, _ = strings.Cut(path, "/")
	for part := range strings.SplitSeq(path, "/") {
		switch {
		case part == ".":
		case part == ".." && len(kept) > 0:
			kept = kept[:len(kept)-1]
		default:
			kept = append(kept, part)
		}
	}
	kept = slices.DeleteFunc(kept, func(part string) bool { return part == "" })
	return "/" + strings.Join(kept, "/")
}

// pathKey returns a path in lower case without session ids and the slash at its end.
func pathKey(path string) string {
	path = strings.ToLower(escape(path))
	if strings.Contains(path, ".aspx") {
		path = cutSession(path, pathSession)
	}
	if path != "/" {
		path = strings.TrimSuffix(path, "/")
	}
	return path
}

// cutSession removes what is between the groups of each pattern that matches.
func cutSession(s string, patterns []*regexp.Regexp) string {
	for _, session := range patterns {
		if m := session.FindStringSubmatch(s); m != nil {
			s = m[1] + m[2]
		}
	}
	return s
}

func queryKey(query string) string {
	query = strings.ToLower(escape(unescape(query)))
	if strings.Contains(query, "sid=") || strings.Contains(query, "session") || strings.Contains(query, "cfid=") {
		query = cutSession(query, querySession)
	}
	if query == "" {
		return ""
	}
	parts := strings.Split(query, "&")
	slices.SortFunc(parts, func(a, b string) int { // by name, then by value; none comes before an empty one
		nameA, valueA := cutBefore(a, "=")
		nameB, valueB := cutBefore(b, "=")
		return cmp.Or(strings.Compare(nameA, nameB), strings.Compare(valueA, valueB))
	})
	if len(query) > 1 {
		query = strings.Join(parts, "&")
	}
	return "?" + query
}

// unescape decodes percent escapes, and escapes within them. Invalid escapes stay.
func unescape(s string) string {
	if !strings.Contains(s, "%") {
		return s
	}
	b := make([]byte, 0, len(s))
	for i := range len(s) {
		b = append(b, s[i])
		for n := len(b) - 3; n >= 0 && b[n] == '%'; n = len(b) - 3 {
			plain, err := url.PathUnescape(string(b[n:]))
			if err != nil {
				break
			}
			b = append(b[:n], plain...) // may be the end of an escape itself
		}
	}
	return string(b)
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
