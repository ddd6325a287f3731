package frontier

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
	"time"

	"github.com/arcrawl/arcrawl/uri"
)

// Verb is what an operator has done to URIs.
type Verb string

// The verbs of [Frontier.Steer].
const (
	// Force makes URIs due now. One that is due already stays where it is, so that nothing is pushed back.
	Force Verb = "force"
	// Reschedule makes URIs due at a given time.
	Reschedule Verb = "reschedule"
	// Hold keeps URIs from being handed out. They keep their due times and all that was learned of them.
	Hold Verb = "hold"
	// Release ends a hold: a URI is due again when it was.
	Release Verb = "release"
	// Forget removes URIs and all that was learned of them. What is found again later is new.
	Forget Verb = "forget"
)

// Verbs lists all verbs.
func Verbs() []Verb { return []Verb{Force, Reschedule, Hold, Release, Forget} }

// Action is a verb and its time.
type Action struct {
	Verb Verb
	Due  time.Time // of Reschedule; at most ten years ahead

	// Spread is over how long a time behind the due time Force and Reschedule strew the URIs, each at a moment that
	// depends on nothing but its name; zero makes all due at the same moment. Politeness holds in either case.
	Spread time.Duration
}

func (a Action) check() error {
	switch a.Verb {
	case Force, Hold, Release, Forget:
	case Reschedule:
		if a.Due.IsZero() {
			return errors.New("reschedule: the time is not given")
		}
	default:
		return fmt.Errorf("nothing is called %q; write one of %q", a.Verb, Verbs())
	}
	if a.Spread < 0 {
		return errors.New("the time to spread over is negative")
	}
	return nil
}

// Steered says what became of selected URIs.
type Steered struct {
	Matched    int64 // were selected
	Changed    int64 // are not as they were
	InProgress int64 // were left alone because they are being visited; a visit's end would undo the change
}

// Plus is the sum of two results.
func (s Steered) Plus(t Steered) Steered {
	return Steered{Matched: s.Matched + t.Matched, Changed: s.Changed + t.Changed, InProgress: s.InProgress + t.InProgress}
}

// steerBatch is how many URIs are changed in one transaction, if they are not too long for it; the lock is held for some hundred µs.
const steerBatch = 40

// Steer does something to the next selected URIs behind a cursor, some dozens at a time, so that the crawl goes on
// meanwhile; it is called again and again until next is empty. Each call is one transaction, so a crash leaves what was
// done done, and the rest undone. To do it again does no harm.
//
// A URI that is being visited is held and released like any other: the hold begins when its visit ends. All other verbs
// leave it alone. Neither Force nor Release makes anybody impolite: a host hands out URIs at its pace, however many are
// due, and each round of its choices keeps shares for seeds, feeds and first visits; see the package comment.
func (f *Frontier) Steer(now time.Time, s Selection, a Action, from Cursor) (done Steered, next Cursor, err error) {
	if err = a.check(); err == nil {
		var list []selectedURI
		if list, next, err = f.nextSelected(s, from, steerBatch, now); err == nil {
			done, err = f.steer(now, s, a, list)
		}
	}
	if err != nil {
		return Steered{}, "", fmt.Errorf("%s URIs of the frontier: %w", a.Verb, err)
	}
	return done, next, nil
}

func (f *Frontier) steer(now time.Time, s Selection, a Action, list []selectedURI) (Steered, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return Steered{}, ErrClosed
	}
	var total Steered
	err := inBatches(list, func(some []selectedURI) error {
		done, err := f.steerOnce(now, s, a, some)
		if err == nil {
			total = total.Plus(done)
		}
		return err
	})
	return total, err
}

func (f *Frontier) steerOnce(now time.Time, s Selection, a Action, list []selectedURI) (done Steered, err error) {
	if len(list) == 0 {
		return done, nil
	}
	c := f.begin()
	defer c.discard()
	var forgotten []uriHash
	for _, x := range list {
		d := c.draft(x.h.name)
		was, ok, err := uriRowAt(c.txn, x.h.id, x.fp)
		if err != nil {
			return done, err
		}
		claimed := d.slotClaiming(x.fp) != nil
		if !ok || !s.matchesStates(was, claimed, millis(now)) {
			continue // it has changed meanwhile
		}
		done.Matched++
		if claimed && a.Verb != Hold && a.Verb != Release {
			done.InProgress++
			continue
		}
		if a.Verb == Forget {
			forgotten = append(forgotten, f.knownURIs.hash(string(was.URI)))
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
	if err := c.commit(); err != nil {
		return Steered{}, err
	}
	f.knownURIs.forget(forgotten)
	return done, nil
}

// apply is the row after the action.
func (a Action) apply(w uriRow, fp fingerprint, now time.Time) uriRow {
	switch a.Verb {
	case Hold:
		w.Held = true
	case Release:
		w.Held = false
	case Reschedule:
		w.Due, w.Why = dueMillis(a.Due.Add(a.spreadOffset(fp)), now), whyAsked
	case Force:
		if w.Due == 0 || w.Due > millis(now) {
			w.Due, w.Why = dueMillis(now.Add(a.spreadOffset(fp)), now), whyAsked
		}
	}
	return w
}

// strewn is where in Spread a URI comes: the fingerprint, read as a fraction, of Spread.
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
