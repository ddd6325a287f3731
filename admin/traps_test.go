package admin

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/aspects/spaces"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/internal/testcrawl"
	"github.com/arcrawl/arcrawl/uri"
)

// TestTrapsAreShownAndReleased lists the traps of a running crawl and releases one. The URIs that it kept out are
// then due.
func TestTrapsAreShownAndReleased(t *testing.T) {
	inWorld(t, everyHour, func(w *world) {
		w.Set("http://news.example/", testcrawl.Page{})
		w.Set("http://news.example/a/a/a/1", testcrawl.Page{})
		const inTrap = "http://news.example/a/a/a/1"
		trap := w.Trap(inTrap)
		w.Trap("http://other.example/b/b/b/")
		now := time.Now()
		_, err := w.Parts.Frontier.Add(now,
			frontier.Candidate{URI: uri.FromCanonical(inTrap), Hops: "L", Seed: "http://news.example/", Due: now.Add(24 * time.Hour)},
			frontier.Candidate{URI: uri.FromCanonical("http://news.example/a/other"), Hops: "L", Seed: "http://news.example/", Due: now.Add(24 * time.Hour)})
		w.Must(err)

		list := get[api.Traps](w, "/api/v1/traps?host=NEWS.example")
		want := api.Traps{Traps: []api.Trap{{
			Host: "news.example", Trap: spaces.Trap{Kind: spaces.Repeats, Pattern: trap.Pattern, Why: trap.Why, Found: now.UTC(), Kept: 1},
			Examples: []string{inTrap}, Rule: trap.Rule(),
		}}}
		if diff := cmp.Diff(want, list, cmpopts.IgnoreUnexported(spaces.Trap{})); diff != "" {
			w.Errorf("the traps of a host (-want +got):\n%s", diff)
		}
		if all := get[api.Traps](w, "/api/v1/traps"); len(all.Traps) != 2 || all.More {
			w.Errorf("%d traps of all hosts, more: %t; want 2", len(all.Traps), all.More)
		}
		for _, wrong := range []api.TrapRelease{{Host: "news.example", Pattern: "x"}, {Host: "other.example", Pattern: trap.Pattern}} {
			if status := w.Ask(http.MethodPost, "/api/v1/traps/release", wrong, nil); status != http.StatusNotFound {
				w.Errorf("release of %+v, which is not a trap: status %d", wrong, status)
			}
		}
		for _, want := range []int64{1, 0} { // releasing it again changes nothing
			if got := post[api.TrapReleased](w, "/api/v1/traps/release", api.TrapRelease{Host: "news.example", Pattern: trap.Pattern}); got.Due != want {
				w.Errorf("%d URIs are due, want %d", got.Due, want)
			}
		}
		if list := get[api.Traps](w, "/api/v1/traps?host=news.example"); !list.Traps[0].Released {
			w.Error("the trap is not listed as released")
		}
		w.Run(time.Minute)
		if r, _, err := w.Parts.Frontier.Get(uri.FromCanonical(inTrap)); err != nil || r.Visits != 1 {
			w.Errorf("a URI of the released trap was visited %d times in a minute, want once (%v)", r.Visits, err)
		}
	})
}

// TestPathsThatMayBeEndlessAreNamed fills a path beyond its budget. The list of traps, the report of overdue URIs and
// the metrics say which path it is and how many URIs wait, until a curator ends the budget.
func TestPathsThatMayBeEndlessAreNamed(t *testing.T) {
	inWorld(t, everyHour, func(w *world) {
		search := func(n int) uri.URI { return uri.FromCanonical(fmt.Sprintf("http://news.example/search?q=w%d", n)) }
		w.Set("http://news.example/", testcrawl.Page{})
		for n := range 60 {
			w.Set(search(n).String(), testcrawl.Page{Body: fmt.Sprintf("<p>%s<a href=%q>more</a>", strings.Repeat(fmt.Sprintf("text%c%c of its own ", 'a'+n%26, 'a'+n/26), 30), search(n+1))})
		}
		now := time.Now()
		for n := range 60 {
			_, err := w.Parts.Frontier.Add(now, frontier.Candidate{
				URI: search(n), Hops: "LL", Via: search(n + 1).String(), Seed: "http://news.example/", Due: now,
			})
			w.Must(err)
		}
		w.Run(4 * time.Hour)

		budgets := get[api.Traps](w, "/api/v1/traps?host=news.example").Budgets
		if len(budgets) != 1 || budgets[0].Key != "/search?q" || budgets[0].Waiting < 10 || budgets[0].Held < budgets[0].Waiting {
			w.Fatalf("budgets: %+v; want one of /search?q, with URIs that wait", budgets)
		}
		waiting := budgets[0].Waiting
		if waiting+int64(budgets[0].Visits) != 60 {
			w.Errorf("%d were visited and %d wait, want 60 together", budgets[0].Visits, waiting)
		}
		for _, row := range get[api.Overdue](w, "/api/v1/overdue?by=host").Rows {
			if row.Name == "news.example" && (len(row.Endless) != 1 || row.Endless[0].Path != "/search?q" || row.Endless[0].Waiting != waiting) {
				w.Errorf("the host's overdue URIs name the paths %+v, want /search?q with %d URIs that wait", row.Endless, waiting)
			}
		}
		if text := w.scrape(); !strings.Contains(text, "arcrawl_trapped_uris_total{kind=\"budget\"}") || strings.Contains(text, "arcrawl_trapped_uris_total{kind=\"budget\"} 0\n") {
			w.Errorf("the metrics do not count the URIs that were put off")
		}
		released := post[api.TrapReleased](w, "/api/v1/traps/release", api.TrapRelease{Host: "news.example", Pattern: "/search?q"})
		if released.Due < waiting {
			w.Errorf("%d URIs are due after the release, want %d or more", released.Due, waiting)
		}
		if left := get[api.Traps](w, "/api/v1/traps?host=news.example").Budgets; len(left) > 0 {
			w.Errorf("after the release there are budgets: %+v", left)
		}
	})
}
