package cluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/rs/zerolog"

	"github.com/dgraph-io/badger/v4"

	"github.com/arcrawl/arcrawl/cluster/shared"
	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
	"github.com/arcrawl/arcrawl/dedup"
	"github.com/arcrawl/arcrawl/frontier"
)

// maxDamaged is the maximum number of damaged rows that are set aside at once. With more, something else is wrong.
const maxDamaged = 1_000

// trustLoaded is how long after the store was made from the database a damage is not blamed on the disk of the node.
const trustLoaded = time.Hour

// prepare decides whether the local store stays. It does if this node has released its parts properly, or if the
// database has no whole copy of the crawl yet. Otherwise it is removed: the database has all of it.
//
// It returns an error if the store must be kept and is not a copy of the crawl in the database.
func (n *thisNode) prepare(st shared.States) error {
	m, found, err := readMark(n.o.State)
	if err != nil {
		return err
	}
	switch {
	case found && m.Crawl != n.shared.Crawl():
		return fmt.Errorf("the store in %s is of another crawl than the database: name another folder in storage.state, "+
			"or another database in cluster.database", n.o.State)
	case found && m.isAhead(st):
		m.Ahead = true // for the next start: the epochs of the database grow, and reach this one
		return errors.Join(errAhead(n.o.State), m.write(n.o.State))
	case !found && (st.Whole || ownedByOthers(st, n.o.Node)) && hasStore(n.o.State):
		return fmt.Errorf("%s has a store that is not a copy of the crawl in the database: move it away", n.o.State)
	}
	n.known, n.beatNow = m.Damage, st.Own
	switch {
	case found && m.Clean && hasStore(n.o.State):
		n.since = m.Version
		n.parts.keep(m.Parts)
		n.parts.outdate(st.Parts)
	case st.Whole || ownedByOthers(st, n.o.Node):
		if err := n.startEmpty(); err != nil {
			return err
		}
	default: // its store is the first one
		n.parts.set(n.parts.in(absent), kept)
		n.isFirst = hasStore(n.o.State)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.noted, n.whole = time.Now(), st.Whole
	return n.mark().write(n.o.State)
}

// ownedByOthers reports whether other nodes own parts of the crawl.
func ownedByOthers(st shared.States, node string) bool {
	return slices.ContainsFunc(st.Parts, func(p shared.Part) bool { return p.Owner != "" && p.Owner != node })
}

// startEmpty removes the local store.
func (n *thisNode) startEmpty() error {
	n.empty, n.since, n.loaded = true, 0, time.Now()
	n.parts.leave(n.parts.in(kept, remains), absent)
	return removeStore(n.o.State)
}

// makeAgain removes a store that could not be opened because it is damaged: the database has all of it. It returns the
// error of opening it if that would not help.
func (n *thisNode) makeAgain(damage error) error {
	if n.empty || !n.found.Load().Whole || !errors.Is(damage, frontier.ErrCorrupt) {
		return damage
	}
	n.o.Log.Error().Err(damage).Msg("this node's copy of the crawl is damaged: removing it and loading it again from the database")
	return n.startEmpty()
}

// damaged notes that the store was found damaged while it was used. The returned error ends the process in a way in
// which systemd starts it again. It does not if the copy in the database seems to be damaged too: the same damage has
// come back, or the store was made less than an hour ago.
func (n *thisNode) damaged(damage error) error {
	if damage.Error() == n.known || time.Since(n.loaded) < trustLoaded {
		return fmt.Errorf("%w: loading the store again would not help, because the copy in the database is damaged too; "+
			"restore the database from a backup, or check the disk of this node", damage)
	}
	n.mu.Lock()
	n.damage = damage.Error()
	n.mu.Unlock()
	return fmt.Errorf("%w: its copy of the crawl is damaged, and the next start loads it again from the database: %w",
		errLost, damage)
}

// restoreOwn writes what the database has of this node, and is about no host, into an empty store: the losses and the
// collections of all nodes, and what only this node has counted.
func (n *thisNode) restoreOwn(ctx context.Context, db *badger.DB) error {
	batch := db.NewWriteBatch()
	defer batch.Cancel()
	merger := dedup.NewMerger(batch.Set)
	err := n.shared.OwnRows(ctx, func(number int, k, v []byte) error {
		switch {
		case dedup.IsRow(k):
			return merger.Add(k, v)
		case number == n.shared.Number():
			return batch.Set(bytes.Clone(k), bytes.Clone(v))
		}
		return nil
	})
	return errors.Join(err, batch.Flush())
}

// awaitSpace waits a moment for space on the disk. After some minutes other nodes take the parts.
func (n *thisNode) awaitSpace(ctx context.Context, full error) error {
	n.mu.Lock()
	if n.full == nil {
		since := time.Now()
		n.full = func() (string, time.Time) { return full.Error(), since }
		n.o.Log.Error().Err(full).Msg("the disk has no space for the hosts that this node is to crawl: waiting; free some, " +
			"or other nodes take them")
	}
	n.mu.Unlock()
	return cli.Wait(ctx, beatEvery)
}

// incoming counts the rows of parts that are being loaded, and collects those that are damaged.
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
func (n *thisNode) patiently(ctx context.Context, ask func() error) error {
	for told := false; ; {
		err := ask()
		var own ownFault
		switch {
		case err == nil:
			if told {
				n.o.Log.Info().Msg("the database of the cluster answers again")
			}
			return nil
		case ctx.Err() != nil || n.lease.lostFor() != nil:
			return err
		case errors.Is(err, frontier.ErrFull):
			if n.awaitSpace(ctx, err) != nil {
				return err
			}
			continue
		case errors.As(err, &own) || !shared.IsUnreachable(err):
			return err
		case !told:
			told = true
			n.o.Log.Error().Err(err).Msg("the database of the cluster does not answer: trying again until it does")
			n.o.Notify("STATUS=waiting for the database of the cluster")
		}
		if err := cli.Wait(ctx, beatEvery); err != nil {
			return err
		}
	}
}
