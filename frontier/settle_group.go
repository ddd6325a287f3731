package frontier

import "sync"

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
