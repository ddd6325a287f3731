// This file says what a rendered page can reach.
//
// Scripts of strangers run on rendered pages: one advertisement is enough. What such a script requests, the crawl
// visits, and what it reads, it can carry away in the address of its next request. So a page reaches of other sites
// only what everybody could read.

package render

import (
	"net/netip"
	"slices"
	"time"

	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/uri"
)

// reach says what one page can reach.
type reach struct {
	config *config.Config
	page   uri.URI
	means  config.Means // by which the crawl gets the page
	server netip.Addr   // that sent the page; zero = not known
}

// target is a URI that the page requests or names.
type target struct {
	uri   uri.URI
	means config.Means // by which the crawl gets it
}

// target returns the target of a request for u. The record is of u, or of the URI that is visited instead of u; it is
// the zero value if there is none, and then hops lead to u.
func (p *reach) target(u uri.URI, record frontier.Record, hops uri.HopPath, now time.Time) target {
	about := config.About{URI: u, Hops: hops, Now: now}
	if !record.URI.IsZero() {
		about = config.About{URI: record.URI, Hops: record.Hops, ContentType: record.ContentType, Now: now}
	}
	return target{about.URI, p.config.MeansOf(about)}
}

// isOwn reports whether a URI belongs to the site of the page. Two servers without a name are two sites, also if only
// their ports differ.
func (p *reach) isOwn(u uri.URI) bool {
	if _, err := netip.ParseAddr(u.Hostname()); err == nil {
		return u.Host() == p.page.Host()
	}
	return u.Domain() == p.page.Domain()
}

// permits reports whether the page may cause a visit of a target, and read its capture. Pages of a series of their own
// read what belongs to no series, too. No page reads another series.
func (p *reach) permits(to target) bool {
	m := to.means
	if m.Series != "" && m.Series != p.means.Series {
		return false
	}
	return p.isOwn(to.uri) || !m.Secret && (m.Client == "" || m.Client == p.means.Client)
}

// isPublic reports whether the page may reach the server of a target: one that is in no permitted private network, or
// in the network of the page's own server. A server that is not known may be anywhere in the permitted networks.
func (p *reach) isPublic(to target, server netip.Addr) bool {
	return p.isOwn(to.uri) || !slices.ContainsFunc(to.means.Networks, func(n netip.Prefix) bool {
		return (!server.IsValid() || n.Contains(server)) && !(p.server.IsValid() && n.Contains(p.server))
	})
}

// isAsIs reports whether the capture of a target was made with what is sent today. An older one may have been made with
// a secret.
func (p *reach) isAsIs(to target, record frontier.Record) bool {
	return p.isOwn(to.uri) || record.Asked == 0 || record.Asked == to.means.Mark
}
