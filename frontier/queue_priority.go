package frontier

import (
	"slices"

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
