package crawler

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

const (
	// syncEvery is how much of what was settled a power cut may take.
	syncEvery = 200 * time.Millisecond
	// housekeepEvery is how often old WARC files are sealed, and a piece of the store is compared with its checksums.
	housekeepEvery = time.Minute
	// patrolBytes is the least size of that piece: a store of 1 GB is gone through in four hours.
	patrolBytes = 4 << 20
	// patrolEvery is how long after a whole round the next one begins.
	patrolEvery = 24 * time.Hour
	// holdFor is how long the crawl pauses after a fault of our own before it tries again.
	holdFor = 10 * time.Second
	// spaceEvery is how often the free space is looked at while crawling.
	spaceEvery = time.Second
	// restFrom is how long nothing must be due for the crawl to be at rest.
	restFrom = 3 * time.Second
	// maxNap bounds the wait of the dispatcher, so that a clock that was set does not leave it asleep.
	maxNap = time.Minute
)

// Run crawls until ctx ends, then finishes the visits in progress within the configured grace period, gives back those
// that take longer, and returns nil. It returns an error only when the store is broken.
func (c *Crawler) Run(ctx context.Context) error {
	// Visits outlive ctx by the grace period.
	visits, abandon := context.WithCancelCause(context.WithoutCancel(ctx))
	defer abandon(nil)
	broken := make(chan error, 1) // the first error that ends the crawl
	var walks, keepers sync.WaitGroup

	stopKeeping := make(chan struct{})
	keepers.Go(func() { c.housekeep(stopKeeping, broken) })
	keepers.Go(func() { c.weighHosts(stopKeeping) })

	err := c.dispatch(ctx, visits, &walks, broken)

	grace := time.AfterFunc(c.rooms.Config.Current().Crawl.Grace, func() { abandon(errGraceOver) })
	walks.Wait()
	grace.Stop()
	close(stopKeeping)
	keepers.Wait()
	select {
	case late := <-broken:
		err = errors.Join(err, late)
	default:
	}
	return errors.Join(err, c.sync())
}

var errGraceOver = errors.New("the grace period of the stop is over")

// dispatch claims what is due and starts a walk for each claim, until ctx ends or the store breaks.
func (c *Crawler) dispatch(ctx, visits context.Context, walks *sync.WaitGroup, broken chan error) error {
	idle := make(chan int, len(c.desks)) // numbers of workers that have nothing to do
	for n := range c.desks {
		idle <- n + 1
	}
	for {
		var worker int
		select {
		case <-ctx.Done():
			return nil
		case err := <-broken:
			return err
		case worker = <-idle:
		}
		claimed, err := c.startOne(visits, walks, worker, idle, broken)
		if err != nil {
			return err
		}
		if claimed {
			continue
		}
		idle <- worker
		if err := c.nap(ctx, len(idle) == cap(idle), broken); err != nil {
			return err
		}
	}
}

// startOne claims a URI and starts its walk. It reports false when there is nothing to do now.
func (c *Crawler) startOne(visits context.Context, walks *sync.WaitGroup, worker int, idle chan<- int, broken chan<- error) (bool, error) {
	now := time.Now()
	if c.onHold(now) {
		return false, nil
	}
	claim, ok, err := c.rooms.Frontier.Claim(now)
	if err != nil || !ok {
		return false, err
	}
	c.uplink.begin(worker, now)
	rise := c.sit(worker, claim, now)
	walks.Go(func() {
		defer func() { rise(); c.uplink.end(worker); idle <- worker; leave(c.wake) }()
		err := c.walk(visits, claim, worker)
		var ours ownFault
		switch {
		case err == nil:
		case errors.As(err, &ours):
			c.hold(time.Now(), ours)
		default:
			select {
			case broken <- err:
			default: // another error ends the crawl already
				c.rooms.Log.Error().Err(err).Msg("a visit could not be settled")
			}
		}
	})
	return true, nil
}

// nap waits until the frontier may have something to hand out; quiet tells that no visit is in progress.
func (c *Crawler) nap(ctx context.Context, quiet bool, broken chan error) error {
	wait := maxNap
	now := time.Now()
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
	if quiet && wait >= restFrom && c.rooms.Rest != nil {
		c.rooms.Rest(true)
		defer c.rooms.Rest(false)
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-c.wake:
	case <-timer.C:
	case err := <-broken:
		return err
	}
	return nil
}

// housekeep makes settled work safe against a power cut and seals old WARC files, until stop is closed. It sleeps while
// nothing is settled.
func (c *Crawler) housekeep(stop <-chan struct{}, broken chan<- error) {
	tidying := time.NewTicker(housekeepEvery)
	defer tidying.Stop()
	var syncing <-chan time.Time // set when something is waiting to be synced
	patrol := time.Now()         // when to look for damage again
	for {
		select {
		case <-stop:
			return
		case <-c.dirty:
			if syncing == nil {
				syncing = time.After(syncEvery)
			}
		case <-syncing:
			syncing = nil
			if err := c.sync(); err != nil {
				select {
				case broken <- err:
				default: // another error ends the crawl already
				}
			}
		case <-tidying.C:
			if err := c.rooms.Archive.Rotate(time.Now()); err != nil {
				c.hold(time.Now(), fmt.Errorf("seal an old WARC file: %w", err))
			}
			if now := time.Now(); !now.Before(patrol) {
				done, err := c.rooms.Frontier.Verify(patrolBytes)
				if done {
					patrol = now.Add(patrolEvery)
				}
				if err != nil {
					select {
					case broken <- fmt.Errorf("look for damage: %w", err):
					default: // another error ends the crawl already
					}
				}
			}
		}
	}
}

// weighHosts counts at times what the waits of hosts ask for, until stop is closed.
func (c *Crawler) weighHosts(stop <-chan struct{}) {
	looking := time.NewTicker(housekeepEvery)
	defer looking.Stop()
	for {
		if err := c.count(time.Now(), stop); err != nil {
			c.rooms.Log.Error().Err(err).Msg("waits are not stretched to what hosts can carry")
		}
		select {
		case <-stop:
			return
		case <-looking.C:
		}
	}
}

// sync writes the log, then the accounts, the counts of revisits and the store, to the disk.
func (c *Crawler) sync() error {
	if err := c.rooms.CrawlLog.Sync(); err != nil {
		return fmt.Errorf("sync crawl.log: %w", err)
	}
	if c.rooms.Accounts != nil {
		if err := c.rooms.Accounts.Keep(); err != nil {
			return err
		}
	}
	if err := c.rooms.Dedup.Flush(); err != nil {
		return err
	}
	if err := c.rooms.Frontier.Sync(); err != nil {
		return fmt.Errorf("sync the frontier: %w", err)
	}
	return nil
}

// hold stops the claiming for a while because of a fault of our own, and says so once.
func (c *Crawler) hold(now time.Time, cause error) {
	c.mu.Lock()
	fresh := c.held == ""
	if c.held = cause.Error(); fresh {
		c.heldSince = now
	}
	c.until = now.Add(holdFor)
	c.mu.Unlock()
	if fresh {
		c.rooms.Log.Error().Err(cause).Str("retry_in", holdFor.String()).Msg("the crawl pauses: nothing is lost, mend the cause and it goes on by itself")
	}
}

// onHold reports whether the crawl pauses, by a fault of our own or because an operator wants it so.
func (c *Crawler) onHold(now time.Time) bool { return c.isHeld(now) || c.resting(now) }

// isHeld reports whether a fault of our own keeps the crawl from going on, and looks from time to time whether it still
// does.
func (c *Crawler) isHeld(now time.Time) bool {
	c.mu.Lock()
	look := !now.Before(c.until)
	was := c.held
	c.mu.Unlock()
	if !look {
		return was != ""
	}
	free, err := c.rooms.FreeSpace()
	switch floor := c.rooms.Config.Current().Storage.MinFree; {
	case err != nil:
		c.hold(now, fmt.Errorf("look at the free disk space: %w", err))
		return true
	case free < floor:
		c.hold(now, fmt.Errorf("%d MB of disk space are free and storage.min_free asks for %d MB: free some space, or lower it", free>>20, floor>>20))
		return true
	}
	if c.uplink.isDown() {
		c.mu.Lock()
		c.until = now.Add(spaceEvery)
		c.mu.Unlock()
		return !c.uplink.mayTry(now)
	}
	c.mu.Lock()
	c.held = ""
	c.until = now.Add(spaceEvery)
	c.mu.Unlock()
	if was != "" {
		c.rooms.Log.Info().Msg("the crawl goes on")
	}
	return false
}
