package cluster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/arcrawl/arcrawl/cluster/shared"
	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
	"github.com/arcrawl/arcrawl/uri"
)

const (
	// moveEvery is the time between two looks for parts that come, leave or are to be removed.
	moveEvery = 100 * time.Millisecond
	// claimsEvery is the time between two looks whether the visits of leaving hosts have ended.
	claimsEvery = 300 * time.Millisecond
	// loadedAtOnce is the number of parts that are loaded before their hosts are visited.
	loadedAtOnce = 32
)

// receiveParts loads the rows of parts that are coming, until ctx ends. The hosts of some parts are visited before the
// others are loaded.
func (n *thisNode) receiveParts(ctx context.Context) {
	var loaded arrivals
	for cli.Wait(ctx, moveEvery) == nil {
		list := n.parts.in(coming)
		if len(list) == 0 {
			continue
		}
		if loaded.began.IsZero() {
			loaded.began = time.Now()
		}
		clean := n.parts.wasClean(list[0])
		var some []int16
		for _, part := range list {
			if n.parts.wasClean(part) == clean && len(some) < loadedAtOnce {
				some = append(some, part)
			}
		}
		err := n.patiently(ctx, func() error { return n.load(ctx, some, &loaded) })
		if err == nil {
			err = n.crawl(some)
		}
		if err == nil && len(some) == len(list) {
			n.o.Log.Info().Int("parts", loaded.parts).Int("hosts", loaded.hosts).Int("rows", loaded.rows).
				Dur("took", time.Since(loaded.began)).Msg("loaded hosts from the database of the cluster")
			loaded = arrivals{}
			err = n.crowd.AddSeeds()
		}
		if err != nil && ctx.Err() == nil {
			n.fail(fmt.Errorf("load hosts from the database of the cluster: %w", err))
			return
		}
	}
}

// arrivals counts what was loaded from the database.
type arrivals struct {
	began              time.Time // zero = nothing was loaded
	parts, hosts, rows int
}

// load makes the hosts of some parts known, with the rows that the database has of them. All last owners of the parts
// stopped properly, or none.
func (n *thisNode) load(ctx context.Context, list []int16, loaded *arrivals) error {
	in := incoming{log: n.o.Log, await: func(full error) error { return n.awaitSpace(ctx, full) }}
	n.mu.Lock()
	n.torn = true
	n.mu.Unlock()
	var failed error
	now := time.Now()
	hosts, err := n.store.Adopt(now, n.parts.asked(list, n.o.Node, now), func(put func(k, v []byte) error) error {
		failed = n.shared.Each(ctx, list, func(part int16, k, v []byte) error {
			if in.rows%portionRows == 0 {
				n.awaitMirror(ctx)
			}
			return in.put(shared.Row{Part: part, Key: k, Value: v}, put)
		})
		return failed
	})
	switch {
	case err == nil && len(in.damaged) > 0:
		err = n.shared.SetRowsAside(ctx, in.damaged)
	case failed == nil && err != nil:
		err = ownFault{err}
	}
	if err == nil { // the mirror forgets the rows: the database has them
		err = n.flush(ctx)
	}
	if err != nil {
		return err
	}
	n.mu.Lock()
	n.torn, n.full = false, nil
	n.mu.Unlock()
	loaded.parts, loaded.hosts, loaded.rows = loaded.parts+len(list), loaded.hosts+hosts, loaded.rows+in.rows
	return nil
}

// awaitMirror waits while the mirror has many keys, which it keeps in memory until the next shipment.
func (n *thisNode) awaitMirror(ctx context.Context) {
	for n.mirror.waiting() > maxChanged/2 && cli.Wait(ctx, shipEvery) == nil {
		continue
	}
}

// crawl lets the hosts of parts be visited, whose rows are here.
func (n *thisNode) crawl(list []int16) error {
	n.parts.set(list, here)
	some := map[int16]bool{}
	for _, part := range list {
		some[part] = true
	}
	err := n.store.RefreshHosts(func(h uri.Host) bool { return some[n.partOf(h)] })
	if err == nil && n.crowd != nil {
		n.crowd.Wake()
	}
	return err
}

// releaseParts releases the parts that are leaving, each when its visits have ended, until ctx ends.
func (n *thisNode) releaseParts(ctx context.Context) {
	for cli.Wait(ctx, claimsEvery) == nil {
		list := n.parts.in(leaving)
		if len(list) == 0 {
			continue
		}
		busy, err := n.store.PartWith()
		for _, h := range busy {
			part := n.partOf(h)
			list = slices.DeleteFunc(list, func(other int16) bool { return other == part })
		}
		if err == nil && len(list) > 0 {
			err = n.release(ctx, list)
		}
		if err != nil && ctx.Err() == nil {
			n.fail(fmt.Errorf("release hosts for other nodes: %w", err))
			return
		}
	}
}

// release ships the last changes of parts whose hosts are not visited any more, and releases the parts.
func (n *thisNode) release(ctx context.Context, list []int16) error {
	if err := n.crowd.FlushHosts(); err != nil {
		return err
	}
	n.shipping.Lock()
	defer n.shipping.Unlock()
	if _, err := n.ship(ctx); err != nil {
		n.sicken(err)
		return nil // the next attempt may succeed
	}
	n.parts.leave(list, remains)
	err := n.patiently(ctx, func() error {
		ask, cancel := context.WithTimeout(ctx, askTime)
		defer cancel()
		return n.shared.Leave(ask, list, true)
	})
	if err != nil {
		return err
	}
	n.o.Log.Info().Int("parts", len(list)).Msg("released hosts for other nodes")
	return nil
}

// dropParts removes the rows of parts that another node may have, until ctx ends.
func (n *thisNode) dropParts(ctx context.Context) {
	for cli.Wait(ctx, moveEvery) == nil {
		n.shipping.Lock() // a part that is just being released is not removed before
		list := n.parts.in(remains)
		n.shipping.Unlock()
		if len(list) == 0 {
			continue
		}
		going := map[int16]bool{}
		for _, part := range list {
			going[part] = true
		}
		n.crowd.ForgetHosts(func(h uri.Host) bool { return going[n.partOf(h)] })
		done, err := n.store.DropStrays(ctx.Done(), func(h uri.Host) bool { return !going[n.partOf(h)] },
			func() { n.awaitMirror(ctx) })
		if err == nil && done { // the mirror forgets the removed rows before the part can come again
			err = n.flush(ctx)
		}
		switch {
		case err == nil && done:
			n.parts.dropped(list)
		case err != nil && ctx.Err() == nil:
			n.fail(fmt.Errorf("remove hosts of other nodes: %w", err))
			return
		}
	}
}

// shipWhole ships all rows of the store to a database that has no crawl yet.
func (n *thisNode) shipWhole(ctx context.Context) (err error) {
	start, rows := time.Now(), 0
	n.shipping.Lock()
	defer n.shipping.Unlock()
	err = n.patiently(ctx, func() error { return n.shared.Clear(ctx) })
	if err == nil {
		n.since, err = n.mirror.whole(func(list []shared.Row) error {
			rows += len(list)
			return n.patiently(ctx, func() error {
				ask, cancel := context.WithTimeout(ctx, timeToShip(len(list)))
				defer cancel()
				return n.shared.Ship(ask, shared.All(list...))
			})
		})
	}
	if err == nil {
		err = n.patiently(ctx, func() error { return n.shared.Complete(ctx) })
	}
	if err == nil {
		err = n.mirror.since(n.since)
	}
	if err != nil {
		return fmt.Errorf("ship the whole store to the database of the cluster: %w", err)
	}
	n.mu.Lock()
	n.whole = true
	n.mu.Unlock()
	n.o.Log.Info().Int("rows", rows).Dur("took", time.Since(start)).
		Msg("shipped the whole store to the database of the cluster")
	return nil
}

// take takes parts of the crawl. What this node has of them is crawled at once; the rest is loaded.
func (n *thisNode) take(ctx context.Context, st shared.States, list []int16) error {
	ask, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	taken, err := n.shared.Take(ask, list, n.o.Groups)
	if errors.Is(err, shared.ErrRegroup) {
		return n.regroup(ctx)
	}
	switch {
	case errors.Is(err, shared.ErrFenced):
		return fmt.Errorf("%w: %w", errLost, err)
	case errors.Is(err, shared.ErrGroups):
		return err
	case err != nil:
		n.o.Log.Warn().Err(err).Msg("could not take hosts: trying again")
		return nil
	case len(taken) == 0:
		return nil
	}
	n.o.Log.Info().Int("parts", len(taken)).Int64("epoch", taken[0].Epoch).Msg("this node crawls more hosts now")
	current := n.parts.take(taken, st.Whole, time.Now())
	if !st.Whole {
		n.parts.set(current, initial)
		if err := n.shipWhole(ctx); err != nil {
			return err
		}
	}
	if len(current) == 0 {
		return nil
	}
	err = n.crawl(current)
	if err == nil && n.crowd != nil {
		err = n.crowd.AddSeeds()
	}
	return err
}
