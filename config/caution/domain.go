// Package domain knows which domains a host inherits settings from.

package caution

import (
	"slices"
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

// covers returns a function that reports whether a host belongs to the file of h.
func covers(h uri.Host) func(uri.Host) bool {
	return func(other uri.Host) bool { return other == h || !IsSuffix(h) && Below(other, h) }
}

// Files returns the hosts, each once, and a function that reports whether the file of a host applies to any of them.
func Files(hosts []uri.Host) (unique []uri.Host, applies func(file uri.Host) bool) {
	unique = slices.Clone(hosts)
	slices.Sort(unique)
	unique = slices.Compact(unique)
	exact, parents := make(map[uri.Host]bool, len(unique)), map[uri.Host]bool{}
	for _, h := range unique {
		exact[h] = true
		for h = Above(h); h != "" && !parents[h]; h = Above(h) {
			parents[h] = true
		}
	}
	return unique, func(file uri.Host) bool { return exact[file] || parents[file] && !IsSuffix(file) }
}

// Hostname returns a host without its port.
func Hostname(h uri.Host) string { return uri.FromCanonical("http://" + string(h) + "/").Hostname() }
