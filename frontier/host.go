package frontier

import (
	"math"
	"slices"

	"github.com/fxamacker/cbor/v2"

	"github.com/arcrawl/arcrawl/uri"
)

// never is the time, in ms, at which a host is ready that must first be told something.
const never = math.MaxInt64

// maxValence bounds the slots of a host, and with them how far a search in its queue passes over claimed URIs.
const maxValence = 256

// host is a host in memory. All hosts are in memory, their URIs are not.
type host struct {
	id         uint32
	name       uri.Host
	pos        int   // in the heap
	readyAt    int64 // ms; the heap is ordered by it
	ownReadyAt int64 // ms; the same without its group
	group      *hostGroup

	// folders is what came to each folder, or went, while those of the host are being counted; nil at all other times.
	folders map[fingerprint]int64
	state
}

// state is what a transaction changes: it works on a clone, which takes the place of the original when it is
// committed. Times are in ms.
type state struct {
	// head is the place of the first URI that waits unclaimed, none when none does. It is always exact.
	head place

	// ahead are the places that follow head, as far as they are known, in order and without a gap; of unclaimed URIs, like
	// head. The slice is shared by clones: it is cut or replaced, never written.
	ahead []place

	pool *pool // nil while the host is not crowded

	// urgent are the places of urgent URIs that wait unclaimed, in order, as far as they came since the frontier was opened;
	// hurried is how many were handed out in a row. The slice is shared by clones, like ahead.
	urgent      []place
	urgentInRow int64

	// prompt are those of prompt URIs, and prompted how many of these were handed out in a row.
	prompt      []place
	promptInRow int64

	slots    []slot
	valence  int   // as last asked for
	rest     int64 // nothing is handed out before
	asked    int64 // the part of rest that the server asked for, which goes for the whole group
	failures int   // times in a row that the host was down
	usual    int64 // ms; the last politeness delay, 0 if it was no longer than the rest after a crash

	paused int64 // since when an operator has it hand out nothing; 0 while it may

	uris, queued, forbidden, held int64

	counted bool // the URIs of each folder are counted, all of them
}

// slot is the right to make one visit at a time.
type slot struct {
	wake int64 // nothing is handed out through this slot before

	serial   uint64      // of the claim that has it; 0 when it is free, and then what follows is zero too
	fp       fingerprint // of the claimed URI
	place    place       // of the claimed URI in the queue; none if it is on demand
	scheme   string      // of the claimed URI
	known    bool        // the claimed URI has a row
	listed   bool        // as forbidden
	held     bool        // by an operator: it gets no place when it is settled
	diverted bool
	priority priority     // of the claimed URI
	sooner   int64        // when it is due at the latest once it is settled, in ms; 0 if nobody wants it sooner
	reported sourceReport // of the claimed URI since the claim
	reopened bool         // the origin's rules changed since the claim
}

func (s state) clone() state {
	s.slots = slices.Clone(s.slots)
	return s
}

// taker is the slot that has claimed the URI, or nil.
func (s *state) slotClaiming(fp fingerprint) *slot {
	for i := range s.slots {
		if s.slots[i].serial != 0 && s.slots[i].fp == fp {
			return &s.slots[i]
		}
	}
	return nil
}

// slotOf is the slot that the claim has, or nil.
func (s *state) slotBySerial(serial uint64) *slot {
	for i := range s.slots {
		if serial != 0 && s.slots[i].serial == serial {
			return &s.slots[i]
		}
	}
	return nil
}

// free is the free slot that wakes first, or nil when all are taken.
func (s *state) firstFreeSlot() *slot {
	var first *slot
	for i := range s.slots {
		if c := &s.slots[i]; c.serial == 0 && (first == nil || c.wake < first.wake) {
			first = c
		}
	}
	return first
}

// ready is when the host can next hand out a URI.
func (s *state) readyTime() int64 {
	slot := s.firstFreeSlot()
	if slot == nil || s.head.isNone() || s.paused != 0 || s.diverting() {
		return never
	}
	return max(s.head.due(), slot.wake, s.rest)
}

func (s *state) diverting() bool {
	return slices.ContainsFunc(s.slots, func(c slot) bool { return c.diverted })
}

func (s *state) claims() int64 {
	var n int64
	for i := range s.slots {
		if s.slots[i].serial != 0 {
			n++
		}
	}
	return n
}

// enqueue tells that the URI of this place stands there now.
func (s *state) enqueue(at place) {
	if at.isNone() {
		return
	}
	if taker := s.slotClaiming(at.fp()); taker != nil {
		taker.place = at
		return
	}
	s.pool.returnPlace(at)
	switch i, found := slices.BinarySearchFunc(s.ahead, at, place.compare); {
	case s.head.isNone():
		s.head = at
	case at == s.head, found:
	case at.before(s.head):
		s.trimAhead(slices.Insert(slices.Clip(s.ahead), 0, s.head))
		s.head = at
	case i < len(s.ahead):
		s.trimAhead(slices.Insert(slices.Clip(s.ahead), i, at))
	}
}

// keepAhead is to how many places those that are known to follow head may grow.
const keepAhead = 2 * minReadAhead

// look keeps the first of the places that follow head, one of which has just come.
func (s *state) trimAhead(ahead []place) {
	s.ahead = ahead[:min(len(ahead), max(len(ahead)-1, keepAhead))]
}

// overlook forgets a place behind head, whose URI is claimed out of turn or moves.
func (s *state) dropAhead(at place) {
	if i, found := slices.BinarySearchFunc(s.ahead, at, place.compare); found {
		s.ahead = slices.Delete(slices.Clone(s.ahead), i, i+1)
	}
}

// mark is the watermark: no place of the host's queue lies below it.
func (s *state) watermark() place {
	low := s.head
	for i := range s.slots {
		low = earlierPlace(low, s.slots[i].place)
	}
	if low.isNone() {
		return lastPlace
	}
	return low
}

// fit gives the host as many slots as its valence says. Claimed ones stay until they are free; of the free ones those
// go first that wake first, so that a lowered valence never shortens a politeness delay.
func (s *state) resizeSlots(valence int) {
	valence = min(max(valence, 1), maxValence)
	s.valence = valence
	for len(s.slots) < valence {
		s.slots = append(s.slots, slot{})
	}
	for len(s.slots) > valence {
		first := s.firstFreeSlot()
		if first == nil {
			return
		}
		i := slices.IndexFunc(s.slots, func(c slot) bool { return c == *first })
		s.slots = slices.Delete(s.slots, i, i+1)
	}
}

func (s *state) hostRow(name uri.Host) hostRow {
	mark := s.watermark()
	r := hostRow{
		Name: cbor.ByteString(name), Rest: s.rest, Failures: s.failures, Mark: cbor.ByteString(mark[:]),
		URIs: s.uris, Queued: s.queued, Forbidden: s.forbidden, Held: s.held, Paused: s.paused, Asked: s.asked, Counted: s.counted, Usual: s.usual, Wake: make([]int64, len(s.slots)),
	}
	for i := range s.slots {
		r.Wake[i] = s.slots[i].wake
	}
	return r
}
