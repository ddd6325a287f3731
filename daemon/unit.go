package daemon

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/arcrawl/arcrawl/aspects/feeds/websub"
	"github.com/arcrawl/arcrawl/cluster/node"
	"github.com/arcrawl/arcrawl/cluster/pushed"
	"github.com/arcrawl/arcrawl/cluster/shards"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/crawler"
	"github.com/arcrawl/arcrawl/curator/versions"
	"github.com/arcrawl/arcrawl/daemon/notices"
	"github.com/arcrawl/arcrawl/frontier"
)

// base holds what the shards of one process have in common: the archive with its index, crawl.log, and the addresses of
// the API. Each shard has a daemon of its own, with its store.
type base struct {
	Daemon
	catalog     versions.Catalog
	served      shards.Switch
	office      *notices.Office
	subscribers websub.Switch
	saving      sync.Mutex // of configurations: shards read the same files at the same time
}

// nodeDaemon runs the daemons of the shards that a node owns.
type nodeDaemon struct {
	ctx    context.Context
	c      *config.Config // that the node was started with
	o      Options
	node   *node.Node
	voices *node.Voices

	mu      sync.Mutex     // guards the fields below
	now     *config.Config // that a shard starts with
	base    *base          // since the first shard of a divided crawl
	hangups map[int]chan os.Signal
}

// runNode runs a node until ctx ends or another node owns what this one owned.
func runNode(ctx context.Context, c *config.Config, o Options) (err error) {
	if o.Notify == nil {
		o.Notify = notifySystemd
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Hangup == nil { // a hangup ends a process that does not catch it, also one that waits
		hangup, stop := catchHangups()
		defer stop()
		o.Hangup = hangup
	}
	if err := prepareFolders(c); err != nil {
		return err
	}
	ctx, lost := context.WithCancelCause(ctx)
	defer lost(nil)
	if o.pushed, err = pushed.Open(ctx, c, o.Log); err != nil {
		return err
	}
	defer o.pushed.Close()
	defer background(o.pushed.Run)()
	n := &nodeDaemon{ctx: ctx, c: c, o: o, now: c, voices: node.NewVoices(o.Notify), hangups: map[int]chan os.Signal{}}
	n.node, err = node.Open(ctx, node.Options{
		Database: c.Cluster.Database, Node: c.Cluster.Node, State: c.Storage.State, Notify: o.Notify, Log: o.Log,
		Single: c.Cluster.Single, Groups: n.groups,
	}, lost)
	if err != nil {
		return endedBecause(ctx, err)
	}
	defer n.node.Close()
	defer background(n.passHangups)()
	err = n.node.Run(ctx, background, n.crawl)
	if n.base != nil {
		err = errors.Join(err, n.base.closers.close())
	}
	return endedBecause(ctx, err)
}

// groups returns what stands for the politeness groups of the next shard's configuration. While other shards are
// crawled here it is the one in force: files that were refused, or that nobody has asked to read, must not end the
// node. Without one, the files are read again.
func (n *nodeDaemon) groups() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.base != nil && len(n.hangups) > 0 {
		n.now = n.base.live.Current()
		return node.GroupsOf(n.now)
	}
	if err := n.o.pushed.CatchUp(n.ctx); err != nil {
		n.o.Log.Warn().Err(err).Msg("could not take the configuration of the cluster: crawling with the files that are here")
	}
	old := n.c
	if n.base != nil {
		old = n.base.live.Current()
	}
	n.now, n.o.ConfigRead = configOfNow(old, n.o.Log)
	return node.GroupsOf(n.now)
}

// passHangups passes the hangups of the process on to all shards, until ctx ends.
func (n *nodeDaemon) passHangups(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case s := <-n.o.Hangup:
			n.mu.Lock()
			for _, to := range n.hangups {
				select {
				case to <- s:
				default: // one waits
				}
			}
			n.mu.Unlock()
		}
	}
}

// crawl crawls a shard until ctx ends, and releases it.
func (n *nodeDaemon) crawl(ctx context.Context, s *node.Shard) error {
	c, o, end, err := n.prepare(s)
	if err != nil {
		return err
	}
	defer end()
	o.ctx = ctx
	opened := stayAlive(o.Notify)
	defer opened()
	store := frontier.Options{Dir: s.State(), Now: time.Now(), BulkLoad: true}
	if err := s.Prepare(ctx, store); err != nil {
		return endedBecause(ctx, err)
	}
	if s.Count() > 1 {
		if o.base, err = n.openBase(s); err != nil {
			return endedBecause(ctx, err)
		}
	}
	d, err := Open(c, o)
	if err != nil {
		if err = s.LoadAgain(ctx, store, err); err == nil {
			d, err = Open(c, o)
		}
	}
	opened()
	if err != nil {
		return endedBecause(ctx, err)
	}
	s.Watch(func() (string, time.Time) { return d.crawler.Status().Fault() })
	if err = d.Run(ctx); errors.Is(err, frontier.ErrCorrupt) {
		err = s.Damaged(err)
	}
	return endedBecause(ctx, errors.Join(err, d.Close()))
}

// prepare returns the configuration and the options of the daemon of a shard. Call end when it has ended.
func (n *nodeDaemon) prepare(s *node.Shard) (c *config.Config, o Options, end func(), err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	c, o = n.now, n.o
	hangup := make(chan os.Signal, 1)
	n.hangups[s.Number()], o.Hangup, o.shard = hangup, hangup, s
	forget := func() {}
	if s.Count() > 1 {
		o.SharedProcess = true
		o.Log = o.Log.With().Int("shard", s.Number()).Logger()
		o.Notify, forget = n.voices.Of(s.Number())
		c = ofShard(c, s)
	}
	return c, o, func() {
		n.mu.Lock()
		defer n.mu.Unlock()
		delete(n.hangups, s.Number())
		forget()
	}, nil
}

// workersOfShard is the minimum number of workers of a shard.
const workersOfShard = 4

// ofShard returns the configuration of one of several shards. Its store and a socket are in a folder of its own, and
// the process serves the API for all.
func ofShard(c *config.Config, s *node.Shard) *config.Config {
	own := *c
	own.Storage.State = s.State()
	own.Admin.Listen, own.Admin.ReplayListen = "", ""
	if own.Admin.Socket != "" {
		own.Admin.Socket = filepath.Join(s.State(), "admin.sock")
	}
	own.Crawl.Workers = max(workersOfShard, min(own.Crawl.Workers, 2*own.Crawl.Workers/s.Count()))
	return &own
}

// accept returns an error if a new configuration must not be put in force. What only the process uses is set as in the
// configuration in force, unless the operator has changed it.
func (d *Daemon) accept(c *config.Config) error {
	if b := d.o.base; b != nil {
		was, own := b.live.Current(), d.live.Current()
		keep := func(next *string, was, own string) {
			if *next == was {
				*next = own
			}
		}
		keep(&c.Storage.State, was.Storage.State, own.Storage.State)
		keep(&c.Admin.Socket, was.Admin.Socket, own.Admin.Socket)
		keep(&c.Admin.Listen, was.Admin.Listen, own.Admin.Listen)
		keep(&c.Admin.ReplayListen, was.Admin.ReplayListen, own.Admin.ReplayListen)
		if c.Crawl.Workers == was.Crawl.Workers {
			c.Crawl.Workers = own.Crawl.Workers
		}
	}
	if err := d.o.shard.Accept(c); err != nil {
		return err
	}
	return d.o.pushed.Accept(c)
}

// saveConfig records a configuration that a shard has put in force.
func (b *base) saveConfig(c *config.Config) error {
	b.saving.Lock()
	defer b.saving.Unlock()
	was, next := b.live.Current(), *c
	next.Storage.State, next.Crawl.Workers = was.Storage.State, was.Crawl.Workers
	next.Admin.Socket, next.Admin.Listen = was.Admin.Socket, was.Admin.Listen
	next.Admin.ReplayListen = was.Admin.ReplayListen
	b.live.Replace(&next)
	return b.parts.SaveConfig(&next)
}

// openBase returns what the shards have in common, and opens it for the first one.
func (n *nodeDaemon) openBase(s *node.Shard) (*base, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.base != nil {
		return n.base, nil
	}
	b := &base{Daemon: Daemon{o: n.o, live: config.NewLive(n.now), log: n.o.Log}}
	b.parts = crawler.Parts{
		Config: b.live, Version: n.o.Version, Log: n.o.Log, FreeSpace: freeSpace(n.now), Now: n.o.Now,
	}
	b.shards = s.Count()
	err := b.openAll(n.o.Now(),
		b.lock, b.checkLimits, b.openProcess, b.openFolders, b.openLog, b.openWriter, b.openRecorder,
		func(time.Time) (err error) {
			b.catalog, err = b.openVersions(n.now.Admin)
			return err
		},
		func(time.Time) error { return b.joinNodes(n.node) },
		func(time.Time) error { return b.Daemon.serve(n.now.Admin, b.served.Handler) },
		func(time.Time) error { b.office = b.openOffice(); return nil },
		b.openSubscribers)
	if err != nil {
		return nil, err
	}
	n.base = b
	return b, nil
}

// endRequests passes no more requests on to a shard whose store is closed next, and waits for those in progress. After
// a while it ends them.
func (b *base) endRequests(shard int) {
	idle, end := b.served.Remove(shard)
	for range 2 {
		select {
		case <-idle:
		case <-time.After(requestGrace):
		}
		end()
	}
}

// openSubscribers listens for WebSub hubs, if the configuration asks for that.
func (b *base) openSubscribers(time.Time) error {
	if !b.live.Current().WebSub.On() {
		return nil
	}
	return b.listenForHubs(b.subscribers.Serve)
}

// lock makes sure that no other process uses the archive.
func (b *base) lock(time.Time) error {
	path := filepath.Join(b.live.Current().Storage.State, "node.lock")
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o640)
	if err != nil {
		return FolderError{Err: err}
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return errors.Join(fmt.Errorf("%w: lock %s: %w", frontier.ErrLocked, path, err), f.Close())
	}
	b.closers.add(f.Close)
	return nil
}
