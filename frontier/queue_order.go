package frontier

import (
	"errors"
	"fmt"
	"slices"

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

// maxPriority is how many urgent or prompt URIs of a host are remembered outside the pool. A site with more news than
// that at once is not served in the order of its news anyway.
const maxPriority = 1024

// priority says whether a URI goes before others when it is due.
type priority uint8

const (
	noPriority priority = iota
	urgentPriority
	promptPriority
)

func (w uriRow) priority() priority {
	switch {
	case w.Urgent:
		return urgentPriority
	case w.Prompt:
		return promptPriority
	}
	return noPriority
}

// priorityPlaces holds the places of unclaimed URIs of one priority, in order, that were queued since the frontier was
// opened. Clones of a state share the slice: it is replaced, never written.
type priorityPlaces struct {
	list  []place
	inRow int64 // choices since none of them was due
}

// setPriority notes the priority of the URI that waits at a place.
func (s *state) setPriority(at place, p priority) {
	for i := range s.first {
		f, is := &s.first[i], priority(i+1) == p
		switch j, found := slices.BinarySearchFunc(f.list, at, place.compare); {
		case found && !is:
			f.list = slices.Delete(slices.Clone(f.list), j, j+1)
		case !found && is && !at.isNone() && len(f.list) < maxPriority:
			f.list = slices.Insert(slices.Clip(f.list), j, at)
		}
	}
}

// clearPriority removes the place of a URI that is claimed, or moves.
func (s *state) clearPriority(at place) { s.setPriority(at, noPriority) }

// promptRound is the number of choices in a round that leaves one choice to all other URIs, while prompt ones are
// due.
const promptRound = 4

// choosePriority returns the urgent URI that has been due longest, or else the prompt one. It returns no place if
// none is due, or if it is the turn of the others. They have one choice in each round, so that a flood of news or
// feeds does not stop everything else.
func choosePriority(txn *badger.Txn, host uint32, s *state, now int64) (place, uriRow, error) {
	for i, round := range [...]int64{roundLength, promptRound} {
		f := &s.first[i]
		if len(f.list) == 0 || f.list[0].due() > now {
			f.inRow = 0
		} else if f.inRow++; f.inRow%round != 0 {
			w, err := readPlaced(txn, host, f.list[0])
			return f.list[0], w, err
		}
	}
	return place{}, uriRow{}, nil
}
