package crawler_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/arcrawl/arcrawl/crawler"
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

// TestAHubsWordHasTheFeedVisited: a feed names its hub, and is visited when the hub says so, not only when it is due; but never
// sooner than feeds.min_wait.
func TestAHubsWordHasTheFeedVisited(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, dir, "[feeds]\nuris = [\"http://news.example/rss.xml\"]\nmin_wait = \"60s\"\ninitial = \"6h\"\n")
		defer w.town.Close()
		feed := uri.FromCanonical("http://news.example/rss.xml")
		w.set(feed.String(), town.Page{
			Every: time.Hour, Lists: 1, Body: `<a:link xmlns:a="http://www.w3.org/2005/Atom" rel="hub" href="https://hub.example/"/>`,
		})
		w.set("http://news.example/item/*", town.Page{})
		rooms, shut := w.open()
		defer shut()
		var offered []uri.URI
		rooms.Hub = func(_ time.Time, u, _, hub uri.URI) { offered = append(offered, u, hub) }
		c := crawler.New(rooms)
		if _, err := c.AddSeeds(time.Now()); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- c.Run(ctx) }()
		trigger := func(after time.Duration) {
			time.Sleep(after)
			if err := c.Trigger(time.Now(), feed); err != nil {
				t.Error(err)
			}
		}
		began := time.Now()
		trigger(90 * time.Minute)
		trigger(10 * time.Second)
		trigger(time.Second)
		time.Sleep(10 * time.Minute)
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		var visits []time.Duration
		for _, r := range w.visits("/rss.xml") {
			visits = append(visits, r.Finished.Sub(began).Round(time.Second))
		}
		want := []time.Duration{2 * time.Second, 90 * time.Minute, 91 * time.Minute}
		if !slices.Equal(visits, want) {
			t.Errorf("the feed was visited after %v, want %v", visits, want)
		}
		if len(offered) != 6 || offered[0] != feed || offered[1].String() != "https://hub.example/" {
			t.Errorf("offered %v", offered)
		}
		if err := c.Trigger(time.Now(), uri.FromCanonical("http://news.example/unknown")); err != nil {
			t.Error(err)
		}
	})
}
