package frontier

import (
	"fmt"
	"time"

	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/uri"
)

// whyLost is the value of History.Why of a URI whose payload was in a lost file.
const whyLost = "its payload was in a lost file of the archive"

// recaptureStep is how many URIs one call of Recapture looks at.
const recaptureStep = 1000

// Recapture makes the next URIs behind a cursor due whose payload is in a lost record, so that it is archived again. It
// forgets their origins and their validators: a server that answers 304 would keep the payload away permanently. Call
// it again with next until that is empty. It reads host by host and holds no lock while it reads.
//
// due is called for each such URI and returns when to visit it. Nothing is delayed: a URI that is due earlier stays so.
// Recapture skips URIs that are being visited and URIs that are out of scope.
func (f *Frontier) Recapture(
	now time.Time, from Cursor, isLost func(digest.Origin) bool, due func(uri.Host) time.Time,
) (done Steered, next Cursor, err error) {
	fail := func(err error) (Steered, Cursor, error) {
		return Steered{}, "", fmt.Errorf("make URIs due whose payloads are lost: %w", err)
	}
	list, next, err := f.nextSelected(Selection{}, from, recaptureStep, now)
	if err != nil {
		return fail(err)
	}
	var lost []selectedURI
	for _, x := range list {
		o, err := x.row.Origin.origin()
		if err != nil {
			return fail(damaged(uriKey(x.h.id, x.fp), err))
		}
		if isLost(o) {
			lost = append(lost, x)
		}
	}
	err = updateAll(f, lost, steerBatch, func(c *change, some []selectedURI) error {
		part, err := c.recapture(now, some, isLost, due)
		c.after(func() { done = done.Plus(part) })
		return err
	})
	if err != nil {
		return fail(err)
	}
	return done, next, nil
}

// recapture makes some URIs due.
func (c *change) recapture(
	now time.Time, list []selectedURI, isLost func(digest.Origin) bool, due func(uri.Host) time.Time,
) (done Steered, err error) {
	for _, x := range list {
		d := c.draft(x.h.name)
		was, ok, err := uriRowAt(c.txn, x.h.id, x.fp)
		if err != nil {
			return done, err
		}
		if o, err := was.Origin.origin(); !ok || err != nil || !isLost(o) {
			continue // it changed after it was selected
		}
		done.Matched++
		if d.slotClaiming(x.fp) != nil {
			done.InProgress++
			continue
		}
		is := was
		is.Origin, is.ETag, is.LastModified = nil, "", ""
		if u := uri.FromCanonical(string(was.URI)); !was.outside() && u != u.Robots() { // robots.txt is visited on demand
			if at := dueMillis(due(x.h.name), now); was.Due == 0 || was.Due > at {
				is.Due, is.Why = at, whyLost
			}
		}
		done.Changed++
		if err := c.putURI(d, x.fp, was, is); err != nil {
			return done, err
		}
	}
	return done, nil
}
