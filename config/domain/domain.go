// Package domain knows which domains a host inherits settings from.
package domain

import (
	"strings"

	"golang.org/x/net/publicsuffix"

	"github.com/arcrawl/arcrawl/uri"
)

// Above returns the host or domain whose settings h inherits: h without its port, else without its first label. It
// returns "" at the end.
func Above(h uri.Host) uri.Host {
	s := string(h)
	if colon := strings.LastIndexByte(s, ':'); colon > strings.LastIndexByte(s, ']') {
		return uri.Host(s[:colon])
	}
	_, domain, _ := strings.Cut(s, ".")
	return uri.Host(domain)
}

// Below reports whether h is a host that inherits from domain.
func Below(h, domain uri.Host) bool {
	for h = Above(h); h != ""; h = Above(h) {
		if h == domain {
			return true
		}
	}
	return false
}

// Depth returns the number of hosts and domains above h.
func Depth(h uri.Host) int {
	n := 0
	for ; h != ""; h = Above(h) {
		n++
	}
	return n
}

// IsSuffix reports whether h is a public suffix such as co.uk, below which anybody can register a name. Hosts do not
// inherit from a public suffix.
func IsSuffix(h uri.Host) bool {
	suffix, _ := publicsuffix.PublicSuffix(string(h))
	return suffix == string(h)
}

// Covers returns a function that reports whether a host belongs to the file of h.
func Covers(h uri.Host) func(uri.Host) bool {
	return func(other uri.Host) bool { return other == h || !IsSuffix(h) && Below(other, h) }
}

// Hostname returns a host without its port.
func Hostname(h uri.Host) string { return uri.FromCanonical("http://" + string(h) + "/").Hostname() }
