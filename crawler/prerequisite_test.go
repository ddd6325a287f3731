package crawler_test

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/arcrawl/arcrawl/aspects"
	"github.com/arcrawl/arcrawl/dedup"
	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/internal/town"
)

// An imported index names a robots.txt as the origin of a payload. A page with this payload is archived
// whole, and its record is the origin from then on.
func TestEntryOfARobotsFileIsReplaced(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const body = "not here\n"
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, dir, "[seeds]\nuris = [\"http://site.example/\"]\n")
		for _, path := range []string{"", "a", "b"} {
			w.set("http://site.example/"+path, town.Page{Status: http.StatusNotFound, Type: "text/plain", Body: body})
		}
		parts, done := w.openWith(w.town.Dial)
		sum := digest.Of([]byte(body))
		must(t, parts.Dedup.Put(dedup.Key{Payload: sum, Status: http.StatusNotFound, MIME: "text/plain"}, digest.Origin{
			RecordID: "urn:uuid:11111111-2222-4333-8444-555555555555", URI: "http://old.example/robots.txt",
			Date: time.Now().Add(-time.Hour), Payload: sum, Size: int64(len(body)),
		}))
		done()
		w.run(2 * time.Hour)
		var kept []aspects.Keeping
		for _, r := range w.reports {
			if r.URI.String() == "http://site.example/" {
				kept = append(kept, r.Kept)
			}
		}
		if len(kept) < 2 || kept[0] != aspects.KeptResponse || kept[1] != aspects.KeptRevisit {
			t.Errorf("the page was kept as %v; want a response, and then a revisit of it", kept)
		}
	})
}
