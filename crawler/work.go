package crawler

import (
	"context"
	"errors"
	"math"
	"time"

	"github.com/arcrawl/arcrawl/frontier"
)

// maxSleep bounds the sleep of a worker, so that a changed clock does not leave it asleep.
const maxSleep = time.Minute

// work is the loop of a worker. It claims a URI, walks it, and claims the next one, until ctx ends or the store breaks.
// While there is nothing to claim, one worker waits for the frontier and all others wait to take its turn:
//
//	claim ── something ──▶ walk ──▶ claim
//	  │ nothing
//	  ▼
//	wait for the turn ──▶ claim ── something ──▶ end the turn ──▶ walk
//	                        ▲   │ nothing
//	                        └───┘ sleep until something is ready
func (c *Crawler) work(ctx, visits context.Context, worker int, broken chan<- error) {
	for {
		claim, ok, err := c.awaitClaim(ctx)
		if ok {
			err = c.visitClaimed(visits, claim, worker)
		}
		if err != nil && !stopCrawl(broken, err) {
			c.parts.Log.Error().Err(err).Msg("could not settle a visit; the crawl is stopping")
		}
		if !ok {
			return
		}
	}
}

// claimed is a claim to be walked.
type claimed struct {
	frontier.Claim
	trial bool // the visit shows whether a fault of our own is gone
}

// visitClaimed walks a claim. An error is of the store.
func (c *Crawler) visitClaimed(visits context.Context, claim claimed, worker int) error {
	now := c.parts.Now()
	c.uplink.Begin(worker, now)
	current := &c.current[worker-1]
	current.Store(&Visiting{URI: claim.Record.URI, Claimed: now, Worker: worker})
	err := c.walk(visits, claim.Claim, worker)
	current.Store(nil)
	c.uplink.End(worker)
	var ours ownFault
	switch {
	case errors.As(err, &ours), errors.Is(err, frontier.ErrFull):
		c.hold(c.parts.Now(), err)
		return nil
	case err == nil && claim.trial:
		c.endHold()
	}
	return err
}

// awaitClaim claims a URI as soon as there is one. It reports false if ctx has ended, or with an error of the store.
func (c *Crawler) awaitClaim(ctx context.Context) (claim claimed, ok bool, err error) {
	if ctx.Err() != nil {
		return claim, false, nil
	}
	claim, ok, err = c.claim(c.parts.Now())
	c.wakeWaiter() // there may be more, or the last visit may have made something ready
	if ok || err != nil {
		return claim, ok, err
	}
	if c.waiting.Add(1) == int64(len(c.current)) {
		signal(c.wake) // the crawl may be idle now
	}
	defer c.waiting.Add(-1)
	select {
	case <-ctx.Done():
		return claim, false, nil
	case c.waiter <- struct{}{}:
	}
	defer func() { <-c.waiter }()
	defer c.sleepUntil.Store(notSleeping)
	for ctx.Err() == nil {
		c.sleepUntil.Store(aboutToSleep)
		claim, ok, err = c.claim(c.parts.Now())
		if ok || err != nil {
			return claim, ok, err
		}
		c.sleep(ctx)
	}
	return claim, false, nil
}

// claim claims a URI, if there is one now and the crawl is not paused.
func (c *Crawler) claim(now time.Time) (claim claimed, ok bool, err error) {
	c.parts.Beat(now)
	if err := c.watchClock(now); err != nil {
		return claim, false, err
	}
	allowed, trial := c.mayClaim(now)
	if !allowed {
		return claim, false, nil
	}
	claim.trial = trial
	if claim.Claim, ok, err = c.parts.Frontier.Claim(now); !ok && trial {
		c.endHold() // there is nothing to try it with
	}
	return claim, ok, err
}

// Values of sleepUntil that are not a time in ns since 1970.
const (
	notSleeping  = 0             // no worker waits for the frontier
	aboutToSleep = math.MaxInt64 // a worker is about to ask the frontier how long it may sleep
)

// wakeWaiter wakes the worker that waits for the frontier, if something is ready before it would wake by itself. A
// worker that begins to wait later asks the frontier later, so nothing is missed.
func (c *Crawler) wakeWaiter() {
	until := c.sleepUntil.Load()
	if until == notSleeping {
		return
	}
	if ready, ok := c.parts.Frontier.NextReady(); ok && ready.UnixNano() < until {
		signal(c.wake)
	}
}

// sleep waits until there may be something to claim.
func (c *Crawler) sleep(ctx context.Context) {
	now := c.parts.Now()
	wait := maxSleep
	if ready, ok := c.parts.Frontier.NextReady(); ok {
		wait = min(wait, max(ready.Sub(now), time.Millisecond))
	}
	if at, stopped := c.checksAt(); stopped {
		wait = maxSleep
		if !at.IsZero() {
			wait = min(wait, max(at.Sub(now), time.Millisecond))
		}
	}
	c.sleepUntil.Store(now.Add(wait).UnixNano())
	if notify := c.parts.NotifyRest; notify != nil && wait >= minIdle && c.waiting.Load() == int64(len(c.current)) {
		notify(true)
		defer notify(false)
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-c.wake:
	case <-timer.C:
	}
}

// signal puts a token into a channel that holds one, unless it has one already.
func signal(token chan struct{}) {
	select {
	case token <- struct{}{}:
	default:
	}
}

// crowded reports whether slow visits hold more workers than hosts that do not answer may have.
func (c *Crawler) crowded() bool {
	n := 0
	for i := range c.current {
		if v := c.current[i].Load(); v != nil && c.parts.Now().Sub(v.Claimed) >= frontier.SlowVisit {
			n++
		}
	}
	return n > frontier.MaxDoubtful(len(c.current))
}
