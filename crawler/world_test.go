package crawler_test

import (
	"context"
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
	"github.com/arcrawl/arcrawl/crawllog"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/internal/testcrawl"
	"github.com/arcrawl/arcrawl/internal/town"
)

// world is a crawl in a folder, with real components and a scripted web.
type world struct {
	t    testing.TB
	dir  string
	toml string
	town *town.Town
	log  zerolog.Logger

	mu      sync.Mutex // guards the fields below
	reports []crawler.Report
	free    int64
}

// newWorld creates a crawl with the given settings.
func newWorld(t testing.TB, dir, toml string) *world {
	t.Helper()
	w := &world{t: t, dir: dir, toml: toml, town: town.New(time.Now()), log: zerolog.Nop(), free: 1 << 40}
	t.Cleanup(w.town.Close)
	if !strings.Contains(toml, "[operator]") {
		w.toml = "[operator]\nname = \"Test Library\"\ncontact = \"https://library.example/crawler\"\n" + toml
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

func (w *world) set(u string, p town.Page) {
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
func (w *world) open() (crawler.Parts, func()) { return w.openWith(w.town.Dial) }

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
	return parts, func() { w.t.Helper(); testcrawl.Close(w.t, parts) }
}

func (w *world) observe(r crawler.Report) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.reports = append(w.reports, r)
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
	if _, err := c.AddSeeds(time.Now()); err != nil {
		w.t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), d)
	defer cancel()
	if err := c.Run(ctx); err != nil {
		w.t.Error(err)
	}
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
	text, err := os.ReadFile(w.path("crawl.log"))
	must(w.t, err)
	var out []crawllog.Entry
	for line := range strings.Lines(string(text)) {
		e, err := crawllog.Parse(strings.TrimSuffix(line, "\n"))
		if err != nil {
			w.t.Fatal(fmt.Errorf("%w in line %q", err, line))
		}
		out = append(out, e)
	}
	return out
}

// must ends the test if there is an error.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
