// This file says which domains a host inherits settings from.

package config

import (
	"slices"
	"strings"

	"golang.org/x/net/publicsuffix"

	"github.com/arcrawl/arcrawl/uri"
)

// above returns the host or domain whose settings h inherits: h without its port, else without its first label. It
// returns "" at the end.
func above(h uri.Host) uri.Host {
	s := string(h)
	if colon := strings.LastIndexByte(s, ':'); colon > strings.LastIndexByte(s, ']') {
		return uri.Host(s[:colon])
	}
	_, domain, _ := strings.Cut(s, ".")
	return uri.Host(domain)
}

// below reports whether h is a host that inherits from domain.
func below(h, domain uri.Host) bool {
	for h = above(h); h != ""; h = above(h) {
		if h == domain {
			return true
		}
	}
	return false
}

// depth returns the number of hosts and domains above h.
func depth(h uri.Host) int {
	n := 0
	for ; h != ""; h = above(h) {
		n++
	}
	return n
}

// isSuffix reports whether h is a public suffix such as co.uk, below which anybody can register a name. Hosts do not
// inherit from a public suffix.
func isSuffix(h uri.Host) bool {
	suffix, _ := publicsuffix.PublicSuffix(string(h))
	return suffix == string(h)
}

// covers reports whether another host belongs to the file of h.
func covers(h, other uri.Host) bool { return other == h || !isSuffix(h) && below(other, h) }

// files returns the hosts, each once, and a function that reports whether the file of a host applies to any of them.
func files(hosts []uri.Host) (unique []uri.Host, applies func(file uri.Host) bool) {
	unique = slices.Clone(hosts)
	slices.Sort(unique)
	unique = slices.Compact(unique)
	exact, parents := make(map[uri.Host]bool, len(unique)), map[uri.Host]bool{}
	for _, h := range unique {
		exact[h] = true
		for h = above(h); h != "" && !parents[h]; h = above(h) {
			parents[h] = true
		}
	}
	return unique, func(file uri.Host) bool { return exact[file] || parents[file] && !isSuffix(file) }
}

// hostname returns a host without its port.
func hostname(h uri.Host) string { return uri.FromCanonical("http://" + string(h) + "/").Hostname() }
