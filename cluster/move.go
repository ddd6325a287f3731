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
	is, err := shared.Owners(ctx, o.Database)
	if err == nil && (is.Whole || ownedByOthers(shared.States{Parts: is.Parts}, "")) {
		err = errHasCrawl
	} else if errors.Is(err, shared.ErrUnused) {
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
	if err := n.handOver(ctx, f); err != nil {
		return err
	}
	if m, _, err := readMark(o.State); err != nil || !m.Clean {
		return errors.Join(err, errors.New("the store was shipped, but the crawl was not released properly: start this node first"))
	}
	return nil
}

var errHasCrawl = errors.New("the database has a crawl already, or a node ships its store there: name an empty database in " +
	"cluster.database, or remove the schema \"arcrawl\" of this one")

// handOver ships a whole store, closes it, and releases the crawl.
func (n *thisNode) handOver(ctx context.Context, f *frontier.Frontier) error {
	defer inBackground(n.Beat)()
	stops := []func(){}
	err := n.Opened(f, func(run func(context.Context)) { stops = append(stops, inBackground(run)) })
	if err == nil {
		st := <-n.seen
		err = n.take(ctx, st.States, allParts())
		if err == nil && len(n.parts.in(here)) == 0 {
			err = errHasCrawl
		}
	}
	leave := func(error) error { return err }
	if err == nil {
		leave = n.Closing(f)
	}
	for _, stop := range stops {
		stop()
	}
	return errors.Join(leave(f.Close()), context.Cause(ctx))
}

// allParts returns the numbers of all parts.
func allParts() (list []int16) {
	for part := range int16(shared.Parts) {
		list = append(list, part)
	}
	return list
}
