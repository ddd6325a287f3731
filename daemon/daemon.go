// Package daemon runs one arcrawl process from open to close.
//
// [Run] is the whole life of a daemon:
//
//	Open    signals and memory ▶ folders ▶ store ▶ crawl.log (compared with the store) ▶ archive and its index
//	        ▶ network ▶ crawler
//	        ▶ admin API ▶ WebSub
//	Run     seeds ▶ reload and systemd ▶ crawl until the context ends
//	Close   the parts of Open, the last opened first
//
// Each part puts the function that closes it on a stack. When a part cannot be opened, Open closes the parts before it
// and returns the error. Some parts have goroutines. All are started by the function background. Closing a part ends
// its goroutines and waits for them.
//
// The daemon stops when the context of [Run] ends. The crawler then finishes the visits in progress within
// crawl.grace and releases the others. The daemon waits five seconds longer for wings, the API and what else is not
// needed for a whole archive. What has not ended by then is named in the log, and works on while the other parts are
// closed: crawl.log, the archive and its index return errors then, and the store is on disk but stays open for readers.
// Only these parts, which wait for nothing but the disk, are always waited for.
//
// A SIGHUP reopens crawl.log and reads the configuration again. The configuration is also read again when one of its
// files changes.
//
// systemd learns from a heartbeat whether the daemon is alive. The heart beats each time a worker of the crawler looks
// for something to claim, so a crawl that hangs is noticed even if all other goroutines run.
//
// A daemon does not start with a [LimitError], a [FolderError], a [DiskError], [frontier.ErrLocked],
// [frontier.ErrCorrupt] or [frontier.ErrVersion]. The command line turns each kind into an exit code. A running crawl
// pauses when the disk is full or the archive cannot be written. Only a broken store ends it.
//
// Commands that use the store of a stopped daemon open it with [OpenStopped] or [MakeStore].
package daemon

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/rs/zerolog"

	"github.com/arcrawl/arcrawl/admin"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/crawler"
	"github.com/arcrawl/arcrawl/fetch"
)

// Options holds what a daemon needs in addition to its configuration.
type Options struct {
	// Version is the version of the program. It is part of the User-Agent and of each WARC file.
	Version string
	// ConfigRead is when the configuration was read. A file that has changed since then is read again after the start.
	// Zero means now.
	ConfigRead time.Time
	// Log receives what an operator should know.
	Log zerolog.Logger
	// Observe, when set, is called with each settled visit, by many goroutines at once. It must not block.
	Observe func(crawler.Report)
	// Hangup delivers requests to reopen the log and reload. Nil means the SIGHUPs of the process.
	Hangup <-chan os.Signal
	// Notify receives the states that systemd understands, such as "READY=1". Nil sends them to systemd, if it listens.
	Notify func(state string)
	// Dial, when set, opens the connections to sites instead of [fetch.Guard]. It is for tests with an invented
	// web, because it skips the check of addresses.
	Dial fetch.Dialer
	// Now is the time of day. Nil means [time.Now]. It is for tests of clocks that jump.
	Now func() time.Time
	// Wings make the parts of the program that plug in from outside. Each is called once for each daemon.
	Wings []func() Wing
	// SharedProcess says that the process does other work too. The daemon then does not tune the garbage collector and
	// the number of processors.
	SharedProcess bool

	// Owner owns the store of the daemon. Nil means that nobody but the daemon does.
	Owner Owner
}

// withDefaults returns the options with what is not set.
func (o Options) withDefaults() Options {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.ConfigRead.IsZero() {
		o.ConfigRead = o.Now()
	}
	if o.Notify == nil {
		o.Notify = notifySystemd
	}
	if o.Observe == nil {
		o.Observe = func(crawler.Report) {}
	}
	return o
}

// Daemon is an open daemon. Make one with [Open], run it once, and close it.
type Daemon struct {
	o    Options
	live *config.Live
	log  zerolog.Logger

	parts       crawler.Parts
	crawler     *crawler.Crawler
	window      *admin.Window
	hubs        *hubs
	supervisor  *supervisor
	wings       []Wing
	observers   []func(crawler.Report) // of wings
	opening     string                 // the wing whose function is called, or was called last
	keepers     []keeperOf             // of the archive
	index       *liveIndex
	refused     refusals
	connections int             // maximum number of open ones of each listener
	missing     crawler.Missing // the visits that crawl.log had and the store did not know, at the start
	closers     closers
	stopped     time.Time // when the context of Run ended
}

// Run opens a daemon, crawls until ctx ends, and closes it. A wing may run the process in another way.
func Run(ctx context.Context, c *config.Config, o Options) error {
	o = o.withDefaults()
	if err := linked(c, o.Wings); err != nil {
		return err
	}
	for _, wing := range o.Wings {
		if w := wing(); w.Run != nil {
			if taken, err := w.Run(ctx, c, o); taken {
				return err
			}
		}
	}
	d, err := Open(c, o)
	if err != nil {
		return err
	}
	return errors.Join(d.Run(ctx), d.Close())
}

// Open opens everything that a crawl needs. The caller calls [Daemon.Close] when it is done.
func Open(c *config.Config, o Options) (*Daemon, error) {
	o = o.withDefaults()
	now := o.Now()
	if o.Dial == nil {
		o.Dial = fetch.Guard(c.AllowNetworks, c.AllowHosts...)
	}
	if o.Owner != nil {
		o.Dial = o.Owner.Dialer(o.Dial)
	}
	d := &Daemon{o: o, live: config.NewLive(c), log: o.Log}
	for _, wing := range o.Wings {
		d.wings = append(d.wings, wing())
	}
	d.parts = crawler.Parts{
		Config: d.live, Version: o.Version, Log: o.Log, FreeSpace: freeSpace(c), Now: o.Now,
	}
	return d, d.openAll(now,
		d.checkLimits, d.openProcess, d.openFolders, d.openStore, d.openLog, d.findMissing, d.openArchive,
		d.openRecorder, d.openNetwork,
		d.eachWing(func(w Wing) func(*Daemon) error { return w.Prepare }), d.openCrawler,
		d.eachWing(func(w Wing) func(*Daemon) error { return w.Open }), d.openAdmin, d.openHubs)
}

// openAll opens parts. If one cannot be opened, it closes those before it.
func (d *Daemon) openAll(now time.Time, parts ...func(now time.Time) error) error {
	for _, open := range parts {
		if err := open(now); err != nil {
			return errors.Join(err, d.close())
		}
	}
	return nil
}

// openProcess subscribes to SIGHUP and bounds the memory of the process. A SIGHUP that arrives while the other parts
// are opened waits until the daemon runs. Without the subscription, it would end the process.
func (d *Daemon) openProcess(now time.Time) error {
	if d.o.Hangup == nil {
		hangup, stop := CatchHangups()
		d.o.Hangup = hangup
		d.closers.stop(stop)
	}
	if !d.o.SharedProcess {
		d.closers.stop(boundGarbage())
		d.closers.stop(d.limitMemory(now, serviceMemory("/proc/self/cgroup", "/sys/fs/cgroup")))
		d.parts.NotifyRest = saveAtRest()
	}
	d.o.Notify("STATUS=opening the store")
	return nil
}

// CatchHangups delivers the SIGHUPs of the process until stop is called.
func CatchHangups() (hangups <-chan os.Signal, stop func()) {
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGHUP)
	return c, func() { signal.Stop(c) }
}

// openCrawler makes the crawler, which uses all parts that are open by now.
func (d *Daemon) openCrawler(now time.Time) (err error) {
	d.supervisor = newSupervisor(d.o.Notify, d.parts.Frontier.Counts, d.live.Current(), now)
	d.supervisor.now = d.o.Now
	d.parts.Beat = d.supervisor.heart.beat
	d.parts.Observe = d.observe
	if d.hubs, err = newHubs(d.live.Current(), d.o.Version, d.o.Now, d.log); err != nil {
		return err
	}
	d.parts.NotifyHub = d.hubs.offer
	if owner := d.o.Owner; owner != nil {
		d.parts.Void, d.parts.Accept = owner.Void, owner.Accept
	}
	d.crawler = crawler.New(d.parts)
	if err := d.parts.SaveConfig(d.live.Current()); err != nil {
		d.log.Warn().Err(err).Msg("could not copy the host files; a file that is broken at the next start holds its host")
	}
	return nil
}

// observe counts a settled visit and passes it on.
func (d *Daemon) observe(r crawler.Report) {
	d.supervisor.visits.Add(1)
	d.window.Observe(r)
	for _, observe := range d.observers {
		observe(r)
	}
	d.o.Observe(r)
}

// Run puts the seeds into the store and crawls until ctx ends, or until the store fails.
func (d *Daemon) Run(ctx context.Context) error {
	added, err := d.crawler.AddSeeds(d.o.Now())
	if err != nil {
		return fmt.Errorf("add the seeds: %w", err)
	}
	// Seeds whose hosts were lost too are known again by now, and nothing is claimed yet.
	if err := d.missing.Rest(d.parts.Frontier, d.live.Current(), d.o.Now()); err != nil {
		return err
	}
	c, counts := d.live.Current(), d.parts.Frontier.Counts(d.o.Now())
	d.log.Info().Str("version", d.o.Version).Str("config", c.Path).Int("new_seeds", added.New).
		Int64("uris", counts.URIs).Int64("hosts", counts.Hosts).Msg("started")
	stopReloading := d.watchConfig()
	defer stopReloading()
	if d.o.Owner != nil {
		ended := d.o.Owner.Started(d)
		d.closers.part(ownerPart, func() error { ended(); return nil })
	}
	defer background(func(end context.Context) {
		select {
		case <-ctx.Done():
			d.stopped = time.Now()
		case <-end.Done():
		}
	})()
	stopReporting := d.supervisor.watch(ctx, c.Crawl.Grace, d.crawler.Held)
	defer stopReporting()
	if err := d.crawler.Run(ctx); err != nil {
		d.log.Error().Err(err).Msg("stopping because the store or the disk failed")
		return err
	}
	counts = d.parts.Frontier.Counts(d.o.Now())
	d.log.Info().Int64("uris", counts.URIs).Int64("hosts", counts.Hosts).Msg("stopped")
	return nil
}

// Close closes everything that [Open] opened, in reverse order. The archive and the store are closed when it returns,
// also if a wing does not end.
func (d *Daemon) Close() error {
	d.supervisor.closing()
	return d.close()
}

// close closes all open parts. Since the stop, the visits may have taken crawl.grace.
func (d *Daemon) close() error {
	began := d.stopped
	if began.IsZero() {
		began = time.Now()
	}
	return d.closers.close(d.log, began.Add(d.live.Current().Crawl.Grace+closingGrace))
}
