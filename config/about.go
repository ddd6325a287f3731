package config

import (
	"time"

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

// For gives the settings of a visit: those of the URI's host file over those of the main file over the defaults. It does
// not allocate.
func (c *Config) For(a About) Settings { return c.ForHost(a.URI.Host(), a.Now) }

// ForHost gives the settings of a host as a whole, for what does not depend on a single URI.
func (c *Config) ForHost(h uri.Host, _ time.Time) Settings {
	if s, ok := c.hosts[h]; ok {
		return s
	}
	return c.defaults
}
