package crawler_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/internal/slow"
	"github.com/arcrawl/arcrawl/internal/town"
)

// More pages of the site are due than politeness allows, and its feed has a new item every 40 minutes. Each item is
// fetched right after the visit to the feed that found it. The feed is never visited late, and the seed is visited too.
func TestNewItemIsFetchedWithinOneWaitAndOneDelay(t *testing.T) {
	slow.Test(t)
	slow.Unraced(t, longPlay)
	const delay = 7 * time.Second // does not divide a quarter of an hour
	inTown(t, `[politeness]
min_delay = "7s"
[[wait]]
mime = "^text/html.*"
initial = "1m"
min = "1m"
max = "1m"
[articles]
ladder = []
[feeds]
uris = ["http://news.example/rss.xml"]
max = "15m"
[seeds]
uris = ["http://news.example/"]
`, func(t *testing.T, w *world) {
		var links []string
		for i := range 100 {
			links = append(links, fmt.Sprintf("/page/%d", i))
		}
		w.set("http://news.example/", town.Page{Links: links})
		w.set("http://news.example/page/*", town.Page{Every: time.Hour})
		w.set("http://news.example/item/*", town.Page{})
		w.set("http://news.example/rss.xml", town.Page{Every: 40 * time.Minute, Lists: 10})
		began := time.Now()
		w.run(150 * time.Minute)
		polls := w.visits("/rss.xml")
		for n := 1; n < 4; n++ {
			published := began.Add(time.Duration(n) * 40 * time.Minute)
			visits := w.visits(fmt.Sprintf("/item/%d", n))
			if len(visits) == 0 {
				t.Fatalf("item %d was never fetched", n)
			}
			var interval time.Duration
			for i := range polls[1:] {
				if before, next := polls[i], polls[i+1]; before.Finished.Before(published) && !next.Finished.Before(published) {
					interval = before.Wait.Interval
				}
			}
			if late := visits[0].Finished.Sub(published); late > interval+delay {
				t.Errorf("item %d was fetched %s after it appeared; the wait of the feed was %s, the delay is %s", n, late, interval, delay)
			}
		}
		for i := range polls[1:] {
			if apart, promised := polls[i+1].Finished.Sub(polls[i].Finished), polls[i].Wait.Interval; i > 0 && apart > promised {
				t.Errorf("the feed was visited %s after its last visit, want at most %s", apart, promised)
			}
		}
		if n := len(w.visits("/")); n < 50 {
			t.Errorf("the seed is due each minute and was visited %d times in 150 minutes, want at least 50", n)
		}
		if len(w.visits("/page/7")) < 5 {
			t.Errorf("the other pages were visited only %d times", len(w.visits("/page/7")))
		}
	})
}
