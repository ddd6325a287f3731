package crawler_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/crawler"
	"github.com/arcrawl/arcrawl/crawler/whatif"
	"github.com/arcrawl/arcrawl/crawllog"
	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/fetch"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/internal/testcrawl"
	"github.com/arcrawl/arcrawl/uri"
)

// world is a crawl in a folder, with real components and a scripted web.
type world struct {
	t    testing.TB
	dir  string
	toml string
	town *testcrawl.Town
	log  zerolog.Logger

	began time.Time
	later [][]string    // what a script does during the next run, by the time since the beginning
	acts  int           // number of acts so far
	parts crawler.Parts // that were opened last

	mu      sync.Mutex // guards the fields below
	reports []crawler.Report
	told    map[int]string           // lines of a story before a report, by its number
	indexed map[string]digest.Digest // the payload digests that the index was notified of, by record id
	free    int64
	off     map[string]bool // "network", "proxy": no connection can be made
}

// newWorld creates a crawl with the given settings.
func newWorld(t testing.TB, dir, toml string) *world {
	t.Helper()
	w := &world{
		t: t, dir: dir, toml: toml, town: testcrawl.NewTown(time.Now()), log: zerolog.Nop(), free: 1 << 40, began: time.Now(),
		told: map[int]string{}, off: map[string]bool{},
	}
	t.Cleanup(w.town.Close)
	if !strings.Contains(toml, "[operator]") {
		w.toml = "[operator]\nname = \"Test Library\"\ncontact = \"https://library.example/crawler\"\n" + toml
	}
	// Most tests follow waits by hand: they have the stack of Heritrix unless they name a rule of their own.
	if !strings.Contains(toml, "[[wait]]") && !strings.Contains(toml, "wait = [") {
		w.toml = testcrawl.Heritrix + w.toml
	}
	// Most tests count requests: no sitemap is looked for unless the test asks for it.
	if !strings.Contains(toml, "usual_sitemap") {
		const off = "[feeds]\nusual_sitemap = false\n"
		if strings.Contains(w.toml, "[feeds]\n") {
			w.toml = strings.Replace(w.toml, "[feeds]\n", off, 1)
		} else {
			w.toml += off
		}
	}
	// The pages of most tests are small.
	if !strings.Contains(toml, "min_size") {
		const all = "[dedup]\nmin_size = \"0B\"\n"
		if strings.Contains(w.toml, "[dedup]\n") {
			w.toml = strings.Replace(w.toml, "[dedup]\n", all, 1)
		} else {
			w.toml += all
		}
	}
	must(t, os.WriteFile(w.path("arcrawl.toml"), []byte(w.toml), 0o600))
	return w
}

// inTown plays a crawl in virtual time, and returns its folder.
func inTown(t *testing.T, toml string, play func(t *testing.T, w *world)) (dir string) {
	t.Helper()
	dir = t.TempDir()
	synctest.Test(t, func(t *testing.T) { play(t, newWorld(t, dir, toml)) })
	return dir
}

func (w *world) path(name string) string { return filepath.Join(w.dir, name) }

func (w *world) set(u string, p testcrawl.Page) {
	w.t.Helper()
	must(w.t, w.town.Set(u, p))
}

// edit replaces a text in arcrawl.toml.
func (w *world) edit(before, after string) {
	w.t.Helper()
	if !strings.Contains(w.toml, before) {
		w.t.Fatalf("arcrawl.toml has no %q", before)
	}
	w.toml = strings.Replace(w.toml, before, after, 1)
	must(w.t, os.WriteFile(w.path("arcrawl.toml"), []byte(w.toml), 0o600))
}

// open opens the parts with the scripted town as the network. The returned function checks and closes them.
func (w *world) open() (crawler.Parts, func()) { return w.openWith(w.dial) }

// dial connects to a site of the town, unless the network or the proxy of the host is off.
func (w *world) dial(ctx context.Context, network, address string) (net.Conn, error) {
	w.mu.Lock()
	off := w.off["network"]
	behind := w.off["proxy"] && fetch.WayOf(ctx).Proxy() != ""
	w.mu.Unlock()
	switch {
	case off:
		return nil, &net.OpError{Op: "dial", Err: errors.New("network is unreachable")}
	case behind:
		return nil, fmt.Errorf("%w: connection refused", fetch.ErrProxy)
	}
	return w.town.Dial(ctx, network, address)
}

func (w *world) switchOff(what string, off bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.off[what] = off
}

// dialer opens connections to the network.
type dialer func(ctx context.Context, network, address string) (net.Conn, error)

func (w *world) openWith(dial dialer) (crawler.Parts, func()) {
	w.t.Helper()
	return w.openOptions(dial, func(*frontier.Options) {})
}

// openOptions opens the parts with other options for the frontier.
func (w *world) openOptions(dial dialer, change func(*frontier.Options)) (crawler.Parts, func()) {
	w.t.Helper()
	cfg, err := config.Load(w.path("arcrawl.toml"))
	must(w.t, err)
	parts := testcrawl.Open(w.t, cfg, testcrawl.Options{Dir: w.dir, Dial: dial, Frontier: change, Log: w.log})
	parts.FreeSpace = w.freeSpace
	parts.Observe = w.observe
	parts.IndexCapture = w.index
	parts.NotifyHub = func(_ time.Time, feed, _, hub uri.URI) { w.tell("%s names the hub %s", feed, hub) }
	w.parts = parts
	return parts, func() { w.t.Helper(); testcrawl.Close(w.t, parts) }
}

func (w *world) observe(r crawler.Report) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.reports = append(w.reports, r)
}

func (w *world) index(c crawler.Captured) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.indexed == nil {
		w.indexed = map[string]digest.Digest{}
	}
	w.indexed[strings.Trim(c.Record.RecordID, "<>")] = c.Record.Payload
	return nil
}

func (w *world) freeSpace() (int64, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.free, nil
}

func (w *world) setFree(bytes int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.free = bytes
}

// run opens the parts, crawls for a while and closes them.
func (w *world) run(d time.Duration) {
	w.t.Helper()
	parts, shut := w.open()
	defer shut()
	w.crawl(parts, d)
}

// crawl crawls for a while with parts that are open.
func (w *world) crawl(parts crawler.Parts, d time.Duration) {
	w.t.Helper()
	w.crawlWith(crawler.New(parts), d)
}

// crawlWith crawls for a while.
func (w *world) crawlWith(c *crawler.Crawler, d time.Duration) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), d)
	defer cancel()
	w.crawlFor(ctx, c)
}

// crawlFor crawls until ctx ends.
func (w *world) crawlFor(ctx context.Context, c *crawler.Crawler) {
	w.t.Helper()
	_, err := c.AddSeeds(time.Now())
	must(w.t, err)
	if err := c.Run(ctx); err != nil {
		w.t.Error(err)
	}
}

// crawlUntil crawls until enough was reported, for a minute at most. Visits are reported by several workers at once;
// enough gets one report at a time.
func (w *world) crawlUntil(parts crawler.Parts, enough func(crawler.Report) bool) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	var mu sync.Mutex
	parts.Observe = func(r crawler.Report) {
		w.observe(r)
		mu.Lock()
		defer mu.Unlock()
		if enough(r) {
			cancel()
		}
	}
	w.crawlFor(ctx, crawler.New(parts))
}

// visits returns the visits settled so far whose URI has the given suffix.
func (w *world) visits(suffix string) []crawler.Report {
	w.mu.Lock()
	defer w.mu.Unlock()
	var out []crawler.Report
	for _, r := range w.reports {
		if strings.HasSuffix(r.URI.String(), suffix) {
			out = append(out, r)
		}
	}
	return out
}

// logLines returns the entries of crawl.log.
func (w *world) logLines() []crawllog.Entry {
	w.t.Helper()
	return testcrawl.ReadLog(w.t, w.path("crawl.log"))
}

// must ends the test if there is an error.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// everyHour visits each page once an hour, whether it changes or not.
const everyHour = `[[wait]]
mime = ".*"
rule = "classic"
initial = "1h"
min = "1h"
max = "1h"
[storage]
min_free = "1GB"
[seeds]
uris = ["http://news.example/"]
`

// onceADay is a configuration with one seed that is visited once a day.
const onceADay = `[[wait]]
mime = ".*"
rule = "fixed"
every = "1d"
[seeds]
uris = ["http://www.news.example/"]
`

// during crawls for some days and calls do in the meantime. Files that do writes have a time of the real clock.
func (w *world) during(d time.Duration, do func(c *crawler.Crawler)) {
	w.t.Helper()
	parts, shut := w.open()
	defer shut()
	w.duringWith(parts, d, do)
}

// duringWith is during with parts that are open.
func (w *world) duringWith(parts crawler.Parts, d time.Duration, do func(c *crawler.Crawler)) {
	w.t.Helper()
	c := crawler.New(parts)
	var crawling sync.WaitGroup
	crawling.Go(func() { w.crawlWith(c, d) })
	do(c)
	crawling.Wait()
}

// host writes the configuration file of a host.
func (w *world) host(name, text string) {
	w.t.Helper()
	w.hostFiles(map[string]string{"hosts.d/" + name: text})
}

// reload loads the configuration again, which must succeed.
func (w *world) reload(c *crawler.Crawler) whatif.Plan {
	w.t.Helper()
	p, err := c.Reload(false, time.Now())
	must(w.t, err)
	return p
}

// story plays a crawl of www.news.example in virtual time.
func story(t *testing.T, toml string, play func(w *world)) {
	t.Helper()
	inTown(t, toml, func(_ *testing.T, w *world) {
		w.set("http://www.news.example/", testcrawl.Page{Every: time.Hour})
		play(w)
	})
}

// hostFiles writes host files and secrets into the folder of a crawl.
func (w *world) hostFiles(files map[string]string) {
	w.t.Helper()
	for name, text := range files {
		path := w.path(name)
		must(w.t, os.MkdirAll(filepath.Dir(path), 0o750))
		must(w.t, os.WriteFile(path, []byte(text), 0o600))
	}
}

// steer applies an action of an operator to all URIs that begin with a prefix.
func (w *world) steer(f *frontier.Frontier, prefix string, verb frontier.Verb) {
	w.t.Helper()
	var next frontier.Cursor
	for first := true; first || next != ""; first = false {
		var err error
		_, next, err = f.Steer(time.Now(), frontier.Selection{Prefix: prefix}, frontier.Action{Verb: verb}, next)
		must(w.t, err)
	}
}
