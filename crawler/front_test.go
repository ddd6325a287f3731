package crawler_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/internal/slow"
	"github.com/arcrawl/arcrawl/internal/testcrawl"
)

const frontConfig = `[seeds]
uris = ["http://news.example/"]
[[wait]]
mime = ".*"
rule = "learned"
[articles]
ladder = []
`

// frontSite serves a front page that links to twelve articles with their headlines and a note, and has other news each
// hour. An article has a new headline, and changes, a number of times after a time: the first one first, an hour later
// the second one, and so on.
func frontSite(edited time.Time, times int, note func(now time.Time) string) http.HandlerFunc {
	headline := func(article int, now time.Time) string {
		text := fmt.Sprintf("Flood in the valley number %d", article)
		if at := edited.Add(time.Duration(article) * time.Hour); article < times && now.After(at) {
			text += ": no one is missing"
		}
		return text
	}
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		now, article := time.Now(), 0
		switch _, err := fmt.Sscanf(r.URL.Path, "/article/%d", &article); {
		case err == nil:
			fmt.Fprintf(w, "<h1>%s</h1>", headline(article, now))
		case r.URL.Path == "/":
			fmt.Fprintf(w, "<p>The %dth hour</p>", now.Unix()/3600)
			for i := range 12 {
				fmt.Fprintf(w, `<a href="/article/%d"><h2>%s</h2><p>%s</p></a>`, i, headline(i, now), note(now))
			}
		default:
			http.NotFound(w, r)
		}
	}
}

// behindSection serves a site whose front page links to a section alone. The section links to the articles.
func behindSection(site http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/":
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, `<a href="/politics">Politics</a>`)
			return
		case "/politics":
			r.URL.Path = "/"
		}
		site(w, r)
	}
}

// articleVisits returns how many visits articles got from a time on, and how late their changes were found.
func articleVisits(w *world, edited time.Time) (visits int, late []time.Duration) {
	for _, r := range w.visits("") {
		article := 0
		if _, err := fmt.Sscanf(r.URI.RequestTarget(), "/article/%d", &article); err != nil || r.Finished.Before(edited) {
			continue
		}
		visits++
		if r.Verdict.State == evaluators.Changed && !r.Verdict.First {
			late = append(late, r.Finished.Sub(edited)-time.Duration(article)*time.Hour)
		}
	}
	return visits, late
}

// An article that never changed gets a new headline on the front page, or in a section. It is visited right after that
// page.
func TestAHeadlineThatChangesOnTheFrontPageBringsAVisit(t *testing.T) {
	edited := testcrawl.Epoch.Add(15 * day)
	clock := func(now time.Time) string { return now.Format(time.TimeOnly) }
	t.Run("front page", func(t *testing.T) { testHeadlines(t, frontSite(edited, 3, clock), edited) })
	none := func(time.Time) string { return "" } // a section that differs at each fetch is visited once a day
	t.Run("section", func(t *testing.T) { testHeadlines(t, behindSection(frontSite(edited, 3, none)), edited) })
}

func testHeadlines(t *testing.T, site http.HandlerFunc, edited time.Time) {
	t.Helper()
	inTown(t, frontConfig, func(t *testing.T, w *world) {
		w.town.Serve("news.example", site)
		w.run(16 * day)
		visits, late := articleVisits(w, edited)
		t.Logf("%d visits to articles in a day; changes were found after %v", visits, late)
		if len(late) != 3 || visits > 20 {
			t.Fatalf("%d of 3 changes were found, by %d visits", len(late), visits)
		}
		for _, d := range late {
			if d > 3*time.Hour {
				t.Errorf("a change was found %s after the headline had changed", d)
			}
		}
	})
}

// A front page has another note next to each headline at each fetch. Its word is worth nothing, and soon costs nothing.
func TestNotesThatAlwaysChangeOnAFrontPageCostNothing(t *testing.T) {
	slow.Test(t)
	slow.Unraced(t, longPlay)
	never := testcrawl.Epoch.Add(100 * day)
	count := func(note func(time.Time) string) (visits int) {
		inTown(t, frontConfig, func(t *testing.T, w *world) {
			w.town.Serve("news.example", frontSite(never, 0, note))
			w.run(10 * day)
			visits, _ = articleVisits(w, testcrawl.Epoch.Add(3*day))
		})
		return visits
	}
	noisy := count(func(now time.Time) string { return fmt.Sprintf("read by %d people so far", now.UnixNano()/1000) })
	quiet := count(func(time.Time) string { return "read by many people so far" })
	if t.Logf("%d visits to articles with notes that change, %d without", noisy, quiet); noisy > quiet+quiet/10+12 {
		t.Errorf("%d visits to articles with notes that change, %d without", noisy, quiet)
	}
}
