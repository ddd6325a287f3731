package frontier

import (
	"fmt"
	"slices"

	"github.com/dgraph-io/badger/v4"
)

// scannedPlace is a place that was read from a queue. Without a hint only the place of its contender is known.
type scannedPlace struct {
	contender
	hinted bool
}

// readFrom completes a contender from its row; ok is false if its URI is no longer at that place.
func (s *scannedPlace) readFrom(txn *badger.Txn, host uint32) (ok bool, err error) {
	var w contenderRow
	ok, err = readRow(txn, uriKey(host, s.at.fp()), &w)
	if err != nil || !ok || w.Held || w.Due != s.at.due() {
		return false, err
	}
	s.contender, s.hinted = newContender(s.at, w), true
	return true, nil
}

// newScannedPlace returns a place with the hint that is stored there.
func newScannedPlace(at place, hint []byte) scannedPlace {
	if c, ok := parseHint(at, hint); ok {
		return scannedPlace{contender: c, hinted: true}
	}
	return scannedPlace{contender: contender{at: at}}
}

// queueSegment is a part of a queue, in order and without a gap. It is updated as places come and go, so that only
// the places behind it need to be read.
type queueSegment []scannedPlace

func (s queueSegment) find(at place) (i int, found bool) {
	return slices.BinarySearchFunc(s, at, func(x scannedPlace, at place) int { return x.at.compare(at) })
}

// without removes a place.
func (s queueSegment) without(at place) queueSegment {
	if i, found := s.find(at); found {
		return slices.Delete(s, i, i+1)
	}
	return s
}

// behind returns the part that follows a place.
func (s queueSegment) behind(at place) queueSegment {
	i, found := s.find(at)
	return slices.Delete(s, 0, i+int(countIf(found)))
}

// updatePool applies a move to a pool: a URI is at another place, or has another hint at the same one.
func (f *Frontier) updatePool(m queueMove) {
	p, to := m.pool, m.to.at
	defer f.countPool(p)
	p.rescan, p.upcoming = p.rescan.without(m.from), p.upcoming.without(m.from)
	if to.isNone() {
		return
	}
	if i, found := p.rescan.find(to); !found && i < len(p.rescan) && p.rescanned.before(to) {
		p.rescan = slices.Insert(p.rescan, i, m.to)
	}
	i, found := p.upcoming.find(to)
	switch {
	case found || !p.upTo.before(to) || i == len(p.upcoming) && !p.upcomingComplete:
	case i < maxUpcoming && f.pooledPlaces < maxPooled/2:
		p.upcoming = slices.Insert(p.upcoming, i, m.to)
	default:
		p.upcoming, p.upcomingComplete = p.upcoming[:i], false
	}
}

// maxUpcoming is the maximum length of pool.upcoming when a place is inserted.
const maxUpcoming = 2 * poolReadAhead

// newlyDue takes the places that became due since the last call, at most n; more is true if there may be more.
func (f *Frontier) newlyDue(
	txn *badger.Txn, host uint32, p *pool, n int, now int64,
) (list []scannedPlace, more bool, err error) {
	ready := func() (i int) {
		for i < len(p.upcoming) && p.upcoming[i].at.due() <= now {
			i++
		}
		return i
	}
	i := ready()
	if i < n && i == len(p.upcoming) && !p.upcomingComplete {
		from, ahead := p.upTo, min(poolReadAhead, poolRead+int(p.turn)) // a new crowd may soon be gone, so read less
		if i > 0 {
			from = p.upcoming[i-1].at
		}
		if f.pooledPlaces >= maxPooled/2 {
			ahead = n
		}
		places, err := readQueue(txn, host, from, ahead, never)
		if err != nil {
			return nil, false, err
		}
		p.upcoming, p.upcomingComplete = append(p.upcoming, places...), len(places) < ahead
		i = ready()
	}
	i = min(i, n)
	if i > 0 {
		list, p.upTo = slices.Clone(p.upcoming[:i]), p.upcoming[i-1].at
		p.upcoming = slices.Delete(p.upcoming, 0, i)
	}
	return list, i > 0 && i == n, nil
}

// olderDue returns the next n places of the rescan, or fewer if no more are due before upTo.
func (f *Frontier) olderDue(txn *badger.Txn, host uint32, p *pool, n int) ([]scannedPlace, error) {
	if len(p.rescan) < n {
		from, more := p.rescanned, n
		if len(p.rescan) > 0 {
			from = p.rescan[len(p.rescan)-1].at
		}
		if f.pooledPlaces < maxPooled/2 {
			more = poolReadAhead
		}
		places, err := readQueue(txn, host, from, more-len(p.rescan), p.upTo.due())
		if err != nil {
			return nil, err
		}
		p.rescan = append(p.rescan, places...)
	}
	return p.rescan[:min(n, len(p.rescan))], nil
}

// readQueue returns up to n places that follow one and are due by a time in ms.
func readQueue(txn *badger.Txn, host uint32, after place, n int, until int64) (list []scannedPlace, err error) {
	if n <= 0 {
		return nil, nil
	}
	for k, err := range scan(txn, key(kindQueue, host, nil), append(queueKey(host, after), 0), 0) {
		if err != nil {
			return nil, err
		}
		at := place(k.rest)
		if at.due() > until {
			break
		}
		err = k.item.Value(func(v []byte) error {
			list = append(list, newScannedPlace(at, v))
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("read a place in the queue of host %d: %w", host, err)
		}
		if len(list) == n {
			break
		}
	}
	return list, nil
}
