package uri

import (
	"golang.org/x/net/publicsuffix"
)

// Domain returns the registrable domain of the host of u. For "news.example.co.uk" and "www.news.example.co.uk" it is
// "example.co.uk". It uses the public suffix list with its private part, so two blogs of one provider are two
// domains. For a host without such a domain, which is an IP address or a public suffix itself, it returns the host
// name.
func (u URI) Domain() string {
	name := u.Hostname()
	if isAddress(name) {
		return name
	}
	if domain, err := publicsuffix.EffectiveTLDPlusOne(name); err == nil {
		return domain
	}
	return name
}
