package frontier

import (
	"errors"
	"fmt"

	"github.com/dgraph-io/badger/v4"
)

// Order is how a host that cannot serve all its due URIs chooses among them.
type Order uint8

const (
	// ByValue prefers the URI that would lose most versions if it was not visited now. With x changes expected since the
	// last visit that is 1 − (1+x)e^(−x); see [History].Rate.
	ByValue Order = iota
	// ByOverdue prefers the largest delay in proportion to the wait interval.
	ByOverdue
	// ByDue prefers the earliest due time.
	ByDue
)

// String returns the name of the order in a configuration.
func (o Order) String() string {
	if names := []string{"value", "overdue", "due"}; int(o) < len(names) {
		return names[o]
	}
	return fmt.Sprintf("Order(%d)", uint8(o))
}

// chooseURI returns the place and row of the URI to be visited next: the head of the queue, unless priority or a
// crowd say otherwise.
func (f *Frontier) chooseURI(txn *badger.Txn, h *host, s *state, now int64) (place, uriRow, error) {
	if at, w, err := choosePriority(txn, h.id, s, now); err != nil || !at.isNone() {
		return at, w, err
	}
	if f.o.Order != ByDue {
		if len(s.ahead) < crowdSize-1 && int64(len(s.ahead)) < s.queued-s.claims()-1 {
			ahead, err := readPlaces(txn, h.id, s.head, s, f.readAhead())
			if err != nil {
				return place{}, uriRow{}, err
			}
			s.ahead = ahead
		}
		if len(s.ahead) >= crowdSize-1 && s.ahead[crowdSize-2].due() <= now {
			if at, w, err := f.chooseFromPool(txn, h, s, now); err != nil || !at.isNone() {
				return at, w, err
			}
		} else {
			f.dropPool(s)
		}
	}
	w, err := readPlaced(txn, h.id, s.head)
	return s.head, w, err
}

// dropPool removes the pool of a host that is not crowded any more.
func (f *Frontier) dropPool(s *state) {
	if s.pool != nil {
		s.pool.due, s.pool.rescan, s.pool.upcoming, s.pool.upcomingComplete = nil, nil, nil, false
		f.countPool(s.pool)
		s.pool = nil
	}
}

// readPlaced reads the row of the URI at a place.
func readPlaced(txn *badger.Txn, host uint32, at place) (uriRow, error) {
	w, ok, err := uriRowAt(txn, host, at.fp())
	if err == nil && (!ok || w.place(at.fp()) != at) {
		err = damaged(queueKey(host, at), errors.New("its URI is missing, or due at another time"))
	}
	return w, err
}
