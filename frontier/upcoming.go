package frontier

import (
	"fmt"

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
		from = h.mark().below()
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
		at, err := due(txn, h.id, from, min(max(n, 1), maxListed), never)
		if err != nil {
			return err
		}
		for _, p := range at {
			w, ok, err := row(txn, h.id, p.at.fp())
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

// below is the place just below p.
func (p place) below() place {
	for i := len(p) - 1; i >= 0; i-- {
		p[i]--
		if p[i] != 0xff {
			return p
		}
	}
	return place{} // below the first there is none
}
