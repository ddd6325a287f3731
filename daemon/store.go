package daemon

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"github.com/arcrawl/arcrawl/aspects/spaces"
	"github.com/arcrawl/arcrawl/aspects/spaces/traps"
	"github.com/arcrawl/arcrawl/cluster/node"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/crawler/pause"
	"github.com/arcrawl/arcrawl/dedup"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/hosts/cookies"
	"github.com/arcrawl/arcrawl/hosts/daily"
	"github.com/arcrawl/arcrawl/hosts/reputation"
	"github.com/arcrawl/arcrawl/hosts/similar"
	"github.com/arcrawl/arcrawl/uri"
	"github.com/arcrawl/arcrawl/warcout"
)

// openStore opens the frontier, and everything else that is kept in its database.
func (d *Daemon) openStore(time.Time) (err error) {
	await := func() { time.Sleep(time.Second) }
	if d.parts.Frontier, d.parts.Traps, err = openFrontier(d.live, d.o.Now, false, await, d.o.shard); err != nil {
		return err
	}
	if err := d.followStore(); err != nil {
		return err
	}
	free := d.parts.FreeSpace
	d.parts.FreeSpace = func() (int64, error) {
		if d.o.shard != nil {
			if err := d.o.shard.MayClaim(); err != nil {
				return 0, pause.NewBrief(err)
			}
		}
		if err := d.parts.Frontier.Space(); err != nil {
			return 0, err // a quota is not seen in the free space of the disk
		}
		return free()
	}
	db := d.parts.Frontier.DB()
	d.parts.Dedup, err = dedup.Open(db, dedup.Options{
		Name: uri.ReplayKey, View: d.parts.Frontier.View, Elsewhere: d.o.shard.Payloads(),
		Series: warcout.SeriesIn(d.live.Current().WARC.Prefix),
	})
	if err != nil {
		return err
	}
	if d.parts.Reputation, err = reputation.Open(db); err != nil {
		return err
	}
	if d.parts.Spaces, err = spaces.Open(db); err != nil {
		return err
	}
	if d.parts.Similar, err = similar.Open(db); err != nil {
		return err
	}
	if d.parts.Cookies, err = cookies.Open(db); err != nil {
		return err
	}
	d.parts.Daily, err = daily.Open(db)
	return err
}

// followStore adds what closes the store. As a node of a cluster it ships the changes of the store from now on. The
// last ones are shipped when all other parts are closed.
func (d *Daemon) followStore() error {
	f, n := d.parts.Frontier, d.o.shard
	if n == nil {
		d.closers.add(f.Close)
		return node.Forget(d.live.Current().Storage.State)
	}
	var leave func(error) error
	d.closers.add(func() error {
		err := f.Close()
		if leave == nil {
			return err
		}
		return errors.Join(err, leave(err))
	})
	err := n.Start(d.o.ctx, f, func(run func(context.Context)) {
		stop := background(run)
		d.closers.add(func() error { stop(); return nil })
	})
	if err != nil {
		return err
	}
	d.closers.add(func() error {
		if d.o.base != nil { // the log stays open
			if err := d.parts.CrawlLog.Sync(); err != nil {
				return fmt.Errorf("write crawl.log to disk: %w", err)
			}
		}
		leave = n.Finish(context.Background(), f)
		return nil
	})
	return nil
}

// openFrontier opens the frontier of a configuration, and the traps that are stored in it, which affect the names of
// URIs. It makes a new store if there is none. await is Options.AwaitSpace. The caller closes the frontier.
func openFrontier(
	live *config.Live, clock func() time.Time, bulkLoad bool, await func(), n *node.Shard,
) (*frontier.Frontier, *traps.Store, error) {
	c, now := live.Current(), clock()
	// The frontier reads the traps while it is opened, and they are in the store of the frontier: they follow later.
	var learned atomic.Pointer[traps.Store]
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
		// Shards change while no node crawls, and never at a reload.
		Elsewhere: n.Elsewhere(func(h uri.Host) string { return c.ForHost(h, clock()).Politeness.Group }),
		Keep:      func(h uri.Host) bool { return live.Current().NamesHost(h) },
		Limits:    func(h uri.Host) frontier.Limits { return live.Current().ForHost(h, clock()).Limits },
	})
	if err != nil {
		return nil, nil, err
	}
	book, err := traps.Open(f.DB())
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	learned.Store(book)
	return f, book, nil
}

// OpenStopped opens the existing store of a daemon that does not run. The caller closes it.
func OpenStopped(c *config.Config, now time.Time) (*frontier.Frontier, error) {
	if err := CheckStore(c); err != nil {
		return nil, err
	}
	return openStopped(c, now, false)
}

// Ship ships the store in a folder, which no daemon uses, to the database of a cluster that has no crawl; see
// [node.Init].
func Ship(
	ctx context.Context, c *config.Config, from string, now time.Time, log zerolog.Logger, background node.Background,
) error {
	o := node.Options{
		Database: c.Cluster.Database, Node: c.Cluster.Node, State: from, Notify: func(string) {}, Log: log,
	}
	return node.Init(ctx, o, func() (*frontier.Frontier, error) { return openAlone(c, from, now) }, background)
}

// Leave writes the crawl of a cluster, which no node crawls, to a new folder as one store.
func Leave(ctx context.Context, c *config.Config, to string, now time.Time) (node.Left, error) {
	return node.Leave(ctx, node.Leaving{
		Database: c.Cluster.Database, To: to, Now: now,
		Group: func(h uri.Host) string { return c.ForHost(h, now).Politeness.Group },
		Open:  func(folder string) (*frontier.Frontier, error) { return openAlone(c, folder, now) },
	})
}

// openAlone opens the store in a folder, with the settings of a configuration, as if there were no cluster.
func openAlone(c *config.Config, state string, now time.Time) (*frontier.Frontier, error) {
	alone := *c
	alone.Storage.State, alone.Cluster.Database = state, ""
	return OpenStopped(&alone, now)
}

// MakeStore opens the store of a daemon that does not run, and makes it if there is none. bulkLoad says that the caller
// is going to write much more than it reads. The caller closes the store.
func MakeStore(c *config.Config, now time.Time, bulkLoad bool) (*frontier.Frontier, error) {
	if err := prepareFolders(c); err != nil {
		return nil, err
	}
	return openStopped(c, now, bulkLoad)
}

// openStopped opens a store. If a daemon uses it, the error says to stop the daemon. The store of a node must be the
// newest copy of the crawl.
func openStopped(c *config.Config, now time.Time, bulkLoad bool) (*frontier.Frontier, error) {
	var n *node.Shard
	if c.Cluster.Database != "" {
		var err error
		o := node.Options{Database: c.Cluster.Database, Node: c.Cluster.Node, State: c.Storage.State}
		if n, err = node.CheckStopped(context.Background(), o); err != nil {
			return nil, err
		}
	}
	f, _, err := openFrontier(config.NewLive(c), func() time.Time { return now }, bulkLoad, nil, n)
	if errors.Is(err, frontier.ErrLocked) {
		return nil, fmt.Errorf("%w: stop the daemon first", err)
	}
	return f, err
}

// CheckStore returns a [FolderError] if the configuration's state folder holds no store.
func CheckStore(c *config.Config) error {
	if _, err := os.Stat(filepath.Join(c.Storage.State, "MANIFEST")); err != nil {
		if all, err := node.Folders(c.Storage.State); err == nil && len(all) > 0 {
			return FolderError{Err: fmt.Errorf("the crawl is divided, and this node has shards in %s: run the command while the daemon "+
				"runs, or name one of these folders in storage.state of a copy of the main file", strings.Join(all, ", "))}
		}
		return FolderError{Err: fmt.Errorf("there is no store in %s yet: %w", c.Storage.State, err)}
	}
	return nil
}
