package crawler_test

import (
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/crawler"
	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/internal/town"
)

// A body that ended half-way has the digest of what the archive has of it, in its record and in the live index. It is
// never the original of another one.
func TestCutBodyHasADigestInTheIndex(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	indexed := map[string]digest.Digest{}
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, dir, "[retry]\nfirst = \"1h\"\n[seeds]\nuris = [\"http://half.example/\"]\n")
		w.set("http://half.example/", town.Page{Type: "text/plain", Body: "one two three four", Cut: true})
		parts, end := w.open()
		parts.IndexCapture = func(c crawler.Captured) error {
			indexed[c.Record.RecordID] = c.Record.Payload
			return nil
		}
		w.crawl(parts, 10*time.Hour)
		end()
	})
	responses := 0 // of the page
	for _, file := range finishedFiles(t, dir) {
		eachRecord(t, file, func(rec *warc.Record) {
			h := rec.Header
			if h.Target() != "http://half.example/" || h.Type() == "request" || h.Type() == "metadata" {
				return
			}
			responses++
			block, _ := io.ReadAll(rec)
			_, body, _ := strings.Cut(string(block), "\r\n\r\n") // the whole half, or nothing of it
			want := digest.Of([]byte(body))
			if h.Type() != "response" || h.Get("WARC-Truncated") != "disconnect" ||
				h.Get("WARC-Payload-Digest") != want.String() || indexed[rec.ID()] != want {
				t.Errorf("a %s, cut by %q, has the digest %q, in the index %q; want %q of a disconnected response", h.Type(),
					h.Get("WARC-Truncated"), h.Get("WARC-Payload-Digest"), indexed[rec.ID()], want)
			}
		})
	}
	if responses < 2 {
		t.Errorf("the archive has %d responses of the cut page, want one for each visit", responses)
	}
}
