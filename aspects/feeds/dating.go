// This file says when a page changed, as far as its headers, its feed or its own entries say so.

package feeds

import (
	"net/http"
	"time"

	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/fetch"
	"github.com/arcrawl/arcrawl/frontier"
)

// Visit holds what the dates of a visit depend on.
type Visit struct {
	Record  *frontier.Record // before the visit
	Capture *fetch.Capture
	Verdict evaluators.Verdict
	Filter  evaluators.Midfetch // how far the headers are believed
	Dates   evaluators.Dates    // how reliable the dates of feeds are on the host
}

// changedAt returns when a changed page changed, according to its headers. It is zero unless Last-Modified is believed
// on the host and had another value before.
func (v Visit) changedAt() time.Time {
	r, got := v.Record, v.Capture
	before, now := r.Validators.LastModified, evaluators.ValidatorsOf(got.Header).LastModified
	switch {
	case v.Verdict.State != evaluators.Changed, v.Verdict.First, got.Status != http.StatusOK:
	case !r.Validators.CanVouch(r.Status, r.Origin):
	case before == "", before == now:
	case v.Filter.DecideBy == evaluators.Off, v.Filter.Doubted[evaluators.WitnessLastModified]:
	default:
		if at, ok := evaluators.ChangedAt(got.Header, got.Started); ok {
			return at
		}
	}
	return time.Time{}
}

// Timing says when and how often a changed URI has changed since the last visit.
type Timing struct {
	At      time.Time   // of the last change
	Silent  time.Time   // until when the source had announced no change
	Moments []time.Time // of each change, by the entries of a feed
	Changes int         // new entries
	By      string      // who says so; empty if nobody does
}

// Values of Timing.By. They are written in reasons and in crawl.log.
const (
	byHeader  = "Last-Modified"
	bySource  = "its feed or sitemap"
	byEntries = "its entries"
)

// Timing returns the timing of the changes that a visit found. New entries of a feed are counted even if their dates
// are not believed.
func (v Visit) Timing(a Activity) Timing {
	if v.Verdict.State != evaluators.Changed || v.Verdict.First {
		return Timing{}
	}
	if a.Changes > 0 {
		t := Timing{Changes: a.Changes, By: byEntries}
		if v.Dates.Believed(evaluators.DatedEntries) {
			t.Moments = a.Moments
		}
		return t
	}
	t, r := Timing{At: v.changedAt(), By: byHeader}, v.Record
	announced := !r.ReportedChange.IsZero() && v.Dates.Believed(evaluators.DatedPages)
	if announced {
		t.Silent = r.ReportedUnchanged
	}
	switch {
	case !t.At.IsZero():
	case announced:
		t.At, t.By = r.ReportedChange, bySource
	default:
		return Timing{}
	}
	return t
}

// Activity returns when a feed changed since the last judged visit, by its new entries.
func (v Visit) Activity(doc Document, reading Reading, before State) Activity {
	if !doc.Kind.ListsNewest() || before.Broken > 0 {
		return Activity{}
	}
	return reading.Activity(doc, v.Record.LastCapture, v.Capture.Started, v.clockSkew())
}

// clockSkew returns how far the server's clock is behind ours.
func (v Visit) clockSkew() time.Duration { return ClockSkew(v.Capture.Header, v.Capture.Started) }

// SourceDates holds the dates of a source, and when the source was read before.
type SourceDates struct {
	PageDates
	ListsNewest bool
	ReadBefore  time.Time
}

// SourceDates returns the dates of a source that a visit read.
func (v Visit) SourceDates(doc Document, readBefore time.Time) SourceDates {
	return SourceDates{doc.PageDates(v.Capture.Started, v.clockSkew()), doc.Kind.ListsNewest(), readBefore}
}
