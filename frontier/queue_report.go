package frontier

import (
	"fmt"
	"time"

	"github.com/dgraph-io/badger/v4"

	"github.com/arcrawl/arcrawl/uri"
)

// Upcoming returns the next n URIs of a host's queue, n at most 1,000, in the order of their due times. A crowded
// host may visit its due URIs in another order. The list is empty if the host is not known.
func (f *Frontier) Upcoming(name uri.Host, n int) ([]Record, error) {
	f.mu.Lock()
	h := f.hosts[name]
	closed := f.closed
	var from place
	if h != nil {
		from = h.watermark().below()
	}
	f.mu.Unlock()
	switch {
	case closed:
		return nil, ErrClosed
	case h == nil:
		return nil, nil
	}
	var list []Record
	err := f.db.View(func(txn *badger.Txn) error {
		at, err := readQueue(txn, h.id, from, min(max(n, 1), maxListed), never)
		if err != nil {
			return err
		}
		for _, p := range at {
			w, ok, err := uriRowAt(txn, h.id, p.at.fp())
			if err != nil {
				return err
			}
			if !ok || w.Due != p.at.due() {
				continue // an old place of a URI that has moved
			}
			r, err := w.record()
			if err != nil {
				return damaged(uriKey(h.id, p.at.fp()), err)
			}
			list = append(list, r)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("list the queue of %s: %w", name, err)
	}
	return list, nil
}

// CountDue counts the queued URIs that are due, up to limit. It reads only their places.
func (f *Frontier) CountDue(now time.Time, limit int64) (n int64, err error) {
	type head struct {
		host uint32
		at   place
	}
	var late []head
	f.mu.Lock()
	for _, h := range f.byID {
		if !h.head.isNone() && !h.stray && h.head.due() <= now.UnixMilli() {
			late = append(late, head{h.id, h.head})
		}
	}
	closed := f.closed
	f.mu.Unlock()
	if closed {
		return 0, ErrClosed
	}
	err = f.db.View(func(txn *badger.Txn) error {
		for _, h := range late {
			if n >= limit {
				return nil
			}
			onHost, err := countPlaces(txn, h.host, h.at, newPlace(now.UnixMilli()+1, fingerprint{}), limit-n)
			if err != nil {
				return err
			}
			n += onHost
		}
		return nil
	})
	if err != nil {
		return 0, fmt.Errorf("count the due URIs: %w", err)
	}
	return n, nil
}

// countPlaces counts the places of a host before one, beginning at its first one; see the package comment about the
// watermark.
func countPlaces(txn *badger.Txn, host uint32, first, end place, limit int64) (n int64, err error) {
	for k, err := range scan(txn, key(kindQueue, host, nil), queueKey(host, first), 0) {
		if err != nil || n >= limit || !place(k.rest).before(end) {
			return n, err
		}
		n++
	}
	return n, nil
}

// CountAhead counts the URIs that have an earlier place than u in the queue of its host, up to limit; ok is false if
// u has no place.
func (f *Frontier) CountAhead(u uri.URI, limit int64) (n int64, ok bool, err error) {
	h := f.hostNamed(u.Host())
	if h == nil {
		return 0, false, nil
	}
	fp := newFingerprint(u.String())
	f.mu.Lock()
	head := h.head
	f.mu.Unlock()
	err = f.db.View(func(txn *badger.Txn) error {
		w, known, err := uriRowFor(txn, h.id, fp, u)
		if err != nil || !known || w.place(fp).isNone() {
			return err
		}
		ok = true
		n, err = countPlaces(txn, h.id, head, w.place(fp), limit)
		return err
	})
	if err != nil {
		return 0, false, fmt.Errorf("count the URIs before %s in the queue: %w", u, err)
	}
	return n, ok, nil
}
