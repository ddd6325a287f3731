package crawler_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/arcrawl/arcrawl/internal/trapsite"
	"github.com/arcrawl/arcrawl/traps"
	"github.com/arcrawl/arcrawl/uri"
)

// trapsOf lists the traps that a crawl has found on a host.
func (w *world) trapsOf(host uri.Host) []traps.Trap {
	w.t.Helper()
	rooms, shut := w.open()
	defer shut()
	list, err := rooms.Traps.Of(host)
	if err != nil {
		w.t.Fatal(err)
	}
	return list
}

// The site can name more than 10^9 URIs. All that is real is found, and little of the rest is asked for.
func TestTheTrapSiteIsLeft(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, dir, "[seeds]\nuris = [\"http://maze.example/\"]\n")
		defer w.town.Close()
		site := trapsite.New(time.Now())
		w.town.Serve("maze.example", site)
		w.run(10 * time.Minute) // the crawl remembers what it was about to learn
		w.run(2 * time.Hour)
		if missing := site.Missing(); len(missing) > 0 {
			t.Errorf("%d real pages were not found: %v", len(missing), missing)
		}
		byKind, all := site.Trapped()
		if all >= 200 {
			t.Errorf("%d URIs of traps were asked for, want fewer than 200", all)
		}
		t.Logf("%d URIs of traps were asked for: %v", all, byKind)
		found := map[traps.Kind]int{}
		for _, trap := range w.trapsOf("maze.example") {
			found[trap.Kind]++
			t.Logf("%s %s: %s (%d visited, %d kept out)", trap.Kind, trap.Pattern, trap.Why, trap.Visited, trap.Kept)
		}
		for _, kind := range []traps.Kind{traps.Calendar, traps.Growth, traps.Facets, traps.Session} {
			if found[kind] != 1 {
				t.Errorf("%d traps of the kind %s, want 1", found[kind], kind)
			}
		}
	})
}
