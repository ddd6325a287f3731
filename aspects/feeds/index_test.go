package feeds

import (
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/frontier"
)

// A front page is read once a day, and notes on it differ each time. Of a page that is visited each hour anyway, its
// word proves nothing.
func TestAPageThatWasVisitedOftenSinceProvesLittle(t *testing.T) {
	t.Parallel()
	var page frontier.Record
	page.Wait, page.Rate, page.LastCapture = time.Hour, 11, start
	var once, often indexReading
	once.check(&page, start.Add(-time.Minute), true)
	often.check(&page, start.Add(-23*time.Hour), true)
	if got := once.said[0].expected; got > 0.5 {
		t.Errorf("a visit right after the reading was expected to find a change with a probability of %.2f", got)
	}
	if got := often.said[0].expected; got < 0.99 {
		t.Errorf("one of 24 visits was expected to find a change with a probability of %.2f only", got)
	}
}

func TestASmallSitemapThatIsFollowedMayBeReadLikeAFeed(t *testing.T) {
	t.Parallel()
	p := DefaultPolicy()
	for _, c := range []struct {
		kind               Kind
		requests, received int64
		cached, want       time.Duration
	}{
		{Sitemap, 0, 0, 0, time.Hour}, // its size is not known
		{Sitemap, 10, 30_000, 0, 5 * time.Minute},
		{Sitemap, 10, 500_000, 0, 30 * time.Minute}, // large, and nine of ten readings were answered 304
		{Sitemap, 10, 5_000_000, 0, time.Hour},
		{Sitemap, 10, 30_000, 20 * time.Minute, 20 * time.Minute}, // a cache holds it
		{Feed, 10, 5_000_000, 0, 5 * time.Minute},
	} {
		x := evaluators.Index{Requests: c.requests, Received: c.received}
		if got := p.soonest(State{Kind: c.kind, Read: start}, x, c.cached); got != c.want {
			t.Errorf("%s of which %d readings had %d bytes: %s, want %s", c.kind, c.requests, c.received, got, c.want)
		}
	}
}

// A page that changes again on the same day has no other date then. So it follows only dates with a time of day, unless
// it changes less often.
func TestDatesWithoutATimeOfDayAreExactToADay(t *testing.T) {
	t.Parallel()
	const day = 24 * 60 * 60
	for _, c := range []struct {
		dates map[uint64]uint32
		want  time.Duration
	}{
		{map[uint64]uint32{1: 20_000 * day, 2: 20_001 * day, 3: 20_001*day + 3600}, 24 * time.Hour},
		{map[uint64]uint32{1: 20_000 * day, 2: 20_001*day + 60, 3: 20_001*day + 3600}, 0},
		{map[uint64]uint32{1: 1, 2: 1, 3: 1}, 0}, // texts
	} {
		if got := (&indexReading{dates: c.dates}).grain(); got != c.want {
			t.Errorf("dates %v are exact to %s, want %s", c.dates, got, c.want)
		}
	}
}
