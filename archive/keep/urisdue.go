package keep

import (
	"context"
	"fmt"
	"time"

	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/dedup"
	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/uri"
)

const (
	// rounds is how often the store is gone through for URIs that were being visited.
	rounds = 3
	// minimumPace is the minimum time between two URIs of a host.
	minimumPace = 100 * time.Millisecond
	// share is which part of a host's requests, at most, archive lost payloads again: one in two.
	share = 2
)

// Store is the part of [frontier.Frontier] that healing needs.
type Store interface {
	Recapture(
		now time.Time, from frontier.Cursor, isLost func(digest.Origin) bool, due func(uri.Host) time.Time,
	) (frontier.Steered, frontier.Cursor, error)
}

// MakeDue makes every URI due whose payload is lost, at the pace of its host, and returns their number. pause is called
// between two steps and ends the work with its error. If it is interrupted, it can be repeated. The losses stay pending
// until it has finished.
func MakeDue(
	ctx context.Context, s Store, index *dedup.Index, c *config.Config, now func() time.Time, pause func() error,
) (due int64, err error) {
	losses := index.Losses()
	for round := 1; ; round++ {
		done, err := once(ctx, s, index, c, now, pause)
		due += done.Changed
		if err != nil {
			return due, fmt.Errorf("make URIs due whose payloads are in lost files: %w", err)
		}
		if done.InProgress == 0 || round == rounds {
			return due, index.Healed(losses)
		}
	}
}

// once goes through the store once.
func once(
	ctx context.Context, s Store, index *dedup.Index, c *config.Config, now func() time.Time, pause func() error,
) (all frontier.Steered, err error) {
	var host uri.Host
	var next time.Time
	var pace time.Duration
	for from := frontier.Cursor(""); ; {
		at := now()
		due := func(h uri.Host) time.Time {
			if h != host {
				host, next = h, at
				p := c.ForHost(h, at).Politeness
				pace = max(share*max(p.MinDelay, p.MaxDelay), minimumPace)
			}
			next = next.Add(pace)
			return next
		}
		part, following, err := s.Recapture(at, from, index.Lost, due)
		all = all.Plus(part)
		if err == nil {
			err = ctx.Err()
		}
		if from = following; err != nil || from == "" {
			return all, err
		}
		if err := pause(); err != nil {
			return all, err
		}
	}
}
