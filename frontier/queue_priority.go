package frontier

import (
	"slices"

	"github.com/dgraph-io/badger/v4"
)

// maxUrgent is how many urgent URIs of a host are remembered as such outside the crowd. A site that has more news at once
// than this is not served in the order of their coming anyway.
const maxPriority = 1024

// haste is how far a URI goes before others when it is due.
type priority uint8

const (
	noPriority priority = iota
	promptPriority
	urgentPriority
)

func (w uriRow) priority() priority {
	switch {
	case w.Urgent:
		return urgentPriority
	case w.Prompt:
		return promptPriority
	}
	return noPriority
}

// hurry notes with what haste the URI of this place waits.
func (s *state) setPriority(at place, h priority) {
	if h != urgentPriority {
		s.urgent = removePlace(s.urgent, at)
	}
	if h != promptPriority {
		s.prompt = removePlace(s.prompt, at)
	}
	switch {
	case at.isNone():
	case h == urgentPriority:
		s.urgent = insertPlace(s.urgent, at)
	case h == promptPriority:
		s.prompt = insertPlace(s.prompt, at)
	}
}

// calm forgets the place of a URI that is claimed, or moves.
func (s *state) clearPriority(at place) { s.setPriority(at, noPriority) }

// with is a list of places in order that has this one too, unless it has as many as it may.
func insertPlace(list []place, at place) []place {
	if i, found := slices.BinarySearchFunc(list, at, place.compare); !found && len(list) < maxPriority {
		return slices.Insert(slices.Clip(list), i, at)
	}
	return list
}

func removePlace(list []place, at place) []place {
	if i, found := slices.BinarySearchFunc(list, at, place.compare); found {
		return slices.Delete(slices.Clone(list), i, i+1)
	}
	return list
}

// promptTurns is the length of a round in which one choice is left to all the rest, when more feeds are due than can be visited.
const promptRound = 4

// first finds the URI that goes before the queue: the urgent one that has been due for longest, then the prompt one. There is none
// if none is due, or if it is the turn of the others: of each round of choices one is theirs, so that a flood of news or
// of feeds stops nothing else.
func choosePriority(txn *badger.Txn, host uint32, s *state, now int64) (place, uriRow, error) {
	switch {
	case len(s.urgent) == 0 || s.urgent[0].due() > now:
		s.urgentInRow = 0
	default:
		if s.urgentInRow++; s.urgentInRow%roundLength != 0 {
			w, err := readPlaced(txn, host, s.urgent[0])
			return s.urgent[0], w, err
		}
	}
	switch {
	case len(s.prompt) == 0 || s.prompt[0].due() > now:
		s.promptInRow = 0
	default:
		if s.promptInRow++; s.promptInRow%promptRound != 0 {
			w, err := readPlaced(txn, host, s.prompt[0])
			return s.prompt[0], w, err
		}
	}
	return place{}, uriRow{}, nil
}
