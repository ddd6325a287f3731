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

const day = 24 * time.Hour

// indexedSite serves twelve pages, each of which changes about once a day, and a sitemap that says when. At each time
// it says what was true at the time that when returns. If that is zero, it says that all pages have changed since noon
// or midnight.
func indexedSite(when func(now time.Time) time.Time) http.HandlerFunc {
	const pages = 12
	began := testcrawl.Epoch.Add(-10 * day)
	changed := func(page int, now time.Time) time.Time {
		every := time.Duration(18+page) * time.Hour
		return began.Add(now.Sub(began).Truncate(every)).Add(time.Duration(page) * time.Minute)
	}
	return func(w http.ResponseWriter, r *http.Request) {
		now := time.Now()
		if r.URL.Path == "/list.xml" {
			w.Header().Set("Content-Type", "application/xml")
			fmt.Fprint(w, "<urlset>")
			for i := range pages {
				at := now.Truncate(day / 2).Add(time.Duration(i) * time.Minute)
				if then := when(now); !then.IsZero() {
					at = changed(i, then)
				}
				fmt.Fprintf(w, "<url><loc>/page/%d</loc><lastmod>%s</lastmod></url>\n", i, at.Format(time.RFC3339))
			}
			fmt.Fprint(w, "</urlset>")
			return
		}
		page := 0
		if _, err := fmt.Sscanf(r.URL.Path, "/page/%d", &page); err != nil {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, "<p>Since %s.</p>", changed(page, now))
	}
}

// followed plays such a site. It returns the visits to pages on each day, how many of them found a change, the chains
// of the pages at the end, and what the sitemap was worth.
func followed(t *testing.T, days int, when func(now time.Time) time.Time) (
	visits []int, found int, chains []string, worth evaluators.HostIndex,
) {
	visits = make([]int, days)
	inTown(t, `[feeds]
sitemaps = ["http://news.example/list.xml"]
[[wait]]
mime = ".*"
rule = "learned"
[articles]
ladder = []
`, func(t *testing.T, w *world) {
		w.town.Serve("news.example", indexedSite(when))
		w.run(time.Duration(days) * day)
		parts, shut := w.open()
		defer shut()
		for _, r := range w.visits("") {
			on := int(r.Finished.Sub(testcrawl.Epoch) / day)
			if !strings.HasPrefix(r.URI.RequestTarget(), "/page/") || on >= days {
				continue
			}
			visits[on]++
			if r.Verdict.State == evaluators.Changed && !r.Verdict.First {
				found++
			}
			page, _, err := parts.Frontier.Get(r.URI)
			must(t, err)
			chains = append(chains, page.Chain)
		}
		all, err := parts.Reputation.Indexes("news.example")
		must(t, err)
		if len(all) > 0 {
			worth = all[0]
		}
	})
	t.Logf("visits on each day: %d; %d found a change; said %+v, heard %+v, followed %t", visits, found, worth.Said,
		worth.Heard, worth.Followed)
	return visits, found, chains, worth
}

func sumOf(list []int) (sum int) {
	for _, n := range list {
		sum += n
	}
	return sum
}

// While the dates of a sitemap are true, the pages are visited when it says that they changed. Visits are fewer, and
// more of them find a change.
func TestATrueSitemapReplacesVisits(t *testing.T) {
	slow.Test(t)
	slow.Unraced(t, longPlay)
	visits, found, chains, worth := followed(t, 14, func(now time.Time) time.Time { return now })
	_, foundAlone, _, _ := followed(t, 14, func(time.Time) time.Time { return testcrawl.Epoch.Add(-day) })
	if !worth.Followed || sumOf(visits[4:]) > 18*10 || found < foundAlone {
		t.Errorf("%d visits to 12 pages in ten days, %d found a change; without the sitemap %d", sumOf(visits[4:]), found, foundAlone)
	}
	if last := chains[len(chains)-1]; !strings.Contains(last, "; feeds: /list.xml says when it changes") {
		t.Errorf("the chain of a page does not say whose word decided: %q", last)
	}
}

// When a sitemap stops being true, the pages return to their own waits within a day.
func TestAfterASitemapStopsItsPagesReturnToTheirOwnWaits(t *testing.T) {
	slow.Test(t)
	slow.Unraced(t, longPlay)
	end := testcrawl.Epoch.Add(8 * day)
	visits, _, chains, worth := followed(t, 14, func(now time.Time) time.Time {
		if now.After(end) {
			return end
		}
		return now
	})
	alone, _, _, _ := followed(t, 14, func(time.Time) time.Time { return testcrawl.Epoch.Add(-day) })
	if worth.Followed || sumOf(visits[5:8]) > sumOf(alone[5:8])*3/4 || visits[9] < alone[9]*3/4 {
		t.Errorf("a day after the end of its word there were %d visits, without a sitemap %d", visits[9], alone[9])
	}
	if last := chains[len(chains)-1]; strings.Contains(last, "says when it changes") {
		t.Errorf("a page still follows it: %q", last)
	}
}

// A sitemap that says of each page twice a day that it changed is not followed, and costs no visits.
func TestALyingSitemapCostsNothing(t *testing.T) {
	slow.Test(t)
	slow.Unraced(t, longPlay)
	visits, _, _, worth := followed(t, 10, func(time.Time) time.Time { return time.Time{} })
	alone, _, _, _ := followed(t, 10, func(time.Time) time.Time { return testcrawl.Epoch.Add(-day) })
	if worth.Followed || sumOf(visits[2:]) > sumOf(alone[2:])*21/20 {
		t.Errorf("from the third day on %d visits with it, %d without", sumOf(visits[2:]), sumOf(alone[2:]))
	}
}
