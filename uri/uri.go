// Package uri parses and canonicalises URIs, so that every resource has exactly one name.
//
// A [URI] is an absolute http or https URI in the canonical form of the WHATWG URL standard. It has no fragment and
// no user information, because neither is ever sent to a server. Two URIs are the same resource for arcrawl if and
// only if their texts are equal. Canonicalisation never merges two different documents; a [Naming] can, if it is
// configured.
package uri

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/nlnwa/whatwg-url/url"
	"golang.org/x/net/publicsuffix"
)

// parser parses URIs as browsers do. In a path they escape a circumflex, as the standard asks today, and Chromium also
// a vertical bar: replay tools ask for the URI in that form.
var parser = url.NewParser(url.WithPathPercentEncodeSet(url.PathPercentEncodeSet.Set('^', '|')))

// MaxLength is the maximum length of a URI, in bytes. Heritrix accepts 2,083 and so loses the signed addresses of
// images on today's sites. With 4,096, tools with a fixed line buffer can still read a line of crawl.log.
const MaxLength = 4096

// maxFolders is the maximum number of slashes before a query. Heritrix refuses more than twenty by default. The time
// for parsing grows with the square of the number, and a page may have thousands of links.
const maxFolders = 250

// The limits of RFC 1035, section 2.3.4. The parser accepts longer names and then cannot parse its own output.
const (
	maxHostname = 253
	maxLabel    = 63
)

// ErrScheme is returned for a URI that is neither http nor https. A mailto: link, for example, is not an error in the
// page, but cannot be crawled.
var ErrScheme = errors.New("scheme is not http or https")

// URI is an absolute, canonical http(s) URI. It is a small value that can be compared and used as a map key. The zero
// value is not a URI.
type URI struct {
	s string // canonical text; everything below follows from it

	hostEnd, portEnd uint16 // s[host():hostEnd] is the host name, s[hostEnd:portEnd] is "" or ":port"
}

// Parse parses an absolute URI as a browser would, and canonicalises it.
func Parse(raw string) (URI, error) {
	raw = trimmed(raw)
	if len(raw) > MaxLength {
		return URI{}, fmt.Errorf("parse URI %.60q…: longer than %d bytes", raw, MaxLength)
	}
	if err := checkRawHost(raw); err != nil {
		return URI{}, fmt.Errorf("parse URI %q: %w", raw, err)
	}
	if err := checkDepth(raw); err != nil {
		return URI{}, fmt.Errorf("parse URI %.60q…: %w", raw, err)
	}
	p, err := parser.Parse(raw)
	if err != nil {
		return URI{}, fmt.Errorf("parse URI %q: %w", raw, err)
	}
	return fromParsed(p, raw)
}

// Join resolves a reference in the document u, as a browser would.
func (u URI) Join(ref string) (URI, error) {
	ref = trimmed(ref)
	if len(ref) > MaxLength {
		return URI{}, fmt.Errorf("resolve reference %.60q…: longer than %d bytes", ref, MaxLength)
	}
	if err := checkRawHost(ref); err != nil {
		return URI{}, fmt.Errorf("resolve reference %q: %w", ref, err)
	}
	if err := checkDepth(ref); err != nil {
		return URI{}, fmt.Errorf("resolve reference %.60q…: %w", ref, err)
	}
	p, err := parser.ParseRef(u.s, ref)
	if err != nil {
		return URI{}, fmt.Errorf("resolve reference %q: %w", ref, err)
	}
	return fromParsed(p, ref)
}

// trimmed returns a text without the white space and control characters at its ends. They do not count as its length.
func trimmed(s string) string { return strings.TrimFunc(s, func(c rune) bool { return c <= ' ' }) }

// FromCanonical returns the URI of a string that [URI.String] returned, without parsing it again. It returns the zero
// URI for a string that does not have this form.
func FromCanonical(s string) URI {
	rest, ok := strings.CutPrefix(s, "https://")
	if !ok {
		if rest, ok = strings.CutPrefix(s, "http://"); !ok {
			return URI{}
		}
	}
	slash := strings.IndexByte(rest, '/')
	if slash <= 0 || len(s) > MaxLength {
		return URI{}
	}
	start := len(s) - len(rest)
	portEnd := start + slash
	hostEnd := portEnd
	authority := s[start:portEnd]
	if colon := strings.LastIndexByte(authority, ':'); colon > strings.LastIndexByte(authority, ']') {
		hostEnd = start + colon
	}
	return URI{s: s, hostEnd: uint16(hostEnd), portEnd: uint16(portEnd)}
}

// checkDepth refuses a URI or reference with too many folders.
func checkDepth(s string) error {
	if len(s) <= maxFolders { // nearly always
		return nil
	}
	n := 0
	for i := 0; i < len(s) && s[i] != '?' && s[i] != '#'; i++ {
		if isSlash(s[i]) {
			n++
		}
	}
	if n > maxFolders {
		return fmt.Errorf("more than %d folders", maxFolders)
	}
	return nil
}

func fromParsed(p *url.Url, raw string) (URI, error) {
	if p.Scheme() != "http" && p.Scheme() != "https" {
		return URI{}, fmt.Errorf("parse URI %q: %w", raw, ErrScheme)
	}
	if err := checkHostname(p.Hostname()); err != nil {
		return URI{}, fmt.Errorf("parse URI %q: %w", raw, err)
	}
	p.SetUsername("")
	p.SetPassword("")
	u := FromCanonical(p.Href(true)).withoutFinalDot()
	if err := checkDepth(u.s); err != nil {
		return URI{}, fmt.Errorf("parse URI %.60q…: %w", raw, err)
	}
	if u.IsZero() {
		return URI{}, fmt.Errorf("parse URI %q: no host, or longer than %d bytes once escaped", raw, MaxLength)
	}
	return u, nil
}

// withoutFinalDot returns u without the dot at the end of its host name, which is the root of DNS: both forms name one
// host. Browsers keep the dot.
func (u URI) withoutFinalDot() URI {
	if u.IsZero() || u.s[u.hostEnd-1] != '.' {
		return u
	}
	return FromCanonical(u.s[:u.hostEnd-1] + u.s[u.hostEnd:])
}

func checkHostname(name string) error {
	if name == "" {
		return errors.New("no host")
	}
	if len(name) > maxHostname {
		return fmt.Errorf("host name longer than %d bytes", maxHostname)
	}
	if name == "." || strings.HasSuffix(name, "..") {
		return errors.New("host name with an empty label")
	}
	for label := range strings.SplitSeq(name, ".") {
		if len(label) > maxLabel {
			return fmt.Errorf("host label longer than %d bytes", maxLabel)
		}
		// The parser overlooks other characters next to some letters, and then cannot parse its own output.
		if strings.HasPrefix(label, "xn--") && strings.ContainsFunc(name, isOdd) {
			return errors.New("an international host name may have letters, digits and hyphens only")
		}
	}
	return nil
}

// isOdd reports whether no international host name has a character, in lower-case ASCII.
func isOdd(c rune) bool { return (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' && c != '.' }

// IsZero reports whether u is the zero value, which is not a URI.
func (u URI) IsZero() bool { return u.s == "" }

// String returns the canonical text.
func (u URI) String() string { return u.s }

// MarshalText returns the canonical text.
func (u URI) MarshalText() ([]byte, error) { return []byte(u.s), nil }

// UnmarshalText parses a URI. It reads an empty text as the zero URI.
func (u *URI) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		*u = URI{}
		return nil
	}
	v, err := Parse(string(text))
	if err != nil {
		return err
	}
	*u = v
	return nil
}

// Scheme returns "http" or "https". Like all parts of the zero URI except the port, its scheme is empty.
func (u URI) Scheme() string { return u.s[:max(strings.IndexByte(u.s, ':'), 0)] }

func (u URI) hostStart() int {
	if u.s == "" {
		return 0
	}
	return strings.IndexByte(u.s, ':') + len("://")
}

// Hostname returns the host name without the port: lower-case ASCII (punycode), or an IP address without brackets.
func (u URI) Hostname() string {
	return strings.Trim(u.s[u.hostStart():u.hostEnd], "[]")
}

// Port returns the port as a number. If the URI has none, it is the default port of the scheme.
func (u URI) Port() string {
	if u.portEnd > u.hostEnd {
		return u.s[u.hostEnd+1 : u.portEnd]
	}
	if u.Scheme() == "https" {
		return "443"
	}
	return "80"
}

// Address returns the host name and port to dial.
func (u URI) Address() string { return net.JoinHostPort(u.Hostname(), u.Port()) }

// Authority returns the value of the Host header: the host name, and the port if it is not the default.
func (u URI) Authority() string { return u.s[u.hostStart():u.portEnd] }

// RequestTarget returns the path and query as in the request line. It is never empty.
func (u URI) RequestTarget() string { return u.s[u.portEnd:] }

// Path returns the path without the query. It starts with a slash.
func (u URI) Path() string {
	path, _, _ := strings.Cut(u.RequestTarget(), "?")
	return path
}

// IsRobots reports whether the URI is the robots.txt of its origin.
func (u URI) IsRobots() bool { return u.RequestTarget() == "/robots.txt" }

// Origin returns the scheme and authority with the path "/". A robots.txt applies to one origin (RFC 9309, 2.3). The
// text of the result is part of the text of u. If you keep the result for long, use [URI.Clone].
func (u URI) Origin() URI {
	if u.IsZero() {
		return URI{}
	}
	u.s = u.s[:u.portEnd+1]
	return u
}

// Clone returns u with its own copy of the text.
func (u URI) Clone() URI {
	u.s = strings.Clone(u.s)
	return u
}

// Robots returns the URI of the robots.txt that applies to u.
func (u URI) Robots() URI { return FromCanonical(u.s[:u.portEnd] + "/robots.txt") }

// Host returns the host of u.
func (u URI) Host() Host { return Host(u.Authority()) }

// Host is the unit of politeness: a host name, and the port if it is not the default of the scheme. The http and https
// sites of one name are one host.
type Host string

// Clone returns a copy that shares no memory with the URI that the host is a part of.
func (h Host) Clone() Host { return Host(strings.Clone(string(h))) }

// isAddress reports whether a host name without brackets is an IP address. Canonical IPv4 addresses end in a digit, and
// IPv6 addresses have colons. Nearly all names have neither, and need not be parsed.
func isAddress(name string) bool {
	last := name[max(0, len(name)-1):]
	return (strings.IndexByte(name, ':') >= 0 || last >= "0" && last <= "9") && net.ParseIP(name) != nil
}

// Hop says how a URI was found, by a letter of Heritrix's hop path.
type Hop byte

// The hops. Their letters are written to crawl.log and to the store, and never change.
const (
	Link        Hop = 'L' // a link for a reader to click
	Embed       Hop = 'E' // a resource that the page shows or runs
	Redirect    Hop = 'R' // the target of a redirect
	Prereq      Hop = 'P' // robots.txt
	Speculative Hop = 'X' // a guess from a script
	Manifest    Hop = 'M' // a feed or sitemap, or an entry of one
	Inferred    Hop = 'I' // implied by something else
)

// maxShownHops is the number of hops above which Heritrix abbreviates a path in crawl.log.
const maxShownHops = 50

// HopPath is the path from a seed to a URI, with one letter for each hop. The path of a seed is empty.
type HopPath string

// Then returns the path of a URI that was found at the end of p.
func (p HopPath) Then(h Hop) HopPath { return p + HopPath(h) }

// Count returns the number of hops of the kind h.
func (p HopPath) Count(h Hop) int { return strings.Count(string(p), string(rune(h))) }

// Trailing returns the number of hops of the kind h at the end of p, ignoring redirects. For an embed it is the
// distance from its page.
func (p HopPath) Trailing(h Hop) int {
	n := 0
	for i := len(p) - 1; i >= 0; i-- {
		switch Hop(p[i]) {
		case h:
			n++
		case Redirect:
		default:
			return n
		}
	}
	return n
}

// TrailingRedirects returns the number of redirects at the end of p, which is the length of the present chain.
func (p HopPath) TrailingRedirects() int {
	return len(p) - len(strings.TrimRight(string(p), string(rune(Redirect))))
}

// String returns the path in the form of crawl.log: the last 50 hops, and before them the number of omitted hops and a
// plus.
func (p HopPath) String() string {
	if over := len(p) - maxShownHops; over > 0 {
		return strconv.Itoa(over) + "+" + string(p[over:])
	}
	return string(p)
}

// Domain returns the registrable domain of the host. See [URI.Domain].
func (h Host) Domain() string {
	name := string(h)
	if i := strings.LastIndexByte(name, ':'); i >= 0 && !strings.HasSuffix(name, "]") {
		name = name[:i]
	}
	return domainOf(strings.Trim(name, "[]"))
}

// Domain returns the registrable domain of the host of u. For "news.example.co.uk" and "www.news.example.co.uk" it is
// "example.co.uk". It uses the public suffix list with its private part, so two blogs of one provider are two
// domains. For a host without such a domain, which is an IP address or a public suffix itself, it returns the host
// name.
func (u URI) Domain() string { return domainOf(u.Hostname()) }

func domainOf(name string) string {
	if isAddress(name) {
		return name
	}
	if domain, err := publicsuffix.EffectiveTLDPlusOne(name); err == nil {
		return domain
	}
	return name
}

// badPorts are the ports of other protocols, to which no browser sends a request (WHATWG Fetch, section 2.9): a page
// could otherwise make its visitors talk to mail servers, databases and the like.
var badPorts = map[string]bool{
	"0": true, "1": true, "7": true, "9": true, "11": true, "13": true, "15": true, "17": true, "19": true, "20": true,
	"21": true, "22": true, "23": true, "25": true, "37": true, "42": true, "43": true, "53": true, "69": true,
	"77": true, "79": true, "87": true, "95": true, "101": true, "102": true, "103": true, "104": true, "109": true,
	"110": true, "111": true, "113": true, "115": true, "117": true, "119": true, "123": true, "135": true, "137": true,
	"139": true, "143": true, "161": true, "179": true, "389": true, "427": true, "465": true, "512": true, "513": true,
	"514": true, "515": true, "526": true, "530": true, "531": true, "532": true, "540": true, "548": true, "554": true,
	"556": true, "563": true, "587": true, "601": true, "636": true, "989": true, "990": true, "993": true, "995": true,
	"1719": true, "1720": true, "1723": true, "2049": true, "3659": true, "4045": true, "4190": true, "5060": true,
	"5061": true, "6000": true, "6566": true, "6665": true, "6666": true, "6667": true, "6668": true, "6669": true,
	"6679": true, "6697": true, "10080": true,
}

// HasBadPort reports whether the port of u belongs to another protocol, so that browsers refuse it.
func (u URI) HasBadPort() bool {
	return u.portEnd > u.hostEnd && badPorts[u.Port()]
}

// maxRawHost is the maximum length of a host as a page writes it, in bytes. A name of 253 bytes that is written in
// another script, even percent-encoded, is shorter.
const maxRawHost = 1024

// checkRawHost returns an error if the host of a reference is too long, before the parser maps it to ASCII. The mapping
// of a host of 4,000 bytes takes two milliseconds, and a page may have thousands of links. It only sees hosts behind
// two slashes; [checkHostname] finds the others.
func checkRawHost(ref string) error {
	if len(ref) <= maxHostname {
		return nil // no host in it is too long, except for a label, which costs little
	}
	rest := strings.TrimLeft(ref, " \t\r\n\f")
	if i := strings.IndexAny(rest, ":/\\?#"); i > 0 && rest[i] == ':' {
		rest = rest[i+1:]
	}
	if len(rest) < 2 || !isSlash(rest[0]) || !isSlash(rest[1]) {
		return nil
	}
	rest = strings.TrimLeft(rest, "/\\")
	host := rest
	if end := strings.IndexAny(rest, "/\\?#"); end >= 0 {
		host = rest[:end]
	}
	host = host[strings.LastIndexByte(host, '@')+1:]
	if len(host) > maxRawHost {
		return fmt.Errorf("host name longer than %d bytes", maxHostname)
	}
	if strings.ContainsFunc(host, func(r rune) bool { return r >= utf8.RuneSelf || r <= ' ' || r == '%' || r == '[' }) {
		return nil // the parser changes its length
	}
	if name, port, ok := strings.Cut(host, ":"); ok && strings.Trim(port, "0123456789") == "" {
		host = name
	}
	if host == "" {
		return nil // the parser says what is wrong
	}
	return checkHostname(host)
}

func isSlash(c byte) bool { return c == '/' || c == '\\' }
