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

	"github.com/nlnwa/whatwg-url/url"
)

// MaxLength is the maximum length of a URI, in bytes. Heritrix accepts 2,083 and so loses the signed addresses of
// images on today's sites. With 4,096, tools with a fixed line buffer can still read a line of crawl.log.
const MaxLength = 4096

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
	if len(raw) > MaxLength {
		return URI{}, fmt.Errorf("parse URI %.60q…: longer than %d bytes", raw, MaxLength)
	}
	if err := checkRawHost(raw); err != nil {
		return URI{}, fmt.Errorf("parse URI %q: %w", raw, err)
	}
	p, err := url.Parse(raw)
	if err != nil {
		return URI{}, fmt.Errorf("parse URI %q: %w", raw, err)
	}
	return fromParsed(p, raw)
}

// Join resolves a reference in the document u, as a browser would.
func (u URI) Join(ref string) (URI, error) {
	if len(ref) > MaxLength {
		return URI{}, fmt.Errorf("resolve reference %.60q…: longer than %d bytes", ref, MaxLength)
	}
	if err := checkRawHost(ref); err != nil {
		return URI{}, fmt.Errorf("resolve reference %q: %w", ref, err)
	}
	p, err := url.ParseRef(u.s, ref)
	if err != nil {
		return URI{}, fmt.Errorf("resolve reference %q: %w", ref, err)
	}
	return fromParsed(p, ref)
}

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
	}
	return nil
}

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
