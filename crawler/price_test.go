package crawler_test

import (
	"context"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/crawler"
)

// TestWhatAspectsCost prints what each aspect costs a visit, as a table for docs/benchmarks.md. ARCRAWL_ASPECTS is the
// number of rounds. Two crawls of the same pages take turns: one has all aspects, the other lacks one. Processor time
// is the median of the ratios of the rounds; the other figures are differences of sums.
func TestWhatAspectsCost(t *testing.T) {
	rounds, err := strconv.Atoi(os.Getenv("ARCRAWL_ASPECTS"))
	if err != nil || rounds < 1 {
		t.Skip("make bench-crawl ARGS=-aspects runs it")
	}
	site := startQuietSite(t)
	fmt.Println("| without | visit | processor time | objects | bytes allocated | archive, B | store and log, B |")
	fmt.Println("|---|---|---|---|---|---|---|")
	pages := 2*turn*rounds + turn
	for _, aspect := range append([]string{"none (two equal crawls)"}, crawler.AspectNames()...) {
		all, without := newPriced(t, site, "", "", pages), newPriced(t, site, "", aspect, pages)
		for _, kind := range []string{"first", "304"} {
			p := compare(all, without, rounds)
			fmt.Printf("| %s | %s | %+.1f %% ± %.1f | %+.1f | %+.0f | %+.0f | %+.0f |\n", aspect, kind,
				100*(p.ratio-1), 100*p.deviation, p.objects, p.bytes, p.archive, p.written)
			all.ahead, without.ahead = 400*24*time.Hour, 400*24*time.Hour // all pages are due again
			all.walk(1)                                                   // robots.txt
			without.walk(1)
		}
		all.shut()
		without.shut()
	}
}

// turn is the number of visits of one crawl before the other continues.
const turn = 24

// priced is a crawl whose visits are priced.
type priced struct {
	testing.TB
	parts crawler.Parts
	c     *crawler.Crawler
	shut  func()
	ahead time.Duration // offset of the clock, so that every rest is over
}

// newPriced opens a crawl of n pages in a folder of a site, without an aspect, and makes the first visits.
func newPriced(t testing.TB, site, folder, without string, n int) *priced {
	t.Helper()
	w := newWorld(t, t.TempDir(), atFullSpeed(site))
	p := &priced{TB: t, ahead: time.Second}
	p.parts, p.shut = w.openWith(dialLoopback)
	p.parts.IndexCapture = func(crawler.Captured) error { return nil } // what the world keeps is no cost of a visit
	p.parts.Observe = func(crawler.Report) {}
	p.c = crawler.New(p.parts)
	p.c.Without(without)
	addPages(t, p.parts.Frontier, "http://"+site+folder, n)
	p.walk(22) // robots.txt, and everything that is allocated once
	return p
}

// walk makes n visits.
func (p *priced) walk(n int) {
	p.Helper()
	for range n {
		claim, ok, err := p.parts.Frontier.Claim(time.Now().Add(p.ahead))
		for hours := 0; !ok && err == nil && hours < 1000; hours++ { // a host that fails rests for longer
			p.ahead += time.Hour
			claim, ok, err = p.parts.Frontier.Claim(time.Now().Add(p.ahead))
		}
		if err != nil || !ok {
			p.Fatal("nothing to claim", err)
		}
		must(p, p.c.Walk(context.Background(), claim))
	}
}

// price holds what an aspect adds to a visit.
type price struct {
	ratio, deviation float64 // of processor times with it and without it; and its standard error
	objects, bytes   float64 // allocated
	archive, written float64 // bytes of the archive, and of everything else that the process writes
}

// compare makes the same visits with all aspects and without one.
func compare(all, without *priced, rounds int) (p price) {
	ratios := make([]float64, 0, rounds)
	timed := func(k *priced, sign float64) float64 {
		before, began := archived(k.parts), processTime(k)
		cost := costOf(k, func() { k.walk(turn) })
		took := float64(processTime(k) - began)
		each := sign / float64(2*turn*rounds)
		grown := float64(archived(k.parts) - before)
		p.objects += cost.objects * each
		p.bytes += cost.bytes * each
		p.archive += grown * each
		p.written += (cost.written - grown) * each
		return took
	}
	for range rounds {
		a, x, y, z := timed(without, -1), timed(all, 1), timed(all, 1), timed(without, -1)
		ratios = append(ratios, (x+y)/(a+z))
	}
	p.ratio, p.deviation = medianOf(ratios)
	return p
}

// medianOf sorts the ratios of some rounds, and returns their median and its standard error.
func medianOf(ratios []float64) (median, deviation float64) {
	slices.Sort(ratios)
	n := len(ratios)
	return ratios[n/2], 1.253 * (ratios[n*3/4] - ratios[n/4]) / 1.349 / math.Sqrt(float64(n))
}

// archived returns the size of the archive of a crawl, whose only file is still open.
func archived(p crawler.Parts) (n int64) {
	for _, f := range p.Archive.Growing() {
		n += f.Size
	}
	return n
}

// processTime returns the processor time of the process so far.
func processTime(t testing.TB) time.Duration {
	t.Helper()
	var u syscall.Rusage
	must(t, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
