package crawler_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/internal/slow"
	"github.com/arcrawl/arcrawl/internal/testcrawl"
)

// A feed keeps the date of an article and changes its headline. The article, which never changed before, is visited
// when the feed is read next.
func TestAHeadlineThatChangesInAFeedBringsAVisit(t *testing.T) {
	const config = `[feeds]
uris = ["http://news.example/rss.xml"]
[[wait]]
mime = ".*"
rule = "learned"
[articles]
ladder = []
`
	edited := testcrawl.Epoch.Add(10*day + 5*time.Minute)
	inTown(t, config, func(t *testing.T, w *world) {
		w.town.Serve("news.example", http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			headline := "Flood in the valley"
			if time.Now().After(edited) {
				headline = "Flood in the valley: no one is missing"
			}
			switch r.URL.Path {
			case "/rss.xml":
				rw.Header().Set("Content-Type", "application/rss+xml")
				fmt.Fprintf(rw, `<rss version="2.0"><channel><item><guid>1</guid><link>http://news.example/flood</link>`+
					`<pubDate>Sat, 01 Jan 2000 00:00:00 +0000</pubDate><title>%s</title></item>`, headline)
				n := int(time.Since(testcrawl.Epoch) / (3 * time.Hour)) // other articles
				for i := range 5 {
					fmt.Fprintf(rw, `<item><guid>%d</guid><link>http://news.example/%[1]d</link><title>Item %[1]d</title></item>`, 100+n-i)
				}
				fmt.Fprint(rw, `</channel></rss>`)
			default:
				rw.Header().Set("Content-Type", "text/html")
				fmt.Fprintf(rw, "<h1>%s</h1>", headline)
			}
		}))
		w.run(11 * day)
		for _, r := range w.visits("") {
			if r.URI.RequestTarget() == "/flood" && r.Verdict.State == evaluators.Changed && !r.Verdict.First {
				if late := r.Finished.Sub(edited); late > 2*time.Hour {
					t.Errorf("it was visited %s after its headline changed", late)
				}
				return
			}
		}
		t.Error("its new headline was not captured")
	})
}

// indexedFeed serves the pages of [indexedSite], and a feed instead of a sitemap, which lists the first pages.
func indexedFeed(when func(now time.Time) time.Time, lists func(now time.Time) (pages int)) http.HandlerFunc {
	site := indexedSite(when)
	return func(rw http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/list.xml" {
			site(rw, r)
			return
		}
		rw.Header().Set("Content-Type", "application/atom+xml")
		fmt.Fprint(rw, `<feed xmlns="http://www.w3.org/2005/Atom">`)
		for i := range lists(time.Now()) {
			fmt.Fprintf(rw, `<entry><id>%d</id><link href="http://news.example/page/%[1]d"/><updated>%s</updated></entry>`, i,
				changedAt(i, when(time.Now())).Format(time.RFC3339))
		}
		fmt.Fprint(rw, `</feed>`)
	}
}

var feedConfig = strings.Replace(indexedConfig, "sitemaps", "uris", 1)

// While a feed says truly which pages changed, it replaces visits as a sitemap does. Pages that it no longer lists
// return to their own waits.
func TestATrueFeedReplacesVisits(t *testing.T) {
	slow.Test(t)
	slow.Unraced(t, longPlay)
	end := testcrawl.Epoch.Add(8 * day)
	current := func(now time.Time) time.Time { return now }
	stale := func(time.Time) time.Time { return testcrawl.Epoch.Add(-day) }
	allPages := func(time.Time) int { return indexedPages }
	visits, found, chains, worth := playIndex(t, 14, feedConfig, indexedFeed(current, allPages))
	alone, foundAlone, _, _ := playIndex(t, 14, feedConfig, indexedFeed(stale, allPages))
	if !worth.Followed || sumOf(visits[4:]) > 18*10 || found < foundAlone {
		t.Errorf("%d visits to 12 pages in ten days, %d found a change; without the feed %d and %d", sumOf(visits[4:]), found,
			sumOf(alone[4:]), foundAlone)
	}
	if last := chains[len(chains)-1]; !strings.Contains(last, "; feeds: /list.xml says when it changes") {
		t.Errorf("the chain of a page does not say whose word decided: %q", last)
	}
	fewer, _, _, worth := playIndex(t, 14, feedConfig, indexedFeed(current, func(now time.Time) int {
		if now.After(end) {
			return indexedPages / 4
		}
		return indexedPages
	}))
	if !worth.Followed || sumOf(fewer[5:8]) > sumOf(alone[5:8])*3/4 || sumOf(fewer[9:]) < sumOf(alone[9:])*3/4*3/4 {
		t.Errorf("after nine of twelve pages left the feed there were %d visits, without a feed %d", fewer[9:], alone[9:])
	}
}
