package admin

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
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
	"github.com/arcrawl/arcrawl/aspects/spaces"
	"github.com/arcrawl/arcrawl/aspects/spaces/traps"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/crawler"
	"github.com/arcrawl/arcrawl/crawllog"
	"github.com/arcrawl/arcrawl/dedup"
	"github.com/arcrawl/arcrawl/fetch"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/hosts/cookies"
	"github.com/arcrawl/arcrawl/hosts/daily"
	"github.com/arcrawl/arcrawl/hosts/reputation"
	"github.com/arcrawl/arcrawl/hosts/similar"
	"github.com/arcrawl/arcrawl/internal/town"
	"github.com/arcrawl/arcrawl/internal/untick"
	"github.com/arcrawl/arcrawl/warcout"
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
	r := &w.parts
	r.Frontier, err = frontier.Open(frontier.Options{Dir: cfg.Storage.State, Compactors: -1, Now: now, RestAfterCrash: 1})
	w.must(err)
	untick.Store(t, r.Frontier.DB())
	r.Dedup, err = dedup.Open(r.Frontier.DB(), dedup.Options{})
	w.must(err)
	r.Reputation, err = reputation.Open(r.Frontier.DB())
	w.must(err)
	r.Similar, err = similar.Open(r.Frontier.DB())
	w.must(err)
	r.Traps, err = traps.Open(r.Frontier.DB())
	w.must(err)
	r.Cookies, err = cookies.Open(r.Frontier.DB())
	w.must(err)
	r.Daily, err = daily.Open(r.Frontier.DB())
	w.must(err)
	r.Spaces, err = spaces.Open(r.Frontier.DB())
	w.must(err)
	r.Archive, _, err = warcout.Open(warcout.Options{Dir: cfg.Storage.WARC, Prefix: "test", Host: "crawler.example", TempDir: dir, Journal: w.path("warc.journal"), Info: []warcout.Field{{Name: "software", Value: "arcrawl/test"}}}, now)
	w.must(err)
	r.CrawlLog, err = crawllog.Open(cfg.Storage.Log, true)
	w.must(err)
	r.Fetch = fetch.New(fetch.Options{Dial: w.town.Dial, SpoolDir: dir})
	r.Config, r.Version, r.Log = config.NewLive(cfg), "test", zerolog.Nop()
	r.FreeSpace = func() (int64, error) { return w.free, nil }
	r.Observe = func(v crawler.Report) { w.window.Observe(v) }
	w.crawler = crawler.New(*r)
	o := Options{
		Crawler: w.crawler, Frontier: r.Frontier, Trust: r.Reputation, Accounts: r.Daily, Archive: r.Archive,
		Spaces:    r.Spaces,
		FreeSpace: r.FreeSpace, Dir: dir,
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
	r := w.parts
	w.must(errors.Join(r.Frontier.Check(), r.Fetch.Close(), r.Archive.Close(time.Now()), r.CrawlLog.Close()))
	w.must(r.Frontier.Close())
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
