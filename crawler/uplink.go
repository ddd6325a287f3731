package crawler

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/arcrawl/arcrawl/fetch"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/uri"
)

const (
	// uplinkHosts is how many hosts in a row, all of which had answered before, must be out of reach for our own network to
	// be suspected and not theirs.
	uplinkHosts = 3
	// uplinkMemory is how long a host that could not be reached counts. Slower crawls are no evidence.
	uplinkMemory = time.Hour
	// probeEvery is the time between two tries whether the network is back, each with another host.
	probeEvery = 10 * time.Second
	// probeRest is how long a host rests that was tried in vain, so that the next try goes to another one. The rest ends
	// when the network is back.
	probeRest = 2 * time.Minute
	// maxTried bounds the hosts whose rest is ended then; the others rest to the end of theirs.
	maxTried = 1000
)

// uplink watches whether our own network is up. When it is down every host seems to be, and none of them must pay for
// that: not by a rest on the ladder of hosts that are down, nor by a failure in the history of a URI.
//
//	up ──── 3 hosts in a row that answered before cannot be reached ────▶ down: the visits are given back, nothing is claimed
//	 ▲                                                                     │ every 10 s one visit is made as a try
//	 └──────────────── any host answers ◀──────────────────────────────────┘
//
// The first two of the three were settled as failed before anybody could know. Their hosts are woken and their URIs made
// due when the network is back.
type uplink struct {
	mu       sync.Mutex // guards the fields below
	suspects []suspect  // since a host last answered, one for each host
	down     bool
	prober   int        // the worker that makes a try; 0 is none
	next     time.Time  // when the next try may be made
	tried    []uri.Host // in vain
}

// suspect is a visit that could not reach its host.
type suspect struct {
	uri uri.URI
	due bool // the URI was in the queue
	at  time.Time
}

var errUplink = errors.New("our own network seems to be down: several hosts in a row that answered before cannot be reached; each is tried again by turns")

// lookAtUplink draws its conclusion from an exchange. The error is that our own network is down, so that the exchange
// says nothing about its host.
func (c *Crawler) lookAtUplink(claim frontier.Claim, got *fetch.Capture, now time.Time) error {
	switch {
	case errors.Is(got.Misfortune, fetch.ErrForbiddenAddress):
		return nil // nobody was asked
	case hostDown(got.Status):
		if c.uplink.missed(claim.Record, now) {
			return c.blameUplink(claim.Record.URI.Host(), now)
		}
	case got.Status != fetch.TimedOut && got.Status != fetch.ConnectionLost:
		if suspects, tried := c.uplink.answered(); len(suspects)+len(tried) > 0 {
			return c.forgive(suspects, tried, now)
		}
	}
	return nil
}

// blameUplink lets a host rest that was tried in vain.
func (c *Crawler) blameUplink(h uri.Host, now time.Time) error {
	c.uplink.remember(h)
	if _, _, err := c.rooms.Frontier.SteerHosts(now, string(h), frontier.HostAction{Verb: frontier.Rest, Until: now.Add(probeRest)}); err != nil {
		return fmt.Errorf("let %s rest: %w", h, err)
	}
	return errUplink
}

// forgive undoes what hosts and URIs suffered while our own network was down.
func (c *Crawler) forgive(suspects []suspect, tried []uri.Host, now time.Time) error {
	c.rooms.Log.Info().Int("hosts", len(suspects)+len(tried)).Msg("our own network is back; the hosts that seemed to be down are visited again")
	var due frontier.Selection
	for _, s := range suspects {
		tried = append(tried, s.uri.Host())
		if s.due {
			due.URIs = append(due.URIs, s.uri)
		}
	}
	for _, h := range tried {
		if _, _, err := c.rooms.Frontier.SteerHosts(now, string(h), frontier.HostAction{Verb: frontier.Wake}); err != nil {
			return fmt.Errorf("wake %s: %w", h, err)
		}
	}
	if len(due.URIs) > 0 {
		if _, _, err := c.rooms.Frontier.Steer(now, due, frontier.Action{Verb: frontier.Force}, ""); err != nil {
			return fmt.Errorf("make what failed due again: %w", err)
		}
	}
	return nil
}

// missed hears of a host that could not be reached, and reports whether our own network is to blame.
func (u *uplink) missed(r frontier.Record, now time.Time) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.down {
		return true
	}
	if r.LastCapture.IsZero() {
		return false // it may never have been there
	}
	u.suspects = slices.DeleteFunc(u.suspects, func(s suspect) bool {
		return s.uri.Host() == r.URI.Host() || now.Sub(s.at) > uplinkMemory
	})
	if len(u.suspects) < uplinkHosts-1 {
		u.suspects = append(u.suspects, suspect{r.URI, !r.Due.IsZero(), now})
		return false
	}
	u.down, u.next = true, now.Add(probeEvery)
	return true
}

// answered hears of a host that answered. If our network was taken to be down, it gives what has to be forgiven.
func (u *uplink) answered() (suspects []suspect, tried []uri.Host) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.down {
		suspects, tried = u.suspects, u.tried
	}
	u.suspects, u.tried, u.down = nil, nil, false
	return suspects, tried
}

// remember notes a host that was tried in vain.
func (u *uplink) remember(h uri.Host) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if len(u.tried) < maxTried && !slices.Contains(u.tried, h) {
		u.tried = append(u.tried, h)
	}
}

// isDown reports whether nothing but a try may be made.
func (u *uplink) isDown() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.down
}

// mayTry reports whether it is time for a try.
func (u *uplink) mayTry(now time.Time) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.prober == 0 && !now.Before(u.next)
}

// begin hears that a worker claimed something: a try, if our network is down.
func (u *uplink) begin(worker int, now time.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.down {
		u.prober, u.next = worker, now.Add(probeEvery)
	}
}

// end hears that a worker's visit has ended.
func (u *uplink) end(worker int) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.prober == worker {
		u.prober = 0
	}
}
