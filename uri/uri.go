// Package uri gives every fetched thing exactly one name.
//
// A [URI] is an absolute http or https URI in the canonical form of the WHATWG URL standard, without fragment and
// without user information (neither is ever sent to a server). Two URIs are the same resource for arcrawl exactly when
// their strings are equal; no rule here merges two different documents.
package uri

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"

	"github.com/nlnwa/whatwg-url/url"
)

// MaxLength is the longest URI, in bytes, that arcrawl takes. Heritrix stops at 2,083 and loses signed image
// addresses of today's sites; 4,096 keeps a crawl.log line readable by tools with a fixed line buffer.
const MaxLength = 4096

// maxHostname is the limit of RFC 1035, section 2.3.4. The parser accepts longer names and then cannot read its own output.
const (
	maxHostname = 253
	maxLabel    = 63
)

// ErrScheme is returned for a URI that is neither http nor https: a mailto: link is no mistake of the page, only
// nothing to crawl.
var ErrScheme = errors.New("scheme is not http or https")

// URI is an absolute, canonical http(s) URI. It is a small value that can be compared and used as a map key.
// The zero value is no URI.
type URI struct {
	s string // canonical text; everything below follows from it

	hostEnd, portEnd uint16 // s[host():hostEnd] is the host name, s[hostEnd:portEnd] is "" or ":port"
}

// Parse reads an absolute URI as a browser would and canonicalises it.
func Parse(raw string) (URI, error) {
	if len(raw) > MaxLength {
		return URI{}, fmt.Errorf("parse URI %.60q…: longer than %d bytes", raw, MaxLength)
	}
	p, err := url.Parse(raw)
	if err != nil {
		return URI{}, fmt.Errorf("parse URI %q: %w", raw, err)
	}
	return fromParsed(p, raw)
}

// Join resolves a reference found in the document u, as a browser would.
func (u URI) Join(ref string) (URI, error) {
	if len(ref) > MaxLength {
		return URI{}, fmt.Errorf("resolve reference %.60q…: longer than %d bytes", ref, MaxLength)
	}
	p, err := url.ParseRef(u.s, ref)
	if err != nil {
		return URI{}, fmt.Errorf("resolve reference %q: %w", ref, err)
	}
	return fromParsed(p, ref)
}

// FromCanonical takes back a string that [URI.String] gave out, without parsing it anew. A string that is not in the
// shape of one gives the zero URI.
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
	u := FromCanonical(p.Href(true))
	if u.IsZero() {
		return URI{}, fmt.Errorf("parse URI %q: no host, or longer than %d bytes once escaped", raw, MaxLength)
	}
	return u, nil
}

func checkHostname(name string) error {
	if name == "" {
		return errors.New("no host")
	}
	if len(name) > maxHostname {
		return fmt.Errorf("host name longer than %d bytes", maxHostname)
	}
	for label := range strings.SplitSeq(name, ".") {
		if len(label) > maxLabel {
			return fmt.Errorf("host label longer than %d bytes", maxLabel)
		}
	}
	return nil
}

// IsZero reports whether u is no URI.
func (u URI) IsZero() bool { return u.s == "" }

// String gives the canonical text.
func (u URI) String() string { return u.s }

// MarshalText lets URIs stand in stored and printed structures.
func (u URI) MarshalText() ([]byte, error) { return []byte(u.s), nil }

// UnmarshalText parses; it takes an empty text as the zero URI.
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

// Scheme is "http" or "https"; empty for the zero URI, as all parts of that are but for the port.
func (u URI) Scheme() string { return u.s[:max(strings.IndexByte(u.s, ':'), 0)] }

func (u URI) hostStart() int {
	if u.s == "" {
		return 0
	}
	return strings.IndexByte(u.s, ':') + len("://")
}

// Hostname is the host name without port: lower-case ASCII (punycode), or an IP address without brackets.
func (u URI) Hostname() string {
	return strings.Trim(u.s[u.hostStart():u.hostEnd], "[]")
}

// Port is the port as a number, the scheme's default where the URI has none.
func (u URI) Port() string {
	if u.portEnd > u.hostEnd {
		return u.s[u.hostEnd+1 : u.portEnd]
	}
	if u.Scheme() == "https" {
		return "443"
	}
	return "80"
}

// Address is what to dial: host name and port.
func (u URI) Address() string { return net.JoinHostPort(u.Hostname(), u.Port()) }

// Authority is the value of the Host header: host name, and port when not the default.
func (u URI) Authority() string { return u.s[u.hostStart():u.portEnd] }

// RequestTarget is what stands in the request line: path and query, never empty.
func (u URI) RequestTarget() string { return u.s[u.portEnd:] }

// Path is the path without the query; it starts with a slash.
func (u URI) Path() string {
	path, _, _ := strings.Cut(u.RequestTarget(), "?")
	return path
}

// Origin is the scheme and authority with an empty path, the thing that a robots.txt speaks for (RFC 9309, 2.3). Its text is a part
// of u's; who keeps it for long takes a clone of that.
func (u URI) Origin() URI {
	if u.IsZero() {
		return URI{}
	}
	u.s = u.s[:u.portEnd+1]
	return u
}

// Clone is u with a text of its own.
func (u URI) Clone() URI {
	u.s = strings.Clone(u.s)
	return u
}

// Robots is the address of the robots.txt that speaks for u.
func (u URI) Robots() URI { return FromCanonical(u.s[:u.portEnd] + "/robots.txt") }

// Host is the key of u's host.
func (u URI) Host() Host { return Host(u.Authority()) }

// Host is the unit of politeness: host name, and port when not the scheme's default. The http and the https side of
// one name are one host.
type Host string

// SURT is the sort-friendly form of u: "http://www.example.org:8080/a?b" becomes "org,example,www:8080)/a?b".
// It is what CDX files sort by; nothing but the order of the host labels is changed here.
func (u URI) SURT() string {
	name := u.Hostname()
	var b strings.Builder
	b.Grow(len(u.s))
	if isAddress(name) {
		b.WriteString(name)
	} else {
		for {
			dot := strings.LastIndexByte(name, '.')
			b.WriteString(name[dot+1:])
			if dot < 0 {
				break
			}
			b.WriteByte(',')
			name = name[:dot]
		}
	}
	b.WriteString(u.s[u.hostEnd:u.portEnd])
	b.WriteByte(')')
	b.WriteString(u.RequestTarget())
	return b.String()
}

func isAddress(name string) bool { return net.ParseIP(name) != nil }

// Hop says how a URI was found, in the letters of Heritrix's hop path.
type Hop byte

// The hops. Their letters stand in crawl.log and in the store and never change.
const (
	Link        Hop = 'L' // a link that a reader would click
	Embed       Hop = 'E' // something the page shows or runs
	Redirect    Hop = 'R' // the target of a redirect
	Prereq      Hop = 'P' // robots.txt
	Speculative Hop = 'X' // a guess from a script
	Manifest    Hop = 'M' // a feed or sitemap, or an entry of one
	Inferred    Hop = 'I' // implied by something else
)

// maxShownHops is where Heritrix begins to abbreviate a hop path in crawl.log.
const maxShownHops = 50

// HopPath is the way from a seed to a URI, one letter for each step; a seed's own is empty.
type HopPath string

// Then is the path of something found at the end of p.
func (p HopPath) Then(h Hop) HopPath { return p + HopPath(h) }

// Count says how many of p's steps are of the kind h.
func (p HopPath) Count(h Hop) int { return strings.Count(string(p), string(rune(h))) }

// Trailing counts the steps of kind h, redirects apart, at the end of p: how far an embed is from its page.
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

// TrailingRedirects counts the redirects at the end of p: how long the chain is that leads here.
func (p HopPath) TrailingRedirects() int {
	return len(p) - len(strings.TrimRight(string(p), string(rune(Redirect))))
}

// String is the path as crawl.log shows it: the last 50 hops, with the number of those left out and a plus before them.
func (p HopPath) String() string {
	if over := len(p) - maxShownHops; over > 0 {
		return strconv.Itoa(over) + "+" + string(p[over:])
	}
	return string(p)
}
