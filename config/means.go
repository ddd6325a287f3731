package config

import (
	"fmt"
	"net/netip"

	"github.com/arcrawl/arcrawl/aspects/login"
)

// Means say by what the crawl gets an answer, as far as not everybody has it, and in which files the answer is kept.
type Means struct {
	Secret   bool           // a credential, a secret header field, or a login
	Mark     int            // of what is sent, see [login.Options]
	Client   string         // the proxy and the local addresses; "" = the usual ones
	Series   string         // of the WARC files
	Networks []netip.Prefix // where the host may be although they are not public
}

// MeansOf returns by what the crawl gets a URI.
func (c *Config) MeansOf(a About) Means {
	s := c.For(a)
	o := Own[login.Options](&s)
	m := Means{
		Secret: o.HasSecret(), Mark: o.Mark(), Series: s.Dedup.Series, Networks: c.NetworksFor(a.URI),
	}
	if n := &s.Network; n.Proxy != "" || len(n.Sources) > 0 {
		m.Client = fmt.Sprint(n.Proxy, n.Sources)
	}
	return m
}
