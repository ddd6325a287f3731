package archive

import (
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/internal/foreign"
	"github.com/arcrawl/arcrawl/internal/testcrawl"
)

// oddAnswers holds answers that break the rules of HTTP, by path. The connection is closed after each.
var oddAnswers = map[string]string{
	"/chunks-end":       "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nHello\r\n",
	"/chunks-middle":    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n40\r\nHello",
	"/chunks-zz":        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nHello\r\nzz\r\nagain\r\n0\r\n\r\n",
	"/chunks-long":      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nHello world\r\n0\r\n\r\n",
	"/chunks-none":      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n<p>no chunks at all</p>",
	"/chunks-size":      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5",
	"/chunks-empty":     "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
	"/chunks-spaces":    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5   \r\nHello\r\n0\r\n\r\n",
	"/chunks-lf":        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\nHello\n0\n\n",
	"/chunks-first":     "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked, gzip\r\n\r\n5\r\nHello\r\n0\r\n\r\n",
	"/chunks-gzip":      "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n5\r\nHello\r\n0\r\n\r\n",
	"/chunks-twice":     "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nHello\r\n0\r\n\r\n",
	"/chunks-other":     "HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nHello\r\n0\r\n\r\n",
	"/chunks-identity":  "HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\n\r\nHello",
	"/chunks-x":         "HTTP/1.1 200 OK\r\nTransfer-Encoding: xchunked\r\n\r\n5\r\nHello\r\n0\r\n\r\n",
	"/chunks-blank":     "HTTP/1.1 200 OK\r\nTransfer-Encoding : chunked\r\n\r\n5\r\nHello\r\n0\r\n\r\n",
	"/chunks-folded":    "HTTP/1.1 200 OK\r\nTransfer-Encoding:\r\n chunked\r\n\r\n5\r\nHello\r\n0\r\n\r\n",
	"/chunks-1.0":       "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nHello\r\n0\r\n\r\n",
	"/chunks-junk":      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nHello\r\n0\r\n\r\njunk",
	"/chunks-trailer":   "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nHello\r\n0\r\nno trailer",
	"/chunks-extension": "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;" + strings.Repeat("a", 5000) + "\r\nHello\r\n0\r\n\r\n",
	"/chunks-big":       "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\nHello\r\n0\r\n\r\n",
	"/chunks-minus":     "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-5\r\nHello\r\n0\r\n\r\n",
	"/chunks-coded":     "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nHello\r\nzz\r\n",
	"/length-short":     "HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nHello",
	"/length-two":       "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 7\r\n\r\nHello",
	"/length-long":      "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nHello world",
	"/coded":            "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 5\r\n\r\nHello",
	"/lower":            "http/1.1 200 ok\r\n\r\nHello",
	"/icy":              "ICY 200 OK\r\n\r\nHello",
	"/bytes":            "\x16\x03\x01\x02 not http",
	"/head-cut":         "HTTP/1.1 200 OK\r\nContent-Ty",
	"/status-cut":       "HTTP/1.",
	"/nothing":          "",
	"/304":              "HTTP/1.1 304 Not Modified\r\n\r\n",
	"/204-body":         "HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\nHello",
	"/101":              "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\nHello",
	"/206":              "HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 0-4/10\r\nContent-Length: 5\r\n\r\nHello",
}

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
		w.Run(3 * time.Hour)
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
		aboutSite := f.Kind == warc.Kind("gowarc") || strings.HasSuffix(f.URI, "/coded")
		if f.Severity == warc.Warning && aboutSite {
			continue
		}
		t.Errorf("%s %s of %s: %s", f.Severity, f.Kind, f.URI, f.Text)
	}
	files, err := filepath.Glob(dir + "/warc/*.warc.gz")
	if err != nil || len(files) == 0 {
		t.Fatalf("%v, %v", files, err)
	}
	twice := 0
	for _, r := range foreign.Records(t, files...) {
		if strings.HasSuffix(r.Target, "/chunks-twice") && r.Type == "response" {
			twice++
		}
		if len(r.Errors) > 0 && r.Truncated == "" { // warcio leaves out a chunk that was cut
			t.Errorf("warcio says of the %s of %s: %q", r.Type, r.Target, r.Errors)
		}
	}
	if twice != 1 {
		t.Errorf("an answer that stayed the same has %d records, want 1", twice)
	}
}
