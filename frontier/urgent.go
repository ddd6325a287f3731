package frontier

import (
	"slices"
	"time"

	"github.com/dgraph-io/badger/v4"
)

// maxUrgent is how many urgent URIs of a host are remembered as such outside the crowd. A site that has more news at once
// than this is not served in the order of their coming anyway.
const maxUrgent = 1024

// haste is how far a URI goes before others when it is due.
type haste uint8

const (
	noHaste haste = iota
	isPrompt
	isUrgent
)

func (w uriRow) haste() haste {
	switch {
	case w.Urgent:
		return isUrgent
	case w.Prompt:
		return isPrompt
	}
	return noHaste
}

// hurry notes with what haste the URI of this place waits.
func (s *state) hurry(at place, h haste) {
	if h != isUrgent {
		s.urgent = without(s.urgent, at)
	}
	if h != isPrompt {
		s.prompt = without(s.prompt, at)
	}
	switch {
	case at.isNone():
	case h == isUrgent:
		s.urgent = with(s.urgent, at)
	case h == isPrompt:
		s.prompt = with(s.prompt, at)
	}
}

// calm forgets the place of a URI that is claimed, or moves.
func (s *state) calm(at place) { s.hurry(at, noHaste) }

// with is a list of places in order that has this one too, unless it has as many as it may.
func with(list []place, at place) []place {
	if i, found := slices.BinarySearchFunc(list, at, place.compare); !found && len(list) < maxUrgent {
		return slices.Insert(slices.Clip(list), i, at)
	}
	return list
}

func without(list []place, at place) []place {
	if i, found := slices.BinarySearchFunc(list, at, place.compare); found {
		return slices.Delete(slices.Clone(list), i, i+1)
	}
	return list
}

// promptTurns is the length of a round in which one choice is left to all the rest, when more feeds are due than can be visited.
const promptTurns = 4

// first finds the URI that goes before the queue: the urgent one that has been due for longest, then the prompt one. There is none
// if none is due, or if it is the turn of the others: of each round of choices one is theirs, so that a flood of news or
// of feeds stops nothing else.
func first(txn *badger.Txn, host uint32, s *state, now int64) (place, uriRow, error) {
	switch {
	case len(s.urgent) == 0 || s.urgent[0].due() > now:
		s.hurried = 0
	default:
		if s.hurried++; s.hurried%turns != 0 {
			w, err := placed(txn, host, s.urgent[0])
			return s.urgent[0], w, err
		}
	}
	switch {
	case len(s.prompt) == 0 || s.prompt[0].due() > now:
		s.prompted = 0
	default:
		if s.prompted++; s.prompted%promptTurns != 0 {
			w, err := placed(txn, host, s.prompt[0])
			return s.prompt[0], w, err
		}
	}
	return place{}, uriRow{}, nil
}

// hasten makes a known URI due sooner, and reports whether that moved it.
func (c *change) hasten(d *draft, n newcomer, now time.Time) (bool, error) {
	was, ok, err := row(c.txn, d.h.id, n.fp)
	if err != nil || !ok || was.Due == 0 {
		return false, err
	}
	due := dueMillis(n.Due, now)
	if due == 0 {
		due = dueMillis(now, now)
	}
	said := hearsay{micros(n.SaidChanged), micros(n.SaidNothing)}
	is := was
	told := is.told(said)
	if taker := d.taker(n.fp); taker != nil {
		d.dirty = true // it must come into memory; on disk nothing but what was said changes
		if taker.sooner == 0 || due < taker.sooner {
			taker.sooner = due
		}
		taker.said = taker.said.and(said)
		if told {
			err = c.put(d, n.fp, was, is) // in case the claim is given back
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
	return moved, c.put(d, n.fp, was, is)
}

// hearsay is what sources say of a URI: when it last changed, and until when they had said nothing before that, in µs.
type hearsay struct{ changed, nothing int64 }

// and is h with more of it: the latest change, and the first silence.
func (h hearsay) and(o hearsay) hearsay {
	if o.changed <= h.changed {
		return h
	}
	if h.changed != 0 {
		o.nothing = h.nothing
	}
	return o
}

// told takes in what a source says, and reports whether that is more than was known.
func (w *uriRow) told(said hearsay) bool {
	was := hearsay{w.SaidChanged, w.SaidNothing}
	is := was.and(said)
	w.SaidChanged, w.SaidNothing = is.changed, is.nothing
	return is != was
}
