package crawler_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/aspects/scope"
	"github.com/arcrawl/arcrawl/aspects/spaces"
	"github.com/arcrawl/arcrawl/crawler/whatif"
	"github.com/arcrawl/arcrawl/internal/slow"
	"github.com/arcrawl/arcrawl/internal/town"
	"github.com/arcrawl/arcrawl/uri"
)

// trapsOf lists the traps that a crawl has found on a host.
func (w *world) trapsOf(host uri.Host) []spaces.Trap {
	w.t.Helper()
	parts, shut := w.open()
	defer shut()
	list, err := parts.Traps.Get(host)
	must(w.t, err)
	return list
}

// The site can name more than 10^9 URIs. All real pages are found, and few of the others are requested.
func TestTrapSiteIsCrawledWithoutItsTraps(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	slow.Unraced(t, longPlay)
	inTown(t, "[seeds]\nuris = [\"http://maze.example/\"]\n", func(t *testing.T, w *world) {
		site := town.NewMaze(time.Now())
		w.town.Serve("maze.example", site)
		w.run(10 * time.Minute) // after a restart the crawl learns again what it had not stored
		w.run(2 * time.Hour)
		if missing := site.Missing(); len(missing) > 0 {
			t.Errorf("%d real pages were not found: %v", len(missing), missing)
		}
		byKind, all := site.Trapped()
		if all >= 200 {
			t.Errorf("%d URIs of traps were requested, want fewer than 200", all)
		}
		t.Logf("%d URIs of traps were requested: %v", all, byKind)
		found := map[spaces.Kind]int{}
		for _, trap := range w.trapsOf("maze.example") {
			found[trap.Kind]++
			t.Logf("%s %s: %s (%d visited, %d kept out)", trap.Kind, trap.Pattern, trap.Why, trap.Visited, trap.Kept)
		}
		for _, kind := range []spaces.Kind{spaces.Calendar, spaces.Growth, spaces.Facets, spaces.Session, spaces.Farm} {
			if found[kind] != 1 {
				t.Errorf("%d traps of the kind %s, want 1", found[kind], kind)
			}
		}
	})
}

// Pages that a sitemap lists are real, whatever they look like. A trap that was found on them before is released.
func TestSitemapReleasesALinkFarm(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	slow.Unraced(t, longPlay)
	inTown(t, "[seeds]\nuris = [\"http://maze.example/\"]\n[feeds]\nsitemaps = [\"http://maze.example/sitemap.xml\"]\nsitemap_min = \"10m\"\nsitemap_max = \"10m\"\nsitemap_initial = \"10m\"\n", func(t *testing.T, w *world) {
		site := town.NewMaze(time.Now())
		listed := "/about"
		w.town.Serve("maze.example", http.HandlerFunc(func(to http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/sitemap.xml" {
				site.ServeHTTP(to, r)
				return
			}
			to.Header().Set("Content-Type", "application/xml")
			fmt.Fprintf(to, "<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'><url><loc>http://maze.example%s</loc></url></urlset>", listed)
		}))
		farms := func() (known, released int) {
			for _, trap := range w.trapsOf("maze.example") {
				if trap.Kind == spaces.Farm {
					known++
					if trap.Released {
						released++
					}
				}
			}
			return known, released
		}
		w.run(25 * time.Minute)
		if known, released := farms(); known != 1 || released != 0 {
			t.Fatalf("%d link farms, %d of them released; want one", known, released)
		}
		before, _ := site.Trapped()
		listed = "/partners/one-of-many"
		w.run(10 * time.Minute)
		if known, released := farms(); known != 1 || released != 1 {
			t.Errorf("%d link farms, %d of them released; want one that is released", known, released)
		}
		if after, _ := site.Trapped(); after["farm"] < before["farm"]+100 {
			t.Errorf("%d pages of the farm were visited before the release and %d after it; want all that the trap kept out", before["farm"], after["farm"]-before["farm"])
		}
	})
}

// For a URI of a trap, the explanation names the trap, the command that releases it, and the line that enables traps.
func TestExplainNamesTheTrap(t *testing.T) {
	t.Parallel()
	w := newWorld(t, t.TempDir(), "[seeds]\nuris = [\"http://news.example/\"]\n[scope]\ntraps = true\n")
	parts, shut := w.open()
	defer shut()
	q := whatif.Question{URI: uri.FromCanonical("http://news.example/a/a/a/b")}
	reasons, err := whatif.Explain(parts.Config.Current(), parts.Frontier, parts.Traps, q, time.Now())
	must(t, err)
	last := reasons[len(reasons)-1]
	if last.Opinion != scope.Rejects || last.Rule != "scope.traps" || !strings.HasSuffix(last.Where, "arcrawl.toml:7") ||
		!strings.Contains(last.Why, "a trap of the kind repeats") || !strings.Contains(last.Why, "arcrawl traps release news.example '") {
		t.Errorf("last reason %+v; want the trap, its release and the line", last)
	}
}
