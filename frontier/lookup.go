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
