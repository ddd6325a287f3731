package daemon

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	systemd "github.com/coreos/go-systemd/v22/daemon"

	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/fetch"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/internal/human"
)

const (
	// statusEvery is how often the status line is renewed.
	statusEvery = 10 * time.Second
	// maxSilence is how long nobody may look for something to claim while a worker is free. The crawler's longest wait
	// between two looks is one minute.
	maxSilence = 90 * time.Second
	// closingTime is how long closing may take: it finishes WARC files and writes the store to disk.
	closingTime = 2 * time.Minute
)

// supervisor reports the state of the daemon to systemd: that it is ready, what it does, that it is alive, that it
// stops.
//
// Only work counts as life. Each time a worker of the crawler looks for something to claim, the heart beats. When it
// has not beaten for maxSilence, the supervisor stops sending WATCHDOG=1, and systemd restarts the daemon. A silence
// is allowed to last longer while all workers are visiting. The supervisor also asks the frontier for its counts
// before each sign of life, so a frontier that hangs is noticed too.
type supervisor struct {
	notify       func(state string)
	every        time.Duration // between two signs of life
	counts       func(time.Time) frontier.Counts
	workers      int
	longestVisit time.Duration
	now          func() time.Time

	heart  *heartbeat   // of the crawler's workers
	visits atomic.Int64 // settled since the start
}

// newSupervisor returns a supervisor of a crawl that begins now.
func newSupervisor(
	notify func(string), counts func(time.Time) frontier.Counts, c *config.Config, now time.Time,
) *supervisor {
	s := &supervisor{
		notify: notify, every: statusEvery, counts: counts, workers: c.Crawl.Workers,
		longestVisit: longestVisit(c, now), heart: newHeartbeat(now), now: time.Now,
	}
	if within, err := systemd.SdWatchdogEnabled(false); err == nil && within > 0 {
		s.every = min(s.every, within/4)
	}
	return s
}

// notifySystemd sends a state to systemd. Without systemd it does nothing, and errors are no reason to stop crawling.
func notifySystemd(state string) { _, _ = systemd.SdNotify(false, state) }

// longestVisit returns the longest time that an exchange may take with a host of a seed, or with a host without
// settings of its own.
func longestVisit(c *config.Config, now time.Time) time.Duration {
	timeouts := func(l fetch.Limits) time.Duration { return l.Connect + l.Headers + l.Body }
	longest := timeouts(c.ForHost("", now).Fetch)
	for _, seed := range c.Seeds {
		longest = max(longest, timeouts(c.For(config.About{URI: seed.URI, Now: now}).Fetch))
	}
	return longest
}

// watch reports the state of the crawl until stop is called. When ctx ends, it reports that the crawl is stopping,
// which may take as long as grace. held returns why the crawl is paused, or "".
func (s *supervisor) watch(ctx context.Context, grace time.Duration, held func() string) (stop func()) {
	return background(func(end context.Context) {
		tick := time.NewTicker(s.every)
		defer tick.Stop()
		first, ready := s.heart.first, false
		for {
			select {
			case <-end.Done():
				return
			case <-ctx.Done():
				s.notify(s.stopping(s.now(), grace))
				return
			case <-first:
				first, ready = nil, true
				s.notify("READY=1\n" + s.status(s.now(), held()))
			case <-tick.C:
				if ready {
					s.report(s.now(), held())
				}
			}
		}
	})
}

// report sends a sign of life and the status if the crawl is alive. Otherwise it says that the crawl is stuck.
func (s *supervisor) report(now time.Time, held string) {
	silence := s.heart.silence(now)
	busy := s.counts(now).InProgress >= int64(s.workers)
	if silence <= maxSilence || busy && silence <= s.longestVisit+maxSilence {
		s.notify("WATCHDOG=1\n" + s.status(now, held))
		return
	}
	s.notify("STATUS=stuck: no worker has looked for a URI to visit for " + human.About(silence))
}

// status returns the line that systemctl status shows.
func (s *supervisor) status(now time.Time, held string) string {
	if held != "" {
		return "STATUS=paused: " + strings.ReplaceAll(held, "\n", "; ")
	}
	n := s.counts(now)
	line := fmt.Sprintf("STATUS=crawling: %s on %s, %s in progress, %d since the start",
		human.Count(n.URIs, "URI"), human.Count(n.Hosts, "host"), human.Count(n.InProgress, "visit"), s.visits.Load())
	if overdue := now.Sub(n.Oldest); !n.Oldest.IsZero() && overdue >= time.Minute {
		line += fmt.Sprintf(", overdue by up to %s", human.About(overdue))
	}
	return line
}

// stopping returns the states that report that the crawl is stopping.
func (s *supervisor) stopping(now time.Time, grace time.Duration) string {
	return fmt.Sprintf("STOPPING=1\nSTATUS=stopping: waiting up to %s for %s in progress\n%s",
		human.Duration(grace), human.Count(s.counts(now).InProgress, "visit"), extendTimeout(grace+closingTime))
}

// closing reports that the visits have ended and the parts of the daemon are being closed.
func (s *supervisor) closing() {
	s.notify("STOPPING=1\nSTATUS=closing the archive and the store\n" + extendTimeout(closingTime))
}

// extendTimeout returns the state that asks systemd to wait for d before it ends the daemon.
func extendTimeout(d time.Duration) string {
	return fmt.Sprintf("EXTEND_TIMEOUT_USEC=%d", d.Microseconds())
}

// heartbeat records when a loop last showed that it is alive. The loop calls beat each time around. It may be used by
// many goroutines.
type heartbeat struct {
	began time.Time
	last  atomic.Int64 // the time of the last beat, in nanoseconds since began

	first chan struct{} // closed by the first beat
	once  sync.Once
}

func newHeartbeat(now time.Time) *heartbeat {
	return &heartbeat{began: now, first: make(chan struct{})}
}

// beat records that the loop is alive.
func (h *heartbeat) beat(now time.Time) {
	h.last.Store(int64(now.Sub(h.began)))
	h.once.Do(func() { close(h.first) })
}

// silence returns the time since the last beat.
func (h *heartbeat) silence(now time.Time) time.Duration {
	return now.Sub(h.began) - time.Duration(h.last.Load())
}
