package admin

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/arcrawl/arcrawl/admin/access"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/crawler"
	"github.com/arcrawl/arcrawl/internal/testcrawl"
	"github.com/arcrawl/arcrawl/internal/town"
)

// world is a crawl of a scripted web and the window that monitors it. It runs in a synctest bubble with virtual time.
type world struct {
	testing.TB
	dir     string
	town    *town.Town
	parts   crawler.Parts
	crawler *crawler.Crawler
	window  *Window
	free    int64
	every   time.Duration // interval between two ticks of the window
}

// everyHour visits each page once an hour, whether it changes or not.
const everyHour = `[operator]
name = "Test Library"
contact = "https://library.example/crawler"
[[wait]]
mime = ".*"
initial = "1h"
min = "1h"
max = "1h"
[seeds]
uris = ["http://news.example/"]
`

// newWorld opens a crawl with its seeds; change may alter the window's options.
func newWorld(t testing.TB, dir, toml string, change ...func(*Options)) *world {
	t.Helper()
	w := &world{TB: t, dir: dir, town: town.New(time.Now()), free: 1 << 40, every: time.Minute}
	if !strings.Contains(toml, "[feeds]") {
		toml += "\n[feeds]\nusual_sitemap = false\n" // the tests count URIs
	}
	w.must(os.WriteFile(w.path("arcrawl.toml"), []byte(toml), 0o600))
	cfg, err := config.Load(w.path("arcrawl.toml"))
	w.must(err)
	now := time.Now()
	w.parts = testcrawl.Open(t, cfg, testcrawl.Options{Dir: dir, Dial: w.town.Dial, Log: zerolog.Nop()})
	r := &w.parts
	r.FreeSpace = func() (int64, error) { return w.free, nil }
	r.Observe = func(v crawler.Report) { w.window.Observe(v) }
	w.crawler = crawler.New(*r)
	o := Options{
		Crawler: w.crawler, Frontier: r.Frontier, Trust: r.Reputation, Accounts: r.Daily, Archive: r.Archive,
		Spaces: r.Spaces, Traps: r.Traps, FreeSpace: r.FreeSpace, Dir: dir,
		Config: func() Loaded { return Loaded{Config: r.Config.Current(), At: now} }, Now: time.Now, Version: "test",
		Workers: 50, Log: r.Log,
	}
	for _, c := range change {
		c(&o)
	}
	w.window, err = New(o)
	w.must(err)
	_, err = w.crawler.AddSeeds(now)
	w.must(err)
	return w
}

// close closes the parts of the crawl.
func (w *world) close() {
	w.Helper()
	w.town.Close()
	testcrawl.Close(w, w.parts)
}

func (w *world) path(name string) string { return filepath.Join(w.dir, name) }

func (w *world) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

func (w *world) set(u string, p town.Page) {
	w.Helper()
	w.must(w.town.Set(u, p))
}

// run crawls for the time d. It updates the window every minute, unless w.every is set; the daemon does so more often.
func (w *world) run(d time.Duration) {
	w.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), d)
	defer cancel()
	var ticking sync.WaitGroup
	ticking.Go(func() {
		tick := time.NewTicker(w.every)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case now := <-tick.C:
				if err := w.window.Tick(now); err != nil {
					w.Error(err)
				}
			}
		}
	})
	w.must(w.crawler.Run(ctx))
	ticking.Wait()
}

// ask sends a request to the window as through the socket, and decodes the answer into answer.
func (w *world) ask(method, path string, body, answer any) (status int) {
	w.Helper()
	var sent io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		w.must(err)
		sent = bytes.NewReader(text)
	}
	got := httptest.NewRecorder()
	w.window.Handler(access.Options{}).ServeHTTP(got, httptest.NewRequest(method, path, sent))
	if answer != nil {
		if err := json.Unmarshal(got.Body.Bytes(), answer); err != nil {
			w.Fatalf("%s %s: status %d, %v in %s", method, path, got.Code, err, got.Body)
		}
	}
	return got.Code
}

// get sends a GET request that must succeed.
func get[A any](w *world, path string) (answer A) {
	w.Helper()
	if status := w.ask(http.MethodGet, path, nil, &answer); status != http.StatusOK {
		w.Fatalf("GET %s: status %d", path, status)
	}
	return answer
}

// post sends a POST request that must succeed.
func post[A any](w *world, path string, body any) (answer A) {
	w.Helper()
	if status := w.ask(http.MethodPost, path, body, &answer); status != http.StatusOK {
		w.Fatalf("POST %s: status %d", path, status)
	}
	return answer
}
