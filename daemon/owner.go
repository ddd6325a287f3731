package daemon

import (
	"context"
	"errors"
	"time"

	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/dedup"
	"github.com/arcrawl/arcrawl/fetch"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/uri"
)

// Owner owns the store of a daemon for a wing. It says whether the daemon may crawl, and follows the changes of the
// store. Its methods are called by many goroutines.
type Owner interface {
	// Dialer returns a dialer whose connections can be used only while requests may leave.
	Dialer(dial fetch.Dialer) fetch.Dialer
	// MayClaim returns why nothing may be claimed now; nil if it may.
	MayClaim() error
	// Void returns why a visit that began at a time teaches nothing; nil if it may be settled.
	Void(began time.Time) error
	// Accept returns why a new configuration must not be put in force; nil if it may.
	Accept(next *config.Config) error

	// Elsewhere returns which hosts belong to other stores; nil if none do.
	Elsewhere() frontier.Elsewhere
	// Payloads returns the dedup index that this store shares with others; nil if it has one of its own.
	Payloads() dedup.Shared

	// Opened is called when the store is open, and nothing has changed in it. background runs something until the store
	// is about to be closed.
	Opened(f *frontier.Frontier, background func(run func(context.Context))) error
	// Follow is called while crawl.log is open, until ctx ends. sync makes sure that the log is on disk.
	Follow(ctx context.Context, sync func() error)
	// Closing is called when nothing changes the store any more. closed is called when it is closed, with the error of
	// that.
	Closing(f *frontier.Frontier) (closed func(error) error)

	// Started is called before the first visit, and stopped after the last one.
	Started(d *Daemon) (stopped func())
	// Watch is called while the API of the daemon is served, until ctx ends.
	Watch(ctx context.Context, d *Daemon)
	// Lose passes on what an operator says of WARC files.
	Lose(files []string, are string) error
	// StandBy returns why a failure of what keeps a copy of the store would lose visits; "" if it would not.
	StandBy() string
}

// ownerPart is the name of what the owner of the store does while the daemon closes.
const ownerPart = "owner of the store"

// errLeft says that the store was closed while something might still write to it.
var errLeft = errors.New("a part of the daemon has not ended")

// followStore adds what closes the store, and lets its owner follow its changes. The owner gets the last ones when all
// other parts are closed.
func (d *Daemon) followStore() error {
	f, owner := d.parts.Frontier, d.o.Owner
	if owner == nil {
		d.closers.add(d.closeStore)
		return d.alone()
	}
	var stored error
	closing := make(chan func(error) error, 1)
	d.closers.part(ownerPart, func() error {
		select {
		case closed := <-closing:
			return closed(stored)
		default: // it was not opened, or has not ended in time
			return nil
		}
	})
	d.closers.add(func() error {
		err := d.closeStore()
		if stored = err; d.closers.left {
			stored = errors.Join(err, errLeft)
		}
		return err
	})
	if err := owner.Opened(f, func(run func(context.Context)) { d.background(ownerPart, run) }); err != nil {
		return err
	}
	d.closers.part(ownerPart, func() error {
		closing <- owner.Closing(f)
		return nil
	})
	return nil
}

// closeStore closes the store. A part that has not ended may read in it: then everything is on disk, and the store
// itself is closed when the part ends. If the process ends before, the next start reads the same.
func (d *Daemon) closeStore() error {
	f := d.parts.Frontier
	if !d.closers.left {
		return f.Close()
	}
	end, err := f.Leave()
	_ = background(func(context.Context) {
		d.closers.late.Wait()
		if err := end(); err != nil {
			d.log.Error().Err(err).Msg("could not close the store after the last part had ended")
		}
	})
	return err
}

// alone lets the wings know that this daemon changes the store, and nobody follows its changes.
func (d *Daemon) alone() error {
	for _, w := range d.wings {
		if w.Alone != nil {
			if err := w.Alone(d.live.Current()); err != nil {
				return err
			}
		}
	}
	return nil
}

// Reload reads the configuration again, and puts it in force.
func (d *Daemon) Reload() error {
	_, err := d.crawler.Reload(false, d.o.Now())
	return err
}

// AddSeeds adds the seeds of the configuration in force whose hosts belong to this store, while it crawls: for hosts
// that have come to it. Known seeds do not change.
func (d *Daemon) AddSeeds() error {
	_, err := d.crawler.AddSeeds(d.o.Now())
	d.Wake()
	return err
}

// Wake lets the crawl look at once for what is due, after hosts have come to its store.
func (d *Daemon) Wake() { d.crawler.Wake() }

// FlushHosts writes what was learned of hosts into the store, as far as it is in memory alone.
func (d *Daemon) FlushHosts() error {
	p := d.parts
	return errors.Join(p.Daily.Flush(), p.Traps.Flush(), p.Similar.Flush(), p.Cookies.Flush(), p.Reputation.Flush())
}

// ForgetHosts drops from memory what was learned of some hosts, also what is not written. It is read from the store
// when it is needed again. Call it when the hosts belong to another store now, and when their rows in this store were
// replaced.
func (d *Daemon) ForgetHosts(is func(uri.Host) bool) {
	p := d.parts
	p.Daily.Forget(is)
	p.Traps.Forget(is)
	p.Similar.Forget(is)
	p.Cookies.Forget(is)
	p.Reputation.Forget(is)
}

// Fault returns why the crawl is held by a fault of this machine, and since when; "" if it is not.
func (d *Daemon) Fault() (why string, since time.Time) { return d.crawler.Status().Fault() }
