package frontier

import (
	"errors"
	"fmt"
	"runtime"

	"github.com/dgraph-io/badger/v4"
	"github.com/fxamacker/cbor/v2"
)

// reopenBatch is how many forbidden URIs are reopened in one transaction, if they are not too long for it.
const reopenBatch = 50

// maxConflicts is how often a settlement is tried anew because of what others write at the same time.
const maxConflicts = 100

// Settle ends a claim after its visit. It is one transaction, save for very long ones; see the package comment.
// Added counts o.Found.
func (f *Frontier) Settle(c Claim, o Settlement) (Added, error) {
	added, err := f.settle(c, o)
	if err != nil {
		return Added{}, fmt.Errorf("settle %s: %w", c.uri, err)
	}
	return added, nil
}

func (f *Frontier) settle(c Claim, o Settlement) (Added, error) {
	switch {
	case c.owner == nil:
		return Added{}, ErrStale
	case o.Record.URI != c.uri:
		return Added{}, fmt.Errorf("the record is of another URI, %s", o.Record.URI)
	case o.Finished.IsZero():
		return Added{}, errors.New("the end of the visit is not given")
	}
	fresh, added, err := f.sieve(o.Found)
	if err != nil {
		return Added{}, err
	}
	w := f.settling.put(c, o, fresh)
	runtime.Gosched() // so that others who are about to settle can come along
	f.mu.Lock()
	defer f.mu.Unlock()
	if !w.done {
		f.settleWaiting()
	}
	settled, err := f.settling.leave(w)
	return added.plus(settled), err
}

// settleAlone ends a claim in a transaction of its own, or in several when it is too long for one.
func (f *Frontier) settleAlone(w *settling) (Added, error) {
	h, err := f.live(w.claim)
	if err != nil {
		return Added{}, err
	}
	var last []fingerprint
	if w.Reopen {
		if last, err = f.reopenBatches(h, w.Settlement); err != nil {
			return Added{}, err
		}
	}
	added, err := f.settleOnce(h, w.claim, w.Settlement, w.fresh, last)
	for tries := 0; errors.Is(err, badger.ErrConflict) && tries < maxConflicts; tries++ { // somebody else wrote what Also has read
		added, err = f.settleOnce(h, w.claim, w.Settlement, w.fresh, last)
	}
	if errors.Is(err, badger.ErrTxnTooBig) && len(last) > 0 {
		if err = f.reopenBatch(h, w.Settlement, last); err != nil {
			return Added{}, err
		}
		last = nil
		added, err = f.settleOnce(h, w.claim, w.Settlement, w.fresh, nil)
	}
	if errors.Is(err, badger.ErrTxnTooBig) && len(w.fresh) > 0 {
		if added, err = f.addBatches(w.fresh, w.Finished); err != nil {
			return Added{}, err
		}
		_, err = f.settleOnce(h, w.claim, w.Settlement, nil, last)
	}
	return added, err
}

// settleOnce writes the settlement in one transaction.
func (f *Frontier) settleOnce(h *host, cl Claim, o Settlement, fresh []newcomer, reopen []fingerprint) (Added, error) {
	c := f.begin()
	defer c.discard()
	added, err := c.settle(c.draft(h.name), cl, o, fresh, reopen)
	if err != nil {
		return Added{}, err
	}
	err = c.commit()
	if o.Robots != nil {
		f.copies.drop(o.Record.URI.Origin())
	}
	return added, err
}

// settle makes a settlement part of the change.
func (c *change) settle(d *draft, cl Claim, o Settlement, fresh []newcomer, reopen []fingerprint) (Added, error) {
	if err := c.reopen(d, o, reopen); err != nil {
		return Added{}, err
	}
	if err := c.settled(d, cl, o); err != nil {
		return Added{}, err
	}
	if o.Seen != nil {
		fp := fingerprintOf(o.Record.URI.String())
		if err := c.txn.Set(seenKey(d.h.id, fp), o.Seen[:min(len(o.Seen), MaxSeen)]); err != nil {
			return Added{}, err
		}
	}
	if o.Robots != nil {
		if err := write(c.txn, robotsKey(d.h.id, o.Record.URI), robotsRowOf(*o.Robots)); err != nil {
			return Added{}, err
		}
	}
	if o.Also != nil {
		if err := o.Also(c.txn); err != nil {
			return Added{}, err
		}
	}
	return c.insert(fresh, o.Finished)
}

// settled frees the slot, sends it to sleep, and puts the URI where it belongs now. What must be known of its row stands
// in the slot since the claim, so that nothing is read.
func (c *change) settled(d *draft, cl Claim, o Settlement) error {
	s := d.slotOf(cl.serial)
	fp := s.fp
	due, forbidden := o.Record.Due, o.Forbidden
	if forbidden && s.reopened {
		// Judged by rules that are no longer in force: to be judged again.
		forbidden = false
		if due.IsZero() || due.After(o.Finished) {
			due = o.Finished
		}
	}
	urgent := o.Record.Urgent
	if s.sooner != 0 && !due.IsZero() && due.UnixMilli() > s.sooner {
		due, urgent, o.Record.Why = fromMillis(s.sooner), true, whySooner
	}
	is := rowOf(o.Record, dueMillis(due, o.Finished))
	if s.said.changed > is.LastCapture { // what the visit could see itself is for no other one
		is.told(s.said)
	}
	was := uriRow{Due: s.place.due(), Forbidden: s.listed, Held: s.held}
	if s.known {
		was.URI = cbor.ByteString(o.Record.URI.String())
	}
	rest := restAfter(o.Politeness, o.Took)
	*s = slot{wake: millis(o.Finished.Add(rest))}
	if !o.Unasked {
		d.usual = c.f.unusual(rest)
	}
	d.rest, d.failures = hostRest(d.rest, d.failures, o)
	d.asked = askedRest(d.asked, o)
	d.fit(c.f.valence(d.h.name))

	is.Forbidden, is.Held, is.Urgent = forbidden, was.Held, urgent
	return c.put(d, fp, was, is)
}

// reopenBatches reopens the forbidden URIs of the settled URI's origin, all but the last portion, which it returns: that
// one goes into the transaction of the settlement.
func (f *Frontier) reopenBatches(h *host, o Settlement) ([]fingerprint, error) {
	var from, self fingerprint = fingerprint{}, fingerprintOf(o.Record.URI.String())
	for {
		fps, more, err := f.forbidden(h.id, o.Record.URI.Scheme(), from, self)
		if err != nil || !more {
			return fps, err
		}
		if err := f.reopenBatch(h, o, fps); err != nil {
			return nil, err
		}
		from = fps[len(fps)-1] // no longer in the list
	}
}

func (f *Frontier) reopenBatch(h *host, o Settlement, fps []fingerprint) error {
	return inPortions(fps, func(some []fingerprint) error {
		c := f.begin()
		defer c.discard()
		if err := c.reopen(c.draft(h.name), o, some); err != nil {
			return err
		}
		return c.commit()
	})
}

// forbidden lists a portion of the host's forbidden URIs of one scheme, all but self; more is true when it is full.
func (f *Frontier) forbidden(host uint32, scheme string, from, self fingerprint) (fps []fingerprint, more bool, err error) {
	err = f.db.View(func(txn *badger.Txn) error {
		o := badger.DefaultIteratorOptions
		o.Prefix = key(kindForbidden, host, nil)
		o.PrefetchSize = reopenBatch
		it := txn.NewIterator(o)
		defer it.Close()
		for it.Seek(forbiddenKey(host, from)); it.Valid() && len(fps) < reopenBatch; it.Next() {
			_, fp, err := split(it.Item().Key(), fingerprintLen)
			if err != nil {
				return err
			}
			same := false
			if err := it.Item().Value(func(v []byte) error { same = string(v) == scheme; return nil }); err != nil {
				return err
			}
			if same && fingerprint(fp) != self {
				fps = append(fps, fingerprint(fp))
			}
		}
		return nil
	})
	return fps, len(fps) == reopenBatch, err
}

// reopen makes forbidden URIs due, and remembers for the claims of their origin that its rules changed.
func (c *change) reopen(d *draft, o Settlement, fps []fingerprint) error {
	if !o.Reopen {
		return nil
	}
	for i := range d.slots {
		if s := &d.slots[i]; s.serial != 0 && s.scheme == o.Record.URI.Scheme() {
			s.reopened = true
		}
	}
	for _, fp := range fps {
		was, ok, err := row(c.txn, d.h.id, fp)
		if err == nil && !ok {
			err = damaged(forbiddenKey(d.h.id, fp), errors.New("its URI is missing"))
		}
		if err != nil {
			return err
		}
		is := was
		is.Forbidden = false
		if due := dueMillis(o.Finished, o.Finished); is.Due == 0 || is.Due > due {
			is.Due = due
		}
		if err := c.put(d, fp, was, is); err != nil {
			return err
		}
	}
	return nil
}
