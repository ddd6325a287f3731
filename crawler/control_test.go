package crawler_test

import (
	"context"
	"net"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/crawler"
	"github.com/arcrawl/arcrawl/internal/town"
)

// The crawl visits a page every hour. It is paused twice, once until it is resumed and once for five hours.
func TestPauseStopsClaimingUntilItEnds(t *testing.T) {
	inTown(t, everyHour, func(t *testing.T, w *world) {
		w.set("http://news.example/", town.Page{Every: time.Minute})
		parts, shut := w.open()
		defer shut()
		c := crawler.New(parts)
		began := time.Now()
		at := func(d time.Duration, do func()) { time.AfterFunc(d, do) }
		at(90*time.Minute, func() { c.Pause("works on the site", time.Now(), time.Time{}) })
		at(4*time.Hour, func() {
			if s := c.Status(); s.Paused != "works on the site" || s.Since.Sub(began) != 90*time.Minute {
				t.Errorf("pause = %+v; want the reason, and a start after 90 minutes", s)
			}
			c.Resume()
		})
		at(5*time.Hour+30*time.Minute, func() { c.Pause("", time.Now(), time.Now().Add(5*time.Hour)) })
		w.crawlWith(c, 12*time.Hour)
		var hours []int
		for _, v := range w.visits("example/") {
			hours = append(hours, int(v.Finished.Sub(began).Hours()))
		}
		want := []int{0, 1, 4, 5, 10, 11}
		if len(hours) != len(want) {
			t.Fatalf("visits in the hours %v; want %v", hours, want)
		}
		for i := range want {
			if hours[i] != want[i] {
				t.Fatalf("visits in the hours %v; want %v", hours, want)
			}
		}
		if s := c.Status(); s != (crawler.Status{}) {
			t.Errorf("pause = %+v after all pauses ended; want none", s)
		}
	})
}

// The list of visits in progress is read while the network is slow.
func TestInProgressListsVisits(t *testing.T) {
	inTown(t, everyHour, func(t *testing.T, w *world) {
		w.set("http://news.example/", town.Page{Every: time.Minute})
		slow := func(ctx context.Context, network, address string) (net.Conn, error) {
			<-time.After(10 * time.Second)
			return w.town.Dial(ctx, network, address)
		}
		parts, shut := w.openWith(slow)
		defer shut()
		c := crawler.New(parts)
		looked := make(chan []crawler.Visiting, 1)
		defer time.AfterFunc(5*time.Second, func() { looked <- c.InProgress() }).Stop()
		w.crawlWith(c, time.Minute)
		seen := <-looked
		if len(seen) != 1 || seen[0].URI.String() != "http://news.example/" || seen[0].Claimed.IsZero() {
			t.Errorf("in progress after five seconds: %v; want the URI that was claimed, although its robots.txt is fetched first", seen)
		}
		if left := c.InProgress(); len(left) != 0 {
			t.Errorf("in progress after the end: %v", left)
		}
	})
}
