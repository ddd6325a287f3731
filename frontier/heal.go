package frontier

import (
	"fmt"
	"time"

	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/uri"
)

// clockTolerance is how far a stored time may be ahead of now before it is taken for one of a wrong clock.
const clockTolerance = time.Minute

// NeedsHealing reports whether due times in the store may make no sense, because the clock was ahead when they were
// written.
func (f *Frontier) NeedsHealing() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.clockWasAhead
}

// Heal corrects due times that make no sense, some thousands of URIs at a time, and returns their number. Call it
// again with next until that is empty. It holds no lock while it reads.
//
// A due time makes no sense if the visit before it is in the future, because the clock was ahead then: the wait after
// that visit begins now.
func (f *Frontier) Heal(now time.Time, from Cursor) (next Cursor, corrected int, err error) {
	const what = "correct due times of the frontier"
	wrong := map[*host][]fingerprint{}
	next, err = f.walk(what, "", from, func(h *host, fp fingerprint, w *uriRow) {
		if w.sensibleDue(now) != w.Due {
			wrong[h] = append(wrong[h], fp)
		}
	})
	if err != nil {
		return "", 0, err
	}
	for h, fps := range wrong {
		heal := func(c *change, some []fingerprint) error { return c.healURIs(h, some, now) }
		if err := updateAll(f, fps, steerBatch, heal); err != nil {
			return "", 0, fmt.Errorf("%s: %w", what, err)
		}
		corrected += len(fps)
	}
	if next == "" {
		f.mu.Lock()
		f.clockWasAhead = false
		f.mu.Unlock()
	}
	return next, corrected, nil
}

// sensibleDue returns the due time of a URI, in ms, as it should be.
func (w *uriRow) sensibleDue(now time.Time) int64 {
	visit := fromMicros(max(w.LastVisit, w.FirstSeen))
	if w.Due == 0 || !visit.After(now.Add(clockTolerance)) {
		return w.Due
	}
	wait := max(fromMillis(w.Due).Sub(visit), 0)
	return min(w.Due, dueMillis(now.Add(wait), now))
}

// healURIs corrects the due times of some URIs of a host. It skips URIs that are being visited.
func (c *change) healURIs(h *host, fps []fingerprint, now time.Time) error {
	if !c.f.isKnownHost(h) {
		return nil
	}
	d := c.draft(h.name)
	for _, fp := range fps {
		was, ok, err := uriRowAt(c.txn, h.id, fp)
		if err != nil {
			return err
		}
		if !ok || d.slotClaiming(fp) != nil {
			continue
		}
		is := was
		if is.Due = was.sensibleDue(now); is.Due == was.Due {
			continue
		}
		if err := c.putURI(d, fp, was, is); err != nil {
			return err
		}
	}
	return nil
}

// ShiftRests is called after the clock of the machine has jumped. by is how far it jumped, forward or, if negative,
// backward; now is the new time. A rest that was in progress ends as much later or earlier, so that it lasts as long as
// it should. After a jump backward, call [Frontier.Heal] too.
func (f *Frontier) ShiftRests(now time.Time, by time.Duration) error {
	hosts, err := f.allHosts()
	if err != nil {
		return err
	}
	before := millis(now.Add(-by))
	shift := func(end int64) int64 {
		if end > before {
			return end + by.Milliseconds()
		}
		return min(end, millis(now)) // it was over
	}
	noted := false
	note := func() { // with the lock held
		if !noted {
			noted, f.jumped, f.clockWasAhead = true, f.jumped+by, f.clockWasAhead || by < 0
		}
	}
	err = updateAll(f, hosts, hostBatch, func(c *change, some []*host) error {
		note()
		c.shiftRests(some, shift)
		return nil
	})
	f.mu.Lock()
	defer f.mu.Unlock()
	note() // there is no host yet
	if err != nil {
		return fmt.Errorf("move the rests of hosts after a jump of the clock: %w", err)
	}
	return nil
}

// ClockReading says between which jumps of the clock a time of day was read. The zero value stands for now.
type ClockReading struct {
	known  bool
	jumped time.Duration
}

// ReadClock returns the reading of a time of day that the caller has read just now. [Settlement] has it.
func (f *Frontier) ReadClock() ClockReading {
	f.mu.Lock()
	defer f.mu.Unlock()
	return ClockReading{true, f.jumped}
}

// presentTimes moves the times of a settlement by the jumps of the clock since they were read. The lock is held.
func (f *Frontier) presentTimes(w *pendingSettlement) {
	by := f.jumped - w.Clock.jumped
	if !w.Clock.known || by == 0 {
		return
	}
	w.Clock = ClockReading{}
	times := []*time.Time{&w.Finished, &w.RetryAfter, &w.Rest, &w.Record.Due}
	for i := range w.fresh {
		times = append(times, &w.fresh[i].Due)
	}
	for _, t := range times {
		if !t.IsZero() {
			*t = t.Add(by)
		}
	}
}

func (c *change) shiftRests(hosts []*host, shift func(int64) int64) {
	for _, h := range hosts {
		if !c.f.isKnownHost(h) {
			continue
		}
		rest, asked := shift(h.rest), shift(h.asked)
		moved := rest != h.rest || asked != h.asked
		for _, s := range h.slots {
			moved = moved || shift(s.wake) != s.wake
		}
		if !moved {
			continue
		}
		d := c.draft(h.name)
		d.rest, d.asked, d.dirty = rest, asked, true
		for i := range d.slots {
			d.slots[i].wake = shift(d.slots[i].wake)
		}
	}
}

// whyLost is the value of History.Why of a URI whose payload was in a lost file.
const whyLost = "its payload was in a lost file of the archive"

// recaptureStep is how many URIs one call of Recapture looks at.
const recaptureStep = 1000

// Recapture makes the next URIs behind a cursor due whose payload is in a lost record, so that it is archived again. It
// forgets their origins and their validators: a server that answers 304 would keep the payload away permanently. Call
// it again with next until that is empty. It reads host by host and holds no lock while it reads.
//
// due is called for each such URI and returns when to visit it. If it returns zero, the URI stays unchanged and only
// counts as matched. Nothing is delayed: a URI that is due earlier stays so. Recapture skips URIs that are being
// visited and URIs that are out of scope.
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
			when := due(x.h.name)
			if when.IsZero() {
				continue
			}
			if at := dueMillis(when, now); was.Due == 0 || was.Due > at {
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
