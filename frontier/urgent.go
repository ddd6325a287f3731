package frontier

import (
	"slices"
	"time"

	"github.com/dgraph-io/badger/v4"
)

// maxUrgent is how many urgent URIs of a host are remembered as such outside the crowd. A site that has more news at once
// than this is not served in the order of their coming anyway.
const maxUrgent = 1024

// hurry notes that the URI of this place waits and is urgent, or that it is not.
func (s *state) hurry(at place, urgent bool) {
	if !urgent {
		s.calm(at)
		return
	}
	if at.isNone() || len(s.urgent) >= maxUrgent {
		return
	}
	if i, found := slices.BinarySearchFunc(s.urgent, at, place.compare); !found {
		s.urgent = slices.Insert(slices.Clip(s.urgent), i, at)
	}
}

// calm forgets the place of a URI that is claimed, or moves.
func (s *state) calm(at place) {
	if i, found := slices.BinarySearchFunc(s.urgent, at, place.compare); found {
		s.urgent = slices.Delete(slices.Clone(s.urgent), i, i+1)
	}
}

// mostUrgent finds the urgent URI that has been due for longest; none if there is none, or if it is the turn of the others:
// of each round of choices one is theirs, so that a flood of news stops nothing else.
func mostUrgent(txn *badger.Txn, host uint32, s *state, now int64) (place, uriRow, error) {
	if len(s.urgent) == 0 {
		s.hurried = 0
		return place{}, uriRow{}, nil
	}
	if s.urgent[0].due() > now {
		return place{}, uriRow{}, nil
	}
	if s.hurried++; s.hurried%turns == 0 {
		return place{}, uriRow{}, nil
	}
	w, err := placed(txn, host, s.urgent[0])
	return s.urgent[0], w, err
}

// hasten makes a known URI due sooner, and reports whether that moved it.
func (c *change) hasten(d *draft, n newcomer, now time.Time) (bool, error) {
	was, ok, err := row(c.txn, d.h.id, n.fp)
	if err != nil || !ok || was.Due == 0 {
		return false, err
	}
	due := dueMillis(n.Due, now)
	if due == 0 {
		due = dueMillis(now, now)
	}
	if taker := d.taker(n.fp); taker != nil {
		d.dirty = true // it must come into memory; what is on disk stays
		if taker.sooner == 0 || due < taker.sooner {
			taker.sooner = due
		}
		return true, nil
	}
	is := was
	is.Due = min(was.Due, due)
	is.Urgent = was.Urgent || n.Urgent && is.Due <= due
	if is.Due == was.Due && is.Urgent == was.Urgent {
		return false, nil
	}
	is.Why = whySooner
	return true, c.put(d, n.fp, was, is)
}
