package frontier

import (
	"fmt"
	"time"

	"github.com/arcrawl/arcrawl/uri"
)

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
