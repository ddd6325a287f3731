package crawler

import (
	"errors"
	"io"
	"time"

	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/evaluators/rate"
	"github.com/arcrawl/arcrawl/scope/traps"
	"github.com/arcrawl/arcrawl/uri"
)

// withDefaults returns parts in which missing functions do nothing.
func (r Parts) withDefaults() Parts {
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

// similarStore is the part of [similar.Store] that a walk needs.
type similarStore interface {
	Get(uri.Host, rate.Kind) (rate.Relatives, error)
	Add(uri.Host, rate.Kind, rate.Relatives) error
	Flush() error
}

// noSimilar knows no similar URIs.
type noSimilar struct{}

func (noSimilar) Get(uri.Host, rate.Kind) (rate.Relatives, error) {
	return rate.Relatives{}, nil
}
func (noSimilar) Add(uri.Host, rate.Kind, rate.Relatives) error { return nil }
func (noSimilar) Flush() error                                  { return nil }

// dailyStore is the part of [daily.Store] that a walk needs.
type dailyStore interface {
	Add(uri.Host, time.Time, evaluators.Day) error
	Flush() error
}

// noDaily counts nothing.
type noDaily struct{}

func (noDaily) Add(uri.Host, time.Time, evaluators.Day) error { return nil }
func (noDaily) Flush() error                                  { return nil }

// trapStore is the part of [traps.Store] that a walk needs.
type trapStore interface {
	Judge(u, via uri.URI, hops uri.HopPath, now time.Time) (traps.Trap, bool, error)
	NoneSuspected(uri.Host) (bool, error)
	IsNotFound(uri.Host, digest.Digest) (bool, error)
	Learn(traps.Page) (found, refuted []traps.Trap, err error)
	AddListed(uri.Host, ...uri.URI) (refuted []traps.Trap, err error)
	LearnShared(answer digest.Digest, seed bool, now time.Time, a, other uri.URI) ([]traps.Trap, error)
	CountKeptOut(traps.Trap, time.Time, ...uri.URI) (before int64, err error)
	Release(h uri.Host, pattern string) (traps.Trap, error)
}

// trapsFor returns the trap store for a visit. If its settings switch traps off, the store has none.
func (c *Crawler) trapsFor(s config.Settings) trapStore {
	if s.Scope.Traps {
		return c.traps
	}
	return noTraps{}
}

// noTraps finds no traps.
type noTraps struct{}

func (noTraps) Judge(_, _ uri.URI, _ uri.HopPath, _ time.Time) (traps.Trap, bool, error) {
	return traps.Trap{}, false, nil
}
func (noTraps) NoneSuspected(uri.Host) (bool, error)             { return true, nil }
func (noTraps) IsNotFound(uri.Host, digest.Digest) (bool, error) { return false, nil }
func (noTraps) Learn(traps.Page) (found, refuted []traps.Trap, err error) {
	return nil, nil, nil
}
func (noTraps) AddListed(uri.Host, ...uri.URI) ([]traps.Trap, error) { return nil, nil }
func (noTraps) LearnShared(digest.Digest, bool, time.Time, uri.URI, uri.URI) ([]traps.Trap, error) {
	return nil, nil
}
func (noTraps) CountKeptOut(traps.Trap, time.Time, ...uri.URI) (int64, error) { return 0, nil }
func (noTraps) Release(uri.Host, string) (traps.Trap, error)                  { return traps.Trap{}, nil }
