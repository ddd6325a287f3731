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

// changedAt is when a page that was found changed says that it did, if its host's Last-Modified is believed and had another
// value before; zero otherwise.
func changedAt(v visit) time.Time {
	r, got := v.record(), v.capture
	before, now := r.Validators.LastModified, evaluators.ValidatorsOf(got.Header).LastModified
	switch {
	case v.verdict.State != evaluators.Changed, v.verdict.First, got.Status != http.StatusOK, !canVouch(r):
	case before == "", before == now, v.asked.filter.DecideBy == evaluators.Off, v.asked.filter.Doubted[evaluators.WitnessLastModified]:
	default:
		if at, ok := evaluators.ChangedAt(got.Header, got.Started); ok {
			return at
		}
	}
	return time.Time{}
}

// timing is what is known of when and how often a URI changed that was found changed.
type timing struct {
	at, silent time.Time   // the last time, and until when its source had told of none
	moments    []time.Time // each time, by the entries of a feed
	changes    int         // how many new entries there are
	by         string      // who says so; empty if nobody does
}

// The names of those who say when something changed, for reasons and crawl.log.
const (
	byHeader  = "Last-Modified"
	bySource  = "its feed or sitemap"
	byEntries = "its entries"
)

// timingOf is that of a visit. The entries of a feed count even where their dates are not believed.
func timingOf(v visit, d feeds.Activity) timing {
	if v.verdict.State != evaluators.Changed || v.verdict.First {
		return timing{}
	}
	if d.Changes > 0 {
		t := timing{changes: d.Changes, by: byEntries}
		if v.dates.Believed(evaluators.DatedEntries) {
			t.moments = d.Moments
		}
		return t
	}
	t, r := timing{at: changedAt(v), by: byHeader}, v.record()
	said := !r.ReportedChange.IsZero() && v.dates.Believed(evaluators.DatedPages)
	if said {
		t.silent = r.ReportedUnchanged
	}
	switch {
	case !t.at.IsZero():
	case said:
		t.at, t.by = r.ReportedChange, bySource
	default:
		return timing{}
	}
	return t
}

// entryDates is what the new entries of a feed say of when it changed since the last visit that could be judged.
func entryDates(v visit, doc feeds.Document, round feeds.Reading, before feeds.State) feeds.Activity {
	if !doc.Kind.ListsNewest() || before.Broken > 0 {
		return feeds.Activity{}
	}
	return round.Activity(doc, v.record().LastCapture, v.capture.Started, clockBehind(v))
}

// clockBehind is by how much the server's clock is behind ours, going by its answer; it is not known where that has no date.
func clockBehind(v visit) time.Duration {
	date, err := http.ParseTime(v.capture.Header.Get("Date"))
	if err != nil {
		return 0
	}
	return v.capture.Started.Sub(date)
}

// word is what a source says of when pages changed.
type word struct {
	feeds.PageDates
	brisk  bool      // it lists what is new at once
	before time.Time // when it was read before
}

func wordOf(v visit, doc feeds.Document, before time.Time) word {
	return word{doc.PageDates(v.capture.Started, clockBehind(v)), doc.Kind.ListsNewest(), before}
}

// dates puts down when the page of an item changed, for its next visit to see. Of one that was listed before the source had not said
// so at its last reading, and if it is up to date the page had not changed until then.
func (f *finder) dates(c *frontier.Candidate, item feeds.Item, listed bool) {
	at, ok := f.word.Changed(item)
	if !ok || !c.Sooner {
		return
	}
	inTime := listed && !f.word.before.IsZero() && at.After(f.word.before.Add(-feeds.ListedLate))
	if listed && f.word.brisk && !inTime && !f.word.before.IsZero() {
		f.lie(item.URI.Host()) // it had been read since
		return
	}
	if c.ReportedChange = at; inTime {
		c.ReportedUnchanged = f.word.before
	}
}

// maxLies bounds the hosts of one reading on which something was said to have changed that had not.
const maxLies = 100

func (f *finder) lie(host uri.Host) {
	if lies := &f.found.reading.lies; len(*lies) < maxLies && !slices.Contains(*lies, host) {
		*lies = append(*lies, host)
	}
}

// disprove notes that the page of an item is said to have changed when visits before and after found the same.
func (f *finder) disprove(item feeds.Item, r frontier.Record) {
	if at, ok := f.word.Changed(item); ok && at.After(r.LastChange) && at.Before(r.LastCapture.Add(-time.Minute)) {
		f.lie(item.URI.Host())
	}
}

// learnDates remembers what became of dates: of entries that a feed lists, and of changes that were foretold to this visit, or that
// were not there to be seen by earlier ones.
func (c *Crawler) learnDates(v visit, r reading) error {
	add := func(host uri.Host, about evaluators.Dating, right bool) error {
		if err := c.rooms.Trust.AddDate(host, about, right); err != nil {
			return fmt.Errorf("remember what dates were worth to %s: %w", v.uri(), err)
		}
		return nil
	}
	if d := r.dated; d.Right != d.Wrong {
		if err := add(v.uri().Host(), evaluators.DatedEntries, d.Right > d.Wrong); err != nil {
			return err
		}
	}
	for _, host := range r.lies {
		if err := add(host, evaluators.DatedPages, false); err != nil {
			return err
		}
	}
	said, state := v.record().ReportedChange, v.verdict.State
	if said.IsZero() || v.failed || v.verdict.First || state == evaluators.Unknown || !v.capture.Started.After(said) {
		return nil
	}
	return add(v.uri().Host(), evaluators.DatedPages, state == evaluators.Changed)
}
