package frontier

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"time"

	"github.com/arcrawl/arcrawl/uri"
)

// Verb names an action of an operator on URIs.
type Verb string

// The verbs of [Frontier.Steer].
const (
	// Force makes URIs due now. A URI that is due already keeps its place, so that it is not delayed.
	Force Verb = "force"
	// Reschedule makes URIs due at a given time.
	Reschedule Verb = "reschedule"
	// Hold stops URIs from being handed out. They keep their due times and their history.
	Hold Verb = "hold"
	// Release ends a hold. The due time of a URI is the same as before.
	Release Verb = "release"
	// Forget removes URIs with their history. A URI that is found again later is new.
	Forget Verb = "forget"
)

// Verbs returns all verbs for URIs.
func Verbs() []Verb { return []Verb{Force, Reschedule, Hold, Release, Forget} }

// Action is a verb with its time.
type Action struct {
	Verb Verb
	Due  time.Time // of Reschedule; at most ten years ahead

	// Spread is the time after the due time over which Force and Reschedule spread the URIs; zero makes all due at the
	// same time. The offset of a URI depends only on its name. Politeness applies in either case.
	Spread time.Duration
}

func (a Action) check() error {
	switch a.Verb {
	case Force, Hold, Release, Forget:
	case Reschedule:
		if a.Due.IsZero() {
			return invalidf("reschedule: the time is not given")
		}
	default:
		return invalidf("unknown verb %q; valid verbs: %q", a.Verb, Verbs())
	}
	if a.Spread < 0 {
		return invalidf("the time to spread over is negative")
	}
	return nil
}

// Steered is the result of an action on selected URIs.
type Steered struct {
	Matched    int64 `json:"matched"`
	Changed    int64 `json:"changed"`
	InProgress int64 `json:"in_progress"` // not changed because they are being visited
}

// Plus returns the sum of two results.
func (s Steered) Plus(t Steered) Steered {
	return Steered{Matched: s.Matched + t.Matched, Changed: s.Changed + t.Changed, InProgress: s.InProgress + t.InProgress}
}

// steerBatch is how many URIs are changed in one transaction, if they fit. The lock is held for some hundred µs.
const steerBatch = 40

// Steer applies an action to the next selected URIs behind a cursor, some dozens at a time, while the crawl
// continues. Call it again with next until that is empty. Each call is one transaction: after a crash some URIs are
// changed, and the others are not. Repeating an action does no harm.
//
// Hold and Release apply to a URI that is being visited too: the hold begins when its visit ends. The other verbs
// skip such URIs. Force and Release never break politeness: a host hands out URIs at its pace, however many are due,
// and each round of choices keeps shares for seeds, feeds and first visits; see the package comment.
func (f *Frontier) Steer(now time.Time, s Selection, a Action, from Cursor) (done Steered, next Cursor, err error) {
	if err = a.check(); err == nil {
		var list []selectedURI
		if list, next, err = f.nextSelected(s, from, steerBatch, now); err == nil {
			err = updateAll(f, list, steerBatch, func(c *change, some []selectedURI) error {
				part, err := c.steer(now, s, a, some)
				c.after(func() { done = done.Plus(part) })
				return err
			})
		}
	}
	if err != nil {
		return Steered{}, "", fmt.Errorf("%s URIs of the frontier: %w", a.Verb, err)
	}
	return done, next, nil
}

func (c *change) steer(now time.Time, s Selection, a Action, list []selectedURI) (done Steered, err error) {
	var forgotten []RecentHash
	for _, x := range list {
		if !c.f.isKnownHost(x.h) {
			continue
		}
		d := c.draft(x.h.name)
		was, ok, err := uriRowAt(c.txn, x.h.id, x.fp)
		if err != nil {
			return done, err
		}
		claimed := d.slotClaiming(x.fp) != nil
		if !ok || !s.matchesStates(was, claimed, millis(now)) {
			continue // it changed after it was selected
		}
		done.Matched++
		if claimed && a.Verb != Hold && a.Verb != Release {
			done.InProgress++
			continue
		}
		if a.Verb == Forget {
			forgotten = append(forgotten, c.f.knownURIs.Hash(string(was.URI)))
			done.Changed++
			if err := c.forget(d, x.fp, was); err != nil {
				return done, err
			}
			continue
		}
		is := a.apply(was, x.fp, now)
		if is.Due == was.Due && is.Held == was.Held {
			continue
		}
		done.Changed++
		if err := c.putURI(d, x.fp, was, is); err != nil {
			return done, err
		}
	}
	c.after(func() { c.f.knownURIs.Forget(forgotten) })
	return done, nil
}

// apply returns the row after the action.
func (a Action) apply(w uriRow, fp fingerprint, now time.Time) uriRow {
	switch a.Verb {
	case Hold:
		w.Held = true
	case Release:
		w.Held = false
	case Reschedule:
		w.DueInScope = 0 // the operator's time replaces the one that is kept
		w.Due, w.Why = dueMillis(a.Due.Add(a.spreadOffset(fp)), now), whyAsked
	case Force:
		if w.Due == 0 || w.Due > millis(now) {
			w.Due, w.Why = dueMillis(now.Add(a.spreadOffset(fp)), now), whyAsked
		}
	}
	return w
}

// spreadOffset returns the offset of a URI within Spread: the fingerprint, read as a fraction, times Spread.
func (a Action) spreadOffset(fp fingerprint) time.Duration {
	high, _ := bits.Mul64(binary.BigEndian.Uint64(fp[:]), uint64(a.Spread))
	return time.Duration(high)
}

// forget removes a URI that is not claimed.
func (c *change) forget(d *draft, fp fingerprint, was uriRow) error {
	d.dirty = true
	d.uris--
	d.held -= countIf(was.Held)
	if err := c.movePlace(d, was.place(fp), place{}, nil); err != nil {
		return err
	}
	if was.Forbidden {
		d.forbidden--
		if err := c.txn.Delete(forbiddenKey(d.h.id, fp)); err != nil {
			return err
		}
	}
	if err := c.listOutside(d.h.id, fp, was.outside(), false); err != nil {
		return err
	}
	if len(was.RobotsVia) > 0 {
		if err := c.txn.Delete(robotsKey(d.h.id, uri.FromCanonical(string(was.URI)))); err != nil {
			return err
		}
		c.f.robotsCopies.clear()
	}
	if len(was.Source) > 0 {
		if err := c.txn.Delete(seenKey(d.h.id, fp)); err != nil {
			return err
		}
	}
	if err := c.uncountURI(d, uri.FromCanonical(string(was.URI))); err != nil {
		return err
	}
	return c.txn.Delete(uriKey(d.h.id, fp))
}
