package frontier

import (
	"fmt"
	"slices"

	"github.com/dgraph-io/badger/v4"
)

// sighted is a place that was found. Without a hint only that is known of its contender.
type scannedPlace struct {
	contender
	hinted bool
}

// readFrom completes a contender from its record; ok is false when its URI is no longer at that place.
func (s *scannedPlace) readFrom(txn *badger.Txn, host uint32) (ok bool, err error) {
	var w contenderRow
	ok, err = readRow(txn, uriKey(host, s.at.fp()), &w)
	if err != nil || !ok || w.Held || w.Due != s.at.due() {
		return false, err
	}
	s.contender, s.hinted = newContender(s.at, w), true
	return true, nil
}

// sightedAt is a place that says this of its URI.
func newScannedPlace(at place, hint []byte) scannedPlace {
	if c, ok := parseHint(at, hint); ok {
		return scannedPlace{contender: c, hinted: true}
	}
	return scannedPlace{contender: contender{at: at}}
}

// stretch is a part of a queue, in order and without a gap. It is kept as places come and go, so that the store is asked only for what
// follows.
type queueSegment []scannedPlace

func (s queueSegment) find(at place) (i int, found bool) {
	return slices.BinarySearchFunc(s, at, func(x scannedPlace, at place) int { return x.at.compare(at) })
}

// without is the stretch when a place has gone.
func (s queueSegment) without(at place) queueSegment {
	if i, found := s.find(at); found {
		return slices.Delete(s, i, i+1)
	}
	return s
}

// behind is the part that follows a place.
func (s queueSegment) behind(at place) queueSegment {
	i, found := s.find(at)
	return slices.Delete(s, 0, i+int(countIf(found)))
}

// moved tells a pool that a URI has another place, or says something else at the same one.
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

// mostComing is up to where in a stretch of what becomes due a place is put that comes there.
const maxUpcoming = 2 * poolReadAhead

// fresh takes the places that became due since the last time, at most n, and tells whether there may be more.
func (f *Frontier) newlyDue(txn *badger.Txn, host uint32, p *pool, n int, now int64) (found []scannedPlace, more bool, err error) {
	ready := func() (i int) {
		for i < len(p.upcoming) && p.upcoming[i].at.due() <= now {
			i++
		}
		return i
	}
	i := ready()
	if i < n && i == len(p.upcoming) && !p.upcomingComplete {
		from, ahead := p.upTo, min(poolReadAhead, poolRead+int(p.turn)) // a crowd that has just gathered may soon be gone
		if i > 0 {
			from = p.upcoming[i-1].at
		}
		if f.pooledPlaces >= maxPooled/2 {
			ahead = n
		}
		next, err := readQueue(txn, host, from, ahead, never)
		if err != nil {
			return nil, false, err
		}
		p.upcoming, p.upcomingComplete = append(p.upcoming, next...), len(next) < ahead
		i = ready()
	}
	i = min(i, n)
	if i > 0 {
		found, p.upTo = slices.Clone(p.upcoming[:i]), p.upcoming[i-1].at
		p.upcoming = slices.Delete(p.upcoming, 0, i)
	}
	return found, i > 0 && i == n, nil
}

// older gives the next n places, or fewer when these are all that are due before upTo.
func (f *Frontier) olderDue(txn *badger.Txn, host uint32, p *pool, n int) ([]scannedPlace, error) {
	if len(p.rescan) < n {
		from, more := p.rescanned, n
		if len(p.rescan) > 0 {
			from = p.rescan[len(p.rescan)-1].at
		}
		if f.pooledPlaces < maxPooled/2 {
			more = poolReadAhead
		}
		found, err := readQueue(txn, host, from, more-len(p.rescan), p.upTo.due())
		if err != nil {
			return nil, err
		}
		p.rescan = append(p.rescan, found...)
	}
	return p.rescan[:min(n, len(p.rescan))], nil
}

// due lists the next n places behind one, as far as they are due.
func readQueue(txn *badger.Txn, host uint32, after place, n int, now int64) (found []scannedPlace, err error) {
	if n <= 0 {
		return nil, nil
	}
	it := txn.NewIterator(badger.IteratorOptions{Prefix: key(kindQueue, host, nil)})
	defer it.Close()
	for it.Seek(queueKey(host, after)); it.Valid() && len(found) < n; it.Next() {
		_, rest, err := split(it.Item().Key(), placeLen)
		if err != nil {
			return nil, err
		}
		at := place(rest)
		if at.due() > now {
			break
		}
		if at == after {
			continue
		}
		err = it.Item().Value(func(v []byte) error {
			found = append(found, newScannedPlace(at, v))
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("read a place in the queue of host %d: %w", host, err)
		}
	}
	return found, nil
}
