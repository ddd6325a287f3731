package daemon

import (
	"context"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/arcrawl/arcrawl/frontier"
)

// fakeCrawl is a crawl that a supervisor watches, and the systemd that receives its states.
type fakeCrawl struct {
	mu     sync.Mutex // guards the fields below
	counts frontier.Counts
	held   string
	states []string // received since the last call of take
}

func (f *fakeCrawl) set(n frontier.Counts, held string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.counts, f.held = n, held
}

func (f *fakeCrawl) getCounts(time.Time) frontier.Counts {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.counts
}

func (f *fakeCrawl) getHeld() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.held
}

func (f *fakeCrawl) notify(state string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.states = append(f.states, state)
}

// take returns the last state and the number of signs of life since the previous call. It then clears both.
func (f *fakeCrawl) take() (signs int, last string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, state := range f.states {
		if last = state; strings.Contains(state, "WATCHDOG=1") {
			signs++
		}
	}
	f.states = nil
	return signs, last
}

// TestAStalledLoopStopsTheSignsOfLife plays a crawl of two workers that stop looking for something to claim.
func TestAStalledLoopStopsTheSignsOfLife(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var f fakeCrawl
		f.set(frontier.Counts{URIs: 7, Hosts: 2}, "")
		s := &supervisor{
			notify: f.notify, every: statusEvery, counts: f.getCounts, workers: 2,
			longestVisit: 20 * time.Minute, heart: newHeartbeat(time.Now()), now: time.Now,
		}
		beat := func() { s.heart.beat(time.Now()) }
		ctx, cancel := context.WithCancel(t.Context())
		stop := s.watch(ctx, 30*time.Second, f.getHeld)
		expect := func(when string, signs int, status string) {
			t.Helper()
			synctest.Wait()
			n, last := f.take()
			if n != signs || !strings.Contains(last, status) {
				t.Errorf("%s: %d signs of life, the last state is %q; want %d and %q", when, n, last, signs, status)
			}
		}
		time.Sleep(time.Hour)
		expect("before the first beat", 0, "")
		beat()
		expect("at the first beat", 0, "READY=1\nSTATUS=crawling: 7 URIs on 2 hosts, 0 visits in progress, 0 since the start")
		time.Sleep(time.Minute + time.Second)
		expect("while a worker waits for a minute", 6, "WATCHDOG=1\nSTATUS=crawling")
		time.Sleep(maxSilence)
		f.take()
		time.Sleep(time.Hour)
		expect("while the workers hang", 0, "STATUS=stuck: no worker has looked for a URI to visit for 1h")

		beat()
		f.set(frontier.Counts{InProgress: 2}, "")
		time.Sleep(s.longestVisit)
		expect("while every worker makes a long visit", 120, "WATCHDOG=1")
		time.Sleep(maxSilence + time.Second)
		f.take()
		time.Sleep(time.Minute)
		expect("when the visits take longer than they can", 0, "STATUS=stuck")

		beat()
		f.set(frontier.Counts{}, "the disk is full\nand failing")
		time.Sleep(statusEvery)
		expect("during a pause", 1, "STATUS=paused: the disk is full; and failing")
		f.set(frontier.Counts{Oldest: time.Now().Add(-2 * time.Hour)}, "")
		time.Sleep(statusEvery)
		expect("when a URI is overdue", 1, "overdue by up to 2h")
		cancel()
		expect("when the crawl stops", 0, "STOPPING=1\nSTATUS=stopping: waiting up to 30s for 0 visits in progress\nEXTEND_TIMEOUT_USEC=150000000")
		stop()
		s.closing()
		expect("at the end", 0, "STOPPING=1\nSTATUS=closing the archive and the store\nEXTEND_TIMEOUT_USEC=120000000")
	})
}
