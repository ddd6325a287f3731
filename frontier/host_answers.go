package frontier

import (
	"container/heap"
	"time"
)

const (
	// SlowVisit is the duration from which a visit counts as slow: its host no longer counts as one that answers.
	SlowVisit = 15 * time.Second

	// After a slow visit, answersAfterSlow visits in a row must be fast before the host counts as one that answers. A new
	// host, and one that could not be reached, needs two: robots.txt alone proves little.
	answersAfterSlow = 8
	answersWhenNew   = 2
)

// MaxDoubtful returns how many of n workers may visit hosts that do not answer: three quarters. The others are reserved
// for hosts that answer.
func MaxDoubtful(n int) int { return n - n/4 }

// answersNeeded returns how many visits in a row must be fast, after a visit, before the host counts as one that
// answers. before is the number needed before the visit.
func answersNeeded(before uint8, o Settlement) uint8 {
	switch {
	case o.NoRequest:
		return before
	case o.Took >= SlowVisit && !o.HostDown:
		return answersAfterSlow
	case o.HostDown:
		return max(before, answersWhenNew)
	case before > 0:
		return before - 1
	}
	return 0
}

// answers reports whether the host answers: its last visits were fast.
func (s *state) answers() bool { return s.answersNeeded == 0 }

// doubtfulClaims returns the number of claims in progress if the host does not answer, and zero otherwise.
func (s *state) doubtfulClaims() int64 {
	if s.answers() {
		return 0
	}
	return s.claims()
}

// hostQueue holds all hosts in two heaps: those that answer, and the doubtful others. The claims of doubtful
// hosts are bounded, so that hosts that answer always find a free worker.
type hostQueue struct {
	answering, doubtful hostHeap

	claims    int64 // claims of doubtful hosts in progress
	maxClaims int64 // their maximum; 0 = no limit
}

// heapOf returns the heap that a host belongs to.
func (q *hostQueue) heapOf(h *host) *hostHeap {
	if h.answers() {
		return &q.answering
	}
	return &q.doubtful
}

// first returns the host that is or will be ready first, among those that may be claimed now. It returns nil if there
// is none.
func (q *hostQueue) first() *host {
	var first *host
	if len(q.answering) > 0 {
		first = q.answering[0]
	}
	if len(q.doubtful) > 0 && (q.maxClaims == 0 || q.claims < q.maxClaims) {
		if other := q.doubtful[0]; first == nil || other.before(first) {
			first = other
		}
	}
	return first
}

// add adds a host. Its readyAt must be set.
func (q *hostQueue) add(h *host) {
	q.claims += h.doubtfulClaims()
	heap.Push(q.heapOf(h), h)
}

// remove removes a host.
func (q *hostQueue) remove(h *host) {
	q.claims -= h.doubtfulClaims()
	heap.Remove(q.heapOf(h), h.pos)
}

// fix restores the order after the readyAt of a host has changed.
func (q *hostQueue) fix(h *host) { heap.Fix(q.heapOf(h), h.pos) }

// replaceState replaces the state of a host, and moves it to the other heap if it begins or stops to answer. The caller
// sets readyAt and calls fix.
func (q *hostQueue) replaceState(h *host, s state) {
	q.claims += s.doubtfulClaims() - h.doubtfulClaims()
	if s.answers() == h.answers() {
		h.state = s
		return
	}
	heap.Remove(q.heapOf(h), h.pos)
	h.state = s
	heap.Push(q.heapOf(h), h)
}

// hostHeap is a heap of hosts; the one that is, or will be, ready first is at the top.
type hostHeap []*host

func (q hostHeap) Len() int { return len(q) }

func (q hostHeap) Less(i, j int) bool { return q[i].before(q[j]) }

// before reports whether a host is ready before another one.
func (h *host) before(other *host) bool {
	if h.readyAt != other.readyAt {
		return h.readyAt < other.readyAt
	}
	if h.ownReadyAt != other.ownReadyAt {
		return h.ownReadyAt < other.ownReadyAt // within a group, the one that has waited longest
	}
	return h.id < other.id
}

func (q hostHeap) Swap(i, j int) {
	q[i], q[j] = q[j], q[i]
	q[i].pos, q[j].pos = i, j
}

func (q *hostHeap) Push(x any) {
	h := x.(*host)
	h.pos = len(*q)
	*q = append(*q, h)
}

func (q *hostHeap) Pop() any {
	old := *q
	h := old[len(old)-1]
	old[len(old)-1] = nil
	*q = old[:len(old)-1]
	return h
}
