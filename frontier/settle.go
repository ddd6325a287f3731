package frontier

import (
	"errors"
	"fmt"
	"net/netip"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/dgraph-io/badger/v4"
	"github.com/fxamacker/cbor/v2"

	"github.com/arcrawl/arcrawl/internal/panics"
)

// MaxSeen is the maximum length in bytes of [Settlement].Seen.
const MaxSeen = 800 << 10

// Settlement is the result of a visit.
type Settlement struct {
	// Record replaces the record of the claimed URI. If its Due is in the past, the URI is due at once; if Due is zero,
	// the URI leaves the queue.
	Record Record

	Finished   time.Time     // end of the visit, from which delays count
	Clock      ClockReading  // with which Finished was read: later jumps move the times of the settlement
	Took       time.Duration // from the first byte sent to Finished
	Politeness Politeness

	// RetryAfter is the time before which the server wants no request; zero if it did not say. The whole host rests until
	// then, at most 24 hours after Finished. One URI alone can ask for no more than an hour: a longer rest begins when a
	// second URI of the host says so, and none was answered without a Retry-After in between.
	RetryAfter time.Time

	Rest time.Time // the caller lets the whole host rest until then, at most 24 hours after Finished; zero means no rest

	// HostDown says that the name of the host did not resolve, or that nothing answered at its address. The whole host
	// rests for one minute, and for twice as long after each further failure in a row; see [RestWhenDown]. Its URIs keep
	// their due times. A settlement without HostDown ends the row, unless NoRequest is set.
	HostDown bool

	Address netip.Addr // of the server; zero if there was no connection

	// NoAnswer says that the exchange brought no HTTP response, although the host could be reached.
	NoAnswer bool

	// Reason says why the host is down, in at most [MaxError] bytes. [HostView] returns it until the host is reached.
	Reason string

	// NoRequest says that no request was sent to the host, because the URI was refused or put off. The settlement then
	// says nothing about the host.
	NoRequest bool

	Found []Candidate // newly discovered URIs; a zero Due means Finished

	// Seen encodes what a feed or sitemap has listed so far, in at most [MaxSeen] bytes. [Frontier.Seen] returns it
	// later. It is written together with the URI, and never before the URIs in Found that come from the same list. Nil
	// changes nothing.
	Seen []byte

	Forbidden bool // robots.txt forbids the URI, which is listed for Reopen
	// Robots is the copy that a visit to robots.txt, or to a URI that replaces one, has brought; nil changes nothing.
	Robots *RobotsCopy

	// Reopen says that the rules of the URI's origin changed. All URIs of that origin that were settled as Forbidden
	// become due at Finished, and leave the list. A claim of that origin that is in progress meanwhile may use the old
	// rules; if it is settled as Forbidden, it becomes due again at once.
	Reopen bool

	// AlsoWrite writes what other packages remember of the visit, in the transaction of the settlement: both are written,
	// or neither. It is called with locks held, and again if the transaction is repeated. An error fails the settlement.
	// Nil writes nothing.
	AlsoWrite func(txn *badger.Txn) error
}

// maxConflicts is how often a settlement is repeated because other packages write the same keys at the same time.
const maxConflicts = 100

// Settle ends a claim after its visit. It writes one transaction, or several if it is very long; see the package
// comment. The result counts o.Found. If the error is [ErrFull], the claim has ended as [Frontier.Abandon] ends it.
func (f *Frontier) Settle(c Claim, o Settlement) (Added, error) {
	added, err := f.settleClaim(c, o)
	if errors.Is(err, ErrFull) {
		rest := max(o.Politeness.Rest(o.Took), o.RetryAfter.Sub(o.Finished))
		err = errors.Join(err, f.Abandon(c, o.Finished, rest))
	}
	if err != nil {
		return Added{}, fmt.Errorf("settle %s: %w", c.uri, err)
	}
	return added, nil
}

// settleClaim checks a settlement, queues it, and commits all that are queued unless another goroutine has done so.
func (f *Frontier) settleClaim(c Claim, o Settlement) (Added, error) {
	switch {
	case c.owner == nil:
		return Added{}, ErrStale
	case o.Record.URI != c.uri:
		return Added{}, fmt.Errorf("the record is of another URI, %s", o.Record.URI)
	case o.Finished.IsZero():
		return Added{}, errors.New("the end of the visit is not given")
	}
	fresh, added, err := f.filterFound(o.Found)
	if err != nil {
		return Added{}, err
	}
	w := f.settlements.add(c, o, fresh)
	runtime.Gosched() // lets other settlements join the same transaction
	f.mu.Lock()
	defer f.mu.Unlock()
	if !w.done {
		f.commitWaiting()
	}
	inserted, err := f.settlements.takeResult(w)
	return added.plus(inserted), err
}

// filterFound is filterKnown for the links of a page. A panic becomes an error.
func (f *Frontier) filterFound(found []Candidate) (fresh []newCandidate, added Added, err error) {
	defer panics.Recover(&err)
	return f.filterKnown(found)
}

// commitAlone ends a claim in a transaction of its own, or in several if it is too long for one.
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
	// A conflict means that another package has written a key that AlsoWrite had read.
	for tries := 0; errors.Is(err, badger.ErrConflict) && tries < maxConflicts; tries++ {
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
		if added, err = f.addBatches(w.fresh, w.Finished, &hostAllowance{seed: w.Record.Seed}); err != nil {
			return Added{}, err
		}
		_, err = f.commitSettlement(h, w.claim, w.Settlement, nil, last)
	}
	return added, err
}

// commitSettlement writes a settlement in one transaction.
func (f *Frontier) commitSettlement(
	h *host, cl Claim, o Settlement, fresh []newCandidate, reopen []fingerprint,
) (added Added, err error) {
	err = f.update(func(c *change) error {
		added, err = c.applySettlement(c.draft(h.name), cl, o, fresh, reopen)
		return err
	})
	if o.Robots != nil {
		f.robotsCopies.invalidate(robotsFileOf(o.Record.URI))
	}
	return added, err
}

// applySettlement adds a settlement to the change. A panic becomes an error: nothing is written yet, and the drafts are
// dropped. A panic of the commit ends the process instead, because the memory may no longer be as the store is.
func (c *change) applySettlement(
	d *draft, cl Claim, o Settlement, fresh []newCandidate, reopen []fingerprint,
) (added Added, err error) {
	defer panics.Recover(&err)
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
	return c.insert(fresh, o.Finished, &hostAllowance{seed: o.Record.Seed})
}

// freeSlot frees the slot of a claim, which sleeps for the politeness delay, and writes the URI at its new place. The
// slot has kept the needed values of the old row, so nothing is read.
func (c *change) freeSlot(d *draft, cl Claim, o Settlement) error {
	s := d.slotBySerial(cl.serial)
	fp := s.fp
	due, forbidden := o.Record.Due, o.Forbidden
	if forbidden && s.reopened {
		// The rules that forbade it are no longer in force, so the URI is visited again.
		forbidden = false
		if due.IsZero() || due.After(o.Finished) {
			due = o.Finished
		}
	}
	urgent := o.Record.Urgent
	if s.sooner != 0 && !due.IsZero() && due.UnixMilli() > s.sooner {
		due, urgent, o.Record.Why = fromMillis(s.sooner), true, WhySooner
	}
	is := newURIRow(o.Record, dueMillis(due, o.Finished))
	if s.reported.changed > is.LastCapture { // otherwise this visit has seen the change
		is.mergeReport(s.reported)
	}
	was := uriRow{Due: s.place.due(), Forbidden: s.listed, Held: s.held, DueInScope: countIf(s.outside)}
	if s.known {
		was.URI = cbor.ByteString(o.Record.URI.String())
	}
	rest := o.Politeness.Rest(o.Took)
	*s = slot{wake: millis(o.Finished.Add(rest))}
	if !o.NoRequest {
		d.usual = c.f.usualRest(rest)
	}
	d.answersNeeded = answersNeeded(d.answersNeeded, o)
	d.settleRest(fp, o)
	if o.Address.IsValid() {
		d.address = NetworkOf(o.Address)
	}
	switch {
	case d.failures == 0:
		d.reason = ""
	case o.HostDown:
		d.reason = strings.ToValidUTF8(o.Reason[:min(len(o.Reason), MaxError)], "")
	}
	d.resizeSlots(c.f.o.Valence(d.h.name))

	is.Forbidden, is.Held, is.Urgent = forbidden, was.Held, urgent
	return c.putURI(d, fp, was, is)
}

// reopenBatchSize is how many forbidden URIs are reopened in one transaction, if they fit.
const reopenBatchSize = 50

// reopenBatches reopens the forbidden URIs of the settled URI's origin, except the last batch, which it returns. That
// one belongs to the transaction of the settlement.
func (f *Frontier) reopenBatches(h *host, o Settlement) ([]fingerprint, error) {
	var from, self fingerprint = fingerprint{}, newFingerprint(o.Record.URI.String())
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
	return inBatches(fps, reopenBatchSize, func(some []fingerprint) error {
		return f.update(func(c *change) error { return c.reopen(c.draft(h.name), o, some) })
	})
}

// forbidden returns a batch of the host's forbidden URIs of one scheme, without self. more is true if the batch is
// full.
func (f *Frontier) forbidden(
	host uint32, scheme string, from, self fingerprint,
) (fps []fingerprint, more bool, err error) {
	err = f.db.View(func(txn *badger.Txn) error {
		for k, err := range scan(txn, key(kindForbidden, host, nil), forbiddenKey(host, from), reopenBatchSize) {
			same := false
			if err == nil {
				err = k.item.Value(func(v []byte) error { same = string(v) == scheme; return nil })
			}
			if err != nil || len(fps) == reopenBatchSize {
				return err
			}
			if same && k.fp() != self {
				fps = append(fps, k.fp())
			}
		}
		return nil
	})
	return fps, len(fps) == reopenBatchSize, err
}

// reopen makes forbidden URIs due, and marks the claims of their origin, since its rules changed.
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
		was, ok, err := uriRowAt(c.txn, d.h.id, fp)
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
		if err := c.putURI(d, fp, was, is); err != nil {
			return err
		}
	}
	return nil
}

// Bounds of a transaction that several settlements share. A transaction that is too long is not an error, but has to be
// repeated in parts.
const (
	maxGroup      = 32      // settlements
	maxGroupFound = 500     // new URIs of all of them
	maxGroupSeen  = 8 << 10 // bytes of Seen in one of them
)

// pendingSettlement is a settlement that waits for the lock. The goroutine that gets the lock first commits all
// waiting settlements, because one transaction for many costs a fraction of one for each.
type pendingSettlement struct {
	claim Claim
	Settlement
	fresh []newCandidate // of its Found

	// The lock of the frontier guards the fields below.

	done  bool
	added Added
	err   error
}

func (w *pendingSettlement) finish(added Added, err error) { w.done, w.added, w.err = true, added, err }

// needsOwnTransaction reports whether the settlement may need more than one transaction.
func (w *pendingSettlement) needsOwnTransaction() bool {
	return w.Reopen || w.Robots != nil || len(w.Seen) > maxGroupSeen || len(w.fresh) > maxGroupFound
}

// settlementQueue holds the settlements that wait.
type settlementQueue struct {
	// mu guards waiting. It may be taken while the lock of the frontier is held, never the other way round.
	mu      sync.Mutex
	waiting []*pendingSettlement

	spare sync.Pool // of ended settlements
}

func (r *settlementQueue) add(c Claim, o Settlement, fresh []newCandidate) *pendingSettlement {
	r.mu.Lock()
	defer r.mu.Unlock()
	w, ok := r.spare.Get().(*pendingSettlement)
	if !ok {
		w = &pendingSettlement{}
	}
	w.claim, w.Settlement, w.fresh = c, o, fresh
	r.waiting = append(r.waiting, w)
	return w
}

// takeResult returns the result of a settlement that has ended, and keeps its memory for another one.
func (r *settlementQueue) takeResult(w *pendingSettlement) (Added, error) {
	added, err := w.added, w.err
	*w = pendingSettlement{}
	r.spare.Put(w)
	return added, err
}

func (r *settlementQueue) takeAll() []*pendingSettlement {
	r.mu.Lock()
	defer r.mu.Unlock()
	list := r.waiting
	r.waiting = nil
	return list
}

// commitWaiting commits all settlements that wait, in the order in which they came. The caller holds the lock.
func (f *Frontier) commitWaiting() {
	waiting := f.settlements.takeAll()
	for _, w := range waiting {
		f.presentTimes(w)
	}
	for len(waiting) > 0 {
		n, found := 0, 0
		for n < min(len(waiting), maxGroup) && !waiting[n].needsOwnTransaction() && found <= maxGroupFound {
			found += len(waiting[n].fresh)
			n++
		}
		n = max(n, 1)
		group := waiting[:n]
		waiting = waiting[n:]
		if n > 1 && f.commitGroup(group) == nil {
			continue
		}
		for _, w := range group { // there is only one, or one of them failed
			w.finish(f.commitAlone(w))
		}
	}
}

// commitGroup commits all settlements of a group in one transaction, or none of them.
func (f *Frontier) commitGroup(group []*pendingSettlement) error {
	return f.update(func(c *change) error {
		for _, w := range group {
			h, err := f.claimedHost(w.claim)
			if err != nil {
				return err
			}
			d := c.draft(h.name)
			if d.slotBySerial(w.claim.serial) == nil {
				return ErrStale // settled twice in this group
			}
			added, err := c.applySettlement(d, w.claim, w.Settlement, w.fresh, nil)
			if err != nil {
				return err
			}
			c.after(func() { w.finish(added, nil) })
		}
		return nil
	})
}
