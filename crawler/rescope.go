// This file brings URIs back that were found out of scope. A URI that leaves the scope keeps the time at which it
// was due. As soon as a new configuration admits it again, it is due then.

package crawler

import (
	"fmt"
	"time"

	"github.com/rs/zerolog"

	"github.com/arcrawl/arcrawl/aspects/scope"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/uri"
)

// pageSize is the number of URIs that are judged in one step, so that a running crawl is not delayed.
const pageSize = 500

// outOfScope lists the URIs that were found out of scope. A [frontier.Frontier] does.
type outOfScope interface {
	config.Records
	OutOfScope(from frontier.Cursor, n int) ([]frontier.Record, frontier.Cursor, error)
	ReturnToScope(now time.Time, us ...uri.URI) (int, error)
	VisitedFor(r frontier.Record) (uri.URI, error)
}

// settleOutOfScope returns the record of a URI that is due and was found out of scope: it is checked again at next, and
// keeps the time at which it was due first.
func settleOutOfScope(r frontier.Record, next time.Time) frontier.Record {
	if r.DueInScope.IsZero() {
		r.DueInScope = r.Due
	}
	r.Due = next
	return r
}

// scopeKeeper brings URIs back in the background.
type scopeKeeper struct {
	frontier outOfScope
	live     *config.Live
	wake     func()
	log      zerolog.Logger
	check    chan struct{} // has a token if the configuration changed
}

// newScopeKeeper returns a keeper. It calls wake after it has made URIs due.
func newScopeKeeper(f outOfScope, live *config.Live, wake func(), log zerolog.Logger) *scopeKeeper {
	return &scopeKeeper{frontier: f, live: live, wake: wake, log: log, check: make(chan struct{}, 1)}
}

// Check makes Run judge the URIs out of scope again.
func (k *scopeKeeper) Check() {
	select {
	case k.check <- struct{}{}:
	default:
	}
}

// Run calls [returnToScope] at once and after each Check, until stop is closed. An error is of the store.
func (k *scopeKeeper) Run(stop <-chan struct{}, now func() time.Time) error {
	for {
		returned, err := returnToScope(k.frontier, k.live, now(), stop)
		if err != nil {
			return err
		}
		if returned > 0 {
			k.log.Info().Int("uris", returned).
				Msg("URIs are in scope again: they are due as they were before they were found out of scope")
			k.wake()
		}
		select {
		case <-stop:
			return nil
		case <-k.check:
		}
	}
}

// returnToScope makes the URIs due as before that were found out of scope, and that the configuration in force admits.
// It returns their number. It ends early when stop is closed; live is read for each page.
func returnToScope(f outOfScope, live *config.Live, now time.Time, stop <-chan struct{}) (returned int, err error) {
	for from := frontier.Cursor(""); ; {
		select {
		case <-stop:
			return returned, nil
		default:
		}
		list, next, err := f.OutOfScope(from, pageSize)
		if err != nil {
			return returned, fmt.Errorf("judge the URIs out of scope: %w", err)
		}
		admitted, err := admits(f, live.Current(), list, now)
		if err != nil {
			return returned, fmt.Errorf("judge the URIs out of scope: %w", err)
		}
		n, err := f.ReturnToScope(now, admitted...)
		returned += n
		if from = next; err != nil || next == "" {
			return returned, err
		}
	}
}

// admits returns the URIs that are in scope and are visited under their own name.
func admits(f outOfScope, c *config.Config, list []frontier.Record, now time.Time) (admitted []uri.URI, err error) {
	for _, r := range list {
		decider := config.ScopeOf(c, r.Seed, r.URI, now, f)
		if !decider.Accepts(scope.Discovery{URI: r.URI, Hops: r.Hops, Via: uri.FromCanonical(r.Via)}) {
			continue
		}
		visited, err := f.VisitedFor(r)
		if err != nil {
			return nil, err
		}
		if visited == r.URI {
			admitted = append(admitted, r.URI)
		}
	}
	return admitted, nil
}
