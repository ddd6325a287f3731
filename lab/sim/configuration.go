package sim

import (
	"time"

	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/uri"
)

// Configuration plays the settings of a configuration.
type Configuration struct {
	Name   string
	Config *config.Config
	Epoch  time.Time // refinements apply that are in force at this time
}

// usualFetch is assumed as the duration of a fetch. Histories do not record it.
const usualFetch = 300 * time.Millisecond

// Stack returns the stack in force for a host and media type.
func (c Configuration) Stack(host, mime string) evaluators.Stack { return c.settings(host, mime).Wait }

func (c Configuration) settings(host, mime string) config.Settings {
	u, err := uri.Parse("http://" + host + "/")
	if err != nil { // a history's host may be the name of a service, which no host file applies to
		u = uri.FromCanonical("http://history.invalid/")
	}
	return c.Config.For(config.About{URI: u, ContentType: mime, Now: c.Epoch})
}

// Rest returns how long a visit to a host takes with the rest after it, divided by the host's slots.
func (c Configuration) Rest(host string) time.Duration {
	s := c.settings(host, "").Politeness
	rest := max(min(time.Duration(s.DelayFactor*float64(usualFetch)), s.MaxDelay), s.MinDelay)
	return (rest + usualFetch) / time.Duration(max(s.Valence, 1))
}

// Policy returns the policy that plays the stack; it has no knob.
func (c Configuration) Policy() Policy { return Configured(c.Name, c.Stack) }

// Polite returns the question to [Crowd] that plays a policy with the politeness and the order of the configuration.
// Stores are put into dir.
func (c Configuration) Polite(p Policy, dir string) CrowdOptions {
	return CrowdOptions{Policy: p, Rest: c.Rest, Order: c.Config.Crawl.Order, Dir: dir}
}
