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
	for len(entries) > 0 {
		n := min(len(entries), steerBatch)
		err := inBatches(entries[:n], func(some []Entry) error {
			done, err := f.importBatch(now, replace, some)
			if err == nil {
				total = total.Plus(done)
			}
			return err
		})
		if err != nil {
			return total, fmt.Errorf("import into the frontier: %w", err)
		}
		entries = entries[n:]
	}
	return total, nil
}

func (f *Frontier) importBatch(now time.Time, replace bool, entries []Entry) (done Imported, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return done, ErrClosed
	}
	c := f.begin()
	defer c.discard()
	for _, e := range entries {
		if e.URI.IsZero() {
			return done, errors.New("an entry has no URI")
		}
		if f.IsForeign(e.URI.Host()) {
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
	return done, c.commit()
}
