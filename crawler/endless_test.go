package crawler_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/aspects/spaces"
	"github.com/arcrawl/arcrawl/crawler/whatif"
	"github.com/arcrawl/arcrawl/internal/slow"
	"github.com/arcrawl/arcrawl/internal/town"
	"github.com/arcrawl/arcrawl/uri"
)

// Spaces of URIs without end take few requests, and all real pages next to them are found.
func TestEndlessSpacesTakeFewRequests(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	slow.Unraced(t, longPlay)
	for _, c := range []struct {
		name string
		set  func(*town.Endless)
		most int // share of the requests for each space, in percent
		want []spaces.Kind
	}{
		{"searches", func(e *town.Endless) { e.Search = true }, 5, []spaces.Kind{spaces.Query}},
		// They look like real pages to which only one page links, so only their budget bounds them.
		{"searches with new texts", func(e *town.Endless) { e.Search, e.Texts = true, true }, 5, nil},
		{"scripts with the time in their names, and session ids", func(e *town.Endless) {
			e.Busters, e.Sessions = true, true
		}, 5, []spaces.Kind{spaces.Parameter, spaces.Parameter, spaces.Parameter}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			inTown(t, "[seeds]\nuris = [\"http://news.example/\"]\n", func(t *testing.T, w *world) {
				site := town.NewEndless()
				c.set(site)
				w.town.Serve("news.example", site)
				w.run(time.Hour) // a restart loses nothing that was learned
				w.run(19 * time.Hour)
				asked, all := site.Requests()
				t.Logf("%d requests, of spaces: %v", all, asked)
				if missing := site.Missing(); len(missing) > 0 {
					t.Errorf("%d of %d real pages were not found: %v", len(missing), len(site.Pages()), missing)
				}
				for space, n := range asked {
					if 100*n > c.most*all {
						t.Errorf("%d of %d requests were for the space %q, want at most %d %%", n, all, space, c.most)
					}
				}
				var kinds []spaces.Kind
				for _, trap := range w.trapsOf("news.example") {
					kinds = append(kinds, trap.Kind)
					t.Logf("%s %s: %s (%d visited, %d kept out)", trap.Kind, trap.Pattern, trap.Why, trap.Visited, trap.Kept)
				}
				if len(c.want) == 0 {
					w.budgetIsLifted("news.example", "/search?q")
				}
				if !slices.Equal(kinds, c.want) {
					t.Errorf("traps of the kinds %v were found, want %v", kinds, c.want)
				}
			})
		})
	}
}

// budgetIsLifted checks that a pattern is listed with its budget, that the explanation of a URI names it, and that a
// curator can end it.
func (w *world) budgetIsLifted(host uri.Host, pattern string) {
	w.t.Helper()
	parts, shut := w.open()
	defer shut()
	list, err := parts.Traps.Patterns(host)
	if err != nil || len(list) != 1 || list[0].Key != pattern || list[0].Held == 0 {
		w.t.Errorf("budgets %+v, %v; want one of %s", list, err, pattern)
	}
	held := ""
	for _, r := range w.visits("") {
		if r.Wait.Reason == "trap:budget" {
			held = r.URI.String()
		}
	}
	why := func() string {
		q := whatif.Question{URI: uri.FromCanonical(held)}
		reasons, err := whatif.Explain(parts.Config.Current(), parts.Frontier, parts.Traps, q, time.Now())
		must(w.t, err)
		return fmt.Sprint(reasons)
	}
	if said := why(); !strings.Contains(said, "arcrawl traps release news.example '"+pattern+"'") {
		w.t.Errorf("the explanation of %s does not name the budget: %s", held, said)
	}
	due, err := spaces.Release(parts.Frontier, parts.Traps, host, pattern, time.Now())
	if err != nil || due == 0 {
		w.t.Errorf("%d URIs are due after the release, %v; want some", due, err)
	}
	if said := why(); strings.Contains(said, "endless") {
		w.t.Errorf("after the release %s waits for a budget: %s", held, said)
	}
}
