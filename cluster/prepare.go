package cluster

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/rs/zerolog"

	"github.com/arcrawl/arcrawl/cluster/shared"
	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
	"github.com/arcrawl/arcrawl/frontier"
)

// maxDamaged is the maximum number of damaged rows that are set aside. With more, something else is wrong.
const maxDamaged = 1_000

// trustLoaded is how long after loading the store from the database a damage is not blamed on the disk of the node.
const trustLoaded = time.Hour

// Prepare makes the local store the newest copy of the crawl, if it is not. It must not be open.
func (n *ownedShard) Prepare(ctx context.Context, o frontier.Options) error {
	m, found, err := readMark(n.state)
	if err != nil {
		return err
	}
	if n.before.Owner == n.o.Node && !n.before.Clean && n.before.Whole {
		// An earlier process of this node may still be at work, somewhere, until its lease is over.
		n.o.Log.Info().Msg("the last process of this node was not stopped properly: waiting until its lease is over")
		if err := cli.Wait(ctx, leaseTime); err != nil {
			return err
		}
	}
	n.known = m.Damage
	current := n.mark()
	current.Beat = m.Beat
	n.whole = !n.before.Whole
	switch {
	case n.whole:
		return n.writeMark(current)
	case found && m.Clean && n.before.Clean && m.shard() == n.shard && m.Epoch == n.before.Epoch && hasStore(n.state):
		n.since, n.kept = m.Version, max(m.Shards, 1)
		return n.writeMark(current)
	}
	return errors.Join(n.writeMark(current), n.load(ctx, o))
}

// LoadAgain replaces the local store with the copy in the database after it could not be opened. It returns the error
// of opening it if that would not help.
func (n *ownedShard) LoadAgain(ctx context.Context, o frontier.Options, damage error) error {
	if n.kept == 0 || n.mirror != nil || !errors.Is(damage, frontier.ErrCorrupt) {
		return damage
	}
	n.kept = 0
	n.o.Log.Error().Err(damage).Msg("this node's copy of the crawl is damaged: removing it and loading it again from the database")
	return n.load(ctx, o)
}

// Damaged notes that the store was found damaged while it was used, so that the next start loads it again. The returned
// error ends the process in a way in which systemd starts it again. It does not if the copy in the database seems to be
// damaged too: the same damage has come back, or the store was loaded less than an hour ago.
func (n *ownedShard) Damaged(damage error) error {
	if damage.Error() == n.known || time.Since(n.loaded) < trustLoaded {
		return fmt.Errorf("%w: loading the store again would not help, because the copy in the database is damaged too; "+
			"restore the database from a backup, or check the disk of this node", damage)
	}
	n.damage = damage.Error()
	return fmt.Errorf("%w: its copy of the crawl is damaged, and the next start loads it again from the database: %w",
		errLost, damage)
}

// load removes the local store, and loads it from the database. If the database fails in between, it begins again.
func (n *ownedShard) load(ctx context.Context, o frontier.Options) error {
	select {
	case n.loading <- struct{}{}:
		defer func() { <-n.loading }()
	case <-ctx.Done():
		return ctx.Err()
	}
	defer n.Watch(nil)
	return n.patiently(ctx, func() error { return n.loadOnce(ctx, o) })
}

// awaitSpace waits a moment for space on the disk. After some minutes other nodes take the shard.
func (n *ownedShard) awaitSpace(ctx context.Context, full error) error {
	n.mu.Lock()
	if n.fault == nil {
		since := time.Now()
		n.fault = func() (string, time.Time) { return full.Error(), since }
		n.o.Log.Error().Err(full).Int("shard", n.shard).
			Msg("the disk has no space for the copy of a shard: waiting; free some, or other nodes take the shard")
	}
	n.mu.Unlock()
	return cli.Wait(ctx, beatEvery)
}

// loadOnce removes the local store, and loads it from the database.
func (n *ownedShard) loadOnce(ctx context.Context, o frontier.Options) error {
	if err := removeStore(n.state); err != nil {
		return ownFault{err}
	}
	start, in := time.Now(), incoming{log: n.o.Log, await: func(full error) error { return n.awaitSpace(ctx, full) }}
	var asked error
	since, err := frontier.Load(o, n.before.Clean, func(put func(k, v []byte) error) error {
		asked = n.shared.Each(ctx, func(part int16, k, v []byte) error {
			return in.put(shared.Row{Part: part, Key: k, Value: v}, put)
		})
		return asked
	})
	switch {
	case err == nil && len(in.damaged) > 0:
		err = n.shared.SetRowsAside(ctx, n.epoch, in.damaged)
	case asked == nil && err != nil:
		err = ownFault{err}
	}
	if err != nil {
		return errors.Join(err, removeStore(n.state)) // half a store
	}
	n.since, n.loaded = since, time.Now()
	n.o.Log.Info().Int("rows", in.rows).Int("damaged", len(in.damaged)).Dur("took", time.Since(start)).
		Msg("loaded the crawl from the database of the cluster")
	return nil
}

// incoming counts the rows of a crawl that is being loaded, and collects those that are damaged.
type incoming struct {
	log     zerolog.Logger
	await   func(full error) error // waits for space
	rows    int
	damaged []shared.Row
}

// put stores a row with store, unless it is damaged.
func (in *incoming) put(r shared.Row, store func(k, v []byte) error) error {
	in.rows++
	err := store(r.Key, r.Value)
	for errors.Is(err, frontier.ErrFull) {
		if err := in.await(err); err != nil {
			return err
		}
		err = store(r.Key, r.Value)
	}
	switch {
	case err == nil:
		return nil
	case errors.Is(err, frontier.ErrCorrupt) && len(in.damaged) < maxDamaged:
		in.log.Error().Err(err).Msg("a row of the crawl is damaged and was moved to the table arcrawl.aside: its URI is " +
			"unknown until a link leads there")
		in.damaged = append(in.damaged, r)
		return nil
	}
	return ownFault{err}
}

// patiently calls ask, which may be repeated, until the database answers or refuses, or this node may not continue.
func (n *ownedShard) patiently(ctx context.Context, ask func() error) error {
	told := false
	err := persist(ctx, ask, func(err error, first bool) bool {
		var own ownFault
		if n.lease.lostFor() == nil && errors.Is(err, frontier.ErrFull) {
			return n.awaitSpace(ctx, err) == nil
		}
		if n.lease.lostFor() != nil || errors.As(err, &own) || !shared.IsUnreachable(err) {
			return false
		}
		if told = true; first {
			n.o.Log.Error().Err(err).Int("shard", n.shard).
				Msg("the database of the cluster does not answer: trying again until it does")
		}
		return true
	})
	if err == nil && told {
		n.o.Log.Info().Int("shard", n.shard).Msg("the database of the cluster answers again")
	}
	return err
}
