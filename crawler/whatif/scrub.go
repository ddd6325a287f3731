package whatif

import (
	"fmt"
	"time"

	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/uri"
)

// ScrubRules compiles the scrubbing rules of a URI's host, whether change.mode uses them or not.
func ScrubRules(c *config.Config, u uri.URI, now time.Time) (*digest.Rules, error) {
	change := c.For(config.About{URI: u, Now: now}).Change
	if len(change.Scrub)+len(change.ScrubCSS) == 0 && change.Mode != config.TextOnly {
		return nil, fmt.Errorf("the host %s has no scrubbing rules in %s: set change.scrub or change.scrub_css", u.Host(), c.Path)
	}
	spec := digest.Spec{Regexes: change.Scrub, Selectors: change.ScrubCSS, Text: change.Mode == config.TextOnly}
	return digest.Compile(spec)
}
