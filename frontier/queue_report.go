package frontier

import (
	"fmt"
	"time"

	"github.com/dgraph-io/badger/v4"

	"github.com/arcrawl/arcrawl/uri"
)

// Upcoming gives the next n URIs of a host's queue, n at most 1,000, those that are due first at the front. It tells when
// each is due, not the order in which they will be handed out when several are: that is for the order of a crowded host.
// It is empty for a host that is not known.
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
				continue // a place that was left behind
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
		return nil, fmt.Errorf("list what is next on %s: %w", name, err)
	}
	return list, nil
}

// CountDue counts the URIs that are due and wait, up to a number. It reads their places only.
func (f *Frontier) CountDue(now time.Time, most int64) (n int64, err error) {
	type head struct {
		host uint32
		at   place
	}
	var late []head
	f.mu.Lock()
	for _, h := range f.byID {
		if !h.head.isNone() && h.head.due() <= now.UnixMilli() {
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
			if n >= most {
				return nil
			}
			found, err := countDue(txn, h.host, h.at, now.UnixMilli(), most-n)
			if err != nil {
				return err
			}
			n += found
		}
		return nil
	})
	if err != nil {
		return 0, fmt.Errorf("count what is due: %w", err)
	}
	return n, nil
}

// dueOf counts what is due on a host from a place on, as a queue is read for the reason in the package comment.
func countDue(txn *badger.Txn, host uint32, from place, now, most int64) (n int64, err error) {
	it := txn.NewIterator(badger.IteratorOptions{Prefix: key(kindQueue, host, nil)})
	defer it.Close()
	for it.Seek(queueKey(host, from)); it.Valid() && n < most; it.Next() {
		_, at, err := split(it.Item().Key(), placeLen)
		if err != nil {
			return 0, err
		}
		if place(at).due() > now {
			return n, nil
		}
		n++
	}
	return n, nil
}

// CountAhead counts the URIs of its host that have an earlier place in the queue than this one, up to a number; ok is false
// when it has no place.
func (f *Frontier) CountAhead(u uri.URI, most int64) (n int64, ok bool, err error) {
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
		own := w.place(fp)
		it := txn.NewIterator(badger.IteratorOptions{Prefix: key(kindQueue, h.id, nil)})
		defer it.Close()
		for it.Seek(queueKey(h.id, head)); it.Valid() && n < most; it.Next() {
			_, at, err := split(it.Item().Key(), placeLen)
			if err != nil {
				return err
			}
			if !place(at).before(own) {
				return nil
			}
			n++
		}
		return nil
	})
	if err != nil {
		return 0, false, fmt.Errorf("look where %s stands in the queue: %w", u, err)
	}
	return n, ok, nil
}
