package crawler

import (
	"fmt"
	"slices"
	"time"

	"github.com/arcrawl/arcrawl/aspects/feeds"
	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/uri"
)

// dating returns what the dates of a visit depend on.
func (v visit) dating() feeds.Visit {
	return feeds.Visit{Record: v.record(), Capture: v.capture, Verdict: v.verdict, Filter: v.req.Filter, Dates: v.dates}
}

// setDates records in a candidate when the page of an item changed, for the page's next visit. If the item was listed
// before, the source had not announced the change at its last reading. If the source is up to date, the page had not
// changed until then.
func (f *finder) setDates(c *frontier.Candidate, item feeds.Item, listedBefore bool) {
	at, ok := f.dates.Changed(item)
	if !ok || !c.Sooner {
		return
	}
	before := f.dates.ReadBefore
	upToDate := listedBefore && !before.IsZero() && at.After(before.Add(-feeds.ListedLate))
	if listedBefore && f.dates.ListsNewest && !upToDate && !before.IsZero() {
		f.addWrongDate(item.URI.Host()) // the source was read since that date and did not announce it
		return
	}
	if c.ReportedChange = at; upToDate {
		c.ReportedUnchanged = before
	}
}

// maxWrongHosts bounds the hosts with wrong dates in one reading.
const maxWrongHosts = 100

func (f *finder) addWrongDate(host uri.Host) {
	if wrong := &f.found.source.wrong; len(*wrong) < maxWrongHosts && !slices.Contains(*wrong, host) {
		*wrong = append(*wrong, host)
	}
}

// checkDate records a wrong date if the visits before and after it found the same page.
func (f *finder) checkDate(item feeds.Item, r frontier.Record) {
	if at, ok := f.dates.Changed(item); ok && at.After(r.LastChange) && at.Before(r.LastCapture.Add(-time.Minute)) {
		f.addWrongDate(item.URI.Host())
	}
}

// learnDates stores whether dates were right: dates of a feed's entries, announced changes that this visit should have
// found, and announced changes that earlier visits did not find.
func (c *Crawler) learnDates(v visit, r sourceReading) error {
	add := func(host uri.Host, kind evaluators.Dating, right bool) error {
		if err := c.parts.Reputation.AddDate(host, kind, right); err != nil {
			return fmt.Errorf("store how reliable the dates of %s are: %w", v.uri(), err)
		}
		return nil
	}
	if a := r.activity; a.Right != a.Wrong {
		if err := add(v.uri().Host(), evaluators.DatedEntries, a.Right > a.Wrong); err != nil {
			return err
		}
	}
	for _, host := range r.wrong {
		if err := add(host, evaluators.DatedPages, false); err != nil {
			return err
		}
	}
	announced, state := v.record().ReportedChange, v.verdict.State
	judged := !v.failed && !v.verdict.First && state != evaluators.Unknown
	if announced.IsZero() || !judged || !v.capture.Started.After(announced) {
		return nil
	}
	return add(v.uri().Host(), evaluators.DatedPages, state == evaluators.Changed)
}
