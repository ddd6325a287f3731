package crawler_test

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/crawler"
	"github.com/arcrawl/arcrawl/internal/human"
)

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

func (k *benchCrawl) walk(n int) {
	for range n {
		walkNext(k.b, k.parts.Frontier, k.c)
	}
}

// BenchmarkDedupOfNewPayloads measures the cost of deduplication if all payloads are new, so that nothing is gained.
// Two crawls of the same site, one with deduplication and one without, take turns for some visits each, one at a
// time. The processor time of the whole process counts, so that it includes the background work of the store. One
// iteration is four turns. "%cost" is the median of the ratios of the iterations, and "±%" its standard error.
func BenchmarkDedupOfNewPayloads(b *testing.B) {
	t := takeTurns(b, benchSite(b).URL)
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
			t := takeTurns(b, copiedSite(b, size).URL)
			b.ReportMetric(1/t.ratio, "×cpu")
			b.ReportMetric(100*t.deviation, "±%")
			b.ReportMetric(float64(t.bytesWithout)/float64(t.bytesWith), "×bytes")
			b.ReportMetric(t.without, "cpu-µs/visit")
		})
	}
}

// copiedSite serves the same page at every path.
func copiedSite(b *testing.B, size int) *httptest.Server {
	b.Helper()
	var words bytes.Buffer
	random := rand.New(rand.NewPCG(1, 2))
	for words.Len() < size {
		fmt.Fprintf(&words, "%x ", random.Uint32N(5000))
	}
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Content-Length", fmt.Sprint(words.Len()))
		_, _ = w.Write(words.Bytes())
	}))
	b.Cleanup(site.Close)
	return site
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
	const turn = 24
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
	slices.Sort(ratios)
	slices.Sort(without)
	n := len(ratios)
	return turns{
		ratio:     ratios[n/2],
		deviation: 1.253 * (ratios[n*3/4] - ratios[n/4]) / 1.349 / math.Sqrt(float64(n)),
		without:   without[n], bytesWith: on.archived(), bytesWithout: off.archived(),
	}
}

// archived returns the size of the archive, whose only file is still open.
func (k *benchCrawl) archived() (n int64) {
	for _, f := range k.parts.Archive.Growing() {
		n += f.Size
	}
	return n
}

// processTime returns the processor time of the process so far.
func processTime(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	must(b, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
