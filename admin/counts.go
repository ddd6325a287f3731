package admin

import (
	"net/http"
	"time"

	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/crawler"
	"github.com/arcrawl/arcrawl/crawllog"
	"github.com/arcrawl/arcrawl/evaluators"
)

// countsOf returns the counts of one visit.
func countsOf(r crawler.Report) api.Counts {
	c := api.Counts{
		Visits: 1, Found: int64(r.Found), Received: r.Received, Spared: r.Spared, Deduped: r.Deduped, Written: r.Written,
	}
	switch {
	case r.Failed:
		c.Failed = 1
	case r.Status < 0:
		c.Refused = 1
	case r.Verdict.State == evaluators.Changed:
		c.Versions = 1
	case r.Verdict.State == evaluators.Unchanged:
		c.Unchanged = 1
		if r.Stopped || r.Status == http.StatusNotModified {
			c.Unread = 1
		}
	}
	if r.Down() {
		c.Down = 1
	}
	if r.NoSpace {
		c.NoSpace = 1
	}
	return c
}

// minuteCounts counts the visits that ended in each second of the last minute. Visits may be reported in any order.
type minuteCounts [60]secondCounts

type secondCounts struct {
	second int64 // since 1970
	counts api.Counts
}

// within reports whether a second is one of the last minute. A second after now is not: the clock was set back.
func (m *minuteCounts) within(second int64, now time.Time) bool {
	age := now.Unix() - second
	return age >= 0 && age < int64(len(m))
}

// Add counts visits that ended at a given time. It ignores those that ended more than a minute ago.
func (m *minuteCounts) Add(now, ended time.Time, c api.Counts) {
	second := ended.Unix()
	if !m.within(second, now) {
		return
	}
	slot := &m[second%int64(len(m))]
	if slot.second != second {
		*slot = secondCounts{second: second}
	}
	slot.counts = slot.counts.Plus(c)
}

// Sum returns the counts of the minute before now.
func (m *minuteCounts) Sum(now time.Time) (c api.Counts) {
	for _, slot := range m {
		if m.within(slot.second, now) {
			c = c.Plus(slot.counts)
		}
	}
	return c
}

// maxWarned is the maximum number of URIs whose first failure is logged.
const maxWarned = 10_000

// logFirstFailure logs a seed whose first visit failed or is forbidden, and a first robots.txt that keeps seeds
// waiting. It logs each URI once, so that a wrong name or a closed network is seen when a crawl starts. The caller
// holds w.mu.
func (w *Window) logFirstFailure(r crawler.Report) {
	forbidden := crawler.IsForbidden(r.Status) && r.Visits == 0 && r.Hops == ""
	failed := r.Failed && r.Visits == 1 && (r.Hops == "" || r.URI.IsRobots())
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
