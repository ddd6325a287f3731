package crawler

import (
	"errors"
	"io"
	"time"

	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/crawler/optional"
	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/uri"
)

// withDefaults returns parts in which missing functions do nothing.
func (r Parts) withDefaults() Parts {
	if r.Now == nil {
		r.Now = time.Now
	}
	if r.OpenPayload == nil {
		r.OpenPayload = func(digest.Origin) (io.ReadCloser, error) { return nil, errors.New("records cannot be read") }
	}
	if r.IndexCapture == nil {
		r.IndexCapture = func(Captured) error { return nil }
	}
	if r.SaveConfig == nil {
		r.SaveConfig = func(*config.Config) error { return nil }
	}
	if r.NotifyRest == nil {
		r.NotifyRest = func(bool) {}
	}
	if r.Beat == nil {
		r.Beat = func(time.Time) {}
	}
	if r.Observe == nil {
		r.Observe = func(Report) {}
	}
	if r.NotifyHub == nil {
		r.NotifyHub = func(_ time.Time, _, _, _ uri.URI) {}
	}
	return r
}

// trapsFor returns the trap store for a visit. If its settings switch traps off, the store has none.
func (c *Crawler) trapsFor(s config.Settings) optional.Traps {
	if s.Scope.Traps {
		return c.traps
	}
	return optional.NoTraps{}
}
