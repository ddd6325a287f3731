package crawler_test

import (
	"bytes"
	"crypto/sha1"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"

	"github.com/arcrawl/arcrawl/crawler"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/uri"
)

// benchSite serves pages of 15 KB with 20 links, all different.
func benchSite(b *testing.B) *httptest.Server {
	b.Helper()
	var words bytes.Buffer
	random := rand.New(rand.NewPCG(1, 2))
	for words.Len() < 14<<10 {
		fmt.Fprintf(&words, "%x ", random.Uint32N(5000))
	}
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Content-Length", fmt.Sprint(words.Len()+20*30+len(r.URL.Path)))
		fmt.Fprintf(w, "%s", r.URL.Path)
		for n := range 20 {
			fmt.Fprintf(w, "%-30s", fmt.Sprintf("<a href=/known/%d>", n))
		}
		_, _ = w.Write(words.Bytes())
	}))
	b.Cleanup(site.Close)
	return site
}

// BenchmarkVisit measures a first visit over the loopback with everything on: frontier, robots.txt, fetch, digests,
// links, WARC with fsync, log. It compares that with a bare loop of GET, SHA-1, gzip and append in the same run.
// It makes one visit at a time.
func BenchmarkVisit(b *testing.B) {
	site := benchSite(b)
	w := newWorld(b, b.TempDir(), fmt.Sprintf(`[politeness]
delay_factor = 0.0
min_delay = "0s"
max_delay = "0s"
[seeds]
uris = [%q]
`, site.URL+"/"))
	parts, shut := w.openWith(dialLoopback)
	defer shut()
	c := crawler.New(parts)
	addPages(b, parts.Frontier, site.URL, b.N+1)
	walkOne := func() { walkNext(b, parts.Frontier, c) }
	walkOne() // robots.txt
	b.ResetTimer()
	for range b.N {
		walkOne()
	}
	b.StopTimer()
	b.ReportMetric(float64(b.Elapsed())/float64(bareLoop(b, site.URL)), "×bare")
}

func addPages(b testing.TB, f *frontier.Frontier, site string, n int) {
	b.Helper()
	addPagesLater(b, f, site, n, 0)
}

// addPagesLater adds pages that are due after a time.
func addPagesLater(b testing.TB, f *frontier.Frontier, site string, n int, later time.Duration) {
	b.Helper()
	batch := make([]frontier.Candidate, 0, 1000)
	for i := range n {
		batch = append(batch, frontier.Candidate{URI: uri.FromCanonical(fmt.Sprintf("%s/%d", site, i)), Seed: site + "/", Due: time.Now().Add(later)})
		if len(batch) == cap(batch) || i == n-1 {
			if _, err := f.Add(time.Now(), batch...); err != nil {
				b.Fatal(err)
			}
			batch = batch[:0]
		}
	}
}

// bareLoop does the minimum that an archive needs for b.N pages, without durability, and returns how long it took.
func bareLoop(b *testing.B, site string) time.Duration {
	b.Helper()
	out, err := os.Create(filepath.Join(b.TempDir(), "bare.gz"))
	must(b, err)
	defer out.Close()
	began := time.Now()
	for i := range b.N {
		resp, err := http.Get(fmt.Sprintf("%s/%d", site, i))
		must(b, err)
		body, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		must(b, err)
		_ = sha1.Sum(body)
		z := gzip.NewWriter(out)
		if _, err := z.Write(body); err != nil {
			b.Fatal(err)
		}
		must(b, z.Close())
	}
	return time.Since(began)
}

// walkNext claims a URI and visits it.
func walkNext(tb testing.TB, f *frontier.Frontier, c *crawler.Crawler) {
	tb.Helper()
	claim, ok, err := f.Claim(time.Now().Add(2 * time.Millisecond)) // rests end on a full millisecond
	if err != nil || !ok {
		tb.Fatal("nothing to claim", err)
	}
	must(tb, c.Walk(tb.Context(), claim))
}
