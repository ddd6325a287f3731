package config

import (
	"time"

	"github.com/arcrawl/arcrawl/aspects/scope"
	"github.com/arcrawl/arcrawl/discover"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/uri"
)

// Records knows the URIs of the crawl. A [frontier.Frontier] does.
type Records interface {
	// Get returns what is remembered of a URI. It reports false if the URI is not known.
	Get(uri.URI) (frontier.Record, bool, error)
}

// ScopeOf returns the scope of the URIs that descend from a seed, given as text. If the text is not a URI, u is its own
// seed.
func ScopeOf(c *Config, seed string, u uri.URI, now time.Time, known Records) *scope.Scope {
	root := uri.FromCanonical(seed)
	if root.IsZero() {
		root = u
	}
	rules := c.For(About{URI: root, Now: now}).Scope
	return scope.New(root, rules, c.SeedHost, func(at uri.URI) (uri.URI, bool) { return redirectTarget(known, at) })
}

// redirectTarget returns the URI that the last visit of a URI was redirected to.
func redirectTarget(known Records, at uri.URI) (uri.URI, bool) {
	r, ok, err := known.Get(at)
	if err != nil || !ok || !discover.IsRedirect(r.Status) {
		return uri.URI{}, false
	}
	target, err := at.Join(r.Location)
	return target, err == nil
}
