package crawler_test

import (
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/aspects"
	"github.com/arcrawl/arcrawl/dedup"
	"github.com/arcrawl/arcrawl/internal/town"
	"github.com/arcrawl/arcrawl/uri"
)

// The server answers 304 to each conditional request. That must not keep a lost payload away: the requests after the
// loss have no conditions, and come before the URI would have been due.
func TestALostPayloadIsArchivedAgainAlthoughTheServerSays304(t *testing.T) {
	t.Parallel()
	for _, healed := range []bool{false, true} {
		inTown(t, "[seeds]\nuris = [\"http://site.example/\"]\n[midfetch]\nproof = 0\n", func(t *testing.T, w *world) {
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
				done, _, err := parts.Frontier.Recapture(now, "", parts.Dedup.Lost, func(uri.Host) time.Time { return now })
				if err != nil || done.Changed < 1 {
					t.Errorf("%d URIs are due, %v", done.Changed, err)
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
