package archive

import (
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/internal/foreign"
	"github.com/arcrawl/arcrawl/internal/testcrawl"
)

// TestTheArchiveOfOddAnswersHasNoErrors visits pages whose answers break the rules of HTTP. The archive must be right
// all the same, for us and for warcio. Warnings are about a content coding that cannot be removed, and heads that
// gowarc does not read.
func TestTheArchiveOfOddAnswersHasNoErrors(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		w := testcrawl.NewWorld(t, dir, testcrawl.EveryHour)
		w.Window, w.Every = noWindow{}, time.Hour
		w.Town.Serve("news.example", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			answer, odd := oddAnswers[r.URL.Path]
			if !odd {
				for path := range oddAnswers {
					fmt.Fprintf(w, "<a href=%s>x</a>", path)
				}
				return
			}
			c, _, err := http.NewResponseController(w).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			defer c.Close()
			_, _ = c.Write([]byte(answer))
		}))
		w.AddSeeds()
		w.Run(2 * time.Hour)
		w.Close()
	})
	seen := map[string]bool{}
	for _, e := range testcrawl.ReadLog(t, dir+"/crawl.log") {
		seen[strings.TrimPrefix(e.URI, "http://news.example")] = true
	}
	for path := range oddAnswers {
		if !seen[path] {
			t.Errorf("%s was not visited", path)
		}
	}
	found, _ := verified(t, VerifyOptions{Strict: true}, dir+"/warc")
	for _, f := range found {
		aboutSite := f.Kind == warc.Kind("gowarc") || strings.Contains(f.Text, "cannot be decoded")
		if f.Severity == warc.Warning && aboutSite {
			continue
		}
		t.Errorf("%s %s of %s: %s", f.Severity, f.Kind, f.URI, f.Text)
	}
	files, err := filepath.Glob(dir + "/warc/*.warc.gz")
	if err != nil || len(files) == 0 {
		t.Fatalf("%v, %v", files, err)
	}
	// warcio looks for the end of a head in the first empty line after a field, wants lines to end with CR LF, takes
	// trailers for content, and knows chunked in small letters only.
	otherwise := []string{"/length-none", "/head-lf", "/head-mixed", "/chunks-trailers", "/chunks-upper"}
	twice, foreignly := 0, map[string]bool{}
	for _, r := range foreign.Records(t, files...) {
		if strings.HasSuffix(r.Target, "/chunks-twice") && r.Type == "response" {
			twice++
		}
		path := strings.TrimPrefix(r.Target, "http://news.example")
		foreignly[path] = true
		if slices.Contains(otherwise, path) {
			continue
		}
		if len(r.Errors) > 0 && r.Truncated == "" { // warcio leaves out a chunk that was cut
			t.Errorf("warcio says of the %s of %s: %q", r.Type, r.Target, r.Errors)
		}
	}
	for path, answer := range oddAnswers {
		if !foreignly[path] && answer != "" {
			t.Errorf("warcio has no record of %s", path)
		}
	}
	if twice != 1 {
		t.Errorf("an answer that stayed the same has %d records, want 1", twice)
	}
}
