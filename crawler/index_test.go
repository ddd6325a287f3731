package crawler_test

import (
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/internal/slow"
	"github.com/arcrawl/arcrawl/internal/testcrawl"
)

const day = 24 * time.Hour

// gone stands for a time at which a site has no sitemap.
var gone = time.Unix(1, 0)

const indexedPages = 12

// changedAt returns when a page of [indexedSite] last changed.
func changedAt(page int, now time.Time) time.Time {
	began, every := testcrawl.Epoch.Add(-10*day), time.Duration(18+page)*time.Hour
	return began.Add(now.Sub(began).Truncate(every)).Add(time.Duration(page) * time.Minute)
}

// indexedSite serves twelve pages, each of which changes about once a day, and a sitemap that says when. At each time
// it says what was true at the time that when returns. If that is zero, it says that all pages have changed since noon
// or midnight.
func indexedSite(when func(now time.Time) time.Time) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		now := time.Now()
		if r.URL.Path == "/list.xml" && when(now).Equal(gone) {
			http.NotFound(w, r)
			return
		}
		if r.URL.Path == "/list.xml" {
			w.Header().Set("Content-Type", "application/xml")
			fmt.Fprint(w, "<urlset>")
			for i := range indexedPages {
				at := now.Truncate(day / 2).Add(time.Duration(i) * time.Minute)
				if then := when(now); !then.IsZero() {
					at = changedAt(i, then)
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
		fmt.Fprintf(w, "<p>Since %s.</p>", changedAt(page, now))
	}
}

const indexedConfig = `[feeds]
sitemaps = ["http://news.example/list.xml"]
[[wait]]
mime = ".*"
rule = "learned"
[articles]
ladder = []
`

// followed plays such a site.
func followed(t *testing.T, days int, when func(now time.Time) time.Time) (
	visits []int, found int, chains []string, worth evaluators.HostIndex,
) {
	return playIndex(t, days, indexedConfig, indexedSite(when))
}

// playIndex plays a site with an index. It returns the visits to pages on each day, how many of them found a change,
// the chains of the pages at the end, and what the index was worth.
func playIndex(t *testing.T, days int, config string, site http.Handler) (
	visits []int, found int, chains []string, worth evaluators.HostIndex,
) {
	visits = make([]int, days)
	inTown(t, config, func(t *testing.T, w *world) {
		w.town.Serve("news.example", site)
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

// When a sitemap stops being true, or is gone, the pages return to their own waits within a day.
func TestAfterASitemapStopsItsPagesReturnToTheirOwnWaits(t *testing.T) {
	slow.Test(t)
	slow.Unraced(t, longPlay)
	end := testcrawl.Epoch.Add(8 * day)
	alone, _, _, _ := followed(t, 14, func(time.Time) time.Time { return testcrawl.Epoch.Add(-day) })
	for _, then := range []time.Time{end, gone} {
		visits, _, chains, worth := followed(t, 14, func(now time.Time) time.Time {
			if now.After(end) {
				return then
			}
			return now
		})
		if worth.Followed || sumOf(visits[5:8]) > sumOf(alone[5:8])*3/4 || visits[9] < alone[9]*3/4 {
			t.Errorf("a day after the end of its word there were %d visits, without a sitemap %d", visits[9], alone[9])
		}
		if last := chains[len(chains)-1]; strings.Contains(last, "says when it changes") {
			t.Errorf("a page still follows it: %q", last)
		}
	}
}

// A sitemap that says of each page twice a day that it changed is not followed, and costs no visits.
func TestALyingSitemapCostsNothing(t *testing.T) {
	slow.Test(t)
	slow.Unraced(t, longPlay)
	visits, _, _, worth := followed(t, 10, func(time.Time) time.Time { return time.Time{} })
	alone, _, _, _ := followed(t, 10, func(time.Time) time.Time { return testcrawl.Epoch.Add(-day) })
	if worth.Followed || sumOf(visits[2:]) > sumOf(alone[2:])*11/10 { // probes come at random
		t.Errorf("from the third day on %d visits with it, %d without", sumOf(visits[2:]), sumOf(alone[2:]))
	}
}

// A sitemap that is answered 304 has said that nothing changed. After a restart its pages follow it again. Its requests
// and their bytes are counted.
func TestAfterARestartASitemapIsStillFollowed(t *testing.T) {
	slow.Test(t)
	slow.Unraced(t, longPlay)
	inTown(t, indexedConfig, func(t *testing.T, w *world) {
		site, unread := indexedSite(func(now time.Time) time.Time { return now }), 0
		asked, sent := 0, 0
		w.town.Serve("news.example", http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/list.xml" {
				site(rw, r)
				return
			}
			asked++
			list := httptest.NewRecorder()
			site(list, r)
			tag := fmt.Sprintf("%q", fmt.Sprintf("%x", sha256.Sum256(list.Body.Bytes())))
			rw.Header().Set("ETag", tag)
			if r.Header.Get("If-None-Match") == tag {
				unread++
				rw.WriteHeader(http.StatusNotModified)
				return
			}
			rw.Header().Set("Content-Type", "application/xml")
			sent += list.Body.Len()
			_, _ = rw.Write(list.Body.Bytes())
		}))
		w.run(5 * day)
		before := len(w.visits(""))
		w.run(4 * day)
		pages := 0
		for _, r := range w.visits("")[before:] {
			if strings.HasPrefix(r.URI.RequestTarget(), "/page/") {
				pages++
			}
		}
		if pages > 4*18 || unread < 5 {
			t.Errorf("%d visits to 12 pages in four days, %d readings were answered 304", pages, unread)
		}
		t.Logf("%d visits to pages after the restart, %d readings were answered 304", pages, unread)
		parts, shut := w.open()
		defer shut()
		all, err := parts.Reputation.Indexes("news.example")
		must(t, err)
		heads := all[0].Received - int64(sent)
		if all[0].Requests != int64(asked) || heads < 0 || heads > int64(asked)*500 {
			t.Errorf("%d requests for the sitemap and %d bytes counted, were %d and %d", all[0].Requests, all[0].Received, asked, sent)
		}
	})
}
