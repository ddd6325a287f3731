package frontier

import (
	"errors"

	"github.com/dgraph-io/badger/v4"

	"github.com/arcrawl/arcrawl/uri"
)

// change is one transaction and what it will change in memory. The frontier's lock is held as long as it lives.
type change struct {
	f      *Frontier
	txn    *badger.Txn
	drafts map[uri.Host]*draft
	order  []*draft    // the drafts as they came
	fresh  int         // drafts of hosts that become known with this change
	moves  []queueMove // on crowded hosts
	buffer []byte      // of encoded rows, which the transaction needs until it ends; then it is used again
}

// draft is a host as it will be.
type draft struct {
	h *host // as it is; not yet enlisted if fresh
	state
	fresh bool // becomes known with this change
	dirty bool // differs from what is on disk
}

func (f *Frontier) begin() *change {
	c := &change{f: f, txn: f.db.NewTransaction(true), drafts: map[uri.Host]*draft{}, buffer: f.buffer[:0]}
	f.buffer = nil
	return c
}

// discard ends the change; after a commit it does nothing but give the buffer back.
func (c *change) discard() {
	c.txn.Discard()
	if cap(c.buffer) <= maxBuffer {
		c.f.buffer = c.buffer
	}
}

// maxBuffer is how large a buffer of rows is kept for the next change.
const maxBuffer = 64 << 10

// write encodes a row into the buffer, and makes it part of the transaction.
func (c *change) write(k []byte, appendTo func([]byte) (row, buffer []byte)) error {
	row, buffer := appendTo(c.buffer)
	c.buffer = buffer
	return c.txn.Set(k, row)
}

// draft gives the host as it will be. Whoever asks for one of a host that is not known must put a URI on it, since
// hosts are numbered without gaps.
func (c *change) draft(name uri.Host) *draft {
	if d := c.drafts[name]; d != nil {
		return d
	}
	d := &draft{h: c.f.hosts[name]}
	if d.h == nil {
		c.fresh++
		d.fresh = true
		d.h = &host{id: uint32(len(c.f.byID) + c.fresh), name: name}
		d.resizeSlots(c.f.valence(name))
		d.counted = c.f.hostLimits(name).PerDirectory > 0
	} else {
		d.state = d.h.clone()
	}
	c.drafts[name] = d
	c.order = append(c.order, d)
	return d
}

// commit writes the hosts, makes everything permanent, and only then changes what is in memory.
func (c *change) commit() error {
	for _, d := range c.order {
		if !d.dirty {
			continue
		}
		w := d.hostRow(d.h.name)
		if err := c.write(hostKey(d.h.id), w.appendTo); err != nil {
			return err
		}
		if !d.fresh {
			continue
		}
		if err := c.txn.Set(nameKey(d.h.name), hostKey(d.h.id)[1:]); err != nil {
			return err
		}
	}
	err := c.txn.Commit()
	c.f.views.refresh()
	if err != nil {
		return err
	}
	c.f.synced.changes.Add(1)
	for _, m := range c.moves {
		c.f.updatePool(m)
	}
	for _, d := range c.order {
		switch {
		case !d.dirty:
		case d.fresh:
			d.h.state = d.state
			c.f.addHost(d.h)
		default:
			c.f.setState(d.h, d.state)
		}
	}
	return nil
}

// inPortions does something with a list in one transaction, or in halves as often as it is too long for one.
func inBatches[T any](list []T, do func([]T) error) error {
	err := do(list)
	if !errors.Is(err, badger.ErrTxnTooBig) || len(list) < 2 {
		return err
	}
	half := len(list) / 2
	if err := inBatches(list[:half], do); err != nil {
		return err
	}
	return inBatches(list[half:], do)
}

// put writes a URI's row in place of the one it had (zero for none), moves its place in the queue and its entry in the
// list of forbidden ones, and keeps count.
func (c *change) putURI(d *draft, fp fingerprint, was, is uriRow) error {
	d.dirty = true
	if was.URI == "" {
		d.uris++
	}
	if err := c.write(uriKey(d.h.id, fp), is.appendTo); err != nil {
		return err
	}
	if err := c.movePlace(d, was.place(fp), is.place(fp), is.hint); err != nil {
		return err
	}
	if at := is.place(fp); d.slotClaiming(fp) == nil {
		d.setPriority(at, is.priority())
	}
	if taker := d.slotClaiming(fp); taker != nil {
		taker.place, taker.known, taker.listed, taker.held = is.place(fp), true, is.Forbidden, is.Held
	}
	d.held += countIf(is.Held) - countIf(was.Held)
	switch k := forbiddenKey(d.h.id, fp); {
	case is.Forbidden && !was.Forbidden:
		d.forbidden++
		return c.txn.Set(k, []byte(uri.FromCanonical(string(is.URI)).Scheme()))
	case was.Forbidden && !is.Forbidden:
		d.forbidden--
		return c.txn.Delete(k)
	}
	return nil
}

func countIf(yes bool) int64 {
	if yes {
		return 1
	}
	return 0
}

// move is what a pool is told of once it is so.
type queueMove struct {
	pool *pool
	from place
	to   scannedPlace
}

// move gives a URI another place in the queue, or the same one with another hint.
func (c *change) movePlace(d *draft, from, to place, hint func() []byte) error {
	if from != to {
		if err := d.dropPlace(c.txn, d.h.id, from, c.f.readAhead()); err != nil {
			return err
		}
	}
	d.enqueue(to)
	if from != to && !from.isNone() {
		d.queued--
		if err := c.txn.Delete(queueKey(d.h.id, from)); err != nil {
			return err
		}
	}
	var says []byte
	if !to.isNone() {
		says = hint()
	}
	if d.pool != nil {
		c.moves = append(c.moves, queueMove{d.pool, from, newScannedPlace(to, says)})
	}
	if to.isNone() {
		return nil
	}
	if from != to {
		d.queued++
	}
	return c.txn.Set(queueKey(d.h.id, to), says)
}
