// Package optional holds the stores that a crawl can do without: similar URIs, daily counts and traps. For each store
// there is the part that a visit needs, as an interface, and an implementation that knows nothing.
package optional

import (
	"time"

	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/evaluators/rate"
	"github.com/arcrawl/arcrawl/hosts/daily"
	"github.com/arcrawl/arcrawl/hosts/similar"
	"github.com/arcrawl/arcrawl/scope/traps"
	"github.com/arcrawl/arcrawl/uri"
)

// Similar is the part of [similar.Store] that a walk needs.
type Similar interface {
	Get(uri.Host, rate.Kind) (rate.Relatives, error)
	Add(uri.Host, rate.Kind, rate.Relatives) error
	Flush() error
	Bytes() int64
}

// noSimilar knows no similar URIs.
type noSimilar struct{}

func (noSimilar) Get(uri.Host, rate.Kind) (rate.Relatives, error) {
	return rate.Relatives{}, nil
}
func (noSimilar) Add(uri.Host, rate.Kind, rate.Relatives) error { return nil }
func (noSimilar) Flush() error                                  { return nil }

// Daily is the part of [daily.Store] that a walk needs.
type Daily interface {
	Add(uri.Host, time.Time, evaluators.Day) error
	Flush() error
	Bytes() int64
}

func (noSimilar) Bytes() int64 { return 0 }

// noDaily counts nothing.
type noDaily struct{}

func (noDaily) Add(uri.Host, time.Time, evaluators.Day) error { return nil }
func (noDaily) Flush() error                                  { return nil }

func (noDaily) Bytes() int64 { return 0 }

// Traps is the part of [traps.Store] that a walk needs.
type Traps interface {
	Judge(u, via uri.URI, hops uri.HopPath, now time.Time) (traps.Trap, bool, error)
	NoneSuspected(uri.Host) (bool, error)
	IsNotFound(uri.Host, digest.Digest) (bool, error)
	Learn(traps.Page) (found, refuted []traps.Trap, err error)
	AddListed(uri.Host, ...uri.URI) (refuted []traps.Trap, err error)
	LearnShared(answer digest.Digest, seed bool, now time.Time, a, other uri.URI) ([]traps.Trap, error)
	CountKeptOut(traps.Trap, time.Time, ...uri.URI) (before int64, err error)
	AddFound(uri.Host, traps.Found, time.Time) (t traps.Trap, added bool, err error)
	Refute(uri.Host, traps.Found) (released []traps.Trap, err error)
	Release(h uri.Host, pattern string) (traps.Trap, error)
	Bytes() int64
}

// NoTraps finds no traps.
type NoTraps struct{}

// Judge finds no trap.
func (NoTraps) Judge(_, _ uri.URI, _ uri.HopPath, _ time.Time) (traps.Trap, bool, error) {
	return traps.Trap{}, false, nil
}

// NoneSuspected returns true.
func (NoTraps) NoneSuspected(uri.Host) (bool, error) { return true, nil }

// IsNotFound returns false.
func (NoTraps) IsNotFound(uri.Host, digest.Digest) (bool, error) { return false, nil }

// Learn learns nothing.
func (NoTraps) Learn(traps.Page) (found, refuted []traps.Trap, err error) {
	return nil, nil, nil
}

// AddListed learns nothing.
func (NoTraps) AddListed(uri.Host, ...uri.URI) ([]traps.Trap, error) { return nil, nil }

// LearnShared learns nothing.
func (NoTraps) LearnShared(digest.Digest, bool, time.Time, uri.URI, uri.URI) ([]traps.Trap, error) {
	return nil, nil
}

// CountKeptOut counts nothing.
func (NoTraps) CountKeptOut(traps.Trap, time.Time, ...uri.URI) (int64, error) { return 0, nil }

// AddFound adds nothing.
func (NoTraps) AddFound(uri.Host, traps.Found, time.Time) (traps.Trap, bool, error) {
	return traps.Trap{}, false, nil
}

// Refute releases nothing.
func (NoTraps) Refute(uri.Host, traps.Found) ([]traps.Trap, error) { return nil, nil }

// Release finds no trap to release.
func (NoTraps) Release(uri.Host, string) (traps.Trap, error) { return traps.Trap{}, nil }

// Bytes returns zero.
func (NoTraps) Bytes() int64 { return 0 }

// SimilarOr returns s, or a store that knows no similar URIs if s is nil.
func SimilarOr(s *similar.Store) Similar {
	if s == nil {
		return noSimilar{}
	}
	return s
}

// DailyOr returns s, or a store that counts nothing if s is nil.
func DailyOr(s *daily.Store) Daily {
	if s == nil {
		return noDaily{}
	}
	return s
}

// TrapsOr returns s, or a store that finds no traps if s is nil.
func TrapsOr(s *traps.Store) Traps {
	if s == nil {
		return NoTraps{}
	}
	return s
}
