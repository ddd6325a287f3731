package crawler

import (
	"time"

	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/discover"
	"github.com/arcrawl/arcrawl/discover/feeds"
	"github.com/arcrawl/arcrawl/evaluators"
)

// young reports whether an entry of a feed or sitemap is an article that is to be followed up. One without a date is, if the
// source lists news and had not listed it before.
func (f *finder) young(item feeds.Item, kind feeds.Kind, first bool) bool {
	if len(f.s.Articles.Ladder) == 0 {
		return false
	}
	date := item.Published
	if date.IsZero() {
		date = item.Date()
	}
	if date.IsZero() {
		return kind.ListsNewest() && !first
	}
	if !kind.ListsNewest() && item.Published.IsZero() {
		return false // a sitemap's lastmod says nothing about when the page came into being
	}
	return f.v.finished.Sub(date) <= f.s.Articles.Young
}

// born is when the page of an item came into being, as far as that is known: not after it was found.
func born(item feeds.Item, now time.Time) time.Time {
	date := item.Published
	if date.IsZero() {
		date = item.Date()
	}
	if date.IsZero() || date.After(now) {
		return now
	}
	return date
}

// recognise takes a page for a new article that no feed told of: when it says so itself, or its address has a recent date.
func (f *finder) recognise(named discover.Result) {
	s := f.s.Articles
	if !f.v.verdict.First || !s.Recognise || len(s.Ladder) == 0 || !f.v.record().Born.IsZero() {
		return
	}
	now := f.v.finished
	date := named.Published
	if date.IsZero() {
		date = discover.DateIn(f.v.uri())
	}
	if !date.IsZero() && now.Sub(date) <= s.Young && date.Sub(now) <= 24*time.Hour { // a day may begin elsewhere first
		f.found.born = born(feeds.Item{Published: date}, now)
	}
}

// foundLate is how long after its birth an article must have been discovered for its age to count from its birth. Dates of
// feeds are often wrong by some hours.
const foundLate = 6 * time.Hour

// followUp shortens the wait of a young article to the next age of the ladder. A visit that came before the interval was over
// says nothing against that interval when it found no change.
func (n *next) followUp(v visit, s config.Articles) {
	before := v.record()
	r := &n.record
	if r.Born.IsZero() || n.wait.Phased {
		return
	}
	early := !v.verdict.First && v.finished.Sub(before.LastVisit) < before.Wait
	if early && v.verdict.State == evaluators.Unchanged && len(n.wait.Memory) == 0 && before.Wait > 0 {
		n.wait.Interval, r.Wait = before.Wait, before.Wait
		n.wait.Reason = "unchanged, before its time"
	}
	since := before.FirstSeen
	if since.Sub(r.Born) > foundLate {
		since = r.Born
	}
	n.wait = evaluators.FollowUp(n.wait, s.Ladder, v.finished.Sub(since))
}
