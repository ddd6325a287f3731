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
	"slices"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"

	"github.com/arcrawl/arcrawl/crawler"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/internal/human"
	"github.com/arcrawl/arcrawl/uri"
)

// benchSite serves a page of random words at every path. If the pages are varied, each begins with its path and 20
// links.
func benchSite(b *testing.B, size int, varied bool) string {
	b.Helper()
	var words, links bytes.Buffer
	random := rand.New(rand.NewPCG(1, 2))
	for words.Len() < size {
		fmt.Fprintf(&words, "%x ", random.Uint32N(5000))
	}
	for n := range 20 {
		fmt.Fprintf(&links, "%-30s", fmt.Sprintf("<a href=/known/%d>", n))
	}
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" {
			http.NotFound(w, r)
			return
		}
		head := ""
		if varied {
			head = r.URL.Path + links.String()
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Content-Length", fmt.Sprint(len(head)+words.Len()))
		_, _ = io.WriteString(w, head)
		_, _ = w.Write(words.Bytes())
	}))
	b.Cleanup(site.Close)
	return site.URL
}

// BenchmarkVisit measures a first visit over the loopback with everything on: frontier, robots.txt, fetch, digests,
// links, WARC with fsync, log. It compares that with a bare loop of GET, SHA-1, gzip and append in the same run.
// It makes one visit at a time.
func BenchmarkVisit(b *testing.B) {
	site := benchSite(b, 14<<10, true)
	k := newBenchCrawl(b, site, "", b.N+1)
	b.ResetTimer()
	k.walk(b.N)
	b.StopTimer()
	b.ReportMetric(float64(b.Elapsed())/float64(bareLoop(b, site)), "×bare")
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
			_, err := f.Add(time.Now(), batch...)
			must(b, err)
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
		_, err = z.Write(body)
		must(b, err)
		must(b, z.Close())
	}
	return time.Since(began)
}

// benchCrawl is a crawl of a site with one visit at a time.
type benchCrawl struct {
	b     *testing.B
	c     *crawler.Crawler
	parts crawler.Parts
}

// newBenchCrawl opens a crawl of n pages with additional settings, and visits robots.txt.
func newBenchCrawl(b *testing.B, site, settings string, n int) *benchCrawl {
	b.Helper()
	w := newWorld(b, b.TempDir(), fmt.Sprintf("%s\n[politeness]\ndelay_factor = 0.0\nmin_delay = \"0s\"\nmax_delay = \"0s\"\n[seeds]\nuris = [%q]\n", settings, site+"/"))
	parts, shut := w.openWith(dialLoopback)
	b.Cleanup(shut)
	k := &benchCrawl{b, crawler.New(parts), parts}
	addPages(b, parts.Frontier, site, n)
	k.walk(1)
	return k
}

// walk claims n URIs and visits them, one after the other.
func (k *benchCrawl) walk(n int) {
	k.b.Helper()
	for range n {
		claim, ok, err := k.parts.Frontier.Claim(time.Now().Add(2 * time.Millisecond)) // rests end on a full millisecond
		if err != nil || !ok {
			k.b.Fatal("nothing to claim", err)
		}
		must(k.b, k.c.Walk(k.b.Context(), claim))
	}
}

// BenchmarkDedupOfNewPayloads measures the cost of deduplication if all payloads are new, so that nothing is gained.
// Two crawls of the same site, one with deduplication and one without, take turns for some visits each, one at a
// time. The processor time of the whole process counts, so that it includes the background work of the store. One
// iteration is four turns. "%cost" is the median of the ratios of the iterations, and "±%" its standard error.
func BenchmarkDedupOfNewPayloads(b *testing.B) {
	t := takeTurns(b, benchSite(b, 14<<10, true))
	b.ReportMetric(100*(t.ratio-1), "%cost")
	b.ReportMetric(100*t.deviation, "±%")
	b.ReportMetric(t.without, "cpu-µs/visit")
}

// BenchmarkDedupOfKnownPayloads measures what deduplication gains if the archive has every payload already, under
// another URI. It takes turns as BenchmarkDedupOfNewPayloads does. "×cpu" is the processor time of a visit without
// deduplication, divided by the time with it, and "×bytes" the same for the bytes that the archive grows by.
func BenchmarkDedupOfKnownPayloads(b *testing.B) {
	for _, size := range []int{15 << 10, 1 << 20} {
		b.Run(human.Bytes(int64(size)), func(b *testing.B) {
			t := takeTurns(b, benchSite(b, size, false))
			b.ReportMetric(1/t.ratio, "×cpu")
			b.ReportMetric(100*t.deviation, "±%")
			b.ReportMetric(float64(t.bytesWithout)/float64(t.bytesWith), "×bytes")
			b.ReportMetric(t.without, "cpu-µs/visit")
		})
	}
}

// turns is the result of two crawls that took turns, with deduplication and without.
type turns struct {
	ratio, deviation        float64 // processor time with it, divided by the time without; and its standard error
	without                 float64 // processor time of a visit without it, in µs
	bytesWith, bytesWithout int64   // of the archives
}

// takeTurns crawls a site twice, with deduplication and without.
func takeTurns(b *testing.B, site string) turns {
	b.Helper()
	pages := 2*turn*(b.N+1) + 10
	off := newBenchCrawl(b, site, "[dedup]\nby = \"off\"", pages)
	on := newBenchCrawl(b, site, "[dedup]\nby = \"digest\"", pages)
	timed := func(k *benchCrawl) float64 {
		began := processTime(b)
		k.walk(turn)
		return float64((processTime(b) - began).Microseconds()) / turn
	}
	off.walk(turn)
	on.walk(turn)
	ratios, without := make([]float64, 0, b.N), make([]float64, 0, b.N)
	b.ResetTimer()
	for range b.N {
		a, x, y, z := timed(off), timed(on), timed(on), timed(off)
		ratios = append(ratios, (x+y)/(a+z))
		without = append(without, a, z)
	}
	b.StopTimer()
	slices.Sort(without)
	t := turns{without: without[len(ratios)], bytesWith: archived(on.parts), bytesWithout: archived(off.parts)}
	t.ratio, t.deviation = medianOf(ratios)
	return t
}
