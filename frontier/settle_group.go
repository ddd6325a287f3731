package frontier

import "sync"

// maxGroup is how many settlements share a transaction at most, and maxGroupFound how many new URIs they may bring
// together. A transaction that is too long is not an error, but was made in vain.
const (
	maxGroup      = 32
	maxGroupFound = 500
	maxGroupSeen  = 8 << 10 // bytes of what one source has listed
)

// settling is a settlement on its way. It waits for the lock, and whoever gets the lock first settles all that wait: one
// transaction for many costs a fraction of one for each.
type pendingSettlement struct {
	claim Claim
	Settlement
	fresh []newCandidate // of its Found

	done  bool // guarded by the frontier's lock, as what follows
	added Added
	err   error
}

func (w *pendingSettlement) finish(added Added, err error) { w.done, w.added, w.err = true, added, err }

// alone tells that the settlement may need more than one transaction.
func (w *pendingSettlement) needsOwnTransaction() bool {
	return w.Reopen || w.Robots != nil || len(w.Seen) > maxGroupSeen || len(w.fresh) > maxGroupFound
}

// waitingRoom is where settlements wait.
type settlementQueue struct {
	mu      sync.Mutex // guards what follows; taken while the frontier's lock is held, never the other way round
	waiting []*pendingSettlement
	spare   []*pendingSettlement // have ended
}

// maxSpare is how many settlements that have ended are kept to be used again.
const maxSpare = 64

func (r *settlementQueue) add(c Claim, o Settlement, fresh []newCandidate) *pendingSettlement {
	r.mu.Lock()
	defer r.mu.Unlock()
	var w *pendingSettlement
	if n := len(r.spare); n > 0 {
		w, r.spare = r.spare[n-1], r.spare[:n-1]
	} else {
		w = &pendingSettlement{}
	}
	w.claim, w.Settlement, w.fresh = c, o, fresh
	r.waiting = append(r.waiting, w)
	return w
}

// leave takes back a settlement that has ended, and tells how.
func (r *settlementQueue) takeResult(w *pendingSettlement) (Added, error) {
	added, err := w.added, w.err
	*w = pendingSettlement{}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.spare) < maxSpare {
		r.spare = append(r.spare, w)
	}
	return added, err
}

func (r *settlementQueue) takeAll() []*pendingSettlement {
	r.mu.Lock()
	defer r.mu.Unlock()
	list := r.waiting
	r.waiting = nil
	return list
}

// settleWaiting settles all that wait, in the order in which they came. The lock is held.
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
		for _, w := range group { // one alone, or one of them cannot be settled
			w.finish(f.commitAlone(w))
		}
	}
}

// settleTogether settles all of a group in one transaction, or none.
func (f *Frontier) commitGroup(group []*pendingSettlement) error {
	c := f.begin()
	defer c.discard()
	added := make([]Added, len(group))
	for i, w := range group {
		h, err := f.claimedHost(w.claim)
		if err != nil {
			return err
		}
		d := c.draft(h.name)
		if d.slotBySerial(w.claim.serial) == nil {
			return ErrStale // settled twice in this group
		}
		if added[i], err = c.applySettlement(d, w.claim, w.Settlement, w.fresh, nil); err != nil {
			return err
		}
	}
	if err := c.commit(); err != nil {
		return err
	}
	for i, w := range group {
		w.finish(added[i], nil)
	}
	return nil
}
