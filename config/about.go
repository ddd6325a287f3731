package config

import (
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/scope"
	"github.com/arcrawl/arcrawl/uri"
)

// About is what the settings of a visit can depend on. Fields that are not known are left out; what asks about them does
// not hold then.
type About struct {
	// URI is what is visited.
	URI uri.URI
	// Hops is how it was found.
	Hops uri.HopPath
	// ContentType is that of its last capture, empty before the first.
	ContentType string
	// Now is the time of the visit.
	Now time.Time
}

// For gives the settings of a visit, as the package comment tells in Layers. It is cheap: what does not depend on the URI
// or the time was put together when the files were read, and each combination of refinements is put together once.
func (c *Config) For(a About) Settings { return c.settings(a.URI.Host(), a) }

// ForHost gives the settings of a host as a whole, for what does not depend on a single URI. Of refinements only those
// hold that ask about nothing but the time.
func (c *Config) ForHost(h uri.Host, now time.Time) Settings { return c.settings(h, About{Now: now}) }

func (c *Config) settings(h uri.Host, a About) Settings {
	s := *c.profile(h).settings(a)
	if s.Scope.By == scope.ByPrefix && len(s.Scope.Prefixes) == 0 {
		s.Scope.Prefixes = c.folders[h]
	}
	return s
}

// profile is that of the host's own file, or of the nearest domain above it that has one, or of the main file.
func (c *Config) profile(h uri.Host) *profile {
	if len(c.hosts) == 0 {
		return c.main
	}
	if p, ok := c.hosts[h]; ok {
		return p
	}
	for h = above(h); h != ""; h = above(h) {
		if p, ok := c.hosts[h]; ok && p.inherited {
			return p
		}
	}
	return c.main
}

// WaitRefinements are the criteria of those refinements that hold for a visit, ask about more than the time and set entries of
// the stack; empty where there is none.
func (c *Config) WaitRefinements(a About) string {
	var all []string
	for _, l := range c.profile(a.URI.Host()).layers {
		if _, sets := l.values["wait"]; sets && l.criteria.asksAboutURI() && l.holds(a) {
			all = append(all, l.criteria.String())
		}
	}
	return strings.Join(all, "; ")
}
