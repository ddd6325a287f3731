package frontier

import "time"

// hasten makes a known URI due sooner, and reports whether that moved it.
func (c *change) makeSooner(d *draft, n newCandidate, now time.Time) (bool, error) {
	was, ok, err := uriRowAt(c.txn, d.h.id, n.fp)
	if err != nil || !ok || was.Due == 0 {
		return false, err
	}
	due := dueMillis(n.Due, now)
	if due == 0 {
		due = dueMillis(now, now)
	}
	said := sourceReport{micros(n.ReportedChange), micros(n.ReportedUnchanged)}
	is := was
	told := is.mergeReport(said)
	if taker := d.slotClaiming(n.fp); taker != nil {
		d.dirty = true // it must come into memory; on disk nothing but what was said changes
		if taker.sooner == 0 || due < taker.sooner {
			taker.sooner = due
		}
		taker.reported = taker.reported.merge(said)
		if told {
			err = c.putURI(d, n.fp, was, is) // in case the claim is given back
		}
		return true, err
	}
	is.Due = min(was.Due, due)
	is.Urgent = was.Urgent || n.Urgent && is.Due <= due
	moved := is.Due != was.Due || is.Urgent != was.Urgent
	if moved {
		is.Why = whySooner
	}
	if !moved && !told {
		return false, nil
	}
	return moved, c.putURI(d, n.fp, was, is)
}

// hearsay is what sources say of a URI: when it last changed, and until when they had said nothing before that, in µs.
type sourceReport struct{ changed, nothing int64 }

// and is h with more of it: the latest change, and the first silence.
func (h sourceReport) merge(o sourceReport) sourceReport {
	if o.changed <= h.changed {
		return h
	}
	if h.changed != 0 {
		o.nothing = h.nothing
	}
	return o
}

// told takes in what a source says, and reports whether that is more than was known.
func (w *uriRow) mergeReport(said sourceReport) bool {
	was := sourceReport{w.ReportedChange, w.ReportedUnchanged}
	is := was.merge(said)
	w.ReportedChange, w.ReportedUnchanged = is.changed, is.nothing
	return is != was
}
