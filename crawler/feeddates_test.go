package crawler_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/internal/town"
)

// liveSite serves six pages that change at random times, and a sitemap whose dates come from a function. If news is
// set, it serves a news sitemap, which is read like a feed.
func liveSite(perDay float64, news bool, date func(changed, now time.Time) time.Time) http.HandlerFunc {
	const pages = 6
	var changes [pages][]time.Time
	for i := range changes {
		random := rand.New(rand.NewPCG(7, uint64(i)))
		for when := town.Epoch.Add(-48 * time.Hour); when.Before(town.Epoch.Add(30 * 24 * time.Hour)); {
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
					if r.Finished.Sub(town.Epoch) > 2*24*time.Hour {
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
