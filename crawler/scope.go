package crawler

import (
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/uri"
)

// inScope says whether a URI found at via, on the path hops from seed, belongs to the crawl. The settings of the
// seed decide.
func inScope(c *config.Config, now time.Time, u uri.URI, hops uri.HopPath, via uri.URI, seed string) bool {
	root := uri.FromCanonical(seed)
	if root.IsZero() {
		root = u
	}
	if !c.SeedHost(root.Host()) {
		return false // the curator has taken the seed out
	}
	if hops == "" || hops.Count(uri.Prereq) > 0 {
		return true
	}
	s := c.For(config.About{URI: root, Now: now}).Scope
	if !withinHops(hops, s) {
		return false
	}
	// Where a seed's redirects lead is part of the seed.
	if hops.TrailingRedirects() == len(hops) {
		return true
	}
	if hops.Trailing(uri.Embed) > 0 && s.EmbedsAnywhere {
		return true
	}
	if s.By == config.ByPrefix {
		return underPrefix(u, s.Prefixes)
	}
	if c.SeedHost(u.Host()) {
		return true
	}
	// A page that a seed's redirect led to makes its host part of the crawl; one that is only embedded does not.
	return u.Host() == via.Host() && hops[:len(hops)-1].Trailing(uri.Embed) == 0
}

// withinHops applies the limits on the way from the seed.
func withinHops(hops uri.HopPath, s config.Scope) bool {
	steps := len(hops) - hops.Count(uri.Embed) - hops.Count(uri.Redirect)
	return steps <= s.MaxHops && hops.Trailing(uri.Embed) <= s.MaxEmbedHops && hops.TrailingRedirects() <= s.MaxRedirects
}

func underPrefix(u uri.URI, prefixes []string) bool {
	for _, p := range prefixes {
		if strings.HasPrefix(u.String(), p) {
			return true
		}
	}
	return false
}
