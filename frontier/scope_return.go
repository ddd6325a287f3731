package frontier

import (
	"fmt"
	"time"

	"github.com/dgraph-io/badger/v4"

	"github.com/arcrawl/arcrawl/uri"
)

// outside reports whether the URI was found out of scope at its last visit.
func (w *uriRow) outside() bool { return w.DueInScope != 0 }

// listOutside adds a URI to the list of URIs out of scope, or removes it.
func (c *change) listOutside(host uint32, fp fingerprint, was, is bool) error {
	switch {
	case is && !was:
		return c.txn.Set(asideKey(asideOutside, host, fp), nil)
	case was && !is:
		return c.txn.Delete(asideKey(asideOutside, host, fp))
	}
	return nil
}

// OutOfScope lists up to n URIs that were found out of scope at their last visit, behind a cursor. The list is complete
// when next is empty. It holds no lock while it reads.
func (f *Frontier) OutOfScope(from Cursor, n int) (list []Record, next Cursor, err error) {
	at, err := from.position(Selection{})
	if err != nil {
		return nil, "", err
	}
	err = f.View(func(txn *badger.Txn) error {
		var start []byte
		if from != "" {
			start = append(asideKey(asideOutside, at.host, at.fp), 0)
		}
		for k, err := range scan(txn, []byte{kindAside, asideOutside}, start, 0) {
			if err != nil {
				return err
			}
			row, ok, err := uriRowAt(txn, k.host, k.fp())
			if err != nil {
				return err
			}
			next = cursorBehind(k.host, k.fp())
			if ok {
				r, err := row.record()
				if err != nil {
					return damaged(uriKey(k.host, k.fp()), err)
				}
				list = append(list, r)
			}
			if len(list) == n {
				return nil
			}
		}
		next = ""
		return nil
	})
	if err != nil {
		return nil, "", fmt.Errorf("list the URIs out of scope: %w", err)
	}
	return list, next, nil
}

// ReturnToScope makes URIs that were found out of scope due as they were before, and returns their number. It skips
// URIs that are claimed or were not found out of scope.
func (f *Frontier) ReturnToScope(now time.Time, us ...uri.URI) (returned int, err error) {
	err = updateAll(f, us, steerBatch, func(c *change, some []uri.URI) error {
		n, err := c.returnToScope(now, some)
		c.after(func() { returned += n })
		return err
	})
	if err != nil {
		return returned, fmt.Errorf("return URIs to the queue: %w", err)
	}
	return returned, nil
}

func (c *change) returnToScope(now time.Time, us []uri.URI) (returned int, err error) {
	for _, u := range us {
		h := c.f.hosts[u.Host()]
		if h == nil {
			continue
		}
		d, fp := c.draft(h.name), newFingerprint(u.String())
		was, ok, err := uriRowFor(c.txn, h.id, fp, u)
		if err != nil {
			return 0, err
		}
		if !ok || !was.outside() || d.slotClaiming(fp) != nil {
			continue
		}
		is := was
		is.Due, is.DueInScope = dueMillis(fromMicros(was.DueInScope), now), 0
		is.LastStatus, is.Why = is.Status, whyBack
		if err := c.putURI(d, fp, was, is); err != nil {
			return 0, err
		}
		returned++
	}
	return returned, nil
}
