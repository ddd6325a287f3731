package daemon

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/arcrawl/arcrawl/frontier"
)

// The pace at which an index of an earlier version is proven, so that reading its records does not delay the crawl.
const (
	proveAtOnce = 100
	provePause  = 500 * time.Millisecond
)

// proveOrigins proves the entries of the dedup index, and the origins of all URIs, once for each store. No revisit
// refers to a record that is refused; its URIs are archived whole at their next visit.
func (d *Daemon) proveOrigins(now time.Time) error {
	if done, _ := d.parts.Dedup.Proven(); done {
		return nil
	}
	if d.parts.Frontier.Counts(now).URIs == 0 {
		return d.parts.Dedup.FinishProof() // a new store
	}
	d.closers.add(func() func() error {
		stop := background(func(ctx context.Context) {
			if err := d.prove(ctx); err != nil && !errors.Is(err, context.Canceled) {
				d.log.Error().Err(err).
					Msg("could not check whether revisits refer to responses only: each is checked when it is used")
			}
		})
		return func() error { stop(); return nil }
	}())
	return nil
}

// prove proves all entries, and then the origin of each URI.
func (d *Daemon) prove(ctx context.Context) error {
	began := time.Now()
	for more := true; more; {
		refused, again, err := d.parts.Dedup.Prove(proveAtOnce)
		if err != nil {
			return err
		}
		for _, o := range refused {
			d.log.Warn().Str("uri", o.URI).Str("file", o.File).Int64("offset", o.Offset).
				Msg("dropped a record that is not a response from the dedup index: no further revisit refers to it")
		}
		if more = again; more {
			if err := wait(ctx, provePause); err != nil {
				return err
			}
		}
	}
	for from := frontier.Cursor(""); ; {
		list, next, err := d.parts.Frontier.List(d.o.Now(), frontier.Selection{}, from, proveAtOnce)
		if err != nil {
			return fmt.Errorf("read the origins of URIs: %w", err)
		}
		for _, e := range list {
			d.parts.Dedup.Lost(e.Origin)
		}
		if from = next; next == "" {
			break
		}
		if err := wait(ctx, provePause); err != nil {
			return err
		}
	}
	_, refused := d.parts.Dedup.Proven()
	d.log.Info().Int("refused", refused).Dur("took", time.Since(began)).
		Msg("checked that revisits refer to responses only; this happens once for each store")
	return d.parts.Dedup.FinishProof()
}
