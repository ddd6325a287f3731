package node

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/frontier/mirror"
	"github.com/arcrawl/arcrawl/frontier/shared"
)

const (
	// shipEvery is the time between two shipments while something changes.
	shipEvery = 200 * time.Millisecond
	// shipTime is the maximum duration of a shipment without rows, and rowTime how much each row adds to it. A shipment is
	// long after URIs were imported, or after an outage, and cannot be divided.
	shipTime = 30 * time.Second
	rowTime  = 200 * time.Microsecond
	// wholePortion is the number of rows in one transaction when a whole store is shipped.
	wholePortion = 20_000
)

// Start follows the changes of the opened store with run, which runs in the background from now on. If the database has
// no whole copy, Start ships all rows before it returns.
func (n *Node) Start(ctx context.Context, f *frontier.Frontier, background func(run func(context.Context))) error {
	n.mirror = mirror.New(f)
	background(func(ctx context.Context) {
		if err := n.mirror.Run(ctx); err != nil {
			n.o.Log.Error().Err(err).Msg("the changes of the store are not followed any more: the crawl stops soon")
		}
	})
	again := time.NewTicker(50 * time.Millisecond)
	defer again.Stop()
	if err := n.mirror.AwaitStart(ctx, again.C); err != nil {
		return err
	}
	if n.whole {
		if err := n.shipWhole(ctx); err != nil {
			return err
		}
	}
	return n.mirror.Since(n.since)
}

// shipWhole ships all rows of the store to a database that has none.
func (n *Node) shipWhole(ctx context.Context) (err error) {
	start, rows := time.Now(), 0
	ship := n.shared.ShipWhole
	n.since, err = n.mirror.Whole(wholePortion, func(list []shared.Row) error {
		ask, cancel := context.WithTimeout(ctx, shipTime)
		defer cancel()
		err := ship(ask, n.epoch, list)
		ship, rows = n.shared.Ship, rows+len(list)
		return err
	})
	if err == nil {
		err = n.shared.Complete(ctx, n.epoch)
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
func (n *Node) Ship(ctx context.Context, before func() error) {
	for pause(ctx, shipEvery) == nil {
		if n.mirror.Waiting() == 0 {
			n.caughtUp()
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
		}
	}
}

// shipOnce ships what has changed. Nothing is shipped without a lease: visits without one may have taught nonsense.
func (n *Node) shipOnce(ctx context.Context, before func() error) (mirror.Shipment, error) {
	collect, cancel := context.WithTimeout(ctx, shipTime)
	defer cancel()
	s, err := n.mirror.Shipment(collect)
	if err == nil {
		err = before()
	}
	if err == nil {
		err = n.lease.err()
	}
	if err == nil {
		ask, cancel := context.WithTimeout(ctx, timeToShip(len(s.Rows)))
		defer cancel()
		err = n.shared.Ship(ask, n.epoch, s.Rows)
	}
	if err != nil {
		return s, err
	}
	n.mirror.Shipped(s)
	n.caughtUp()
	return s, nil
}

// timeToShip returns how long a shipment of some rows may take.
func timeToShip(rows int) time.Duration { return shipTime + time.Duration(rows)*rowTime }

// caughtUp notes that the database has everything except the changes of the last moment.
func (n *Node) caughtUp() {
	n.mu.Lock()
	was := n.ill
	n.behind, n.ill = time.Time{}, false
	n.mu.Unlock()
	if was {
		n.o.Log.Info().Msg("the database of the cluster takes changes again")
	}
}

// fallBehind notes that something waits to be shipped.
func (n *Node) fallBehind() {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.behind.IsZero() {
		n.behind = time.Now()
	}
}

// sicken logs the first of the failures in a row.
func (n *Node) sicken(err error) {
	n.mu.Lock()
	was := n.ill
	n.ill = true
	n.mu.Unlock()
	if !was {
		n.o.Log.Error().Err(err).Msg("could not ship changes to the database of the cluster: nothing is claimed after 5 s")
	}
}

// Finish ships what is left, before the store is closed. The returned function releases the crawl. Call it when
// the store is closed, with the error of closing it.
func (n *Node) Finish(ctx context.Context, f *frontier.Frontier) (leave func(closed error) error) {
	ask, cancel := context.WithTimeout(ctx, shipTime)
	defer cancel()
	s, err := n.shipOnce(ask, func() error { return nil }) // the log is closed, and so on disk
	quiet := f.IsQuiet()
	return func(closed error) error {
		defer n.shared.Close()
		if err != nil {
			n.o.Log.Error().Err(err).Msg("could not ship the last changes: these visits are made again")
			return nil
		}
		ask, cancel := context.WithTimeout(ctx, askTime)
		defer cancel()
		n.mu.Lock()
		n.leaving = true
		n.mu.Unlock()
		clean := quiet && closed == nil
		if err := n.shared.Leave(ask, n.epoch, clean); err != nil {
			n.o.Log.Warn().Err(err).Msg("could not release the crawl: another node takes it after 20 s")
			return nil
		}
		return mark{Crawl: n.shared.Crawl(), Epoch: n.epoch, Clean: clean, Version: s.Version}.write(n.o.State)
	}
}
