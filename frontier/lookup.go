package frontier

import (
	"fmt"
	"time"

	"github.com/dgraph-io/badger/v4"

	"github.com/arcrawl/arcrawl/uri"
)

// Get returns the record of a URI; ok is false if the URI is not known.
func (f *Frontier) Get(u uri.URI) (r Record, ok bool, err error) {
	id, err := f.hostID(u)
	if id == 0 || err != nil {
		return Record{}, false, err
	}
	err = f.View(func(txn *badger.Txn) error {
		var w uriRow
		fp := newFingerprint(u.String())
		if w, ok, err = uriRowFor(txn, id, fp, u); err != nil || !ok {
			return err
		}
		if r, err = w.record(); err != nil {
			return damaged(uriKey(id, fp), err)
		}
		return nil
	})
	if err != nil {
		return Record{}, false, fmt.Errorf("look up %s: %w", u, err)
	}
	return r, ok, nil
}

// Seen returns what a feed or sitemap has listed so far, as the last [Settlement] with a Seen left it; nil if there
// was none.
func (f *Frontier) Seen(u uri.URI) ([]byte, error) {
	id, err := f.hostID(u)
	if id == 0 || err != nil {
		return nil, err
	}
	var seen []byte
	err = f.View(func(txn *badger.Txn) error {
		seen, err = readBytes(txn, string(seenKey(id, newFingerprint(u.String()))))
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("look up the list of %s: %w", u, err)
	}
	return seen, nil
}

// hostID returns the number of the URI's host, 0 if it is not known.
func (f *Frontier) hostID(u uri.URI) (uint32, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return 0, ErrClosed
	}
	if u.IsZero() || f.hosts[u.Host()] == nil {
		return 0, nil
	}
	return f.hosts[u.Host()].id, nil
}

// Each calls visit with the record of every URI, host by host, as they were when Each began. It stops when visit
// returns an error, and returns that error. The frontier can be used meanwhile.
func (f *Frontier) Each(visit func(Record) error) error {
	if _, err := f.hostID(uri.URI{}); err != nil {
		return err
	}
	return f.db.View(func(txn *badger.Txn) error {
		for k, err := range scan(txn, []byte{kindURI}, nil, prefetched) {
			var w uriRow
			if err == nil {
				err = decodeRow(k.item, &w)
			}
			if err != nil {
				return err
			}
			r, err := w.record()
			if err != nil {
				return damaged(k.item.KeyCopy(nil), err)
			}
			if err := visit(r); err != nil {
				return err
			}
		}
		return nil
	})
}

// Revise changes the record of a URI between two visits, because more is known about the last one. change returns false
// to leave the record as it is. Revise returns false for URIs that are unknown or being visited.
func (f *Frontier) Revise(now time.Time, u uri.URI, change func(*Record) bool) (revised bool, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	h := f.hosts[u.Host()]
	if f.closed || h == nil {
		return false, nil
	}
	c := f.begin()
	defer c.discard()
	d, fp := c.draft(h.name), newFingerprint(u.String())
	was, ok, err := uriRowFor(c.txn, h.id, fp, u)
	var r Record
	if err == nil && ok && d.slotClaiming(fp) == nil {
		r, err = was.record()
		revised = err == nil && change(&r)
	}
	if revised {
		is := newURIRow(r, dueMillis(r.Due, now))
		is.Forbidden, is.Held = was.Forbidden, was.Held
		if err = c.putURI(d, fp, was, is); err == nil {
			err = c.commit()
		}
	}
	if err != nil {
		return false, fmt.Errorf("revise %s: %w", u, err)
	}
	return revised, nil
}

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
