package admin

import (
	"time"

	"github.com/arcrawl/arcrawl/aspects"
	"github.com/arcrawl/arcrawl/aspects/robots"
	"github.com/arcrawl/arcrawl/crawler"
	"github.com/arcrawl/arcrawl/crawllog"
)

// maxWarned is the maximum number of URIs whose first failure is logged.
const maxWarned = 10_000

// logFirstFailure logs a seed whose first visit failed or is forbidden, and a first robots.txt that keeps seeds
// waiting. It logs each URI once, so that a wrong name or a closed network is seen when a crawl starts. The caller
// holds w.mu.
func (w *Window) logFirstFailure(r crawler.Report) {
	forbidden := r.Status == aspects.StatusForbidden && r.Visits == 0 && r.Hops == ""
	failed := r.Failed && r.Visits == 1 && (r.Hops == "" || robots.IsFile(r.URI))
	if !forbidden && !failed || w.warned[r.URI.String()] || len(w.warned) >= maxWarned ||
		!w.o.Config().Config.SeedHost(r.URI.Host()) {
		return
	}
	w.warned[r.URI.String()] = true
	e := w.o.Log.Warn().Str("uri", r.URI.String()).Str("status", crawllog.StatusText(r.Status))
	if r.Error != "" {
		e = e.Str("reason", r.Error)
	}
	if !r.Due.IsZero() { // robots.txt is visited on demand
		e = e.Str("next", r.Due.UTC().Format(time.RFC3339))
	}
	switch {
	case forbidden:
		e.Msg("robots.txt forbids a seed: it is not visited")
	case r.Hops == "":
		e.Msg("first visit of a seed failed: trying again later")
	default:
		e.Msg("robots.txt of a seed's host could not be fetched: its URIs wait, trying again later")
	}
}
