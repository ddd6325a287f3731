package frontier

import (
	"fmt"
	"slices"
	"time"

	"github.com/dgraph-io/badger/v4"
)

// dueCount is the number of places of a queue before a time. Moves of URIs keep it up to date, so that a later count
// reads only the places that became due since. It is never written: a move makes another one.
type dueCount struct {
	n     int64 // places before until
	until place // zero if they were not counted yet
	next  place // there is no place from until to this one
}

// moved returns the count after a URI has moved in the queue.
func (d *dueCount) moved(from, to place) *dueCount {
	if d == nil || from == to {
		return d
	}
	m := *d
	m.n -= countIf(!from.isNone() && from.before(d.until))
	switch {
	case to.isNone():
	case to.before(d.until):
		m.n++
	case to.before(d.next):
		m.next = to
	}
	return &m
}

// covers reports whether the places before end are counted.
func (d *dueCount) covers(end place) bool {
	return d != nil && !d.until.isNone() && !end.before(d.until) && !d.next.before(end)
}

// dueQuery asks how many places of a host are before a time.
type dueQuery struct {
	host    *host
	count   *dueCount // of the host, as it was
	low     place     // no place is lower
	claimed int64     // places before the first unclaimed one
}

// CountDue counts the queued URIs that are due, up to limit. It reads only places: those that became due since the last
// count, of hosts of which more URIs are due than memory knows.
func (f *Frontier) CountDue(now time.Time, limit int64) (int64, error) {
	end := newPlace(now.UnixMilli()+1, fingerprint{})
	f.mu.Lock()
	if f.closed {
		f.mu.Unlock()
		return 0, ErrClosed
	}
	n, unknown := f.countKnown(end)
	f.mu.Unlock()
	counted := make([]dueCount, 0, len(unknown))
	err := f.db.View(func(txn *badger.Txn) error {
		for _, q := range unknown {
			if n >= limit {
				break
			}
			c, err := q.read(txn, end, limit-n+q.claimed)
			if err != nil {
				return err
			}
			n += c.n - q.claimed
			counted = append(counted, c)
		}
		return nil
	})
	if err != nil {
		return 0, fmt.Errorf("count the due URIs: %w", err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for i := range counted {
		if h := unknown[i].host; h.late == unknown[i].count { // no URI has moved meanwhile
			h.late = &counted[i]
		}
	}
	return min(n, limit), nil
}

// countKnown counts the places before end of hosts of which memory knows all, and returns the other hosts that have
// one.
func (f *Frontier) countKnown(end place) (n int64, unknown []dueQuery) {
	for _, h := range f.byID {
		if h.head.isNone() || h.stray || !h.head.before(end) {
			h.late = nil
			continue
		}
		if known, all := h.knownBefore(end); all {
			n += known
			h.late = nil
			continue
		}
		claimed := h.claimedBefore(h.head)
		if h.late.covers(end) {
			n += h.late.n - claimed
			continue
		}
		if h.late == nil || end.before(h.late.until) {
			h.late = new(dueCount)
		}
		unknown = append(unknown, dueQuery{h, h.late, h.watermark(), claimed})
	}
	return n, unknown
}

// read counts the places before end, up to limit.
func (q dueQuery) read(txn *badger.Txn, end place, limit int64) (dueCount, error) {
	c, from := *q.count, q.count.until
	if from.isNone() {
		from = q.low
	}
	c.until, c.next = end, lastPlace
	for k, err := range scan(txn, key(kindQueue, q.host.id, nil), queueKey(q.host.id, from), 0) {
		if err != nil {
			return dueCount{}, err
		}
		at := place(k.rest)
		if !at.before(end) {
			c.next = at
			break
		}
		if c.n >= limit {
			c.until, c.next = at, at
			break
		}
		c.n++
	}
	return c, nil
}

// knownBefore counts the places in the queue from its head to one before end, as memory knows them; all is false if the
// store may have more.
func (s *state) knownBefore(end place) (n int64, all bool) {
	i, _ := slices.BinarySearchFunc(s.ahead, end, place.compare)
	n, placed := 1+int64(i), 1+int64(len(s.ahead))
	for _, claimed := range s.slots {
		if at := claimed.place; !at.isNone() {
			placed++
			n += countIf(s.head.before(at) && at.before(end))
		}
	}
	return n, i < len(s.ahead) || placed == s.queued
}

// claimedBefore counts the claimed places before one.
func (s *state) claimedBefore(at place) (n int64) {
	for _, claimed := range s.slots {
		n += countIf(!claimed.place.isNone() && claimed.place.before(at))
	}
	return n
}
