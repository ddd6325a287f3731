package daemon_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"github.com/arcrawl/arcrawl/crawler"
	"github.com/arcrawl/arcrawl/daemon"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/internal/archivetest"
	"github.com/arcrawl/arcrawl/internal/daemontest"
	"github.com/arcrawl/arcrawl/internal/slow"
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

// The clock jumps while a visit is in progress. Its host rests afterwards as long as it should, and no longer.
func TestAClockThatJumpsDuringAVisit(t *testing.T) {
	slow.Test(t)
	t.Parallel()
	const year, takes = 365 * 24 * time.Hour, 10 * time.Second
	for _, by := range []time.Duration{time.Hour, -time.Hour, 10 * year, -10 * year} {
		t.Run(by.String(), func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			synctest.Test(t, func(t *testing.T) {
				w := newJumpWorld(t, dir)
				defer w.town.Close()
				var arrived, answered []time.Time
				w.town.Serve("long.example", http.HandlerFunc(func(to http.ResponseWriter, r *http.Request) {
					arrived = append(arrived, time.Now())
					if r.URL.Path != "/robots.txt" {
						time.Sleep(takes)
						if len(arrived) == 2 {
							w.clock.jump(by)
						}
						time.Sleep(takes)
					}
					fmt.Fprintf(to, "%s %d", r.URL.Path, len(arrived))
					answered = append(answered, time.Now())
				}))
				seeds := []string{"http://long.example/a", "http://long.example/b"}
				for n := range 40 { // visits that notice the jump first
					seeds = append(seeds, fmt.Sprintf("http://other.example/%d", n))
				}
				w.town.Serve("other.example", http.NotFoundHandler())
				daemontest.Write(t, w.path, fmt.Sprintf(jumpSettings, strings.Join(seeds, `", "`)))
				w.start()
				time.Sleep(2 * longestWait)
				w.stop()
				if len(arrived) < 5 {
					t.Fatalf("%d requests in four hours: at %v", len(arrived), arrived)
				}
				for i, at := range arrived[1:] {
					if gap := at.Sub(answered[i]); gap < shortestRest || gap > longestWait {
						t.Errorf("request %d came %s after the answer before, want between %s and %s", i+2, gap, shortestRest, longestWait)
					}
				}
				if second := arrived[2].Sub(answered[1]); second > time.Minute {
					t.Errorf("the other page was visited %s after the visit with the jump; its host rests for 30 s", second)
				}
				w.checkStore()
			})
		})
	}
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
	if err != nil || len(list) < 2 {
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

func TestADaemonSaysWhichVisitsItsStoreLost(t *testing.T) {
	t.Parallel()
	l := daemontest.Start(t)
	l.Visited(t)
	for name, damage := range daemontest.Damages {
		dir := l.Killed(t, damage)
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
