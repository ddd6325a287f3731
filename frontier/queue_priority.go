package frontier

import (
	"slices"

	"github.com/dgraph-io/badger/v4"
)

// maxPriority is how many urgent or prompt URIs of a host are remembered outside the pool. A site with more news than
// that at once is not served in the order of its news anyway.
const maxPriority = 1024

// priority says whether a URI goes before others when it is due.
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

// setPriority notes the priority of the URI that waits at a place.
func (s *state) setPriority(at place, p priority) {
	if p != urgentPriority {
		s.urgent = removePlace(s.urgent, at)
	}
	if p != promptPriority {
		s.prompt = removePlace(s.prompt, at)
	}
	switch {
	case at.isNone():
	case p == urgentPriority:
		s.urgent = insertPlace(s.urgent, at)
	case p == promptPriority:
		s.prompt = insertPlace(s.prompt, at)
	}
}

// clearPriority removes the place of a URI that is claimed, or moves.
func (s *state) clearPriority(at place) { s.setPriority(at, noPriority) }

// insertPlace inserts a place into a sorted list, unless the list is full.
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

// promptRound is the number of choices in a round that leaves one choice to all other URIs, while prompt ones are
// due.
const promptRound = 4

// choosePriority returns the urgent URI that has been due longest, or else the prompt one. It returns no place if
// none is due, or if it is the turn of the others. They have one choice in each round, so that a flood of news or
// feeds does not stop everything else.
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
