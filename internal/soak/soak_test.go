package soak_test

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"github.com/arcrawl/arcrawl/crawler"
	"github.com/arcrawl/arcrawl/daemon"
	"github.com/arcrawl/arcrawl/internal/slow"
	"github.com/arcrawl/arcrawl/internal/testcrawl"
)

const (
	hosts        = 20
	pagesPerHost = 15
	versions     = 5 // that a page alternates between, so that the deduplication index stops growing
)

// settings has waits so short that an hour has the visits of several days.
const settings = `[operator]
name = "Test Library"
contact = "https://library.example/crawler"
[storage]
min_free = "1MB"
[admin]
socket = "off"
[reload]
watch = false
[warc]
max_size = "4MB"
[politeness]
min_delay = "1s"
max_delay = "5s"
[robots]
wait = "2h"
unreachable_wait = "10m"
[retry]
first = "5m"
max = "1h"
[[wait]]
mime = ".*"
rule = "learned"
initial = "10m"
min = "5m"
max = "30m"
[seeds]
uris = [%s]
`

// sample holds the measurements of an hour.
type sample struct {
	heap, goroutines, descriptors, store, logged, reported float64
	visits                                                 int64
}

// lines are the measurements that must not grow.
var lines = []struct {
	name, unit string
	of         func(s sample) float64
	least      float64 // growth that does not matter, for measurements that are almost constant
}{
	{"live heap", "kB", func(s sample) float64 { return s.heap / 1000 }, 500},
	{"goroutines", "", func(s sample) float64 { return s.goroutines }, 1},
	{"descriptors", "", func(s sample) float64 { return s.descriptors }, 1},
	{"store", "kB", func(s sample) float64 { return s.store / 1000 }, 500},
	{"crawl.log per visit", "B", func(s sample) float64 { return s.logged }, 1},
	{"daemon's log per hour", "B", func(s sample) float64 { return s.reported }, 100},
}

// allowed is how much a measurement may grow over the whole soak, as a share of its mean.
const allowed = 0.05

// TestSoak crawls for two hours of virtual time, or for as many as ARCRAWL_SOAK says.
func TestSoak(t *testing.T) {
	slow.Test(t)
	lasts := 2
	if hours, err := strconv.Atoi(os.Getenv("ARCRAWL_SOAK")); err == nil {
		lasts = hours
	}
	warmUp := lasts / 4 // the store compacts, caches fill and waits are learned
	dir := t.TempDir()
	var taken []sample
	began := time.Now()
	synctest.Test(t, func(t *testing.T) { taken = crawl(t, dir, lasts) })
	visits := int64(0)
	for _, s := range taken {
		visits += s.visits
	}
	t.Logf("%d h of virtual time, %d visits, in %s", lasts, visits, time.Since(began).Round(time.Second))
	if visits < int64(lasts)*hosts*pagesPerHost {
		t.Errorf("only %d visits", visits)
	}
	for _, l := range lines {
		var y []float64
		for _, s := range taken[warmUp:] {
			y = append(y, l.of(s))
		}
		s := slopeOf(y)
		t.Logf("%-22s mean %9.1f %-2s, growth over %d h %+8.2f ± %.2f (95 %%)", l.name, s.mean, l.unit, len(y), s.growth, s.within)
		if lowest := s.growth - s.within; len(y) > 10 && lowest > max(allowed*s.mean, l.least) {
			t.Errorf("%s grows by at least %.1f %s, which is more than %.0f %% of %.1f: %.0f",
				l.name, lowest, l.unit, 100*allowed, s.mean, y)
		}
	}
}

// crawl runs the daemon for a number of hours and takes a sample after each.
func crawl(t *testing.T, dir string, hours int) (taken []sample) {
	tw := testcrawl.NewTown(time.Now())
	defer tw.Close()
	var seeds []string
	for h := range hosts {
		tw.Serve(fmt.Sprintf("host%d.example", h), site(h))
		for p := range pagesPerHost {
			seeds = append(seeds, fmt.Sprintf("%q", fmt.Sprintf("http://host%d.example/%d", h, p)))
		}
	}
	path := filepath.Join(dir, "arcrawl.toml")
	if err := os.WriteFile(path, fmt.Appendf(nil, settings, strings.Join(seeds, ", ")), 0o600); err != nil {
		t.Fatal(err)
	}
	log := &reports{}
	c, err := daemon.LoadConfig(path, zerolog.New(log))
	if err != nil {
		t.Fatal(err)
	}
	var visits atomic.Int64
	hangup := make(chan os.Signal, 1)
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		done <- daemon.Run(ctx, c, daemon.Options{
			Version: "test", Log: zerolog.New(log), Hangup: hangup, Notify: func(string) {}, SharedProcess: true,
			Dial: tw.Dial, Observe: func(crawler.Report) { visits.Add(1) },
		})
	}()
	crawlLog := filepath.Join(dir, "crawl.log")
	for range hours {
		before := visits.Load()
		time.Sleep(time.Hour)
		s := sample{visits: visits.Load() - before, reported: float64(log.take())}
		s.logged = size(crawlLog) / float64(max(1, s.visits))
		s.store = folder(filepath.Join(dir, "state"))
		s.goroutines, s.descriptors = fewest(runtime.NumGoroutine), fewest(descriptors)
		s.heap = live()
		taken = append(taken, s)
		if err := os.Remove(crawlLog); err != nil { // as logrotate does, and then asks the daemon to reopen it
			t.Error(err)
		}
		hangup <- syscall.SIGHUP
		removeSealed(t, filepath.Join(dir, "warc"))
	}
	stop()
	if err := <-done; err != nil {
		t.Errorf("the daemon ended with: %v", err)
	}
	return taken
}

// site is a host of the web. Its pages alternate between versions, each at its own pace. Some hosts have trouble.
func site(n int) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		hour := time.Since(testcrawl.Epoch) / time.Hour
		switch {
		case r.URL.Path == "/robots.txt":
			fmt.Fprintf(w, "User-agent: *\nDisallow: /private%d/\n", n)
			return
		case n == 1 && hour%4 == 0:
			w.Header().Set("Retry-After", "120")
			http.Error(w, "busy", http.StatusServiceUnavailable)
			return
		case n == 2 && hour%5 == 0:
			panic(http.ErrAbortHandler)
		case n == 3 && strings.HasSuffix(r.URL.Path, "7"):
			http.NotFound(w, r)
			return
		case n == 4 && strings.HasSuffix(r.URL.Path, "5"):
			http.Redirect(w, r, "/1", http.StatusFound)
			return
		}
		every := time.Duration(20+10*(n+len(r.URL.Path))) * time.Minute
		version := int(time.Since(testcrawl.Epoch)/every) % versions
		if n%2 == 0 {
			tag := fmt.Sprintf(`"%d"`, version)
			w.Header().Set("ETag", tag)
			if r.Header.Get("If-None-Match") == tag {
				w.WriteHeader(http.StatusNotModified)
				return
			}
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprintf(w, "<title>%s</title><p>Version %d of %s%s.</p>", r.URL.Path, version, r.Host, r.URL.Path)
		for p := range 5 {
			fmt.Fprintf(w, "<a href=/%d>another</a> ", (p+version)%pagesPerHost)
		}
		fmt.Fprint(w, strings.Repeat("<p>Words that fill the page.</p>", 60))
	})
}

// reports counts the bytes of the daemon's log.
type reports struct{ bytes atomic.Int64 }

func (r *reports) Write(b []byte) (int, error) {
	r.bytes.Add(int64(len(bytes.TrimSpace(b))))
	return len(b), nil
}

func (r *reports) take() int64 { return r.bytes.Swap(0) }

// removeSealed removes finished WARC files, so that the soak does not fill the disk. The live index keeps its lines.
func removeSealed(t *testing.T, dir string) {
	sealed, err := filepath.Glob(filepath.Join(dir, "*.warc.gz"))
	if err != nil {
		t.Error(err)
	}
	for _, name := range sealed {
		if err := os.Remove(name); err != nil {
			t.Error(err)
		}
	}
}

// live returns the bytes of the heap that are in use.
func live() float64 {
	runtime.GC()
	runtime.GC() // the first one may only have moved pools to their second generation
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}

// fewest returns the smallest of some counts, seven seconds apart. Visits in progress and workers that wake together
// add to a count for a moment; what leaks stays.
func fewest(count func() int) float64 {
	least := count()
	for range 9 {
		time.Sleep(7 * time.Second)
		least = min(least, count())
	}
	return float64(least)
}

func descriptors() int {
	list, _ := os.ReadDir("/proc/self/fd")
	return len(list)
}

func size(path string) float64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return float64(info.Size())
}

// folder returns the bytes on disk of a folder.
func folder(dir string) (sum float64) {
	_ = filepath.WalkDir(dir, func(_ string, d os.DirEntry, err error) error {
		if info, fault := d.Info(); err == nil && fault == nil && d.Type().IsRegular() {
			if s, ok := info.Sys().(*syscall.Stat_t); ok {
				sum += float64(s.Blocks) * 512
			}
		}
		return nil
	})
	return sum
}
