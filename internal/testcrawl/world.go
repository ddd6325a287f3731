package testcrawl

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/arcrawl/arcrawl/aspects/spaces"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/crawler"
	"github.com/arcrawl/arcrawl/uri"
)

// Window holds the methods of [admin.Window] that a world calls. The tests of admin use this package, so it cannot
// import admin.
type Window interface {
	Observe(crawler.Report)
	Tick(now time.Time) error
}

// World is a crawl of a scripted web and the window that monitors it. It runs in a synctest bubble with virtual time.
type World struct {
	testing.TB
	Dir     string
	Town    *Town
	Parts   crawler.Parts
	Crawler *crawler.Crawler
	Window  Window       // that the test sets before the crawl runs
	Handler http.Handler // of the requests of [World.Ask], which come as through the socket
	Started time.Time
	Free    int64         // bytes of disk space
	Every   time.Duration // interval between two ticks of the window
}

// Heritrix is the first line of a main file: the stack of Heritrix.
const Heritrix = "wait = [{ mime = '^text/.*$', rule = 'classic', initial = '12h' }, " +
	"{ mime = '^image/.*$', rule = 'classic', initial = '48h' }, { mime = '.*', rule = 'classic' }]\n"

// EveryHour visits each page once an hour, whether it changes or not.
const EveryHour = `[operator]
name = "Test Library"
contact = "https://library.example/crawler"
[[wait]]
mime = ".*"
rule = "classic"
initial = "1h"
min = "1h"
max = "1h"
[seeds]
uris = ["http://news.example/"]
`

// NewWorld opens a crawl. The test makes the window of it, and then calls AddSeeds.
func NewWorld(t testing.TB, dir, toml string) *World {
	t.Helper()
	w := &World{
		TB: t, Dir: dir, Town: NewTown(time.Now()), Started: time.Now(), Free: 1 << 40, Every: time.Minute,
	}
	if !strings.Contains(toml, "wait") {
		toml = Heritrix + toml
	}
	if !strings.Contains(toml, "[feeds]") {
		toml += "\n[feeds]\nusual_sitemap = false\n" // the tests count URIs
	}
	w.Parts = Open(t, Load(t, dir, toml), Options{Dir: dir, Dial: w.Town.Dial, Log: zerolog.Nop()})
	r := &w.Parts
	r.FreeSpace = func() (int64, error) { return w.Free, nil }
	r.Observe = func(v crawler.Report) { w.Window.Observe(v) }
	w.Crawler = crawler.New(*r)
	return w
}

// Load writes the main file of a configuration into a folder, and loads it.
func Load(t testing.TB, dir, toml string) *config.Config {
	t.Helper()
	path := filepath.Join(dir, "arcrawl.toml")
	if err := os.WriteFile(path, []byte(toml), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg, err := config.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

// AddSeeds adds the seeds of the configuration.
func (w *World) AddSeeds() {
	w.Helper()
	_, err := w.Crawler.AddSeeds(w.Started)
	w.Must(err)
}

// Close closes the parts of the crawl.
func (w *World) Close() {
	w.Helper()
	w.Town.Close()
	Close(w, w.Parts)
}

// Path returns the path of a file in the folder of the world.
func (w *World) Path(name string) string { return filepath.Join(w.Dir, name) }

// Must ends the test if err is not nil.
func (w *World) Must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// Set puts a page into the scripted web.
func (w *World) Set(u string, p Page) {
	w.Helper()
	w.Must(w.Town.Set(u, p))
}

// Run crawls for the time d. It updates the window every minute, unless w.Every is set; the daemon does so more often.
func (w *World) Run(d time.Duration) {
	w.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), d)
	defer cancel()
	var ticking sync.WaitGroup
	ticking.Go(func() {
		tick := time.NewTicker(w.Every)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case now := <-tick.C:
				if err := w.Window.Tick(now); err != nil {
					w.Error(err)
				}
			}
		}
	})
	w.Must(w.Crawler.Run(ctx))
	ticking.Wait()
}

// Ask sends a request to the window as through the socket, and decodes the answer into answer.
func (w *World) Ask(method, path string, body, answer any) (status int) {
	w.Helper()
	var sent io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		w.Must(err)
		sent = bytes.NewReader(text)
	}
	got := httptest.NewRecorder()
	w.Handler.ServeHTTP(got, httptest.NewRequest(method, path, sent))
	if answer != nil {
		if err := json.Unmarshal(got.Body.Bytes(), answer); err != nil {
			w.Fatalf("%s %s: status %d, %v in %s", method, path, got.Code, err, got.Body)
		}
	}
	return got.Code
}

// Get sends a GET request that must succeed.
func Get[A any](w *World, path string) (answer A) {
	w.Helper()
	if status := w.Ask(http.MethodGet, path, nil, &answer); status != http.StatusOK {
		w.Fatalf("GET %s: status %d", path, status)
	}
	return answer
}

// Post sends a POST request that must succeed.
func Post[A any](w *World, path string, body any) (answer A) {
	w.Helper()
	if status := w.Ask(http.MethodPost, path, body, &answer); status != http.StatusOK {
		w.Fatalf("POST %s: status %d", path, status)
	}
	return answer
}

// Trap keeps out a URI that is recognized as a trap by itself, and returns the trap.
func (w *World) Trap(text string) spaces.Trap {
	w.Helper()
	u := uri.FromCanonical(text)
	t, ok, err := w.Parts.Traps.Judge(u, uri.URI{}, "L", time.Now())
	if err != nil || !ok {
		w.Fatalf("%s is not judged to be a trap: %v", text, err)
	}
	err = w.Parts.Traps.CountKeptOut(t, time.Now(), u)
	w.Must(err)
	return t
}

// LoadsNothing checks that the scripts and pages in a folder load nothing from other servers, and write no HTML.
func LoadsNothing(t *testing.T, files fs.ReadDirFS, folder string) {
	t.Helper()
	entries, err := files.ReadDir(folder)
	if err != nil || len(entries) == 0 {
		t.Fatalf("%d files, %v", len(entries), err)
	}
	for _, e := range entries {
		if e.IsDir() {
			continue
		}
		text, err := fs.ReadFile(files, folder+"/"+e.Name())
		if err != nil {
			t.Fatal(err)
		}
		for _, word := range []string{`src="http`, `href="http`, "@import", "url(http", "fetch('http", "eval(", "innerHTML"} {
			if strings.Contains(string(text), word) {
				t.Errorf("%s contains %q", e.Name(), word)
			}
		}
	}
}
