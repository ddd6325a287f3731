package config

import (
	"github.com/arcrawl/arcrawl/aspects/noise"
	"github.com/arcrawl/arcrawl/digest"
)

// Scrubbing returns the scrubbing rules of a URI, whether change.mode uses them or not.
func (c *Config) Scrubbing(a About) digest.Spec {
	s := c.For(a)
	change := Own[noise.Options](&s)
	return digest.Spec{Regexes: change.Scrub, Selectors: change.ScrubCSS, Text: change.Mode == noise.TextOnly}
}
