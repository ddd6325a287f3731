package crawler

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"syscall"
	"time"
)

const (
	// syncEvery is how much of what was settled a power cut may take.
	syncEvery = 200 * time.Millisecond
	// housekeepEvery is how often old WARC files are sealed, counts are stored, and a piece of the store is compared with its checksums.
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
)

// Run crawls until ctx ends, then finishes the visits in progress within the configured grace period, gives back those
// that take longer, and returns nil. It returns an error only when the store is broken.
func (c *Crawler) Run(ctx context.Context) error {
	// Visits outlive ctx by the grace period.
	visits, abandon := context.WithCancelCause(context.WithoutCancel(ctx))
	defer abandon(nil)
	crawling, stop := context.WithCancel(ctx)
	defer stop()
	broken := make(chan error, 1) // the first error that ends the crawl
	var workers, keepers sync.WaitGroup

	stopKeeping := make(chan struct{})
	keepers.Go(func() { c.housekeep(stopKeeping, broken) })
	keepers.Go(func() { c.weighHosts(stopKeeping) })
	for n := range c.desks {
		workers.Go(func() { c.work(crawling, visits, n+1, broken) })
	}

	var err error
	select {
	case <-ctx.Done():
	case err = <-broken:
	}
	stop()
	grace := time.AfterFunc(c.rooms.Config.Current().Crawl.Grace, func() { abandon(errGraceOver) })
	workers.Wait()
	grace.Stop()
	close(stopKeeping)
	keepers.Wait()
	select {
	case late := <-broken:
		err = errors.Join(err, late)
	default:
	}
	return errors.Join(err, c.countUp(), c.sync())
}

var errGraceOver = errors.New("the grace period of the stop is over")

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
			ends(broken, c.keepSafe())
		case <-tidying.C:
			if err := c.rooms.Archive.Rotate(time.Now()); err != nil {
				c.hold(time.Now(), fmt.Errorf("seal an old WARC file: %w", err))
			}
			ends(broken, c.countUp())
			if now := time.Now(); !now.Before(patrol) {
				done, err := c.rooms.Frontier.Verify(patrolBytes)
				if done {
					patrol = now.Add(patrolEvery)
				}
				if err != nil {
					ends(broken, fmt.Errorf("look for damage: %w", err))
				}
			}
		}
	}
}

// ends ends the crawl with an error, if there is one and no other did. It reports whether it was the first.
func ends(broken chan<- error, err error) bool {
	if err == nil {
		return false
	}
	select {
	case broken <- err:
		return true
	default:
		return false
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

// countUp puts what was counted in memory into the store: the accounts, and the revisits of each original. A crash takes what was
// counted since the last time; a count for each visit would be a write for each.
func (c *Crawler) countUp() error {
	if c.rooms.Accounts != nil {
		if err := c.rooms.Accounts.Flush(); err != nil {
			return err
		}
	}
	return c.rooms.Dedup.Flush()
}

// sync writes the log, and then the store, to the disk, and into the store before that what the visits told of relatives.
func (c *Crawler) sync() error {
	if err := c.rooms.CrawlLog.Sync(); err != nil {
		return fmt.Errorf("sync crawl.log: %w", err)
	}
	if c.rooms.Kin != nil {
		if err := c.rooms.Kin.Flush(); err != nil {
			return err
		}
	}
	if err := c.rooms.Frontier.Sync(); err != nil {
		return fmt.Errorf("sync the frontier: %w", err)
	}
	return nil
}

// keepSafe is sync while the crawl goes on. That there are no files left passes when visits end: the crawl pauses, and it is tried again.
func (c *Crawler) keepSafe() error {
	err := c.sync()
	if errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) {
		c.hold(time.Now(), err)
		c.settled()
		return nil
	}
	return err
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
	leave(c.wake)
	if fresh {
		c.rooms.Log.Error().Err(cause).Str("retry_in", holdFor.String()).Msg("the crawl pauses: nothing is lost, mend the cause and it goes on by itself")
	}
}

// onHold reports whether the crawl pauses, by a fault of our own or because an operator wants it so; see [Crawler.isHeld].
func (c *Crawler) onHold(now time.Time) (held, trial bool) {
	held, trial = c.isHeld(now)
	return held || c.resting(now), trial
}

// isHeld reports whether a fault of our own keeps the crawl from going on, and looks from time to time whether it still
// does. After one that only a visit can show to be gone, a single visit is let through as a trial, and another one every
// holdFor if that takes longer: a hundred would be made in vain, and ask hosts for what cannot be kept.
func (c *Crawler) isHeld(now time.Time) (held, trial bool) {
	c.mu.Lock()
	look, was := !now.Before(c.until), c.held
	switch { // so that other workers do not look too
	case look && was != "":
		c.until = now.Add(holdFor)
	case look:
		c.until = now.Add(spaceEvery)
	}
	c.mu.Unlock()
	if !look {
		return was != "", false
	}
	free, err := c.rooms.FreeSpace()
	switch floor := c.rooms.Config.Current().Storage.MinFree; {
	case err != nil:
		c.hold(now, fmt.Errorf("look at the free disk space: %w", err))
		return true, false
	case free < floor:
		c.hold(now, fmt.Errorf("%d MB of disk space are free and storage.min_free asks for %d MB: free some space, or lower it", free>>20, floor>>20))
		return true, false
	}
	if c.uplink.isDown() {
		c.mu.Lock()
		c.until = now.Add(spaceEvery) // it knows itself when to try
		c.mu.Unlock()
		return !c.uplink.mayTry(now), false
	}
	return false, was != ""
}

// goOn ends a pause by a fault of our own.
func (c *Crawler) goOn() {
	c.mu.Lock()
	was := c.held
	c.held = ""
	c.mu.Unlock()
	if was != "" {
		c.rooms.Log.Info().Msg("the crawl goes on")
	}
	leave(c.wake)
}
