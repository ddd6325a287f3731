package daemon

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/arcrawl/arcrawl/aspects/spaces"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/crawler"
	"github.com/arcrawl/arcrawl/dedup"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/hosts"
	"github.com/arcrawl/arcrawl/uri"
	"github.com/arcrawl/arcrawl/warcout"
)

// openStore opens the frontier, and everything else that is kept in its database.
func (d *Daemon) openStore(time.Time) (err error) {
	await := func() { time.Sleep(time.Second) }
	var others frontier.Elsewhere
	if d.o.Owner != nil {
		others = d.o.Owner.Elsewhere()
	}
	if d.parts.Frontier, d.parts.Traps, err = openFrontier(d.live, d.o.Now, false, await, others); err != nil {
		return err
	}
	if err := d.followStore(); err != nil {
		return err
	}
	free := d.parts.FreeSpace
	d.parts.FreeSpace = func() (int64, error) {
		if d.o.Owner != nil {
			if err := d.o.Owner.MayClaim(); err != nil {
				return 0, crawler.NewBriefFault(err)
			}
		}
		if err := d.parts.Frontier.Space(); err != nil {
			return 0, err // a quota is not seen in the free space of the disk
		}
		return free()
	}
	db := d.parts.Frontier.DB()
	var all dedup.Shared
	if d.o.Owner != nil {
		all = d.o.Owner.Payloads()
	}
	d.parts.Dedup, err = dedup.Open(db, dedup.Options{
		Name: uri.ReplayKey, View: d.parts.Frontier.View, Shared: all,
		Series: warcout.SeriesIn(d.live.Current().WARC.Prefix),
	})
	if err != nil {
		return err
	}
	d.parts.Reputation, d.parts.Similar = hosts.OpenReputation(db), hosts.OpenSimilar(db)
	d.parts.Cookies, d.parts.Daily = hosts.OpenCookies(db), hosts.OpenDaily(db)
	return nil
}

// openFrontier opens the frontier of a configuration, and the traps that are stored in it, which affect the names of
// URIs. It makes a new store if there is none. await is Options.AwaitSpace. The caller closes the frontier.
func openFrontier(
	live *config.Live, clock func() time.Time, bulkLoad bool, await func(), others frontier.Elsewhere,
) (*frontier.Frontier, *spaces.Store, error) {
	c, now := live.Current(), clock()
	// The frontier reads the traps while it is opened, and they are in the store of the frontier: they follow later.
	var learned atomic.Pointer[spaces.Store]
	politeness := func(h uri.Host) config.Politeness { return live.Current().ForHost(h, clock()).Politeness }
	f, err := frontier.Open(frontier.Options{
		Dir: c.Storage.State, MaxURIsPerHost: c.Crawl.MaxURIsPerHost, Now: now, BulkLoad: bulkLoad,
		AwaitSpace: await,
		// After a crash, each host rests as long as an ordinary host may have to. Zero would mean 30 s.
		RestAfterCrash: max(c.ForHost("", now).Politeness.LongestDelay(), time.Nanosecond),
		LongestDelay:   func(h uri.Host) time.Duration { return politeness(h).LongestDelay() },
		Valence:        func(h uri.Host) int { return politeness(h).Valence },
		Group:          func(h uri.Host) string { return politeness(h).Group },
		Order:          c.Crawl.Order,
		MaxDoubtful:    frontier.MaxDoubtful(c.Crawl.Workers),
		Quotas:         frontier.QuotasFor(c.Crawl.Workers),
		NewHosts:       c.Crawl.NewHosts,
		Names: func(h uri.Host) *uri.Naming {
			n := live.Current().ForHost(h, clock()).Names
			if book := learned.Load(); book != nil {
				return book.Naming(h, &n)
			}
			return &n
		},
		Elsewhere: others,
		Keep:      func(h uri.Host) bool { return live.Current().NamesHost(h) },
		Limits:    func(h uri.Host) frontier.Limits { return live.Current().ForHost(h, clock()).Limits },
	})
	if err != nil {
		return nil, nil, err
	}
	book := spaces.Open(f.DB())
	learned.Store(book)
	return f, book, nil
}

// OpenStopped opens the existing store of a daemon that does not run. ctx has the wings of the program. The caller
// closes the store.
func OpenStopped(ctx context.Context, c *config.Config, now time.Time) (*frontier.Frontier, error) {
	if err := CheckStore(c); err != nil {
		return nil, err
	}
	return openStopped(ctx, c, now, false)
}

// OpenAlone opens the existing store in a folder for a wing, with the settings of a configuration, as if nobody but a
// daemon owned it.
func OpenAlone(c *config.Config, state string, now time.Time) (*frontier.Frontier, error) {
	alone := *c
	alone.Storage.State = state
	if err := CheckStore(&alone); err != nil {
		return nil, err
	}
	return openStore(&alone, now, false)
}

// MakeStore opens the store of a daemon that does not run, and makes it if there is none. bulkLoad says that the caller
// is going to write much more than it reads. The caller closes the store.
func MakeStore(ctx context.Context, c *config.Config, now time.Time, bulkLoad bool) (*frontier.Frontier, error) {
	if err := PrepareFolders(c); err != nil {
		return nil, err
	}
	return openStopped(ctx, c, now, bulkLoad)
}

// openStopped opens a store, unless a wing has a reason not to.
func openStopped(ctx context.Context, c *config.Config, now time.Time, bulkLoad bool) (*frontier.Frontier, error) {
	wings := wingsOf(ctx)
	if err := linked(c, wings); err != nil {
		return nil, err
	}
	for _, wing := range wings {
		if w := wing(); w.Stopped != nil {
			if err := w.Stopped(ctx, c); err != nil {
				return nil, err
			}
		}
	}
	return openStore(c, now, bulkLoad)
}

// openStore opens a store. If a daemon uses it, the error says to stop the daemon.
func openStore(c *config.Config, now time.Time, bulkLoad bool) (*frontier.Frontier, error) {
	f, _, err := openFrontier(config.NewLive(c), func() time.Time { return now }, bulkLoad, nil, nil)
	if errors.Is(err, frontier.ErrLocked) {
		return nil, fmt.Errorf("%w: stop the daemon first", err)
	}
	return f, err
}

// CheckStore returns a [FolderError] if the configuration's state folder holds no store.
func CheckStore(c *config.Config) error {
	if _, err := os.Stat(filepath.Join(c.Storage.State, "MANIFEST")); err != nil {
		return FolderError{Err: fmt.Errorf("there is no store in %s yet: %w", c.Storage.State, err)}
	}
	return nil
}
