package frontier

import (
	"errors"
	"fmt"
	"runtime"
	"time"

	"github.com/dgraph-io/badger/v4"
	"github.com/fxamacker/cbor/v2"
)

// MaxSeen bounds the bytes of [Settlement.Seen].
const MaxSeen = 800 << 10

// Settlement is what a visit comes to.
type Settlement struct {
	// Record is what is remembered of the URI from now on. It must be of the claimed URI. Due may lie in the past, which
	// makes the URI due at once; a zero Due takes it out of the queue.
	Record Record

	Finished   time.Time     // end of the visit; the delays count from here
	Took       time.Duration // from the first byte sent to Finished
	Politeness Politeness

	RetryAfter time.Time // the whole host rests until then, at most 24 hours after Finished; zero is no rest

	// HostDown tells that the host's name did not resolve or nothing answered at its address. The whole host rests, for
	// one minute and then for twice as long each time in a row, up to an hour; its URIs keep their due times. Any
	// settlement without it ends the row, unless it is Unasked.
	HostDown bool

	// NoRequest tells that the host was asked for nothing: the URI was refused or put off. It says nothing about the host.
	NoRequest bool

	Found []Candidate // newly discovered; their zero Due is Finished

	// Seen is what a feed or sitemap has listed so far, at most [MaxSeen] bytes, to be had by [Frontier.Seen]. It is remembered
	// with the URI and never before what it makes of Found. Nil leaves what there is.
	Seen []byte

	Forbidden bool        // robots.txt forbids the URI: it is listed for Reopen
	Robots    *RobotsCopy // the visit was to a robots.txt: keep this copy in force for its origin; nil changes nothing

	// Reopen tells that the rules of the URI's origin changed: all URIs of that origin that were settled as Forbidden are
	// due at Finished, and listed no longer. A claim of that origin which is in progress meanwhile may have been judged by
	// the old rules; if it is settled as Forbidden it is due again at once instead.
	Reopen bool

	// AlsoWrite writes what others remember of the visit, in the transaction of the settlement: both are remembered, or neither. It is called with
	// locks held, and again if the transaction has to be made anew; an error of it is one of the settlement. Nil is nothing.
	AlsoWrite func(txn *badger.Txn) error
}

// maxConflicts is how often a settlement is tried anew because of what others write at the same time.
const maxConflicts = 100

// Settle ends a claim after its visit. It is one transaction, save for very long ones; see the package comment.
// Added counts o.Found.
func (f *Frontier) Settle(c Claim, o Settlement) (Added, error) {
	added, err := f.settleClaim(c, o)
	if err != nil {
		return Added{}, fmt.Errorf("settle %s: %w", c.uri, err)
	}
	return added, nil
}

func (f *Frontier) settleClaim(c Claim, o Settlement) (Added, error) {
	switch {
	case c.owner == nil:
		return Added{}, ErrStale
	case o.Record.URI != c.uri:
		return Added{}, fmt.Errorf("the record is of another URI, %s", o.Record.URI)
	case o.Finished.IsZero():
		return Added{}, errors.New("the end of the visit is not given")
	}
	fresh, added, err := f.filterKnown(o.Found)
	if err != nil {
		return Added{}, err
	}
	w := f.settlements.add(c, o, fresh)
	runtime.Gosched() // so that others who are about to settle can come along
	f.mu.Lock()
	defer f.mu.Unlock()
	if !w.done {
		f.commitWaiting()
	}
	settled, err := f.settlements.takeResult(w)
	return added.plus(settled), err
}

// settleAlone ends a claim in a transaction of its own, or in several when it is too long for one.
func (f *Frontier) commitAlone(w *pendingSettlement) (Added, error) {
	h, err := f.claimedHost(w.claim)
	if err != nil {
		return Added{}, err
	}
	var last []fingerprint
	if w.Reopen {
		if last, err = f.reopenBatches(h, w.Settlement); err != nil {
			return Added{}, err
		}
	}
	added, err := f.commitSettlement(h, w.claim, w.Settlement, w.fresh, last)
	for tries := 0; errors.Is(err, badger.ErrConflict) && tries < maxConflicts; tries++ { // somebody else wrote what Also has read
		added, err = f.commitSettlement(h, w.claim, w.Settlement, w.fresh, last)
	}
	if errors.Is(err, badger.ErrTxnTooBig) && len(last) > 0 {
		if err = f.reopenBatch(h, w.Settlement, last); err != nil {
			return Added{}, err
		}
		last = nil
		added, err = f.commitSettlement(h, w.claim, w.Settlement, w.fresh, nil)
	}
	if errors.Is(err, badger.ErrTxnTooBig) && len(w.fresh) > 0 {
		if added, err = f.addBatches(w.fresh, w.Finished); err != nil {
			return Added{}, err
		}
		_, err = f.commitSettlement(h, w.claim, w.Settlement, nil, last)
	}
	return added, err
}

// settleOnce writes the settlement in one transaction.
func (f *Frontier) commitSettlement(h *host, cl Claim, o Settlement, fresh []newCandidate, reopen []fingerprint) (Added, error) {
	c := f.begin()
	defer c.discard()
	added, err := c.applySettlement(c.draft(h.name), cl, o, fresh, reopen)
	if err != nil {
		return Added{}, err
	}
	err = c.commit()
	if o.Robots != nil {
		f.robotsCopies.invalidate(o.Record.URI.Origin())
	}
	return added, err
}

// settle makes a settlement part of the change.
func (c *change) applySettlement(d *draft, cl Claim, o Settlement, fresh []newCandidate, reopen []fingerprint) (Added, error) {
	if err := c.reopen(d, o, reopen); err != nil {
		return Added{}, err
	}
	if err := c.freeSlot(d, cl, o); err != nil {
		return Added{}, err
	}
	if o.Seen != nil {
		fp := newFingerprint(o.Record.URI.String())
		if err := c.txn.Set(seenKey(d.h.id, fp), o.Seen[:min(len(o.Seen), MaxSeen)]); err != nil {
			return Added{}, err
		}
	}
	if o.Robots != nil {
		if err := writeRow(c.txn, robotsKey(d.h.id, o.Record.URI), newRobotsRow(*o.Robots)); err != nil {
			return Added{}, err
		}
	}
	if o.AlsoWrite != nil {
		if err := o.AlsoWrite(c.txn); err != nil {
			return Added{}, err
		}
	}
	return c.insert(fresh, o.Finished)
}

// settled frees the slot, sends it to sleep, and puts the URI where it belongs now. What must be known of its row stands
// in the slot since the claim, so that nothing is read.
func (c *change) freeSlot(d *draft, cl Claim, o Settlement) error {
	s := d.slotBySerial(cl.serial)
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
	is := newURIRow(o.Record, dueMillis(due, o.Finished))
	if s.reported.changed > is.LastCapture { // what the visit could see itself is for no other one
		is.mergeReport(s.reported)
	}
	was := uriRow{Due: s.place.due(), Forbidden: s.listed, Held: s.held}
	if s.known {
		was.URI = cbor.ByteString(o.Record.URI.String())
	}
	rest := restAfter(o.Politeness, o.Took)
	*s = slot{wake: millis(o.Finished.Add(rest))}
	if !o.NoRequest {
		d.usual = c.f.usualRest(rest)
	}
	d.rest, d.failures = hostRest(d.rest, d.failures, o)
	d.asked = askedRest(d.asked, o)
	d.resizeSlots(c.f.valence(d.h.name))

	is.Forbidden, is.Held, is.Urgent = forbidden, was.Held, urgent
	return c.putURI(d, fp, was, is)
}
