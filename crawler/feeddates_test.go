package crawler_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/arcrawl/arcrawl/crawler"
	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/internal/slow"
	"github.com/arcrawl/arcrawl/internal/town"
	"github.com/arcrawl/arcrawl/uri"
)

// newsFeed serves a feed that gets entries at random times. A function dates the entries. The feed lists the latest 40.
func newsFeed(perDay float64, date func(published, now time.Time) string) http.HandlerFunc {
	random := rand.New(rand.NewPCG(3, 9))
	var published []time.Time
	for at := town.Epoch.Add(-48 * time.Hour); at.Before(town.Epoch.Add(20 * 24 * time.Hour)); {
		at = at.Add(time.Duration(random.ExpFloat64() / perDay * float64(24*time.Hour)))
		published = append(published, at)
	}
	return func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/rss+xml")
		var b strings.Builder
		b.WriteString("<rss version='2.0'><channel>")
		now := time.Now()
		n := 0
		for n < len(published) && published[n].Before(now) {
			n++
		}
		for i := n - 1; i >= max(0, n-40); i-- {
			said := ""
			if d := date(published[i], now); d != "" {
				said = "<pubDate>" + d + "</pubDate>"
			}
			fmt.Fprintf(&b, "<item><link>http://elsewhere.example/%d</link>%s</item>\n", i, said)
		}
		b.WriteString("</channel></rss>")
		fmt.Fprint(w, b.String())
	}
}

// followFeed crawls a feed for some days with the learned rule. It returns the visits and what was learned about the
// dates.
func followFeed(
	t *testing.T, perDay float64, date func(published, now time.Time) string,
) (visits []crawler.Report, dates evaluators.Dates) {
	t.Helper()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, dir, "[feeds]\nuris = [\"http://news.example/rss.xml\"]\nwait = \"stack\"\n[[wait]]\nmime = \".*\"\nrule = \"learned\"\n")
		defer w.town.Close()
		w.town.Serve("news.example", newsFeed(perDay, date))
		w.run(4 * 24 * time.Hour)
		for _, r := range w.reports {
			if r.URI.RequestTarget() == "/rss.xml" {
				visits = append(visits, r)
			}
		}
		parts, shut := w.open()
		defer shut()
		var err error
		if dates, err = parts.Reputation.Dates(uri.FromCanonical("http://news.example/").Host()); err != nil {
			t.Error(err)
		}
	})
	return visits, dates
}

// expectedOf returns the mean of the estimates over the second half of the visits, in changes per day.
func expectedOf(visits []crawler.Report) float64 {
	sum := 0.0
	late := visits[len(visits)/2:]
	for _, r := range late {
		sum += r.Wait.PerDay
	}
	return sum / float64(len(late))
}

// A feed has 20 new entries a day, whose dates are true, missing or false. The entries determine how often it is
// visited. False dates have no effect and are not believed.
func TestEntriesShowHowOftenAFeedChanges(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	rfc := func(at time.Time) string { return at.Format(time.RFC1123Z) }
	silent, _ := followFeed(t, 20, func(_, _ time.Time) string { return "" })
	for _, c := range []struct {
		name     string
		date     func(published, now time.Time) string
		believed bool
	}{
		{"honest", func(p, _ time.Time) string { return rfc(p) }, true},
		{"honest in another zone", func(p, _ time.Time) string { return rfc(p.In(time.FixedZone("", -7*3600))) }, true},
		{"all now", func(_, now time.Time) string { return rfc(now) }, false},
		{"all the same", func(_, now time.Time) string { return rfc(now.Truncate(24 * time.Hour)) }, false},
		{"all in the future", func(p, _ time.Time) string { return rfc(p.Add(48 * time.Hour)) }, false},
		{"in a zone that is wrong by two hours", func(p, _ time.Time) string { return rfc(p.Add(-2 * time.Hour)) }, false},
		{"in a zone that is wrong the other way", func(p, _ time.Time) string { return rfc(p.Add(2 * time.Hour)) }, false},
		{"at random", func(p, _ time.Time) string {
			return rfc(p.Add(time.Duration(p.UnixNano()%int64(10*24*time.Hour)) - 5*24*time.Hour))
		}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			visits, dates := followFeed(t, 20, c.date)
			rate := expectedOf(visits)
			t.Logf("%d visits, %.1f changes a day expected; %+v", len(visits), rate, dates[evaluators.DatedEntries])
			if dates.Believed(evaluators.DatedEntries) != c.believed {
				t.Errorf("the dates are believed: %t", !c.believed)
			}
			if c.believed && (rate < 15 || rate > 30) {
				t.Errorf("%.1f changes a day are expected instead of twenty", rate)
			}
			if !c.believed && float64(len(visits)) > 1.05*float64(len(silent)) {
				t.Errorf("%d visits to the feed with false dates, %d to the same feed without dates", len(visits), len(silent))
			}
		})
	}
	t.Logf("without dates: %d visits, %.1f changes a day expected", len(silent), expectedOf(silent))
}

// liveSite serves six pages that change at random times, and a sitemap whose dates come from a function. If news is
// set, it serves a news sitemap, which is read like a feed.
func liveSite(perDay float64, news bool, date func(changed, now time.Time) time.Time) http.HandlerFunc {
	const pages = 6
	var changes [pages][]time.Time
	for i := range changes {
		random := rand.New(rand.NewPCG(7, uint64(i)))
		for at := town.Epoch.Add(-48 * time.Hour); at.Before(town.Epoch.Add(30 * 24 * time.Hour)); {
			changes[i] = append(changes[i], at)
			at = at.Add(time.Duration(random.ExpFloat64() / perDay * float64(24*time.Hour)))
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
	for _, c := range []struct {
		name     string
		date     func(changed, now time.Time) time.Time
		news     bool
		believed bool
	}{
		{name: "an honest sitemap", date: func(at, _ time.Time) time.Time { return at }, believed: true},
		{name: "an honest feed", news: true, date: func(at, _ time.Time) time.Time { return at }, believed: true},
		{name: "an honest feed in another zone", news: true, date: func(at, _ time.Time) time.Time { return at.In(time.FixedZone("", 9*3600)) }, believed: true},
		{name: "all now", date: func(_, now time.Time) time.Time { return now }},
		{name: "all the same", date: func(_, now time.Time) time.Time { return now.Truncate(time.Hour) }},
		{name: "all in the future", date: func(at, _ time.Time) time.Time { return at.Add(24 * time.Hour) }},
		{name: "a zone that is wrong by two hours", news: true, date: func(at, _ time.Time) time.Time { return at.Add(-2 * time.Hour) }},
		{name: "a zone that is wrong the other way", news: true, date: func(at, _ time.Time) time.Time { return at.Add(2 * time.Hour) }},
		{name: "new dates for nothing", news: true, date: func(at, now time.Time) time.Time {
			return now.Truncate(4 * time.Hour).Add(time.Duration(at.Unix()%7000) * time.Second).Add(-2 * time.Hour)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, dir, `[feeds]
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
`)
				defer w.town.Close()
				w.town.Serve("news.example", liveSite(3, c.news, c.date))
				w.run(5 * 24 * time.Hour)
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
					if r.Finished.Sub(town.Epoch) > 2*24*time.Hour {
						sum += r.Wait.PerDay
						late++
					}
				}
				parts, shut := w.open()
				defer shut()
				d, err := parts.Reputation.Dates("news.example")
				if err != nil {
					t.Fatal(err)
				}
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
