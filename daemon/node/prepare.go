package node

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/frontier/shared"
)

// maxDamaged is the maximum number of damaged rows that are set aside. With more, something else is wrong.
const maxDamaged = 1_000

// trustLoaded is how long after loading the store from the database a damage is not blamed on the disk of the node.
const trustLoaded = time.Hour

// Prepare makes the local store the newest copy of the crawl, if it is not. It must not be open.
func (n *Shard) Prepare(ctx context.Context, o frontier.Options) error {
	m, found, err := readMark(n.state)
	if err != nil {
		return err
	}
	if n.before.Owner == n.o.Node && !n.before.Clean && n.before.Whole {
		// An earlier process of this node may still be at work, somewhere, until its lease is over.
		n.o.Log.Info().Msg("the last process of this node was not stopped properly: waiting until its lease is over")
		if err := pause(ctx, LeaseTime); err != nil {
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
		n.since, n.kept = m.Version, true
		return n.writeMark(current)
	}
	return errors.Join(n.writeMark(current), n.load(ctx, o))
}

// LoadAgain replaces the local store with the copy in the database after it could not be opened. It returns the error
// of opening it if that would not help.
func (n *Shard) LoadAgain(ctx context.Context, o frontier.Options, damage error) error {
	if !n.kept || n.mirror != nil || !errors.Is(damage, frontier.ErrCorrupt) {
		return damage
	}
	n.kept = false
	n.o.Log.Error().Err(damage).Msg("this node's copy of the crawl is damaged: removing it and loading it again from the database")
	return n.load(ctx, o)
}

// Damaged notes that the store was found damaged while it was used, so that the next start loads it again. The returned
// error ends the process in a way in which systemd starts it again. It does not if the copy in the database seems to be
// damaged too: the same damage has come back, or the store was loaded less than an hour ago.
func (n *Shard) Damaged(damage error) error {
	if damage.Error() == n.known || time.Since(n.loaded) < trustLoaded {
		return fmt.Errorf("%w: loading the store again would not help, because the copy in the database is damaged too; "+
			"restore the database from a backup, or check the disk of this node", damage)
	}
	n.damage = damage.Error()
	return fmt.Errorf("%w: its copy of the crawl is damaged, and the next start loads it again from the database: %w",
		ErrLost, damage)
}

// load removes the local store, and loads it from the database.
func (n *Shard) load(ctx context.Context, o frontier.Options) error {
	select {
	case n.loading <- struct{}{}:
		defer func() { <-n.loading }()
	case <-ctx.Done():
		return ctx.Err()
	}
	if err := removeStore(n.state); err != nil {
		return err
	}
	start, rows := time.Now(), 0
	var damaged []shared.Row
	var err error
	n.since, err = frontier.Load(o, n.before.Clean, func(put func(k, v []byte) error) error {
		return n.shared.Each(ctx, func(k, v []byte) error {
			rows++
			err := put(k, v)
			if errors.Is(err, frontier.ErrCorrupt) && len(damaged) < maxDamaged {
				n.o.Log.Error().Err(err).Msg("a row of the crawl is damaged and was moved to the table arcrawl.aside: its URI is " +
					"unknown until a link leads there")
				damaged = append(damaged, shared.Row{Key: k, Value: v})
				return nil
			}
			return err
		})
	})
	if err == nil && len(damaged) > 0 {
		err = n.shared.SetRowsAside(ctx, n.epoch, damaged)
	}
	if err != nil {
		return errors.Join(err, removeStore(n.state)) // half a store
	}
	n.loaded = time.Now()
	n.o.Log.Info().Int("rows", rows).Int("damaged", len(damaged)).Dur("took", time.Since(start)).
		Msg("loaded the crawl from the database of the cluster")
	return nil
}
