package crawler_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/arcrawl/arcrawl/internal/town"
	"github.com/arcrawl/arcrawl/uri"
)

// TestANewItemIsFetchedWithinOnePollAndOneDelay crawls a site that has more due than its politeness allows, and whose feed brings
// an item every 40 minutes: each is fetched right behind the reading of the feed that told of it, and no reading is late.
func TestANewItemIsFetchedWithinOnePollAndOneDelay(t *testing.T) {
	const delay = 2 * time.Second
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, dir, `[[wait]]
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
`)
		defer w.town.Close()
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
			// The feed itself waits for the visit in progress, and once a day for robots.txt.
			if late := visits[0].Finished.Sub(published); late > interval+3*delay {
				t.Errorf("item %d was fetched %s after it appeared; the wait of the feed was %s, the delay is %s", n, late, interval, delay)
			}
		}
		if len(w.visits("/page/7")) < 5 {
			t.Errorf("the pages were forgotten over the news: %d visits", len(w.visits("/page/7")))
		}
	})
}

// TestNoItemIsForgottenByACrash kills the crawler at each step of the walk of a feed, and starts it again: the item that the feed
// told of is known in the end. What a feed has listed is remembered only together with what it brought.
func TestNoItemIsForgottenByACrash(t *testing.T) {
	for _, step := range []string{"claimed", "fetched", "archived", "logged", "indexed", "settled"} {
		t.Run(step, func(t *testing.T) {
			t.Parallel()
			site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path != "/article" {
					http.NotFound(w, r)
					return
				}
				w.Header().Set("Content-Type", "application/rss+xml")
				fmt.Fprint(w, "<rss version='2.0'><channel><item><link>/item</link></item></channel></rss>")
			}))
			defer site.Close()
			w := newWorld(t, t.TempDir(), fmt.Sprintf(`[fetch]
allow_networks = ["127.0.0.0/8"]
[politeness]
min_delay = "0s"
max_delay = "0s"
[feeds]
uris = [%q]
`, site.URL+"/article"))
			defer w.town.Close()
			crashAt(t, w, step)
			finish(t, w)
			rooms, shut := w.openWith(dialLoopback)
			defer shut()
			item := uri.FromCanonical(site.URL + "/item")
			_, known, err := rooms.Frontier.Get(item)
			if err != nil || !known {
				t.Errorf("killed when %s: the item is forgotten (%v)", step, err)
			}
		})
	}
}
