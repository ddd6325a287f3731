package crawler_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/crawler"
	"github.com/arcrawl/arcrawl/internal/slow"
	"github.com/arcrawl/arcrawl/internal/town"
	"github.com/arcrawl/arcrawl/uri"
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

// The crawler is killed at each step of the visit to a feed and started again. At the end the item of the feed is
// known, because the entries of a feed are remembered only together with their candidates.
func TestCrashForgetsNoItem(t *testing.T) {
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
			crashAt(t, w, step)
			finish(t, w)
			parts, shut := w.openWith(dialLoopback)
			defer shut()
			item := uri.FromCanonical(site.URL + "/item")
			_, known, err := parts.Frontier.Get(item)
			if err != nil || !known {
				t.Errorf("killed when %s: the item is forgotten (%v)", step, err)
			}
		})
	}
}

// The feed names its hub. When the hub sends a notification, the feed is visited before it is due, but never sooner
// than feeds.min_wait allows.
func TestTriggeredFeedIsVisitedBeforeItIsDue(t *testing.T) {
	inTown(t, "[feeds]\nuris = [\"http://news.example/rss.xml\"]\nmin_wait = \"60s\"\ninitial = \"6h\"\n", func(t *testing.T, w *world) {
		feed := uri.FromCanonical("http://news.example/rss.xml")
		w.set(feed.String(), town.Page{
			Every: time.Hour, Lists: 1, Body: `<a:link xmlns:a="http://www.w3.org/2005/Atom" rel="hub" href="https://hub.example/"/>`,
		})
		w.set("http://news.example/item/*", town.Page{})
		parts, shut := w.open()
		defer shut()
		var offered []uri.URI
		parts.NotifyHub = func(_ time.Time, u, _, hub uri.URI) { offered = append(offered, u, hub) }
		c := crawler.New(parts)
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
