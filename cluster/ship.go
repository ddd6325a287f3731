package cluster

import (
	"cmp"
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

// Opened follows the changes of the opened store.
func (n *thisNode) Opened(f *frontier.Frontier, background func(run func(context.Context))) error {
	n.mirror, n.store = newMirror(f, n.rowHome(), maxChanged), f
	background(func(ctx context.Context) {
		if err := n.mirror.run(ctx); err != nil {
			n.o.Log.Error().Err(err).Msg("the changes of the store are not followed any more: the crawl stops soon")
		}
	})
	ctx, cancel := context.WithTimeout(context.Background(), shipTime)
	defer cancel()
	if err := n.mirror.awaitAll(ctx); err != nil {
		return err
	}
	if n.empty {
		if err := n.patiently(n.ctx, func() error { return n.restoreOwn(n.ctx, f.DB()) }); err != nil {
			return fmt.Errorf("read what the database of the cluster has of this node: %w", err)
		}
	}
	return n.mirror.since(n.since)
}

// Follow ships what changes, and exchanges letters, until ctx ends. sync is called before each shipment: it makes sure
// that the log of the visits in it is on disk.
func (n *thisNode) Follow(ctx context.Context, sync func() error) {
	select {
	case <-n.placed: // what has changed before belongs to parts that are not here yet
	case <-ctx.Done():
		return
	}
	n.shipping.Lock()
	n.sync = sync
	n.shipping.Unlock()
	var lookAgain time.Time
	for cli.Wait(ctx, shipEvery) == nil {
		now := time.Now()
		if !now.Before(lookAgain) {
			n.lookForReplica(ctx)
			lookAgain = now.Add(replicaEvery)
		}
		if n.mirror.waiting() == 0 && !n.hasReceived() {
			n.caughtUp()
		} else {
			n.fallBehind()
			if _, err := n.shipOnce(ctx); err != nil {
				if ctx.Err() == nil {
					n.sicken(err)
				}
				continue
			}
		}
		n.receiveLetters(ctx, now)
	}
}

// flush ships what has changed until now.
func (n *thisNode) flush(ctx context.Context) error {
	for {
		_, err := n.shipOnce(ctx)
		if err == nil {
			return nil
		}
		n.sicken(err)
		if err := errors.Join(n.lease.lostFor(), cli.Wait(ctx, shipEvery)); err != nil {
			return err
		}
	}
}

// shipOnce ships what has changed up to a version, when no other shipment is in progress.
func (n *thisNode) shipOnce(ctx context.Context) (version uint64, err error) {
	n.shipping.Lock()
	defer n.shipping.Unlock()
	return n.ship(ctx)
}

// ship ships what has changed up to a version. Nothing is shipped without a lease: visits without one may have taught
// nonsense. The caller holds n.shipping.
func (n *thisNode) ship(ctx context.Context) (version uint64, err error) {
	collect, cancel := context.WithTimeout(ctx, shipTime)
	defer cancel()
	s, err := n.mirror.shipment(collect)
	if err != nil {
		return 0, ownFault{err}
	}
	defer s.close()
	if n.sync != nil {
		if err := n.sync(); err != nil {
			return 0, ownFault{fmt.Errorf("write crawl.log to disk: %w", err)}
		}
	}
	if err := n.lease.err(); err != nil {
		return 0, err
	}
	ask, stop := context.WithTimeout(ctx, timeToShip(s.rows))
	defer stop()
	err = n.shared.Ship(ask, func(ship func([]shared.Row) error) error {
		if err := ship(takenLetters(n.received)); err != nil {
			return err
		}
		return s.each(ship)
	})
	if err != nil {
		return 0, err
	}
	n.received = nil
	n.mirror.shipped(s)
	if err := sent(n.store, s.letters); err != nil {
		return 0, ownFault{err}
	}
	n.caughtUp()
	return s.version, nil
}

// ownFault is a failure of this node's store or log. The database is not to blame.
type ownFault struct{ error }

func (f ownFault) Unwrap() error { return f.error }

// timeToShip returns how long a shipment of some rows may take.
func timeToShip(rows int) time.Duration { return shipTime + time.Duration(rows)*rowTime }

// caughtUp notes that the database has everything except the changes of the last moment.
func (n *thisNode) caughtUp() {
	n.mu.Lock()
	was := n.ill
	n.behind, n.ill = time.Time{}, false
	n.mu.Unlock()
	if was {
		n.o.Log.Info().Msg("changes are shipped to the database of the cluster again")
	}
}

// fallBehind notes that something waits to be shipped.
func (n *thisNode) fallBehind() {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.behind.IsZero() {
		n.behind = time.Now()
	}
}

// sicken notes that a shipment has failed, and logs the first of several failures. If another node has fenced this one,
// it may not continue.
func (n *thisNode) sicken(err error) {
	if errors.Is(err, shared.ErrFenced) {
		n.lose(err)
		return
	}
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

// Closing ships what is left, before the store is closed. The returned function releases all parts. Call it when the
// store is closed, with the error of closing it.
func (n *thisNode) Closing(f *frontier.Frontier) (closed func(error) error) {
	ctx := context.Background()
	n.mu.Lock()
	whole := n.whole
	n.mu.Unlock()
	n.shipping.Lock()
	n.sync = nil // the log is closed, and so on disk
	var version uint64
	var err error
	if whole { // otherwise the store is the only copy, and shipped as a whole later
		version, err = n.ship(ctx)
	}
	n.shipping.Unlock()
	quiet := f.IsQuiet()
	return func(closed error) error {
		if err != nil {
			n.o.Log.Error().Err(err).Msg("could not ship the last changes: these visits are made again")
			return nil
		}
		m, err := n.leaveAll(ctx, quiet && closed == nil)
		if err != nil {
			n.o.Log.Warn().Err(err).Msg("could not release the crawl: other nodes take it after 20 s")
			return nil
		}
		m.Version = version
		return m.write(n.o.State)
	}
}

// leaveAll releases all parts, and returns the mark of the store that is left.
func (n *thisNode) leaveAll(ctx context.Context, clean bool) (mark, error) {
	n.mu.Lock()
	n.closing = true
	m := n.mark()
	m.Clean, m.Damage = clean && n.whole && !n.torn && n.damage == "", cmp.Or(n.damage, n.known)
	n.mu.Unlock()
	var asBefore, dirty []int16 // of those that were not loaded
	for _, part := range n.parts.in(initial, coming, remains) {
		if n.parts.wasClean(part) {
			asBefore = append(asBefore, part)
		} else {
			dirty = append(dirty, part)
		}
	}
	crawled := n.parts.in(here, leaving)
	m.Parts = n.parts.epochs(append(crawled, n.parts.in(kept)...))
	for _, part := range n.parts.in(remains) {
		m.Parts[part] = outdated
	}
	for _, leave := range []struct {
		list  []int16
		clean bool
	}{{crawled, clean}, {asBefore, true}, {dirty, false}} {
		ask, cancel := context.WithTimeout(ctx, askTime)
		n.parts.leave(leave.list, remains)
		err := n.shared.Leave(ask, leave.list, leave.clean)
		cancel()
		if err != nil {
			return m, err
		}
	}
	return m, nil
}
