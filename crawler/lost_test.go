package crawler_test

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/arcrawl/arcrawl/archive/heal"
	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/aspects"
	"github.com/arcrawl/arcrawl/crawler"
	"github.com/arcrawl/arcrawl/dedup"
	"github.com/arcrawl/arcrawl/internal/town"
)

// The server answers 304 to each conditional request. That must not keep a lost payload away: the requests after the
// loss have no conditions, and come before the URI would have been due.
func TestALostPayloadIsArchivedAgainAlthoughTheServerSays304(t *testing.T) {
	t.Parallel()
	for _, healed := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, t.TempDir(), "[seeds]\nuris = [\"http://site.example/\"]\n[midfetch]\nproof = 0\n")
			defer w.town.Close()
			w.set("http://site.example/", town.Page{Body: "the same for years", ETag: "honest"})
			w.run(4 * 24 * time.Hour)
			before := w.visits(".example/")
			if last := before[len(before)-1]; last.Kept != aspects.KeptNotModified {
				t.Fatalf("the last of %d visits left %s, want a revisit of a 304", len(before), last.Kept)
			}
			parts, shut := w.open()
			var lost string
			for _, f := range warcFiles(t, w.path("warc")) {
				lost = f
				_, err := parts.Dedup.Lose(dedup.Loss{File: f, Cause: dedup.Declared, Pending: true})
				must(t, err)
			}
			now := time.Now()
			if healed {
				due, err := heal.URIs(t.Context(), parts.Frontier, parts.Dedup, parts.Config.Current(), time.Now, t.Context().Err)
				if err != nil || due < 1 {
					t.Errorf("%d URIs are due, %v", due, err)
				}
			}
			shut()
			w.run(5 * 24 * time.Hour)
			after := w.visits(".example/")[len(before):]
			if len(after) < 2 || after[0].Kept != aspects.KeptResponse || after[1].Kept == aspects.KeptResponse {
				t.Fatalf("healed: %t: the visits after the loss of %s: %+v", healed, lost, after)
			}
			if soon := after[0].Finished.Sub(now) < time.Hour; soon != healed {
				t.Errorf("healed: %t: the first visit is %s after the loss", healed, after[0].Finished.Sub(now))
			}
		})
	}
}

// Thirty pages of one host lose their payloads at once. The host gets the requests one by one, with its delay between
// them.
func TestLostPayloadsAreFetchedAgainAtThePaceOfTheirHost(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, t.TempDir(), "[seeds]\nuris = [\"http://site.example/\"]\n[politeness]\nmin_delay = \"30s\"\n")
		defer w.town.Close()
		var links []string
		for n := range 30 {
			links = append(links, fmt.Sprintf("/%d", n))
			w.set("http://site.example"+links[n], town.Page{Body: fmt.Sprintf("page %d", n)})
		}
		w.set("http://site.example/", town.Page{Links: links})
		w.run(2 * time.Hour)
		before := len(w.visits(""))
		parts, shut := w.open()
		for _, f := range warcFiles(t, w.path("warc")) {
			_, err := parts.Dedup.Lose(dedup.Loss{File: f, Cause: dedup.Declared, Pending: true})
			must(t, err)
		}
		due, err := heal.URIs(t.Context(), parts.Frontier, parts.Dedup, parts.Config.Current(), time.Now, t.Context().Err)
		if err != nil || due < 31 {
			t.Errorf("%d URIs are due, %v; want 31 and robots.txt", due, err)
		}
		shut()
		w.run(2 * time.Hour)
		again := w.visits("")[before:]
		slices.SortFunc(again, func(a, b crawler.Report) int { return a.Finished.Compare(b.Finished) })
		for n := range again {
			if n > 0 && again[n].Finished.Sub(again[n-1].Finished) < 30*time.Second {
				t.Errorf("%s was visited %s after %s", again[n].URI, again[n].Finished.Sub(again[n-1].Finished), again[n-1].URI)
			}
		}
		if len(again) < 31 || again[30].Finished.Sub(again[0].Finished) > time.Hour {
			t.Errorf("%d visits in two hours after the loss, want all 31 within one", len(again))
		}
	})
}

// warcFiles returns the names of the WARC files in a folder.
func warcFiles(t *testing.T, dir string) (names []string) {
	t.Helper()
	files, faults := warc.Files([]string{dir})
	if len(faults) > 0 {
		t.Fatal(faults[0])
	}
	for _, f := range files {
		names = append(names, f.Name)
	}
	return names
}
