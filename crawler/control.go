package crawler

import (
	"sync/atomic"
	"time"

	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/uri"
)

// Stand is whether the crawl goes on, and why it does not. The zero value is a crawl that goes on.
type Stand struct {
	Held   string    // why nothing is claimed, by the daemon's own decision; empty when nothing is wrong
	Uplink bool      // Held is because our own network seems to be down
	Paused string    // why nothing is claimed, by an operator's; empty when none asked for it
	Since  time.Time // when that began; zero while the crawl goes on
	Until  time.Time // when a pause ends by itself; zero for one that does not
}

// Visiting is a visit in progress, of the URI that was claimed, though its robots.txt may be what is fetched first.
type Visiting struct {
	URI     uri.URI
	Claimed time.Time
	Worker  int
}

// Pause stops the claiming until Resume, or until the given time if that is not zero. Visits in progress go on to their
// end. A second call replaces the reason and the end of the first; an empty reason gets a name.
func (c *Crawler) Pause(reason string, now, until time.Time) {
	if reason == "" {
		reason = "paused by the operator"
	}
	c.mu.Lock()
	if c.paused.Paused == "" {
		c.paused.Since = now
	}
	c.paused.Paused, c.paused.Until = reason, until
	c.mu.Unlock()
	c.rooms.Log.Warn().Str("reason", reason).Msg("the crawl is paused: nothing is claimed until it is resumed")
	leave(c.wake)
}

// Resume ends a pause. It does nothing when there is none.
func (c *Crawler) Resume() {
	c.mu.Lock()
	was := c.paused.Paused
	c.paused = Stand{}
	c.mu.Unlock()
	if was != "" {
		c.rooms.Log.Info().Msg("the crawl is resumed")
	}
	leave(c.wake)
}

// Stand tells whether the crawl goes on.
func (c *Crawler) Stand() Stand {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.paused
	if s.Held = c.held; s.Held != "" && s.Paused == "" {
		s.Since = c.heldSince
	}
	s.Uplink = s.Held != "" && c.uplink.isDown()
	return s
}

// Held tells why the crawl stands still, and is empty when it does not.
func (c *Crawler) Held() string {
	s := c.Stand()
	if s.Paused != "" {
		return s.Paused
	}
	return s.Held
}

// resting reports whether an operator's pause is in force, and ends one whose time is over.
func (c *Crawler) resting(now time.Time) bool {
	c.mu.Lock()
	p := c.paused
	c.mu.Unlock()
	if p.Paused == "" {
		return false
	}
	if p.Until.IsZero() || now.Before(p.Until) {
		return true
	}
	c.Resume()
	return false
}

// Wake has a worker look at once whether something is due: something was added or changed from outside.
func (c *Crawler) Wake() { leave(c.wake) }

// InProgress lists the visits that are going on, by worker.
func (c *Crawler) InProgress() []Visiting {
	var all []Visiting
	for i := range c.desks {
		if v := c.desks[i].Load(); v != nil {
			all = append(all, *v)
		}
	}
	return all
}

// desk is where a worker's visit in progress is noted.
type desk = atomic.Pointer[Visiting]

// sit notes what a worker is about to visit.
func (c *Crawler) sit(worker int, claim frontier.Claim, now time.Time) {
	c.desks[worker-1].Store(&Visiting{URI: claim.Record.URI, Claimed: now, Worker: worker})
}

// rise notes that it is done.
func (c *Crawler) rise(worker int) { c.desks[worker-1].Store(nil) }

// Down reports whether the visit's host could not be reached.
func (r Report) Down() bool { return hostDown(r.Status) }
