package frontier

import (
	"errors"
	"fmt"
	"time"
)

// Imported is the result of importing entries.
type Imported struct {
	New        int // became known
	Known      int // were known, and did not change
	Replaced   int // were known, and were replaced by the entry
	InProgress int // were not replaced because they are being visited
	Refused    int // their host or folder is full
	Foreign    int // their hosts belong to other stores of the crawl: import them there
}

// Plus returns the sum of two results.
func (i Imported) Plus(j Imported) Imported {
	return Imported{
		New: i.New + j.New, Known: i.Known + j.Known, Replaced: i.Replaced + j.Replaced,
		InProgress: i.InProgress + j.InProgress, Refused: i.Refused + j.Refused,
		Foreign: i.Foreign + j.Foreign,
	}
}

// Import adds entries with all their history. Known URIs do not change, unless replace is set; so an import may be
// interrupted and repeated. Import writes batches of some dozens of entries. After an error some of them may be known
// already.
func (f *Frontier) Import(now time.Time, replace bool, entries ...Entry) (Imported, error) {
	var total Imported
	err := updateAll(f, entries, steerBatch, func(c *change, some []Entry) error {
		done, err := c.importAll(now, replace, some)
		c.after(func() { total = total.Plus(done) })
		return err
	})
	if err != nil {
		return total, fmt.Errorf("import into the frontier: %w", err)
	}
	return total, nil
}

func (c *change) importAll(now time.Time, replace bool, entries []Entry) (done Imported, err error) {
	for _, e := range entries {
		if e.URI.IsZero() {
			return done, errors.New("an entry has no URI")
		}
		if c.f.IsForeign(e.URI.Host()) {
			done.Foreign++
			continue
		}
		d := c.draft(e.URI.Host())
		fp := newFingerprint(e.URI.String())
		was, ok, err := uriRowFor(c.txn, d.h.id, fp, e.URI)
		if errors.Is(err, ErrCollision) {
			done.Known++
			c.f.collisions.Add(1)
			continue
		}
		full := false
		if err == nil && !ok {
			full, err = c.countURI(d, e.URI)
		}
		switch {
		case err != nil:
			return done, err
		case full:
			done.Refused++
			continue
		case ok && !replace:
			done.Known++
			continue
		case d.slotClaiming(fp) != nil:
			done.InProgress++
			continue
		case ok:
			done.Replaced++
		default:
			done.New++
		}
		is := newURIRow(e.Record, dueMillis(e.Due, now))
		is.Held, is.Forbidden = e.Held, e.Forbidden
		if err := c.putURI(d, fp, was, is); err != nil {
			return done, err
		}
	}
	return done, nil
}
