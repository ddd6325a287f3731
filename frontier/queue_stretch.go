package frontier

import (
	"fmt"
	"slices"

	"github.com/dgraph-io/badger/v4"
)

// sighted is a place that was found. Without a hint only that is known of its contender.
type sighted struct {
	contender
	known bool
}

// readFrom completes a contender from its record; ok is false when its URI is no longer at that place.
func (s *sighted) readFrom(txn *badger.Txn, host uint32) (ok bool, err error) {
	var w contenderRow
	ok, err = readRow(txn, uriKey(host, s.at.fp()), &w)
	if err != nil || !ok || w.Held || w.Due != s.at.due() {
		return false, err
	}
	s.contender, s.known = contenderOf(s.at, w), true
	return true, nil
}

// sightedAt is a place that says this of its URI.
func sightedAt(at place, hint []byte) sighted {
	if c, ok := hinted(at, hint); ok {
		return sighted{contender: c, known: true}
	}
	return sighted{contender: contender{at: at}}
}

// stretch is a part of a queue, in order and without a gap. It is kept as places come and go, so that the store is asked only for what
// follows.
type stretch []sighted

func (s stretch) find(at place) (i int, found bool) {
	return slices.BinarySearchFunc(s, at, func(x sighted, at place) int { return x.at.compare(at) })
}

// without is the stretch when a place has gone.
func (s stretch) without(at place) stretch {
	if i, found := s.find(at); found {
		return slices.Delete(s, i, i+1)
	}
	return s
}

// behind is the part that follows a place.
func (s stretch) behind(at place) stretch {
	i, found := s.find(at)
	return slices.Delete(s, 0, i+int(one(found)))
}

// moved tells a pool that a URI has another place, or says something else at the same one.
func (f *Frontier) moved(m move) {
	p, to := m.pool, m.to.at
	defer f.count(p)
	p.read, p.coming = p.read.without(m.from), p.coming.without(m.from)
	if to.isNone() {
		return
	}
	if i, found := p.read.find(to); !found && i < len(p.read) && p.swept.before(to) {
		p.read = slices.Insert(p.read, i, m.to)
	}
	i, found := p.coming.find(to)
	switch {
	case found || !p.upTo.before(to) || i == len(p.coming) && !p.whole:
	case i < mostComing && f.swept < maxPooled/2:
		p.coming = slices.Insert(p.coming, i, m.to)
	default:
		p.coming, p.whole = p.coming[:i], false
	}
}

// mostComing is up to where in a stretch of what becomes due a place is put that comes there.
const mostComing = 2 * poolSight

// fresh takes the places that became due since the last time, at most n, and tells whether there may be more.
func (f *Frontier) fresh(txn *badger.Txn, host uint32, p *pool, n int, now int64) (found []sighted, more bool, err error) {
	ready := func() (i int) {
		for i < len(p.coming) && p.coming[i].at.due() <= now {
			i++
		}
		return i
	}
	i := ready()
	if i < n && i == len(p.coming) && !p.whole {
		from, ahead := p.upTo, min(poolSight, poolRead+int(p.turn)) // a crowd that has just gathered may soon be gone
		if i > 0 {
			from = p.coming[i-1].at
		}
		if f.swept >= maxPooled/2 {
			ahead = n
		}
		next, err := due(txn, host, from, ahead, never)
		if err != nil {
			return nil, false, err
		}
		p.coming, p.whole = append(p.coming, next...), len(next) < ahead
		i = ready()
	}
	i = min(i, n)
	if i > 0 {
		found, p.upTo = slices.Clone(p.coming[:i]), p.coming[i-1].at
		p.coming = slices.Delete(p.coming, 0, i)
	}
	return found, i > 0 && i == n, nil
}

// older gives the next n places, or fewer when these are all that are due before upTo.
func (f *Frontier) older(txn *badger.Txn, host uint32, p *pool, n int) ([]sighted, error) {
	if len(p.read) < n {
		from, more := p.swept, n
		if len(p.read) > 0 {
			from = p.read[len(p.read)-1].at
		}
		if f.swept < maxPooled/2 {
			more = poolSight
		}
		found, err := due(txn, host, from, more-len(p.read), p.upTo.due())
		if err != nil {
			return nil, err
		}
		p.read = append(p.read, found...)
	}
	return p.read[:min(n, len(p.read))], nil
}

// due lists the next n places behind one, as far as they are due.
func due(txn *badger.Txn, host uint32, after place, n int, now int64) (found []sighted, err error) {
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
			found = append(found, sightedAt(at, v))
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("read a place in the queue of host %d: %w", host, err)
		}
	}
	return found, nil
}
