package frontier

import "time"

// makeSooner brings the due time of a known URI forward, and reports whether its place moved.
func (c *change) makeSooner(d *draft, n newCandidate, now time.Time) (bool, error) {
	was, ok, err := uriRowAt(c.txn, d.h.id, n.fp)
	if err != nil || !ok || was.Due == 0 && n.RobotsVia == "" {
		return false, err
	}
	due := dueMillis(n.Due, now)
	if due == 0 {
		due = dueMillis(now, now)
	}
	report := sourceReport{micros(n.ReportedChange), micros(n.ReportedUnchanged)}
	is := was
	news := is.mergeReport(report)
	if s := d.slotClaiming(n.fp); s != nil {
		d.dirty = true // so that the draft replaces the host in memory; on disk only the report changes
		if s.sooner == 0 || due < s.sooner {
			s.sooner = due
		}
		s.reported = s.reported.merge(report)
		if news {
			err = c.putURI(d, n.fp, was, is) // in case the claim is released
		}
		return true, err
	}
	if is.Due == 0 || is.Due > due {
		is.Due = due
	}
	is.Urgent = was.Urgent || n.Urgent && is.Due <= due
	moved := is.Due != was.Due || is.Urgent != was.Urgent
	if n.RobotsVia != "" && string(was.RobotsVia) != n.RobotsVia {
		is.RobotsVia, moved = bounded(n.RobotsVia), true
	}
	if moved {
		is.Why = WhySooner
	}
	if !moved && !news {
		return false, nil
	}
	return moved, c.putURI(d, n.fp, was, is)
}

// sourceReport holds what feeds and sitemaps report about a URI: when it last changed, and the latest time before
// that at which they had not reported the change yet. Times are in µs.
type sourceReport struct{ changed, unchanged int64 }

// merge combines two reports: the latest change, and the earliest time without one.
func (h sourceReport) merge(o sourceReport) sourceReport {
	if o.changed <= h.changed {
		return h
	}
	if h.changed != 0 {
		o.unchanged = h.unchanged
	}
	return o
}

// mergeReport adds a report to the row, and reports whether the row changed.
func (w *uriRow) mergeReport(report sourceReport) bool {
	was := sourceReport{w.ReportedChange, w.ReportedUnchanged}
	is := was.merge(report)
	w.ReportedChange, w.ReportedUnchanged = is.changed, is.unchanged
	return is != was
}
