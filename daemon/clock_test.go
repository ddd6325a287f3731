package daemon_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rs/zerolog"

	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/crawler"
	"github.com/arcrawl/arcrawl/crawler/history"
	"github.com/arcrawl/arcrawl/daemon"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/internal/archivetest"
	"github.com/arcrawl/arcrawl/internal/daemontest"
	"github.com/arcrawl/arcrawl/internal/slow"
	"github.com/arcrawl/arcrawl/internal/smalldisk"
	"github.com/arcrawl/arcrawl/internal/testcrawl"
)

// The longest wait, and the shortest rest of a host between two requests, of the crawl with a clock that jumps.
const (
	longestWait  = 2 * time.Hour
	shortestRest = 5 * time.Second
)

const jumpSettings = `[operator]
name = "Test Library"
contact = "https://library.example/crawler"
[storage]
min_free = "0B"
[admin]
socket = "off"
[reload]
watch = false
[politeness]
min_delay = "5s"
max_delay = "30s"
[[wait]]
mime = ".*"
rule = "learned"
initial = "1h"
min = "20m"
max = "2h"
[retry]
first = "10m"
max = "2h"
[seeds]
uris = ["%s"]
`

var jumpPages = []string{
	"http://a.example/news", "http://a.example/old", "http://a.example/slow", "http://b.example/", "http://busy.example/",
}

// jumpingClock shows a time of day that is off by a difference. Time passes as usual.
type jumpingClock struct{ off atomic.Int64 }

func (c *jumpingClock) now() time.Time { return time.Now().Round(0).Add(time.Duration(c.off.Load())) }

func (c *jumpingClock) jump(by time.Duration) { c.off.Add(int64(by)) }

// jumpWorld is a daemon whose clock jumps, and the web that it crawls. The web has the true time.
type jumpWorld struct {
	t     *testing.T
	town  *testcrawl.Town
	clock jumpingClock
	path  string // of the configuration
	stop  func()

	mu    sync.Mutex
	waits []time.Duration // of the page of news, after each of its visits
}

// start starts the daemon.
func (w *jumpWorld) start() {
	w.t.Helper()
	c, err := daemon.LoadConfig(w.path, zerolog.Nop())
	if err != nil {
		w.t.Fatal(err)
	}
	ctx, stop := context.WithCancel(w.t.Context())
	d, err := daemon.Open(c, daemon.Options{
		Version: "test", Log: zerolog.Nop(), Hangup: make(chan os.Signal), Notify: func(string) {}, SharedProcess: true,
		Dial: w.town.Dial, Now: w.clock.now, Observe: func(r crawler.Report) {
			w.mu.Lock()
			defer w.mu.Unlock()
			if r.URI.Path() == "/news" && !r.Failed {
				w.waits = append(w.waits, r.Wait.Interval)
			}
		},
	})
	if err != nil {
		w.t.Fatal(err)
	}
	testcrawl.UntickAndMerging(w.t, d.Store())
	done := make(chan error, 1)
	go func() { done <- errors.Join(d.Run(ctx), d.Close()) }()
	w.stop = func() {
		stop()
		if err := <-done; err != nil {
			w.t.Errorf("the daemon ended with: %v", err)
		}
	}
}

// A jump of the clock, while the daemon runs or is stopped, neither makes it ask hosts too often nor exiles a page.
// While it runs, a jump teaches nothing about how often a page changes. While it is stopped, a jump looks like a pause.
func TestACrawlWhoseClockJumps(t *testing.T) {
	slow.Test(t)
	t.Parallel()
	dir := t.TempDir()
	const day = 24 * time.Hour
	synctest.Test(t, func(t *testing.T) {
		w := newJumpWorld(t, dir)
		defer w.town.Close()
		w.start()
		time.Sleep(2 * longestWait)
		usual := w.takeWaits()
		for _, stopped := range []bool{false, true} {
			for _, by := range []time.Duration{5 * time.Hour, -5 * time.Hour, 40 * day, -40 * day} {
				name := fmt.Sprintf("a jump by %s, stopped: %t", by, stopped)
				if stopped {
					w.stop()
				}
				at := time.Now()
				w.clock.jump(by)
				if stopped {
					w.start()
				}
				time.Sleep(longestWait + 70*time.Minute)
				w.checkRequests(name, at, stopped && by < 0)
				now, pause := w.takeWaits(), stopped && by.Abs() >= 40*day
				if !pause && (now > 3*usual || now < usual/3) {
					t.Errorf("%s: the mean wait of a page that changes each 40 minutes is %s; it was %s", name, now, usual)
				}
			}
		}
		w.stop()
		w.checkStore()
	})
}

// checkStore compares rests and due times of a stopped crawl with the longest that there are: a day, and the wait of
// pages that are gone.
func (w *jumpWorld) checkStore() {
	w.t.Helper()
	c, err := daemon.LoadConfig(w.path, zerolog.Nop())
	if err != nil {
		w.t.Fatal(err)
	}
	now := w.clock.now()
	f, err := daemon.OpenStopped(w.t.Context(), c, now)
	if err != nil {
		w.t.Fatal(err)
	}
	defer f.Close()
	for _, h := range f.Hosts(now) {
		if h.Rest.After(now.Add(24 * time.Hour)) {
			w.t.Errorf("%s rests until %s; it is %s", h.Host, h.Rest, now)
		}
	}
	list, _, err := f.List(now, frontier.Selection{}, "", 100)
	if err != nil || len(list) < 5 {
		w.t.Errorf("%d URIs, %v", len(list), err)
	}
	for _, e := range list {
		if e.Due.After(now.Add(28 * 24 * time.Hour)) {
			w.t.Errorf("%s is due at %s; it is %s", e.URI, e.Due, now)
		}
	}
}

// newJumpWorld makes a web of four pages on three hosts, one of which is always busy.
func newJumpWorld(t *testing.T, dir string) *jumpWorld {
	w := &jumpWorld{t: t, town: testcrawl.NewTown(time.Now()), path: filepath.Join(dir, "arcrawl.toml")}
	for u, p := range map[string]testcrawl.Page{
		"http://a.example/news": {Every: 40 * time.Minute},
		"http://a.example/slow": {Every: 5 * 24 * time.Hour},
		"http://a.example/old":  {},
		"http://b.example/":     {Every: 7 * time.Hour},
		"http://busy.example/":  {Status: http.StatusServiceUnavailable, Retry: "3600"},
	} {
		archivetest.Must(t, w.town.Set(u, p))
	}
	archivetest.Must(t, os.MkdirAll(dir, 0o750))
	daemontest.Write(t, w.path, fmt.Sprintf(jumpSettings, strings.Join(jumpPages, `", "`)))
	return w
}

// checkRequests compares the requests since a jump with what they may be. mayRest says that the host that asks for
// rests may have one of a day: the time of its last visit is not known.
func (w *jumpWorld) checkRequests(name string, jump time.Time, mayRest bool) {
	w.t.Helper()
	last := map[string]time.Time{} // of each host, its last request
	pages := map[string][]testcrawl.Request{}
	for _, r := range w.town.Requests() {
		host := strings.Split(r.URI, "/")[2]
		if rest := r.At.Sub(last[host]); rest < shortestRest {
			w.t.Errorf("%s: %s was asked %s after another request to its host, want %s", name, r.URI, rest, shortestRest)
		}
		last[host] = r.At
		if !r.At.Before(jump) {
			pages[r.URI] = append(pages[r.URI], r)
		}
	}
	for _, u := range jumpPages {
		asked := pages[u]
		if mayRest && u == "http://busy.example/" && len(asked) == 0 {
			continue
		}
		if len(asked) == 0 || asked[0].At.Sub(jump) > longestWait+time.Hour {
			w.t.Errorf("%s: %s was not asked for longer than its longest wait", name, u)
			continue
		}
		if len(asked) > 10 {
			w.t.Errorf("%s: %s was asked %d times in three hours, each twenty minutes is right", name, u, len(asked))
		}
		if u != "http://busy.example/" {
			continue
		}
		for i, r := range asked[1:] {
			if rest := r.At.Sub(asked[i].At); rest < time.Hour-time.Minute {
				w.t.Errorf("%s: the busy host was asked again after %s; it asked for an hour", name, rest)
			}
		}
	}
}

// takeWaits returns the mean wait of the page of news since the last call.
func (w *jumpWorld) takeWaits() (mean time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, wait := range w.waits {
		mean += wait / time.Duration(len(w.waits))
	}
	w.waits = nil
	return mean
}

// damages holds what can happen to the log of the memory table of a killed daemon. Badger opens the store after each.
var damages = map[string]func(t *testing.T, mem string){
	"deleted": func(t *testing.T, mem string) {
		t.Helper()
		archivetest.Must(t, os.Remove(mem))
	},
	"zeroed": func(t *testing.T, mem string) {
		t.Helper()
		info, err := os.Stat(mem)
		archivetest.Must(t, err)
		daemontest.Write(t, mem, strings.Repeat("\x00", int(info.Size())))
	},
	"intact": func(*testing.T, string) {},
}

// killed returns the folder of a daemon that was killed after its first two visits, with a damage.
func killed(t *testing.T, l *daemontest.Life, damage func(t *testing.T, mem string)) (dir string) {
	t.Helper()
	dir = t.TempDir()
	err := filepath.WalkDir(l.Dir, func(path string, e fs.DirEntry, err error) error {
		name, _ := filepath.Rel(l.Dir, path)
		switch {
		case err != nil:
			return err
		case e.IsDir() && e.Name() == "hosts.d":
			return filepath.SkipDir
		case e.IsDir():
			return os.MkdirAll(filepath.Join(dir, name), 0o750)
		case !e.Type().IsRegular():
			return nil
		}
		name = strings.TrimSuffix(name, ".open") // the daemon that starts after the kill finishes its WARC files
		return smalldisk.CopyFile(filepath.Join(dir, name), path)
	})
	archivetest.Must(t, err)
	logs, err := filepath.Glob(filepath.Join(dir, "state", "*.mem"))
	if err != nil || len(logs) == 0 {
		t.Fatalf("no log of a memory table (%v)", err)
	}
	for _, mem := range logs {
		if info, err := os.Stat(mem); err == nil && info.Size() > 0 { // others are held in reserve
			damage(t, mem)
		}
	}
	return dir
}

func TestADaemonSaysWhichVisitsItsStoreLost(t *testing.T) {
	t.Parallel()
	l := daemontest.Start(t)
	l.Visited(t)
	for name, damage := range damages {
		dir := killed(t, l, damage)
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			after := daemontest.StartIn(t, dir, nil)
			after.WaitFor(t, `"message":"started"`)
			if said := strings.Contains(after.Text(), `"visits":2,"since":"`); said == (name == "intact") {
				t.Errorf("the log says that visits are missing: %t\n%s", said, after.Text())
			}
		})
	}
}

func TestVisitsThatTheStoreLostAreFoundAndAdded(t *testing.T) {
	t.Parallel()
	l := daemontest.Start(t, func(_, main string) string {
		return main + "[log]\nextra_info = true\n[feeds]\nusual_sitemap = false\n"
	})
	l.Visited(t)
	now := time.Now()
	intact := killed(t, l, damages["intact"])
	want := entriesIn(t, loaded(t, intact), now)
	if len(want) != 2 {
		t.Fatalf("%d URIs, want the page and robots.txt", len(want))
	}
	for _, name := range []string{"deleted", "zeroed"} {
		dir := killed(t, l, damages[name])
		if name == "zeroed" {
			leaveOpen(t, dir) // no daemon started since the kill
		}
		c := loaded(t, dir)
		addMissing(t, c, now, false)
		if diff := cmp.Diff(want, entriesIn(t, c, now)); diff != "" {
			t.Errorf("%s: -before +after:\n%s", name, diff)
		}
	}
}

// addMissing looks for the visits that a store has lost, and adds them; there are none when it looks again. bare says
// that the log does not say where their payloads are.
func addMissing(t *testing.T, c *config.Config, now time.Time, bare bool) {
	t.Helper()
	for again, visits := range []int64{2, 0} {
		f, err := daemon.OpenStopped(t.Context(), c, now)
		archivetest.Must(t, err)
		m, err := history.FindMissing(t.Context(), f, c, c.Storage.Log, 0, now)
		if err != nil || m.Visits != visits || bare && m.Bare != visits {
			t.Errorf("%s, %d: %d visits are missing, want %d (%v)", c.Path, again, m.Visits, visits, err)
		}
		r, err := history.AddMissing(t.Context(), f, c, m, now)
		if err != nil || r.Lines != visits || r.Missing != 0 || bare && r.Payloads != visits {
			t.Errorf("%s, %d: added %+v, %v", c.Path, again, r, err)
		}
		archivetest.Must(t, f.Close())
	}
}

// leaveOpen renames the WARC file of a killed daemon to the name that it had before the daemon was started again.
func leaveOpen(t *testing.T, dir string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "warc", "*.warc.gz"))
	if err != nil || len(files) != 1 {
		t.Fatalf("WARC files %v, %v", files, err)
	}
	archivetest.Must(t, os.Rename(files[0], files[0]+".open"))
}

// The log has no thirteenth column, as by default, was rotated and compressed, and the killed daemon left its WARC file
// open.
func TestVisitsOfABareCompressedLogAreAddedFromTheArchive(t *testing.T) {
	t.Parallel()
	l := daemontest.Start(t, func(_, main string) string { return main + "[feeds]\nusual_sitemap = false\n" })
	l.Visited(t)
	now := time.Now()
	want := entriesIn(t, loaded(t, killed(t, l, damages["intact"])), now)
	dir := killed(t, l, damages["deleted"])
	log := filepath.Join(dir, "crawl.log")
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	text, err := os.ReadFile(log)
	if _, errWrite := z.Write(text); errors.Join(err, errWrite, z.Close(), os.Remove(log)) != nil {
		t.Fatal(err, errWrite)
	}
	daemontest.Write(t, log+".1.gz", packed.String())
	leaveOpen(t, dir)
	c := loaded(t, dir)
	addMissing(t, c, now, true)
	got := entriesIn(t, c, now)
	for u, w := range want {
		g := got[u]
		if late := (g.Due - w.Due) * 10; late < 0 || late > 5000 {
			t.Errorf("%s is due %d ms late, want at most some seconds", u, late)
		}
		if g.Due = w.Due; g != w {
			t.Errorf("%s was %+v, is %+v", u, w, g)
		}
	}
	if left, err := filepath.Glob(filepath.Join(dir, ".unpacked-*")); err != nil || len(left) > 0 {
		t.Errorf("temporary files are left: %v, %v", left, err)
	}
}

// loaded returns the configuration in a folder.
func loaded(t *testing.T, dir string) *config.Config {
	t.Helper()
	archivetest.Must(t, os.MkdirAll(filepath.Join(dir, "hosts.d"), 0o750))
	c, err := daemon.LoadConfig(filepath.Join(dir, "arcrawl.toml"), zerolog.Nop())
	archivetest.Must(t, err)
	return c
}

// facts holds the part of an entry that must be the same as before the loss.
type facts struct {
	Visits, Versions int
	Status           int
	Due, Visited     int64 // in ms
	Payload, Record  string
	File             string
	ETag             string
}

// entriesIn returns what the store in a folder knows of each URI.
func entriesIn(t *testing.T, c *config.Config, now time.Time) map[string]facts {
	t.Helper()
	f, err := daemon.OpenStopped(t.Context(), c, now)
	archivetest.Must(t, err)
	list, _, err := f.List(now, frontier.Selection{}, "", 100)
	archivetest.Must(t, err)
	all := map[string]facts{}
	for _, e := range list {
		all[e.URI.String()] = facts{
			int(e.Visits), int(e.Versions), e.LastStatus, e.Due.UnixMilli() / 10, e.LastVisit.UnixMilli(), e.Payload.String(),
			e.Origin.RecordID, e.Origin.File, e.Validators.ETag,
		}
	}
	archivetest.Must(t, f.Close())
	return all
}
