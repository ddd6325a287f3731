package cluster

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/arcrawl/arcrawl/cluster/shared"
	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
	"github.com/arcrawl/arcrawl/frontier"
)

const (
	// shipEvery is the time between two shipments while something changes.
	shipEvery = 200 * time.Millisecond
	// shipTime is the maximum duration of a shipment without rows, and rowTime how much each row adds to it. A shipment
	// is long after URIs were imported, or after an outage, and cannot be divided.
	shipTime = 30 * time.Second
	rowTime  = 200 * time.Microsecond
	// maxChanged is the number of changed keys that are kept in memory, with some 100 bytes for each.
	maxChanged = 200_000
)

// Start follows the changes of the opened store with run, which runs in the background from now on. If the database has
// no whole copy, Start ships all rows before it returns.
func (n *ownedShard) Start(
	ctx context.Context, f *frontier.Frontier, background func(run func(context.Context)),
) error {
	n.mirror, n.store = newMirror(f, n.rowHome(), maxChanged), f
	if n.box != nil {
		if err := n.box.count(f); err != nil {
			return err
		}
	}
	background(func(ctx context.Context) {
		if err := n.mirror.run(ctx); err != nil {
			n.o.Log.Error().Err(err).Msg("the changes of the store are not followed any more: the crawl stops soon")
		}
	})
	again := time.NewTicker(50 * time.Millisecond)
	defer again.Stop()
	if err := n.mirror.awaitStart(ctx, again.C); err != nil {
		return err
	}
	if n.whole {
		if err := n.shipWhole(ctx); err != nil {
			return err
		}
	}
	if n.kept > 0 && n.kept < n.shards {
		background(n.dropStrays)
	}
	return n.mirror.since(n.since)
}

// shipWhole ships all rows of the store to a database that has none.
func (n *ownedShard) shipWhole(ctx context.Context) (err error) {
	start, rows := time.Now(), 0
	err = n.patiently(ctx, func() error { return n.shared.Clear(ctx, n.epoch) })
	if err == nil {
		n.since, err = n.mirror.whole(func(list []shared.Row) error {
			rows += len(list)
			return n.patiently(ctx, func() error {
				ask, cancel := context.WithTimeout(ctx, timeToShip(len(list)))
				defer cancel()
				return n.shared.Ship(ask, n.epoch, shared.All(list...))
			})
		})
	}
	if err == nil {
		err = n.patiently(ctx, func() error { return n.shared.Complete(ctx, n.epoch) })
	}
	if err != nil {
		return fmt.Errorf("ship the whole store to the database of the cluster: %w", err)
	}
	n.o.Log.Info().Int("rows", rows).Dur("took", time.Since(start)).
		Msg("shipped the whole store to the database of the cluster")
	return nil
}

// Ship ships what changes until ctx ends. before is called before each shipment: it makes sure that the log of the
// visits in it is on disk.
func (n *ownedShard) Ship(ctx context.Context, before func() error) {
	var lookAgain time.Time
	for cli.Wait(ctx, shipEvery) == nil {
		if now := time.Now(); !now.Before(lookAgain) {
			n.lookForReplica(ctx)
			lookAgain = now.Add(replicaEvery)
		}
		if n.mirror.waiting() == 0 && !n.post.mustShip() {
			n.caughtUp()
			n.exchangeLetters(ctx, time.Now())
			continue
		}
		n.fallBehind()
		_, err := n.shipOnce(ctx, before)
		switch {
		case ctx.Err() != nil:
			return
		case errors.Is(err, shared.ErrFenced), errors.Is(err, shared.ErrOwner):
			n.lose(err)
			return
		case err != nil:
			n.sicken(err)
		default:
			n.exchangeLetters(ctx, time.Now())
		}
	}
}

// shipOnce ships what has changed up to a version. Nothing is shipped without a lease: visits without one may have
// taught nonsense.
func (n *ownedShard) shipOnce(ctx context.Context, before func() error) (version uint64, err error) {
	collect, cancel := context.WithTimeout(ctx, shipTime)
	defer cancel()
	s, err := n.mirror.shipment(collect)
	if err != nil {
		return 0, ownFault{err}
	}
	defer s.close()
	if err := before(); err != nil {
		return 0, ownFault{fmt.Errorf("write crawl.log to disk: %w", err)}
	}
	if err := n.lease.err(); err != nil {
		return 0, err
	}
	ask, stop := context.WithTimeout(ctx, timeToShip(s.rows))
	defer stop()
	if err := n.shared.Ship(ask, n.epoch, s.each); err != nil {
		if isReadError(err) {
			err = ownFault{err}
		}
		return 0, err
	}
	n.mirror.shipped(s)
	n.caughtUp()
	return s.version, nil
}

// ownFault is a failure of this node's store or log. The database is not to blame.
type ownFault struct{ error }

func (f ownFault) Unwrap() error { return f.error }

// timeToShip returns how long a shipment of some rows may take.
func timeToShip(rows int) time.Duration { return shipTime + time.Duration(rows)*rowTime }

// caughtUp notes that the database has everything except the changes of the last moment.
func (n *ownedShard) caughtUp() {
	n.mu.Lock()
	was := n.ill
	n.behind, n.ill = time.Time{}, false
	n.mu.Unlock()
	if was {
		n.o.Log.Info().Msg("changes are shipped to the database of the cluster again")
	}
}

// fallBehind notes that something waits to be shipped.
func (n *ownedShard) fallBehind() {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.behind.IsZero() {
		n.behind = time.Now()
	}
}

// sicken logs the first of the failures in a row.
func (n *ownedShard) sicken(err error) {
	n.mu.Lock()
	was := n.ill
	n.ill = true
	n.mu.Unlock()
	var own ownFault
	switch {
	case was:
	case errors.As(err, &own):
		n.o.Log.Error().Err(err).Msg("could not read or log the changes of this node's store, so they are not shipped: " +
			"nothing is claimed after 5 s; look at the disk of this node")
	default:
		n.o.Log.Error().Err(err).Msg("could not ship changes to the database of the cluster: nothing is claimed after 5 s")
	}
}

// Finish ships what is left, before the store is closed. The returned function releases the crawl. Call it when
// the store is closed, with the error of closing it.
func (n *ownedShard) Finish(ctx context.Context, f *frontier.Frontier) (leave func(closed error) error) {
	version, err := n.shipOnce(ctx, func() error { return nil }) // the log is closed, and so on disk
	quiet := f.IsQuiet()
	return func(closed error) error {
		if err != nil {
			n.o.Log.Error().Err(err).Msg("could not ship the last changes: these visits are made again")
			return nil
		}
		clean := quiet && closed == nil
		if err := n.release(ctx, clean); err != nil {
			n.o.Log.Warn().Err(err).Msg("could not release the crawl: another node takes it after 20 s")
			return nil
		}
		n.mu.Lock()
		defer n.mu.Unlock()
		m := n.mark()
		m.Clean, m.Version, m.Beat = clean && n.damage == "", version, n.beaten
		if n.damage != "" {
			m.Damage = n.damage
		}
		return m.write(n.state)
	}
}
