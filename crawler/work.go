package crawler

import (
	"context"
	"errors"
	"math"
	"time"

	"github.com/arcrawl/arcrawl/frontier"
)

// maxNap bounds the wait of a worker, so that a clock that was set does not leave it asleep.
const maxNap = time.Minute

// work is what a worker does until ctx ends or the store breaks: it claims a URI and walks it, and goes on with the next. While
// there is nothing to claim, one worker sits and waits for the frontier, and all others wait for its seat:
//
//	claim ── something ──▶ walk ──▶ claim
//	  │ nothing
//	  ▼
//	wait for the seat ──▶ claim, on the seat ── something ──▶ leave the seat ──▶ walk
//	                        ▲   │ nothing
//	                        └───┘ nap until something is ready
func (c *Crawler) work(ctx, visits context.Context, worker int, broken chan<- error) {
	for {
		job, ok, err := c.await(ctx)
		if ok {
			err = c.visitOne(visits, job, worker)
		}
		if err != nil && !ends(broken, err) {
			c.rooms.Log.Error().Err(err).Msg("a visit could not be settled")
		}
		if !ok {
			return
		}
	}
}

// job is a claim to be walked.
type job struct {
	frontier.Claim
	trial bool // whether a fault of our own is gone
}

// visitOne walks a claim. The error is of the store.
func (c *Crawler) visitOne(visits context.Context, j job, worker int) error {
	now := time.Now()
	c.uplink.begin(worker, now)
	c.sit(worker, j.Claim, now)
	err := c.walk(visits, j.Claim, worker)
	c.rise(worker)
	c.uplink.end(worker)
	var ours ownFault
	switch {
	case errors.As(err, &ours):
		c.hold(time.Now(), ours)
		return nil
	case err == nil && j.trial:
		c.goOn()
	}
	return err
}

// await claims a URI, as soon as there is one. It reports false when ctx has ended, or with an error of the store.
func (c *Crawler) await(ctx context.Context) (j job, ok bool, err error) {
	if ctx.Err() != nil {
		return j, false, nil
	}
	j, ok, err = c.claim(time.Now())
	c.stir() // there may be more, or the last visit may have made something ready
	if ok || err != nil {
		return j, ok, err
	}
	if c.waiting.Add(1) == int64(len(c.desks)) {
		leave(c.wake) // the crawl may be at rest now
	}
	defer c.waiting.Add(-1)
	select {
	case <-ctx.Done():
		return j, false, nil
	case c.seat <- struct{}{}:
	}
	defer func() { <-c.seat }()
	defer c.napUntil.Store(noNap)
	for ctx.Err() == nil {
		c.napUntil.Store(newNap)
		j, ok, err = c.claim(time.Now())
		if ok || err != nil {
			return j, ok, err
		}
		c.nap(ctx)
	}
	return j, false, nil
}

// claim claims a URI, if there is one now and the crawl goes on.
func (c *Crawler) claim(now time.Time) (j job, ok bool, err error) {
	c.rooms.Beat(now)
	held, trial := c.onHold(now)
	if held {
		return j, false, nil
	}
	j.trial = trial
	if j.Claim, ok, err = c.rooms.Frontier.Claim(now); !ok && trial {
		c.goOn() // there is nothing to try it with
	}
	return j, ok, err
}

// What stands in the place of the time at which a nap ends by itself, in ns since 1970.
const (
	noNap  = 0             // nobody sits
	newNap = math.MaxInt64 // somebody sits, and is about to ask the frontier for how long
)

// stir ends the nap of the worker that sits, if something is ready before it would end by itself. Whoever sits down after this has
// looked asks the frontier after that, so nothing is missed.
func (c *Crawler) stir() {
	until := c.napUntil.Load()
	if until == noNap {
		return
	}
	if ready, ok := c.rooms.Frontier.NextReady(); ok && ready.UnixNano() < until {
		leave(c.wake)
	}
}

// nap waits until there may be something to claim.
func (c *Crawler) nap(ctx context.Context) {
	now := time.Now()
	wait := maxNap
	if ready, ok := c.rooms.Frontier.NextReady(); ok {
		wait = min(wait, max(ready.Sub(now), time.Millisecond))
	}
	c.mu.Lock()
	switch {
	case c.held != "":
		wait = max(c.until.Sub(now), time.Millisecond)
	case c.paused.Paused != "" && !c.paused.Until.IsZero():
		wait = min(maxNap, max(c.paused.Until.Sub(now), time.Millisecond))
	case c.paused.Paused != "":
		wait = maxNap
	}
	c.mu.Unlock()
	c.napUntil.Store(now.Add(wait).UnixNano())
	if wait >= restFrom && c.rooms.Rest != nil && c.waiting.Load() == int64(len(c.desks)) {
		c.rooms.Rest(true)
		defer c.rooms.Rest(false)
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-c.wake:
	case <-timer.C:
	}
}
