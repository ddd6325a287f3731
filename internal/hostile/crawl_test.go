package hostile_test

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"runtime/metrics"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/arcrawl/arcrawl/archive"
	"github.com/arcrawl/arcrawl/crawler"
	"github.com/arcrawl/arcrawl/curator"
	"github.com/arcrawl/arcrawl/daemon"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/render"
	"github.com/arcrawl/arcrawl/reports"
)

// attacked are the wings that rows attack, besides the core.
var attacked = []func() daemon.Wing{archive.Wing, curator.Wing, render.Wing, reports.Wing}

// healthyPages is the number of pages of the healthy site. Each is due once a second.
const healthyPages = 10

// settings is the configuration of every crawl. A row may only add tables and keys that are not here; see
// [crawlOptions].
const settings = `[operator]
name = "Test Library"
contact = "https://library.example/crawler"
[storage]
min_free = "1MB"
[admin]
socket = "off"
%s
[crawl]
workers = %d
grace = "1s"
%s
[fetch]
allow_networks = ["127.0.0.0/8"]
%s
[politeness]
min_delay = "20ms"
max_delay = "100ms"
%s
[retry]
first = "300ms"
max = "2s"
[robots]
unreachable_wait = "2s"
%s
[seeds]
uris = [%s]
%s
[[wait]]
mime = ".*"
rule = "fixed"
every = "1s"
`

// crawlOptions holds the changes of a row to the settings.
type crawlOptions struct {
	seeds                                   []string
	admin, crawl, fetch, politeness, robots string            // keys of these tables
	tables                                  string            // further tables
	hosts                                   map[string]string // host files, by the name of the host
	workers                                 int               // 0 = 8
	lasts                                   time.Duration     // 0 = crawlTime
	until                                   func() bool       // crawls on, up to untilTime, until it is true
}

// untilTime bounds how long a crawl waits for what must happen in it. Browsers are slow on a busy machine.
const untilTime = 3 * time.Minute

// crawlTime is how long the daemon crawls if a row does not say otherwise.
const crawlTime = 8 * time.Second

// usage holds the resources that a crawl has in use.
type usage struct {
	goroutines  int   // except goroutines of the servers, as far as they are known
	heap        int64 // bytes of live objects
	descriptors int   // except connections of strangers
	disk        int64 // bytes of blocks, including files that have no name any more
}

func (u usage) max(v usage) usage {
	return usage{
		max(u.goroutines, v.goroutines), max(u.heap, v.heap), max(u.descriptors, v.descriptors), max(u.disk, v.disk),
	}
}

func (u usage) String() string {
	return fmt.Sprintf("%d goroutines, %d MB of heap, %d descriptors, %d MB on disk",
		u.goroutines, u.heap>>20, u.descriptors, u.disk>>20)
}

// crawl is a daemon that crawls a town.
type crawl struct {
	t       testing.TB
	town    *town
	dir     string
	healthy atomic.Int64 // requests that the healthy site has answered
	counted atomic.Int64 // the same when the time of the last crawl was over
	hangup  chan os.Signal

	mu      sync.Mutex // guards the fields below
	log     bytes.Buffer
	reports []crawler.Report
	start   usage // before the daemon
	peak    usage
}

// newCrawl makes a town with a healthy site, and a folder for a crawl.
func newCrawl(t testing.TB) *crawl {
	t.Helper()
	c := &crawl{t: t, town: newTown(t), dir: t.TempDir()}
	c.hangup = make(chan os.Signal, 4)
	c.town.serve(withoutRobots(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, "<title>%s</title><p>%d", r.URL.Path, c.healthy.Add(1))
	}), "www.healthy.example")
	return c
}

// Write takes lines of the daemon's log.
func (c *crawl) Write(b []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.log.Write(b)
}

func (c *crawl) text() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.log.String()
}

func (c *crawl) observe(r crawler.Report) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.reports = append(c.reports, r)
}

// visits returns the settled visits whose URI contains a text.
func (c *crawl) visits(part string) []crawler.Report {
	c.mu.Lock()
	defer c.mu.Unlock()
	var some []crawler.Report
	for _, r := range c.reports {
		if strings.Contains(r.URI.String(), part) {
			some = append(some, r)
		}
	}
	return some
}

// write writes the configuration and returns its path.
func (c *crawl) write(o crawlOptions) string {
	c.t.Helper()
	var seeds []string
	for n := range healthyPages {
		seeds = append(seeds, c.town.url("www.healthy.example", fmt.Sprintf("/%d", n)))
	}
	quoted := ""
	for _, s := range append(seeds, o.seeds...) {
		quoted += fmt.Sprintf("%q, ", s)
	}
	path := c.path()
	main := fmt.Sprintf(settings,
		o.admin, cmp.Or(o.workers, 8), o.crawl, o.fetch, o.politeness, o.robots, quoted, o.tables)
	files := map[string]string{path: main}
	for host, text := range o.hosts {
		name := fmt.Sprintf("%s:%d", host, c.town.port)
		files[filepath.Join(c.dir, "hosts.d", host+".toml")] = fmt.Sprintf("host = %q\n%s", name, text)
	}
	must(c.t, os.MkdirAll(filepath.Join(c.dir, "hosts.d"), 0o750))
	for name, text := range files {
		must(c.t, os.WriteFile(name, []byte(text), 0o640))
	}
	return path
}

// run crawls for a while with the real daemon and measures it.
func (c *crawl) run(o crawlOptions) {
	c.t.Helper()
	log := zerolog.New(c)
	cfg, err := daemon.LoadConfig(c.write(o), log)
	must(c.t, err)
	lasts := o.lasts
	if lasts == 0 {
		lasts = crawlTime
	}
	runtime.GC()
	c.start = c.measure()
	ctx, cancel := context.WithCancel(c.t.Context())
	defer cancel()
	var ended atomic.Pointer[time.Time]
	ready := make(chan struct{}) // a busy machine needs seconds to start the daemon
	var once sync.Once
	go func() {
		select {
		case <-ready:
		case <-ctx.Done():
			return
		}
		select {
		case <-time.After(lasts):
		case <-ctx.Done():
			return
		}
		c.counted.Store(c.healthy.Load())
		for end := time.Now().Add(untilTime); o.until != nil && !o.until() && time.Now().Before(end); {
			time.Sleep(100 * time.Millisecond)
		}
		now := time.Now()
		ended.Store(&now)
		cancel()
	}()
	done := make(chan struct{})
	var sampling sync.WaitGroup
	sampling.Go(func() {
		for tick := time.NewTicker(100 * time.Millisecond); ; {
			select {
			case <-done:
				tick.Stop()
				return
			case <-tick.C:
				c.sample()
			}
		}
	})
	err = daemon.Run(ctx, cfg, daemon.Options{
		Version: "test", Log: log, Hangup: c.hangup, SharedProcess: true, Observe: c.observe, Wings: attacked,
		Notify: func(state string) {
			if strings.HasPrefix(state, "READY=1") {
				once.Do(func() { close(ready) })
			}
		},
	})
	atMost := time.Minute // on a busy machine
	if everything() {
		atMost = 6 * time.Second
	}
	if at := ended.Load(); at != nil && time.Since(*at) > atMost {
		c.t.Errorf("the daemon needed %s to stop, want at most crawl.grace, 1 s, and the time to close", time.Since(*at))
	}
	close(done)
	sampling.Wait()
	if err != nil {
		c.t.Errorf("the daemon ended with: %v", err)
	}
}

// sample measures what is in use now, and keeps the maximum.
func (c *crawl) sample() {
	u := c.measure()
	c.mu.Lock()
	defer c.mu.Unlock()
	if u.heap > c.peak.heap {
		u.heap = min(u.heap, collectedHeap())
	}
	c.peak = c.peak.max(u)
}

func (c *crawl) measure() usage {
	servers := int(c.town.open.Load())
	return usage{
		goroutines:  max(0, runtime.NumGoroutine()-2*servers-int(c.town.lookups.Load())),
		heap:        liveHeap(),
		descriptors: openDescriptors() - servers - int(c.town.held.Load()),
		disk:        c.onDisk(),
	}
}

// used returns the maximum that the crawl had in use at a time, without what was in use before.
func (c *crawl) used() usage {
	c.mu.Lock()
	defer c.mu.Unlock()
	return usage{
		c.peak.goroutines - c.start.goroutines, c.peak.heap - c.start.heap,
		c.peak.descriptors - c.start.descriptors, c.peak.disk - c.start.disk,
	}
}

// collectedHeap returns what is in use after two collections. A collection counts all that is allocated while it runs,
// so one during a burst counts much that is no longer used.
func collectedHeap() int64 {
	runtime.GC()
	u := liveHeap()
	runtime.GC()
	return min(u, liveHeap())
}

// liveHeap returns the bytes that the last collection found in use.
func liveHeap() int64 {
	s := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(s)
	return int64(s[0].Value.Uint64())
}

func openDescriptors() int {
	list, _ := os.ReadDir("/proc/self/fd")
	return len(list)
}

// onDisk returns the bytes that the files of the crawl take up on disk.
func (c *crawl) onDisk() int64 {
	var sum int64
	_ = filepath.WalkDir(c.dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			if info, err := d.Info(); err == nil {
				sum += blocks(info)
			}
		}
		return nil
	})
	open, _ := os.ReadDir("/proc/self/fd")
	for _, d := range open {
		path := filepath.Join("/proc/self/fd", d.Name())
		if to, err := os.Readlink(path); err == nil && strings.HasPrefix(to, c.dir) && strings.HasSuffix(to, " (deleted)") {
			if info, err := os.Stat(path); err == nil {
				sum += blocks(info)
			}
		}
	}
	return sum
}

func blocks(info os.FileInfo) int64 {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return s.Blocks * 512
	}
	return info.Size()
}

// path returns the path of the main configuration file.
func (c *crawl) path() string { return filepath.Join(c.dir, "arcrawl.toml") }

// store opens the store of the stopped crawl until the end of the test.
func (c *crawl) store(t testing.TB) *frontier.Frontier {
	t.Helper()
	cfg, err := daemon.LoadConfig(c.path(), zerolog.Nop())
	must(t, err)
	f, err := daemon.OpenStopped(daemon.WithWings(t.Context(), attacked), cfg, time.Now())
	must(t, err)
	t.Cleanup(func() {
		if err := errors.Join(f.Check(), f.Close()); err != nil {
			t.Error(err)
		}
	})
	return f
}

// must ends the test if there is an error.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
