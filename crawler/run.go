package crawler

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"syscall"
	"time"

	"github.com/rs/zerolog"

	"github.com/arcrawl/arcrawl/frontier"
)

const (
	// syncEvery bounds the settled visits that a power cut may take.
	syncEvery = 200 * time.Millisecond
	// housekeepEvery is the time between two rounds of housekeeping: sealing old WARC files, storing counts, and comparing
	// a piece of the store with its checksums.
	housekeepEvery = time.Minute
	// patrolBytes is the minimum size of that piece: a store of 1 GB is compared in four hours.
	patrolBytes = 4 << 20
	// patrolEvery is the time after a complete comparison until the next one begins.
	patrolEvery = 24 * time.Hour
	// minIdle is the time without anything due that counts as idle.
	minIdle = 3 * time.Second
)

// Run crawls until ctx ends. Then it finishes the visits in progress within the configured grace period, releases those
// that take longer, and returns nil. It returns an error only if the store is broken.
func (c *Crawler) Run(ctx context.Context) error {
	// Visits outlive ctx by the grace period.
	visits, cancelVisits := context.WithCancelCause(context.WithoutCancel(ctx))
	defer cancelVisits(nil)
	crawling, stop := context.WithCancel(ctx)
	defer stop()
	var workers, keepers sync.WaitGroup

	stopKeepers := make(chan struct{})
	keepers.Go(func() { c.housekeep(stopKeepers, c.broken) })
	keepers.Go(func() { c.estimateDemand(stopKeepers) })
	keepers.Go(func() { stopCrawl(c.broken, c.keepScope(stopKeepers)) })
	keepers.Go(func() { stopCrawl(c.broken, c.keepDueTimes(stopKeepers)) })
	keepers.Go(func() { stopCrawl(c.broken, c.evictHosts(stopKeepers)) })
	for n := range c.current {
		workers.Go(func() { c.work(crawling, visits, n+1, c.broken) })
	}

	var err error
	select {
	case <-ctx.Done():
	case err = <-c.broken:
	}
	stop()
	grace := time.AfterFunc(c.parts.Config.Current().Crawl.Grace, func() { cancelVisits(errGraceOver) })
	workers.Wait()
	grace.Stop()
	close(stopKeepers)
	keepers.Wait()
	select {
	case late := <-c.broken:
		err = errors.Join(err, late)
	default:
	}
	return errors.Join(err, c.flushCounts(), c.sync())
}

var errGraceOver = errors.New("the grace period of the stop is over")

// housekeep makes settled visits safe against a power cut and seals old WARC files, until stop is closed. It sleeps
// while nothing is settled.
func (c *Crawler) housekeep(stop <-chan struct{}, broken chan<- error) {
	round := time.NewTicker(housekeepEvery)
	defer round.Stop()
	var syncing <-chan time.Time // not nil if something waits to be synced
	patrol := c.parts.Now()      // when to compare the store with its checksums again
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
			stopCrawl(broken, c.syncOrHold())
		case <-round.C:
			if err := c.parts.Archive.Rotate(c.parts.Now()); err != nil {
				c.hold(c.parts.Now(), fmt.Errorf("seal an old WARC file: %w", err))
			}
			stopCrawl(broken, c.flushCounts())
			if now := c.parts.Now(); !now.Before(patrol) {
				done, err := c.parts.Frontier.Verify(patrolBytes)
				if done {
					patrol = now.Add(patrolEvery)
				}
				if err != nil {
					stopCrawl(broken, fmt.Errorf("compare the store with its checksums: %w", err))
				}
			}
		}
	}
}

// stopCrawl stops the crawl with an error, unless it is nil. It reports whether this is the first error.
func stopCrawl(broken chan<- error, err error) bool {
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

// estimateDemand counts the visits that waits ask for from time to time, until stop is closed.
func (c *Crawler) estimateDemand(stop <-chan struct{}) {
	round := time.NewTicker(housekeepEvery)
	defer round.Stop()
	for {
		if err := c.demand.count(c.parts.Frontier, c.parts.Config.Current(), c.parts.Now(), stop); err != nil {
			c.parts.Log.Error().Err(err).
				Msg("could not estimate the load of hosts: waits are not stretched where hosts are overloaded")
		}
		select {
		case <-stop:
			return
		case <-round.C:
		}
	}
}

// evictHosts evicts hosts that never answered if nearly as many are known as may be, each minute until stop is closed.
// It returns an error only if the store is damaged.
func (c *Crawler) evictHosts(stop <-chan struct{}) error {
	round := time.NewTicker(housekeepEvery)
	defer round.Stop()
	for {
		select {
		case <-stop:
			return nil
		case <-round.C:
		}
		n, err := c.parts.Frontier.MakeRoom(stop)
		if err = reportRoom(c.parts.Log, n, err); err != nil {
			return err
		}
	}
}

// reportRoom logs that n hosts were evicted, or why no more were. It returns an error only if the store is damaged.
func reportRoom(log zerolog.Logger, n int, err error) error {
	if n > 0 {
		log.Warn().Int("hosts", n).
			Msg("removed hosts that never answered, with their URIs: nearly crawl.max_hosts hosts are known")
	}
	if err != nil && !errors.Is(err, frontier.ErrCorrupt) {
		log.Error().Err(err).Msg("could not remove hosts that never answered: new hosts may be refused; trying again later")
		return nil
	}
	return err
}

// flushCounts stores what was counted in memory: the visits of each host and day, and the revisits of each original. A
// crash takes what was counted since the last call; to store each count at once would take a write per visit.
func (c *Crawler) flushCounts() error {
	return errors.Join(c.parts.Daily.Flush(), c.parts.Traps.Flush(), c.parts.Dedup.Flush())
}

// sync writes the log to disk, and then the store with what visits taught about similar URIs.
func (c *Crawler) sync() error {
	if err := c.parts.CrawlLog.Sync(); err != nil {
		return fmt.Errorf("sync crawl.log: %w", err)
	}
	if err := errors.Join(c.parts.Similar.Flush(), c.parts.Cookies.Flush()); err != nil {
		return err
	}
	if err := c.parts.Frontier.Sync(); err != nil {
		return fmt.Errorf("sync the frontier: %w", err)
	}
	return nil
}

// syncOrHold calls sync while the crawl runs. If no file can be opened, it holds the crawl and tries again later,
// because visits that end close files.
func (c *Crawler) syncOrHold() error {
	err := c.sync()
	if errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) {
		c.hold(c.parts.Now(), err)
		signal(c.dirty)
		return nil
	}
	return err
}
