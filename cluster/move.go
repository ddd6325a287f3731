package cluster

import (
	"context"
	"errors"
	"fmt"

	"github.com/arcrawl/arcrawl/cluster/shared"
	"github.com/arcrawl/arcrawl/frontier"
)

// initCluster ships the store in o.State, which no process uses, to a database that has no crawl. Any node can take the
// crawl from then on. The store stays a copy of it. open opens the store; if the last process that used it was killed,
// the hosts rest as its options say, for whoever takes the crawl.
func initCluster(ctx context.Context, o nodeOptions, open func() (*frontier.Frontier, error)) error {
	if !hasStore(o.State) {
		return fmt.Errorf("there is no store in %s", o.State)
	}
	r, err := shared.Look(ctx, o.Database, func() error { return nil })
	if err == nil {
		err = hasNoCrawl(r)
	} else if errors.Is(err, shared.ErrVersion) && !r.Used {
		err = nil
	}
	if err != nil {
		return err
	}
	f, err := open()
	if err != nil {
		return err
	}
	ctx, lost := context.WithCancelCause(ctx)
	defer lost(nil)
	n, err := openNode(ctx, o, lost)
	if err != nil {
		return errors.Join(err, f.Close())
	}
	defer n.Close()
	shard, err := n.takeOnly(ctx)
	if err == nil && shard.before.Whole { // somebody was faster; its copy must not replace this store
		err = errors.Join(errHasCrawl, shard.release(ctx, shard.before.Clean))
	}
	if err != nil {
		return errors.Join(err, f.Close())
	}
	if err := shard.handOver(ctx, f); err != nil {
		return err
	}
	if m, _, err := readMark(o.State); err != nil || !m.Clean {
		return errors.Join(err, errors.New("the store was shipped, but the crawl was not released properly: start this node first"))
	}
	return nil
}

var errHasCrawl = errors.New("the database has a crawl already: name an empty database in cluster.database")

// hasNoCrawl returns an error unless a database may receive a crawl.
func hasNoCrawl(r shared.Report) error {
	for _, s := range r.Shards {
		switch {
		case s.Owner != "" && !s.Whole:
			return fmt.Errorf("node %s has not shipped its whole store to the database: start it, with this store in storage.state; "+
				"or stop it, remove the schema \"arcrawl\" of the database, and ship the store again", s.Owner)
		case s.Whole || s.Owner != "":
			return errHasCrawl
		}
	}
	return nil
}

// takeOnly takes the shard of a crawl that was never divided.
func (n *thisNode) takeOnly(ctx context.Context) (*ownedShard, error) {
	st := (<-n.seen).States
	s, err := n.take(ctx, st.Shards[0], 1)
	if err == nil && s == nil {
		err = errHasCrawl
	}
	return s, err
}

// handOver ships a whole store, closes it, and releases the crawl.
func (n *ownedShard) handOver(ctx context.Context, f *frontier.Frontier) error {
	if err := n.Prepare(ctx, frontier.Options{}); err != nil {
		return errors.Join(err, f.Close())
	}
	defer inBackground(n.Beat)()
	stops := []func(){}
	err := n.Start(ctx, f, func(run func(context.Context)) { stops = append(stops, inBackground(run)) })
	leave := func(error) error { return err }
	if err == nil {
		leave = n.Finish(ctx, f)
	}
	for _, stop := range stops {
		stop()
	}
	return errors.Join(leave(f.Close()), context.Cause(ctx))
}
