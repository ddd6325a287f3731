package frontier

import (
	"errors"
	"slices"
	"sync"

	"github.com/dgraph-io/badger/v4"

	"github.com/arcrawl/arcrawl/uri"
)

// change is a transaction, and the changes that it will make in memory. The lock of the frontier is held as long as
// it exists.
type change struct {
	f      *Frontier
	txn    *badger.Txn
	drafts map[uri.Host]*draft
	order  []*draft    // the drafts in the order of their creation
	fresh  int         // drafts of hosts that become known with this change and get new numbers
	taken  []*host     // evicted hosts whose numbers fresh hosts take
	moves  []queueMove // on crowded hosts

	committed []func() // are called when the change is committed

	buffer []byte // encoded rows, which the transaction needs until it ends; then it is used again
}

// draft holds the state of a host after the change.
type draft struct {
	h *host // before the change
	state
	fresh bool  // the host becomes known with this change
	old   *host // the evicted host whose number a fresh one takes; nil if it gets a new number
	dirty bool  // the draft differs from the row on disk
}

func (f *Frontier) begin() *change {
	c := &change{f: f, txn: f.db.NewTransaction(true), drafts: map[uri.Host]*draft{}, buffer: f.buffer[:0]}
	f.buffer = nil
	return c
}

// after has done called when the change is committed.
func (c *change) after(done func()) { c.committed = append(c.committed, done) }

// discard ends the change. After a commit it only returns the buffer to the frontier.
func (c *change) discard() {
	c.txn.Discard()
	c.f.vacant = append(c.f.vacant, c.taken...) // they were not taken
	c.taken = nil
	if cap(c.buffer) <= maxBuffer && !c.f.followed {
		c.f.buffer = c.buffer
	}
}

// maxBuffer is the maximum size of a buffer that is kept for the next change.
const maxBuffer = 64 << 10

// write encodes a row into the buffer, and adds it to the transaction.
func (c *change) write(k []byte, appendTo func([]byte) (row, buffer []byte)) error {
	row, buffer := appendTo(c.buffer)
	c.buffer = buffer
	return c.txn.Set(k, row)
}

// draft returns the draft of a host. If the host is not known the caller must add a URI to it, since hosts are
// numbered without gaps.
func (c *change) draft(name uri.Host) *draft {
	if d := c.drafts[name]; d != nil {
		return d
	}
	d := &draft{h: c.host(name)}
	if d.h == nil {
		d.fresh = true
		d.h = &host{name: name}
		if d.old = c.takeVacant(); d.old != nil {
			d.h.id = d.old.id
		} else {
			c.fresh++
			d.h.id = uint32(len(c.f.byID) + c.fresh)
		}
		d.answersNeeded = answersWhenNew
		d.met = metNever
		d.resizeSlots(c.f.o.Valence(name))
		d.counted = c.f.hostLimits(name).PerDirectory > 0
	} else {
		d.state = d.h.clone()
	}
	c.drafts[name] = d
	c.order = append(c.order, d)
	return d
}

// commit writes the hosts, commits the transaction, and only then changes the memory.
func (c *change) commit() error {
	if err := c.f.Space(); err != nil {
		return err
	}
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
		if d.old != nil {
			if err := c.txn.Delete(nameKey(d.old.name)); err != nil {
				return err
			}
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
	for _, f := range c.committed {
		f()
	}
	for _, m := range c.moves {
		c.f.updatePool(m)
	}
	c.taken = nil
	for _, d := range c.order {
		switch {
		case !d.dirty && d.old != nil:
			c.taken = append(c.taken, d.old)
		case !d.dirty:
		case d.old != nil:
			d.h.state = d.state
			c.f.replaceHost(d.old, d.h)
		case d.fresh:
			d.h.state = d.state
			c.f.addHost(d.h)
		default:
			c.f.setState(d.h, d.state)
		}
	}
	return nil
}

// update makes a change and commits it. The caller holds the lock.
func (f *Frontier) update(do func(*change) error) error {
	if f.closed {
		return ErrClosed
	}
	c := f.begin()
	defer c.discard()
	if err := do(c); err != nil {
		return err
	}
	return c.commit()
}

// updateAll makes a change for up to n elements of a list at a time, and takes the lock for each change.
func updateAll[T any](f *Frontier, list []T, n int, do func(*change, []T) error) error {
	return inBatches(list, n, func(some []T) error {
		f.mu.Lock()
		defer f.mu.Unlock()
		return f.update(func(c *change) error { return do(c, some) })
	})
}

// inBatches calls do with up to n elements of a list at a time, which become one transaction. If that is too long for
// one, it tries the two halves, and so on.
func inBatches[T any](list []T, n int, do func([]T) error) error {
	for some := range slices.Chunk(list, n) {
		err := do(some)
		if errors.Is(err, badger.ErrTxnTooBig) && len(some) > 1 {
			err = inBatches(some, (len(some)+1)/2, do)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// putURI replaces the row of a URI; was is the zero row if there was none. It moves the URI's place in the queue and
// its entry in the list of forbidden URIs, and updates the counters.
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
	if s := d.slotClaiming(fp); s != nil {
		s.place, s.known, s.listed, s.held, s.outside = is.place(fp), true, is.Forbidden, is.Held, is.outside()
	}
	if err := c.listOutside(d.h.id, fp, was.outside(), is.outside()); err != nil {
		return err
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

// countIf returns 1 for true and 0 for false.
func countIf(yes bool) int64 {
	if yes {
		return 1
	}
	return 0
}

// queueMove is a move of a URI in a queue, to be passed to the pool of its host after the commit.
type queueMove struct {
	pool *pool
	from place
	to   scannedPlace
}

// movePlace moves a URI to another place in the queue, or to the same one with another hint.
func (c *change) movePlace(d *draft, from, to place, hint func() []byte) error {
	if from != to {
		if err := d.dropPlace(c.txn, d.h.id, from, c.f.readAhead()); err != nil {
			return err
		}
	}
	d.enqueue(to)
	d.late = d.late.moved(from, to)
	if from != to && !from.isNone() {
		d.queued--
		if err := c.txn.Delete(queueKey(d.h.id, from)); err != nil {
			return err
		}
	}
	var note []byte
	if !to.isNone() {
		note = hint()
	}
	if d.pool != nil {
		c.moves = append(c.moves, queueMove{d.pool, from, newScannedPlace(to, note)})
	}
	if to.isNone() {
		return nil
	}
	if from != to {
		d.queued++
	}
	return c.txn.Set(queueKey(d.h.id, to), note)
}

// View calls read with a transaction that shows the store, to read a few keys in it. Changes that were made through
// the frontier before the call are visible. What another package wrote in a transaction of its own may be missing
// until the next settlement or [Frontier.Sync]. Several calls may run at the same time; read must not keep the
// transaction. After Close, View returns [ErrClosed].
//
// Claims read through View too. Beginning a transaction costs more than most readers need: it wakes a goroutine of
// the store twice, and in an idle process a thread. So all readers between two changes share one transaction.
func (f *Frontier) View(read func(txn *badger.Txn) error) error {
	v, err := f.views.acquire(f.db)
	if err != nil {
		return err
	}
	defer f.views.release(v)
	return read(v.txn)
}

// views holds the transactions that readers share. The store keeps everything that the oldest transaction can see, so
// none may stay open for long. A change of the frontier and a sync retire the present one, and its last reader ends
// it.
type views struct {
	// mu guards the fields below. Of the store's locks only the ones that a new transaction takes are taken while mu is
	// held.
	mu      sync.Mutex
	present *view // for new readers; nil if there is none
	closed  bool
}

// view is one of these transactions. Many goroutines may read in one at the same time, as the store itself does when
// it streams.
type view struct {
	txn     *badger.Txn
	readers int // guarded by views.mu
}

func (s *views) acquire(db *badger.DB) (*view, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, ErrClosed
	}
	if s.present == nil {
		s.present = &view{txn: db.NewTransaction(false)}
	}
	s.present.readers++
	return s.present, nil
}

func (s *views) release(v *view) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if v.readers--; v.readers == 0 && v != s.present {
		v.txn.Discard()
	}
}

// refresh makes later readers see everything that has been written by now.
func (s *views) refresh() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.retire()
}

// close makes all later calls of acquire fail.
func (s *views) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.retire()
	s.closed = true
}

// retire leaves the present transaction to its readers, or ends it if there are none. The caller holds the lock.
func (s *views) retire() {
	if s.present != nil && s.present.readers == 0 {
		s.present.txn.Discard()
	}
	s.present = nil
}
