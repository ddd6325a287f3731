package crawler_test

import (
	"io"
	"strings"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/internal/town"
)

// A body that is cut at the size limit is archived once. Every record of it says that it is cut, and refers by a
// digest of exactly the bytes that the archive holds. A whole body with the same bytes is not taken for it.
func TestCutBodyIsArchivedOnce(t *testing.T) {
	t.Parallel()
	for _, certainty := range []string{"regular", "compare"} {
		t.Run(certainty, func(t *testing.T) {
			t.Parallel()
			body := strings.Repeat("frames of a film. ", 1000)
			dir := inTown(t, "[dedup]\ncertainty = \""+certainty+"\"\n[fetch]\nmax_body = \"9kB\"\n"+
				"[[wait]]\nmime = \".*\"\nunknown = \"10h\"\nmax = \"10h\"\n[seeds]\nuris = [\"http://film.example/\", \"http://clip.example/\"]\n", func(t *testing.T, w *world) {
				w.set("http://film.example/", town.Page{Type: "video/mp4", Body: body})
				w.set("http://clip.example/", town.Page{Type: "video/mp4", Body: body[:9000]})
				w.run(44 * time.Hour)
			})
			type kind struct{ target, kind, truncated string }
			want := digest.Of([]byte(body[:9000])).String()
			got := map[kind]int{}
			for _, file := range finishedFiles(t, dir) {
				eachRecord(t, file, func(rec *warc.Record) {
					h := rec.Header
					if h.Get("WARC-Payload-Digest") != want {
						return
					}
					got[kind{h.Get("WARC-Target-URI"), h.Type(), h.Get("WARC-Truncated")}]++
					if block, err := io.ReadAll(rec); err != nil || h.Type() == "response" && !strings.HasSuffix(string(block), body[:9000]) {
						t.Errorf("a response holds %d bytes, %v; want the first 9000 of the body", len(block), err)
					}
				})
			}
			film := kind{"http://film.example/", "response", "length"}
			again := kind{"http://film.example/", "revisit", "length"}
			clip := kind{"http://clip.example/", "response", ""}
			if got[film] != 1 || got[again] < 3 || got[clip] != 1 {
				t.Errorf("the archive has %v; want one response and revisits of the film, all truncated, and a whole clip", got)
			}
		})
	}
}

// eachRecord passes each record of a WARC file.
func eachRecord(t *testing.T, file string, use func(*warc.Record)) {
	t.Helper()
	r, err := warc.OpenFile(file)
	must(t, err)
	defer r.Close()
	for {
		rec, err := r.Next()
		if err == io.EOF {
			return
		}
		must(t, err)
		use(rec)
	}
}
