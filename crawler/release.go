package crawler

import (
	"fmt"
	"regexp"
	"time"

	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/traps"
	"github.com/arcrawl/arcrawl/uri"
)

// ReleaseTrap ends a trap for good, and makes those of its URIs due that are in the frontier and were not visited because
// of it. It gives how many these are.
func ReleaseTrap(f *frontier.Frontier, b *traps.Book, h uri.Host, pattern string, now time.Time) (int, error) {
	t, err := b.Release(h, pattern)
	if err != nil || t.Kind == traps.SoftNotFound {
		return 0, err
	}
	match, err := regexp.Compile(t.Pattern)
	if err != nil {
		return 0, fmt.Errorf("release %q on %s: %w", pattern, h, err)
	}
	due := 0
	err = f.Each(func(r frontier.Record) error {
		if r.URI.Host() != h || r.Due.IsZero() || !r.Due.After(now) || !match.MatchString(r.URI.String()) {
			return nil
		}
		if r.Visits > 0 && r.LastStatus != statusOutOfScope {
			return nil // it has an interval of its own
		}
		added, err := f.Add(now, frontier.Candidate{URI: r.URI, Hops: r.Hops, Via: r.Via, Seed: r.Seed, Due: now, Sooner: true})
		due += added.Sooner
		return err
	})
	return due, err
}
