package crawler

import (
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/arcrawl/arcrawl/discover/feeds"
	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/uri"
)

// changedAt returns when a changed page changed, according to its headers. It is zero unless Last-Modified is believed
// on the host and had another value before.
func changedAt(v visit) time.Time {
	r, got := v.record(), v.capture
	before, now := r.Validators.LastModified, evaluators.ValidatorsOf(got.Header).LastModified
	switch {
	case v.verdict.State != evaluators.Changed, v.verdict.First, got.Status != http.StatusOK, !canVouch(r):
	case before == "", before == now:
	case v.req.filter.DecideBy == evaluators.Off, v.req.filter.Doubted[evaluators.WitnessLastModified]:
	default:
		if at, ok := evaluators.ChangedAt(got.Header, got.Started); ok {
			return at
		}
	}
	return time.Time{}
}

// timing says when and how often a changed URI has changed since the last visit.
type timing struct {
	at      time.Time   // of the last change
	silent  time.Time   // until when the source had announced no change
	moments []time.Time // of each change, by the entries of a feed
	changes int         // new entries
	by      string      // who says so; empty if nobody does
}

// Values of timing.by. They are written in reasons and in crawl.log.
const (
	byHeader  = "Last-Modified"
	bySource  = "its feed or sitemap"
	byEntries = "its entries"
)

// timingOf returns the timing of the changes that a visit found. New entries of a feed are counted even if their
// dates are not believed.
func timingOf(v visit, a feeds.Activity) timing {
	if v.verdict.State != evaluators.Changed || v.verdict.First {
		return timing{}
	}
	if a.Changes > 0 {
		t := timing{changes: a.Changes, by: byEntries}
		if v.dates.Believed(evaluators.DatedEntries) {
			t.moments = a.Moments
		}
		return t
	}
	t, r := timing{at: changedAt(v), by: byHeader}, v.record()
	announced := !r.ReportedChange.IsZero() && v.dates.Believed(evaluators.DatedPages)
	if announced {
		t.silent = r.ReportedUnchanged
	}
	switch {
	case !t.at.IsZero():
	case announced:
		t.at, t.by = r.ReportedChange, bySource
	default:
		return timing{}
	}
	return t
}

// activityOf returns when a feed changed since the last judged visit, by its new entries.
func activityOf(v visit, doc feeds.Document, reading feeds.Reading, before feeds.State) feeds.Activity {
	if !doc.Kind.ListsNewest() || before.Broken > 0 {
		return feeds.Activity{}
	}
	return reading.Activity(doc, v.record().LastCapture, v.capture.Started, clockSkew(v))
}

// clockSkew returns how far the server's clock is behind ours.
func clockSkew(v visit) time.Duration { return feeds.ClockSkew(v.capture.Header, v.capture.Started) }

// sourceDates holds the dates of a source, and when the source was read before.
type sourceDates struct {
	feeds.PageDates
	listsNewest bool
	readBefore  time.Time
}

func datesOf(v visit, doc feeds.Document, readBefore time.Time) sourceDates {
	return sourceDates{doc.PageDates(v.capture.Started, clockSkew(v)), doc.Kind.ListsNewest(), readBefore}
}

// setDates records in a candidate when the page of an item changed, for the page's next visit. If the item was listed
// before, the source had not announced the change at its last reading. If the source is up to date, the page had not
// changed until then.
func (f *finder) setDates(c *frontier.Candidate, item feeds.Item, listedBefore bool) {
	at, ok := f.dates.Changed(item)
	if !ok || !c.Sooner {
		return
	}
	before := f.dates.readBefore
	upToDate := listedBefore && !before.IsZero() && at.After(before.Add(-feeds.ListedLate))
	if listedBefore && f.dates.listsNewest && !upToDate && !before.IsZero() {
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
