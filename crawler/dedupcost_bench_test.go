package crawler_test

import (
	"fmt"
	"math"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/crawler"
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
	b.Cleanup(w.town.Close)
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
	const turn = 24
	site := benchSite(b)
	pages := 2*turn*(b.N+1) + 10
	off := newBenchCrawl(b, site.URL, "[dedup]\nby = \"off\"", pages)
	on := newBenchCrawl(b, site.URL, "[dedup]\nby = \"digest\"", pages)
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
	b.ReportMetric(100*(ratios[n/2]-1), "%cost")
	b.ReportMetric(100*1.253*(ratios[n*3/4]-ratios[n/4])/1.349/math.Sqrt(float64(n)), "±%")
	b.ReportMetric(without[n], "cpu-µs/visit")
}

// processTime returns the processor time of the process so far.
func processTime(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
