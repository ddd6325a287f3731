package main

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	systemd "github.com/coreos/go-systemd/v22/daemon"

	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/crawler"
	"github.com/arcrawl/arcrawl/fetch"
	"github.com/arcrawl/arcrawl/frontier"
)

const (
	// statusEvery is how often the status line is renewed.
	statusEvery = 10 * time.Second
	// maxQuiet is how long a sound crawl may be in which nobody looks for something to claim while a worker is free. One of
	// those that are naps for a minute at most.
	maxQuiet = 90 * time.Second
	// closingTime is how long the rooms may take to shut: a WARC file is sealed and the store written out.
	closingTime = 2 * time.Minute
)

// supervisor tells systemd how the daemon is: that it is ready, what it does, that it lives, that it stops. Where no
// service manager listens it does nothing.
//
// What keeps the watchdog quiet is work, not the clock. A worker that looks for something to claim looks at the free space
// too, once a second at most while it crawls, and that is what a supervisor listens to. It also takes the lock of the
// frontier before it gives a sign of life, so that a frontier that hangs is noticed too.
type supervisor struct {
	tell    func(state string)
	every   time.Duration // between two signs of life
	counts  func(time.Time) frontier.Counts
	workers int
	longest time.Duration // that a visit can take

	began  time.Time
	first  chan struct{} // a token at the first round
	round  atomic.Int64  // when a worker last looked for something to claim, in nanoseconds since began
	visits atomic.Int64  // that were settled
}

// newSupervisor makes a supervisor of a crawl in rooms, and has it listen there.
func newSupervisor(rooms *crawler.Rooms) *supervisor {
	s := &supervisor{
		tell: tellSystemd, every: statusEvery, counts: rooms.Frontier.Counts, workers: rooms.Config.Current().Crawl.Workers,
		longest: longestVisit(rooms.Config.Current(), time.Now()), began: time.Now(), first: make(chan struct{}, 1),
	}
	if within, err := systemd.SdWatchdogEnabled(false); err == nil && within > 0 {
		s.every = min(s.every, within/4)
	}
	free, observe := rooms.FreeSpace, rooms.Observe
	rooms.FreeSpace = func() (int64, error) {
		s.wentRound()
		return free()
	}
	rooms.Observe = func(r crawler.Report) {
		s.visits.Add(1)
		if observe != nil {
			observe(r)
		}
	}
	return s
}

// tellSystemd sends a state to the service manager. One that does not hear it is no reason to stop crawling.
func tellSystemd(state string) { _, _ = systemd.SdNotify(false, state) }

// longestVisit is how long an exchange may take with the hosts of the seeds, or with one that has no settings of its own.
func longestVisit(c *config.Config, now time.Time) time.Duration {
	longest := func(l fetch.Limits) time.Duration { return l.Connect + l.Headers + l.Body }
	most := longest(c.ForHost("", now).Fetch)
	for _, seed := range c.Seeds {
		most = max(most, longest(c.For(config.About{URI: seed.URI, Now: now}).Fetch))
	}
	return most
}

func (s *supervisor) wentRound() {
	s.round.Store(int64(time.Since(s.began)))
	select {
	case s.first <- struct{}{}:
	default:
	}
}

// watch tells how the crawl is until the returned function is called. The end of ctx asks the crawl to stop, which may
// take as long as grace; held says why the crawl stands still, if it does.
func (s *supervisor) watch(ctx context.Context, grace time.Duration, held func() string) (stop func()) {
	end := make(chan struct{})
	var watching sync.WaitGroup
	watching.Go(func() {
		tick := time.NewTicker(s.every)
		defer tick.Stop()
		var ready bool
		for {
			select {
			case <-end:
				return
			case <-ctx.Done():
				s.tell(fmt.Sprintf("STOPPING=1\nSTATUS=stopping: %d visits in progress have %s to end\n%s",
					s.counts(time.Now()).InProgress, grace, extend(grace+closingTime)))
				return
			case <-s.first:
				if !ready {
					ready = true
					s.tell("READY=1\n" + s.status(time.Now(), held()))
				}
			case <-tick.C:
				if ready {
					s.report(time.Now(), held())
				}
			}
		}
	})
	return func() {
		close(end)
		watching.Wait()
	}
}

// report gives a sign of life if there is life, and says what goes on.
func (s *supervisor) report(now time.Time, held string) {
	quiet := time.Since(s.began) - time.Duration(s.round.Load())
	busy := s.counts(now).InProgress >= int64(s.workers)
	switch {
	case quiet <= maxQuiet, busy && quiet <= s.longest+maxQuiet:
		s.tell("WATCHDOG=1\n" + s.status(now, held))
	default:
		s.tell(fmt.Sprintf("STATUS=stuck: nothing was handed out for %s", quiet.Round(time.Second)))
	}
}

// status is the line that systemctl status shows.
func (s *supervisor) status(now time.Time, held string) string {
	if held != "" {
		return "STATUS=paused: " + strings.ReplaceAll(held, "\n", "; ")
	}
	n := s.counts(now)
	line := fmt.Sprintf("STATUS=crawling: %d URIs of %d hosts, %d visits in progress, %d since the start", n.URIs, n.Hosts, n.InProgress, s.visits.Load())
	if late := now.Sub(n.Oldest); !n.Oldest.IsZero() && late >= time.Minute {
		line += fmt.Sprintf(", the latest is %s overdue", late.Round(time.Second))
	}
	return line
}

// closing says that the visits have ended and the rooms are shut.
func (s *supervisor) closing() {
	s.tell("STOPPING=1\nSTATUS=closing the archive and the store\n" + extend(closingTime))
}

// extend asks the service manager to wait so long for the next word.
func extend(d time.Duration) string { return fmt.Sprintf("EXTEND_TIMEOUT_USEC=%d", d.Microseconds()) }
