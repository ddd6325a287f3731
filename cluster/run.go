package cluster

import (
	"context"
	"errors"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/arcrawl/arcrawl/admin"
	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/daemon"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/uri"
)

// process runs the daemons of the shards that a node owns.
type process struct {
	ctx    context.Context
	c      *config.Config // that the node was started with
	o      daemon.Options
	pushed *follower
	node   *thisNode
	voices *voices

	mu      sync.Mutex            // guards the fields below
	now     *config.Config        // that a shard starts with
	base    *base                 // since the first shard of a divided crawl
	inForce func() *config.Config // the configuration of base; nil before
	hangups map[int]chan os.Signal
}

// base holds what the daemons of several shards have in common.
type base struct {
	*daemon.Process
	served switchboard
}

// run runs a node until ctx ends or another node owns what this one owned.
func run(ctx context.Context, c *config.Config, o daemon.Options) (err error) {
	if o.Hangup == nil { // a hangup ends a process that does not catch it, also one that waits
		hangup, stop := daemon.CatchHangups()
		defer stop()
		o.Hangup = hangup
	}
	o.Log = o.Log.With().Str("node", c.Cluster.Node).Logger() // logs of several nodes are read together
	if err := daemon.PrepareFolders(c); err != nil {
		return err
	}
	ctx, lost := context.WithCancelCause(ctx)
	defer lost(nil)
	n := &process{ctx: ctx, c: c, o: o, now: c, voices: newVoices(o.Notify), hangups: map[int]chan os.Signal{}}
	if n.pushed, err = openFollower(ctx, c, o.Log); err != nil {
		return err
	}
	defer n.pushed.Close()
	defer inBackground(n.pushed.Run)()
	n.node, err = openNode(ctx, nodeOptions{
		Database: c.Cluster.Database, Node: c.Cluster.Node, State: c.Storage.State, Notify: o.Notify, Log: o.Log,
		Single: c.Cluster.Single, Groups: n.groups, Group: n.group,
	}, lost)
	if err != nil {
		return endedBecause(ctx, err)
	}
	defer n.node.Close()
	defer inBackground(n.passHangups)()
	err = n.node.Run(ctx, n.crawl)
	if n.base != nil {
		err = errors.Join(err, n.base.Close())
	}
	return endedBecause(ctx, err)
}

// endedBecause returns the error of a node whose context may have ended: why another node owns the crawl, if one does.
func endedBecause(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); errors.Is(cause, errLost) {
		return errors.Join(cause, err)
	}
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return nil
	}
	return err
}

// groups returns what stands for the politeness groups of the next shard's configuration. While other shards are
// crawled here it is the one in force: files that were refused, or that nobody has asked to read, must not end the
// node. Without one, the files are read again.
func (n *process) groups() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.inForce != nil && len(n.hangups) > 0 {
		n.now = n.inForce()
		return groupsOf(n.now)
	}
	if err := n.pushed.CatchUp(n.ctx); err != nil {
		n.o.Log.Warn().Err(err).Msg("could not take the configuration of the cluster: crawling with the files that are here")
	}
	old := n.c
	if n.inForce != nil {
		old = n.inForce()
	}
	n.now, n.o.ConfigRead = configOfNow(old, n.o.Log)
	return groupsOf(n.now)
}

// group returns the politeness group of a host by the configuration that stands for the groups.
func (n *process) group(h uri.Host) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.now.ForHost(h, time.Now()).Politeness.Group
}

// configOfNow reads a configuration again for a node that has waited, maybe for months, and returns when that began.
// If the main file has a fault now, the node crawls with the configuration that it started with. [cluster] and the
// folder of the store stay unchanged.
func configOfNow(c *config.Config, log zerolog.Logger) (now *config.Config, read time.Time) {
	read = time.Now()
	next, err := daemon.LoadConfig(c.Path, log)
	if err != nil {
		log.Error().Err(err).Msg("the configuration has a fault: crawling with the one that this node was started with")
		return c, read
	}
	if next.Cluster != c.Cluster || next.Storage.State != c.Storage.State {
		log.Warn().Msg("[cluster] or storage.state has changed while this node waited: the new values hold after a restart")
	}
	inForce := *next
	inForce.Cluster, inForce.Storage.State = c.Cluster, c.Storage.State
	return &inForce, read
}

// passHangups passes the hangups of the process on to all shards, until ctx ends.
func (n *process) passHangups(ctx context.Context) {
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

// stayAliveEvery is less than half of any watchdog time that makes sense.
const stayAliveEvery = 10 * time.Second

// stayAlive sends the watchdog signs of life until stop is called. A waiting node has reported that it is ready, so the
// watchdog would end it while it loads and opens a large store.
func stayAlive(notify func(state string)) (stop func()) {
	return inBackground(func(ctx context.Context) {
		for cli.Wait(ctx, stayAliveEvery) == nil {
			notify("WATCHDOG=1")
		}
	})
}

// crawl crawls a shard until ctx ends, and releases it.
func (n *process) crawl(ctx context.Context, s *ownedShard) error {
	c, o, end := n.prepare(ctx, s)
	defer end()
	opened := stayAlive(o.Notify)
	defer opened()
	store := frontier.Options{
		Dir: s.State(), Now: time.Now(), BulkLoad: true, AwaitSpace: func() { time.Sleep(time.Second) },
	}
	if err := s.Prepare(ctx, store); err != nil {
		return endedBecause(ctx, err)
	}
	if s.Count() > 1 {
		b, err := n.openBase(s)
		if err != nil {
			return endedBecause(ctx, err)
		}
		o.Member = b.member(s, c)
	}
	d, err := daemon.Open(c, o)
	if err != nil {
		if err = s.LoadAgain(ctx, store, err); err == nil {
			d, err = daemon.Open(c, o)
		}
	}
	opened()
	if err != nil {
		return endedBecause(ctx, err)
	}
	s.Watch(d.Fault)
	if err = d.Run(ctx); errors.Is(err, frontier.ErrCorrupt) {
		err = s.Damaged(err)
	}
	return endedBecause(ctx, errors.Join(err, d.Close()))
}

// prepare returns the configuration and the options of the daemon of a shard. Call end when it has ended.
func (n *process) prepare(ctx context.Context, s *ownedShard) (c *config.Config, o daemon.Options, end func()) {
	n.mu.Lock()
	defer n.mu.Unlock()
	c, o = n.now, n.o
	hangup := make(chan os.Signal, 1)
	n.hangups[s.Number()], o.Hangup = hangup, hangup
	forget := func() {}
	if s.Count() > 1 {
		o.SharedProcess = true
		o.Log = o.Log.With().Int("shard", s.Number()).Logger()
		o.Notify, forget = n.voices.Of(s.Number())
		c = daemon.MemberConfig(c, s.State(), s.Count())
	}
	o.Owner = &owner{ownedShard: s, ctx: ctx, pushed: n.pushed, log: o.Log}
	return c, o, func() {
		n.mu.Lock()
		defer n.mu.Unlock()
		delete(n.hangups, s.Number())
		forget()
	}
}

// openBase returns what the shards have in common, and opens it for the first one.
func (n *process) openBase(s *ownedShard) (*base, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.base != nil {
		return n.base, nil
	}
	b := &base{}
	var err error
	b.Process, err = daemon.OpenProcess(n.now, n.o, daemon.Several{
		Most: s.Count(), Handler: b.served.Handler,
		Open: func(p *daemon.Process) error {
			b.Process = p
			return b.joinNodes(n.node, s.Count(), n.o.Log)
		},
		Join: func(numbers []int, states []api.Status) api.Status {
			return joinStates(n.c.Cluster.Node, numbers, states)
		},
	})
	if err != nil {
		return nil, err
	}
	n.base, n.inForce = b, b.Config
	return b, nil
}

// requestGrace is how long a request in progress may take when a shard is released.
const requestGrace = 2 * time.Second

// member returns what a shard has in common with the others.
func (b *base) member(s *ownedShard, c *config.Config) *daemon.Member {
	number := s.Number()
	return &daemon.Member{
		Process: b.Process, Number: number, Labels: map[string]string{"shard": strconv.Itoa(number)}, Machine: c.Cluster.Node,
		Publish: func(w *admin.Window) (withdraw func()) {
			b.served.Set(number, w.Handler)
			b.served.Measure(number, w.Metrics())
			return func() { b.endRequests(number) }
		},
	}
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
