package uri

import (
	"strings"

	"golang.org/x/net/publicsuffix"
)

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
