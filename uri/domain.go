package uri

import (
	"golang.org/x/net/publicsuffix"
)

// Domain is the registrable domain of u's host: "news.example.co.uk" and "www.news.example.co.uk" have "example.co.uk". It
// goes by the public suffix list, including the suffixes under which companies give away names: two blogs of one provider
// are two domains. A host that has none, because it is an address or itself a suffix, stands for itself.
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
