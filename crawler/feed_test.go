package crawler_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/internal/slow"
	"github.com/arcrawl/arcrawl/internal/testcrawl"
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
rule = "classic"
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
		w.set("http://news.example/", testcrawl.Page{Links: links})
		w.set("http://news.example/page/*", testcrawl.Page{Every: time.Hour})
		w.set("http://news.example/item/*", testcrawl.Page{})
		w.set("http://news.example/rss.xml", testcrawl.Page{Every: 40 * time.Minute, Lists: 10})
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

// liveSite serves six pages that change at random times, and a sitemap whose dates come from a function. If news is
// set, it serves a news sitemap, which is read like a feed.
func liveSite(perDay float64, news bool, date func(changed, now time.Time) time.Time) http.HandlerFunc {
	const pages = 6
	var changes [pages][]time.Time
	for i := range changes {
		random := rand.New(rand.NewPCG(7, uint64(i)))
		for when := testcrawl.Epoch.Add(-48 * time.Hour); when.Before(testcrawl.Epoch.Add(30 * 24 * time.Hour)); {
			changes[i] = append(changes[i], when)
			when = when.Add(time.Duration(random.ExpFloat64() / perDay * float64(24*time.Hour)))
		}
	}
	last := func(i int) (n int) {
		for n < len(changes[i]) && changes[i][n].Before(time.Now()) {
			n++
		}
		return n - 1
	}
	return func(w http.ResponseWriter, r *http.Request) {
		var page int
		switch {
		case r.URL.Path == "/list.xml":
			w.Header().Set("Content-Type", "application/xml")
			root, item := "urlset", "<url><loc>/%d</loc><lastmod>%s</lastmod></url>"
			if news {
				root, item = "feed", "<entry><link href='/%d'/><updated>%s</updated></entry>"
			}
			fmt.Fprintf(w, "<%s>", root)
			for i := range pages {
				fmt.Fprintf(w, item+"\n", i, date(changes[i][last(i)], time.Now()).Format(time.RFC3339))
			}
			fmt.Fprintf(w, "</%s>", root)
		case len(r.URL.Path) == 2:
			if _, err := fmt.Sscanf(r.URL.Path, "/%d", &page); err == nil {
				w.Header().Set("Content-Type", "text/html")
				fmt.Fprintf(w, "<p>Version %d.</p>", last(page))
				return
			}
			fallthrough
		default:
			http.NotFound(w, r)
		}
	}
}

// Pages change three times a day, and a sitemap or feed lists the times. If its dates are true, they are believed, and
// the estimates are closer to the truth. False dates are never taken for the time of a change.
func TestSourceShowsWhenItsPagesChanged(t *testing.T) {
	t.Parallel()
	slow.Unraced(t, longPlay)
	for _, c := range []struct {
		name     string
		date     func(changed, now time.Time) time.Time
		news     bool
		believed bool
	}{
		{name: "an honest sitemap", date: func(at, _ time.Time) time.Time { return at }, believed: true},
		{name: "an honest feed in another zone", news: true, date: func(at, _ time.Time) time.Time { return at.In(time.FixedZone("", 9*3600)) }, believed: true},
		{name: "all now", date: func(_, now time.Time) time.Time { return now }},
		{name: "a zone that is wrong by two hours", news: true, date: func(at, _ time.Time) time.Time { return at.Add(-2 * time.Hour) }},
		{name: "a zone that is wrong the other way", news: true, date: func(at, _ time.Time) time.Time { return at.Add(2 * time.Hour) }},
		{name: "new dates for nothing", news: true, date: func(at, now time.Time) time.Time {
			return now.Truncate(4 * time.Hour).Add(time.Duration(at.Unix()%7000) * time.Second).Add(-2 * time.Hour)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			inTown(t, `[feeds]
sitemaps = ["http://news.example/list.xml"]
sitemap_min = "30m"
sitemap_max = "30m"
min = "30m"
max = "30m"
[[wait]]
mime = ".*"
rule = "learned"
[articles]
ladder = []
`, func(t *testing.T, w *world) {
				w.town.Serve("news.example", liveSite(3, c.news, c.date))
				w.run(4 * 24 * time.Hour)
				dated, changed, sum, late := 0, 0, 0.0, 0
				for _, r := range w.reports {
					if len(r.URI.RequestTarget()) != 2 {
						continue
					}
					if r.Verdict.State == evaluators.Changed && !r.Verdict.First {
						changed++
					}
					if strings.Contains(r.Wait.Reason, " ago by its feed or sitemap: ") {
						dated++
					}
					if r.Finished.Sub(testcrawl.Epoch) > 2*24*time.Hour {
						sum += r.Wait.PerDay
						late++
					}
				}
				parts, shut := w.open()
				defer shut()
				d, err := parts.Reputation.Dates("news.example")
				must(t, err)
				mean := sum / float64(late)
				t.Logf("%d of %d changes dated, %d late visits, %.1f changes a day expected; %+v", dated, changed, late, mean, d[evaluators.DatedPages])
				if c.believed && (dated < changed/2 || !d.Believed(evaluators.DatedPages) || mean < 2 || mean > 5) {
					t.Errorf("%d of %d changes have the date of the source, and %.1f changes a day are expected instead of three", dated, changed, mean)
				}
				if !c.believed && dated > 5 {
					t.Errorf("%d of %d changes have a date, although all dates are false", dated, changed)
				}
			})
		})
	}
}

// Two hosts have the same pages. One of them sends correct Last-Modified times, and is believed after some of them were
// verified. From then on the estimate for its page is closer to the truth. A host that always sends the same time, or
// is not believed yet, is treated like a host that sends none.
func TestBelievedLastModifiedIsTheTimeOfTheChange(t *testing.T) {
	slow.Test(t)
	slow.Unraced(t, longPlay)
	rates := func(modified, settings string) []float64 {
		dir := t.TempDir()
		var list []float64
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, dir, settings+"[[wait]]\nmime = \".*\"\nrule = \"learned\"\n[seeds]\nuris = [\"http://a.example/\"]\n")
			w.set("http://a.example/", testcrawl.Page{Every: 5 * time.Hour, Modified: modified})
			w.run(4 * 24 * time.Hour)
			for _, r := range w.reports {
				if r.Wait.PerDay > 0 {
					list = append(list, r.Wait.PerDay)
				}
			}
		})
		return list
	}
	silent, honest, lying, off := rates("", ""), rates("honest", ""), rates("lie", ""), rates("honest", "[midfetch]\ndecide_by = \"off\"\n")
	if slices.Equal(honest, silent) {
		t.Error("a believed Last-Modified does not change the estimate")
	}
	if !slices.Equal(lying, silent) {
		t.Errorf("a Last-Modified that never changes has an effect: %.1f, %.1f", lying, silent)
	}
	if !slices.Equal(off, silent) {
		t.Errorf("a Last-Modified that is not believed has an effect: %.1f, %.1f", off, silent)
	}
	t.Logf("4.8 changes a day; estimate at the end %.2f without dates, %.2f with dates", silent[len(silent)-1], honest[len(honest)-1])
}
