// Package articles follows up young articles: most versions of a news article appear in its first hours, when nothing
// was learned about it yet.
//
// An article is found in a feed, see [Aspect.Born], or by the date in its address or text, see [Aspect.Read]. Then it
// is visited no later than at the ages of a ladder, see [Aspect.Decide].
package articles

import (
	"context"
	"time"

	"github.com/arcrawl/arcrawl/aspects"
	"github.com/arcrawl/arcrawl/evaluators"
)

// Options say how young articles are followed up.
type Options struct {
	Ladder    []time.Duration // ages since discovery at which an article is visited at the latest; empty = never
	Young     time.Duration   // maximum age of an article at its discovery
	Recognise bool            // detect articles that no feed names by a date in their address or text
}

// DefaultOptions returns the options that apply where no file sets anything.
func DefaultOptions() Options {
	const day = 24 * time.Hour
	return Options{
		Ladder: []time.Duration{15 * time.Minute, time.Hour, 3 * time.Hour, 8 * time.Hour, day, 2 * day},
		Young:  2 * day, Recognise: true,
	}
}

// Aspect is the aspect.
type Aspect struct {
	Options aspects.Options[Options]
}

// Listed is an entry of a feed or sitemap.
type Listed struct {
	Published time.Time // zero = not known
	Date      time.Time // the best date of the entry; zero = it has none
	Newest    bool      // the source lists news
	First     bool      // the source was read for the first time
}

// Born returns when the page of a new entry of a source came into being, if it is an article to follow up; zero if it
// is not. An entry without a date is one if the source lists news and did not list the entry before.
func (a *Aspect) Born(v *aspects.Visit, e Listed) time.Time {
	o, now := a.Options(v), v.Finished
	if len(o.Ladder) == 0 {
		return time.Time{}
	}
	date := e.Published
	if date.IsZero() {
		date = e.Date
	}
	young := now.Sub(date) <= o.Young
	switch {
	case date.IsZero():
		young = e.Newest && !e.First
	case !e.Newest && e.Published.IsZero():
		young = false // the lastmod of a sitemap does not say when the page came into being
	}
	if !young {
		return time.Time{}
	}
	return birth(date, now)
}

// birth returns when a page was published; now if that is not known or in the future.
func birth(date, now time.Time) time.Time {
	if date.IsZero() || date.After(now) {
		return now
	}
	return date
}

// Read detects a new article that no feed listed: the page has a recent date, or its address has.
func (a *Aspect) Read(_ context.Context, v *aspects.Visit) error {
	o, page := a.Options(v), v.Found.Page
	if page == nil || !v.Verdict.First || !o.Recognise || len(o.Ladder) == 0 || !v.Record().Born.IsZero() {
		return nil
	}
	now := v.Finished
	date := page.Published
	if date.IsZero() {
		date = dateIn(v.URI().Path())
	}
	if !date.IsZero() && now.Sub(date) <= o.Young && date.Sub(now) <= 24*time.Hour { // a day may begin earlier elsewhere
		v.Found.Born = birth(date, now)
	}
	return nil
}

// foundLate is the minimum time between birth and discovery for an article's age to count from its birth. Otherwise it
// counts from the discovery, because the dates of feeds are often wrong by some hours.
const foundLate = 6 * time.Hour

// Decide shortens the wait of a young article to the next age of the ladder. If the visit came before the learned
// interval was over and found no change, it does not lengthen that interval.
func (a *Aspect) Decide(_ context.Context, v *aspects.Visit) error {
	before, n := v.Record(), &v.Next
	r := &n.Record
	if r.Source != "" || r.Born.IsZero() || n.Wait.Phased {
		return nil
	}
	early := !v.Verdict.First && v.Finished.Sub(before.LastVisit) < before.Wait
	if early && v.Verdict.State == evaluators.Unchanged && len(n.Wait.Memory) == 0 && before.Wait > 0 {
		n.Wait.Interval, r.Wait = before.Wait, before.Wait
		n.Wait.Reason = "unchanged, before its time"
	}
	since := before.FirstSeen
	if since.Sub(r.Born) > foundLate {
		since = r.Born
	}
	n.Wait = followUp(n.Wait, a.Options(v).Ladder, v.Finished.Sub(since))
	return nil
}

// rungGap is the minimum ratio of the next age of a ladder to the present age. A closer age is not worth a visit.
const rungGap = 1.2

// followUp shortens a wait so that a page is visited no later than when it reaches the next age of a ladder, in
// ascending order. A shorter wait and a wait after the last age stay unchanged.
func followUp(w evaluators.Wait, ladder []time.Duration, age time.Duration) evaluators.Wait {
	for _, rung := range ladder {
		if float64(rung) <= rungGap*float64(age) {
			continue
		}
		if left := rung - max(age, 0); left < w.Interval {
			w.Interval = left
			w.Reason += "; young article: again when it is " + evaluators.Interval(rung) + " old"
		}
		return w
	}
	return w
}
