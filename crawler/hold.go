package crawler

import (
	"fmt"
	"time"

	"github.com/arcrawl/arcrawl/internal/human"
)

const (
	// holdTime is how long the crawl is held after a fault of our own before it tries again.
	holdTime = 10 * time.Second
	// spaceEvery is the time between two looks at the free disk space while crawling.
	spaceEvery = time.Second
)

// hold stops the claiming for a while because of a fault of our own, and logs it once.
func (c *Crawler) hold(now time.Time, cause error) {
	c.mu.Lock()
	first := c.held == ""
	if c.held = cause.Error(); first {
		c.heldSince = now
	}
	c.checkAt = now.Add(holdTime)
	c.mu.Unlock()
	signal(c.wake)
	if first {
		c.rooms.Log.Error().Err(cause).Str("retry_in", holdTime.String()).
			Msg("pausing crawl: nothing is lost; fix the cause and the crawl resumes automatically")
	}
}

// endHold ends a hold.
func (c *Crawler) endHold() {
	c.mu.Lock()
	was := c.held
	c.held = ""
	c.mu.Unlock()
	if was != "" {
		c.rooms.Log.Info().Msg("resuming crawl: the fault is gone")
	}
	signal(c.wake)
}

// onHold reports whether nothing may be claimed, because of a fault of our own or because an operator paused the crawl.
// See [Crawler.isHeld] for trial.
func (c *Crawler) onHold(now time.Time) (held, trial bool) {
	held, trial = c.isHeld(now)
	return held || c.isPaused(now), trial
}

// isHeld reports whether a fault of our own holds the crawl, and checks from time to time whether it still does.
//
// Some faults can only be seen to be gone by a visit. After such a fault, one visit is let through as a trial, and
// another one every holdTime if the first takes longer. Many at once would fail, and ask hosts for what cannot be
// kept.
func (c *Crawler) isHeld(now time.Time) (held, trial bool) {
	c.mu.Lock()
	check, was := !now.Before(c.checkAt), c.held
	switch { // so that other workers do not check too
	case check && was != "":
		c.checkAt = now.Add(holdTime)
	case check:
		c.checkAt = now.Add(spaceEvery)
	}
	c.mu.Unlock()
	if !check {
		return was != "", false
	}
	free, err := c.rooms.FreeSpace()
	switch minimum := c.rooms.Config.Current().Storage.MinFree; {
	case err != nil:
		c.hold(now, fmt.Errorf("read the free disk space: %w", err))
		return true, false
	case free < minimum:
		c.hold(now, fmt.Errorf("disk is full: %s are free and storage.min_free is %s; free some space or lower it",
			human.Bytes(free), human.Bytes(minimum)))
		return true, false
	}
	if c.uplink.Down() {
		c.mu.Lock()
		c.checkAt = now.Add(spaceEvery) // the uplink itself knows when to probe
		c.mu.Unlock()
		return !c.uplink.MayProbe(now), false
	}
	return false, was != ""
}
