// This file brings URIs back that were found out of scope. A URI that leaves the scope keeps the time at which it
// was due. As soon as a new configuration admits it again, it is due then.

package crawler

import (
	"fmt"
	"time"

	"github.com/arcrawl/arcrawl/aspects/scope"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/uri"
)

// pageSize is the number of URIs that are judged in one step, so that a running crawl is not delayed.
const pageSize = 500

// settleOutOfScope returns the record of a URI that is due and was found out of scope: it is checked again at next, and
// keeps the time at which it was due first.
func settleOutOfScope(r frontier.Record, next time.Time) frontier.Record {
	if r.DueInScope.IsZero() {
		r.DueInScope = r.Due
	}
	r.Due = next
	return r
}

// keepScope calls returnToScope at once and after each change of the configuration, until stop is closed. An error is
// of the store.
func (c *Crawler) keepScope(stop <-chan struct{}) error {
	for {
		returned := 0
		err := c.whenThereIsSpace(stop, func() error {
			n, err := c.returnToScope(stop)
			returned += n
			return err
		})
		if err != nil {
			return err
		}
		if returned > 0 {
			c.parts.Log.Info().Int("uris", returned).
				Msg("URIs are in scope again: they are due as they were before they were found out of scope")
			c.Wake()
		}
		select {
		case <-stop:
			return nil
		case <-c.scopeChanged:
		}
	}
}

// returnToScope makes the URIs due as before that were found out of scope, and that the configuration in force admits.
// It returns their number. It ends early when stop is closed; the configuration is read for each page.
func (c *Crawler) returnToScope(stop <-chan struct{}) (returned int, err error) {
	f, now := c.parts.Frontier, c.parts.Now()
	for from := frontier.Cursor(""); ; {
		select {
		case <-stop:
			return returned, nil
		default:
		}
		list, next, err := f.OutOfScope(from, pageSize)
		var admitted []uri.URI
		if err == nil {
			admitted, err = admits(f, c.parts.Config.Current(), list, now)
		}
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
func admits(
	f *frontier.Frontier, c *config.Config, list []frontier.Record, now time.Time,
) (admitted []uri.URI, err error) {
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
