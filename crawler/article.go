package crawler

import (
	"time"

	"github.com/arcrawl/arcrawl/aspects/feeds"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/discover"
	"github.com/arcrawl/arcrawl/evaluators"
)

// isYoung reports whether an entry of a feed or sitemap is an article to follow up. An entry without a date is one if
// the source lists news and did not list the entry before.
func (f *finder) isYoung(item feeds.Item, kind feeds.Kind, first bool) bool {
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
		return false // the lastmod of a sitemap does not say when the page came into being
	}
	return f.v.finished.Sub(date) <= f.s.Articles.Young
}

// detectArticle detects a new article that no feed listed: the page has a recent date, or its address has.
func (f *finder) detectArticle(page discover.Result) {
	s := f.s.Articles
	if !f.v.verdict.First || !s.Recognise || len(s.Ladder) == 0 || !f.v.record().Born.IsZero() {
		return
	}
	now := f.v.finished
	date := page.Published
	if date.IsZero() {
		date = discover.DateIn(f.v.uri())
	}
	if !date.IsZero() && now.Sub(date) <= s.Young && date.Sub(now) <= 24*time.Hour { // a day may begin earlier elsewhere
		f.found.born = feeds.Birth(feeds.Item{Published: date}, now)
	}
}

// foundLate is the minimum time between birth and discovery for an article's age to count from its birth. Otherwise it
// counts from the discovery, because the dates of feeds are often wrong by some hours.
const foundLate = 6 * time.Hour

// followUp shortens the wait of a young article to the next age of the ladder. If the visit came before the learned
// interval was over and found no change, it does not lengthen that interval.
func (next *schedule) followUp(v visit, s config.Articles) {
	before := v.record()
	r := &next.record
	if r.Born.IsZero() || next.wait.Phased {
		return
	}
	early := !v.verdict.First && v.finished.Sub(before.LastVisit) < before.Wait
	if early && v.verdict.State == evaluators.Unchanged && len(next.wait.Memory) == 0 && before.Wait > 0 {
		next.wait.Interval, r.Wait = before.Wait, before.Wait
		next.wait.Reason = "unchanged, before its time"
	}
	since := before.FirstSeen
	if since.Sub(r.Born) > foundLate {
		since = r.Born
	}
	next.wait = evaluators.FollowUp(next.wait, s.Ladder, v.finished.Sub(since))
}
