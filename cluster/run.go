package cluster

import (
	"context"
	"errors"
	"time"

	"github.com/rs/zerolog"

	"github.com/arcrawl/arcrawl/cluster/shared"
	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/config/revision"
	"github.com/arcrawl/arcrawl/daemon"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/uri"
)

// run runs a node until ctx ends or it may not continue.
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
	revisions, err := shared.OpenRevisions(ctx, c.Cluster.Database, c.Cluster.Node)
	if err != nil {
		return err
	}
	defer revisions.Close()
	pushed, err := revision.Open(revisions, c, o.Log)
	if err != nil {
		return err
	}
	ask, cancel := context.WithTimeout(ctx, askRevisionTime)
	err = pushed.CatchUp(ask, time.Now())
	if cancel(); err != nil {
		o.Log.Warn().Err(err).Msg("could not take the configuration of the cluster: crawling with the files that are here")
	}
	c, o.ConfigRead = configOfNow(c, o.Log)
	n, err := openNode(ctx, nodeOptions{
		Database: c.Cluster.Database, Node: c.Cluster.Node, State: c.Storage.State, Notify: o.Notify, Log: o.Log,
		Single: c.Cluster.Single, Groups: groupsOf(c),
		Group: func(h uri.Host) string { return c.ForHost(h, time.Now()).Politeness.Group },
	}, lost)
	if err != nil {
		return endedBecause(ctx, err)
	}
	defer n.Close()
	n.pushed = pushed
	defer inBackground(func(ctx context.Context) { followRevisions(ctx, pushed, o.Log) })()
	defer inBackground(n.Beat)()
	return endedBecause(ctx, n.runDaemon(ctx, c, o))
}

// runDaemon runs the daemon of a node until ctx ends.
func (n *thisNode) runDaemon(ctx context.Context, c *config.Config, o daemon.Options) error {
	o.Owner = n
	opened := stayAlive(o.Notify)
	defer opened()
	d, err := daemon.Open(c, o)
	if err != nil && n.mirror == nil {
		if err = n.makeAgain(err); err == nil {
			d, err = daemon.Open(c, o)
		}
	}
	opened()
	if err != nil {
		return err
	}
	if err = d.Run(ctx); errors.Is(err, frontier.ErrCorrupt) {
		err = n.damaged(err)
	}
	return errors.Join(err, d.Close())
}

// endedBecause returns the error of a node whose context may have ended: why it may not continue, if that is why.
func endedBecause(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, ctx.Err()) {
		return errors.Join(cause, err)
	}
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return nil
	}
	return err
}

// configOfNow reads a configuration again for a node that has taken what the cluster has put in force, and returns when
// that began. If the main file has a fault now, the node crawls with the configuration that it started with. [cluster]
// and the folder of the store stay unchanged.
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

// stayAliveEvery is less than half of any watchdog time that makes sense.
const stayAliveEvery = 10 * time.Second

// stayAlive sends the watchdog signs of life until stop is called, while a large store is opened.
func stayAlive(notify func(state string)) (stop func()) {
	return inBackground(func(ctx context.Context) {
		for cli.Wait(ctx, stayAliveEvery) == nil {
			notify("WATCHDOG=1")
		}
	})
}
