package frontier

import (
	"math"
	"net/netip"
	"slices"

	"github.com/fxamacker/cbor/v2"

	"github.com/arcrawl/arcrawl/uri"
)

// never is the readyAt, in ms, of a host that only an event can make ready.
const never = math.MaxInt64

// maxValence bounds the slots of a host, and so the number of claimed URIs that a search in its queue skips.
const maxValence = 256

// host is a host in memory. All hosts are in memory, their URIs are not.
type host struct {
	id         uint32
	name       uri.Host
	pos        int   // in the heap
	readyAt    int64 // ms; the heap is ordered by it
	ownReadyAt int64 // ms; the same, regardless of its group
	group      *hostGroup
	quotas     [quotaKinds]*quota
	waitsFor   *quota // the host is ready, and waits in the line of this quota

	vacant   bool // it was evicted, and is in the list of vacant hosts
	stray    bool // it belongs to another store, and is not visited
	leaving  bool // it is a stray, and its URIs are being removed
	mustStay bool // it was to be evicted, but has a seed or an archived URI

	// folders is the change in the number of URIs of each folder while they are being counted; nil at all other times.
	folders map[fingerprint]int64
	state
}

// isElsewhere reports whether another store counts the host.
func (h *host) isElsewhere() bool { return h.stray && (h.uris == 0 || h.leaving) }

// state is the part of a host that a transaction changes. The transaction works on a clone, which replaces the
// original when it is committed. Times are in ms.
type state struct {
	// head is the place of the first unclaimed URI in the queue, the zero place if there is none. It is always exact.
	head place

	// ahead holds the known places that follow head, in order and without a gap. Their URIs are unclaimed too. Clones
	// share the slice: it is cut or replaced, never written.
	ahead []place

	pool *pool // nil while the host is not crowded

	late *dueCount // nil while memory knows the number of due URIs without it

	first [2]priorityPlaces // of urgent and of prompt URIs

	slots    []slot
	valence  int    // the latest result of Options.Valence
	rest     int64  // end of the rest of the whole host
	asked    int64  // end of the rest that the server asked for, which applies to the whole group
	failures int    // times in a row that the host was down
	reason   string // why the host could not be reached; empty unless failures is positive

	// asker is the URI whose visit was answered with a Retry-After since the host last answered without one; zero if
	// there is none. Another URI must say so too before the host rests for longer than [MaxLoneRest].
	asker fingerprint
	met   hostMet

	address netip.Prefix // where its last visit went to, see NetworkOf; not stored
	usual   int64        // ms; the last politeness delay, 0 if it was not longer than the rest after a crash

	// answersNeeded is how many visits in a row must be fast before the host counts as one that answers. It is not
	// stored: after a start, every host has to answer twice.
	answersNeeded uint8

	paused int64 // when an operator paused the host; 0 = not paused

	uris, queued, forbidden, held int64

	counted bool // the URIs of every folder are counted
}

// slot is the right to make one visit at a time.
type slot struct {
	wake int64 // the slot sleeps until then

	serial uint64 // of the claim that has the slot; 0 if it is free

	// The fields below describe the claimed URI. They are zero if the slot is free.

	fp       fingerprint
	place    place // in the queue; zero if the URI is on demand
	scheme   string
	known    bool // it has a row
	listed   bool // as forbidden
	outside  bool // listed as out of scope
	held     bool // by an operator: it gets no place when it is settled
	diverted bool
	priority priority
	sooner   int64        // latest due time after the settlement, in ms; 0 = no limit
	reported sourceReport // since the claim
	reopened bool         // the rules of its origin changed since the claim
}

func (s state) clone() state {
	s.slots = slices.Clone(s.slots)
	return s
}

// slotClaiming returns the slot that has claimed a URI, or nil.
func (s *state) slotClaiming(fp fingerprint) *slot {
	for i := range s.slots {
		if s.slots[i].serial != 0 && s.slots[i].fp == fp {
			return &s.slots[i]
		}
	}
	return nil
}

// slotBySerial returns the slot that a claim has, or nil.
func (s *state) slotBySerial(serial uint64) *slot {
	for i := range s.slots {
		if serial != 0 && s.slots[i].serial == serial {
			return &s.slots[i]
		}
	}
	return nil
}

// firstFreeSlot returns the free slot that wakes first, or nil if all are claimed.
func (s *state) firstFreeSlot() *slot {
	var first *slot
	for i := range s.slots {
		if c := &s.slots[i]; c.serial == 0 && (first == nil || c.wake < first.wake) {
			first = c
		}
	}
	return first
}

// readyTime returns when the host can hand out its next URI.
func (s *state) readyTime() int64 {
	free := s.firstFreeSlot()
	if free == nil || s.head.isNone() || s.paused != 0 || s.diverting() {
		return never
	}
	return max(s.head.due(), free.wake, s.rest)
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

// enqueue records that a URI is at this place now.
func (s *state) enqueue(at place) {
	if at.isNone() {
		return
	}
	if claimed := s.slotClaiming(at.fp()); claimed != nil {
		claimed.place = at
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

// keepAhead is the maximum length of ahead when a place is inserted.
const keepAhead = 2 * minReadAhead

// trimAhead sets the places that follow head, after one was inserted, and drops the last one if there are too many.
func (s *state) trimAhead(ahead []place) {
	s.ahead = ahead[:min(len(ahead), max(len(ahead)-1, keepAhead))]
}

// dropAhead removes a place behind head, because its URI is claimed out of turn or moves.
func (s *state) dropAhead(at place) {
	if i, found := slices.BinarySearchFunc(s.ahead, at, place.compare); found {
		s.ahead = slices.Delete(slices.Clone(s.ahead), i, i+1)
	}
}

// watermark returns a place that no place of the host's queue precedes.
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

// resizeSlots adjusts the number of slots to the valence. Claimed slots stay until they are free. Of the free ones
// those that wake first are removed, so that a smaller valence never shortens a politeness delay.
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
		URIs: s.uris, Queued: s.queued, Forbidden: s.forbidden, Held: s.held, Paused: s.paused,
		Asked: s.asked, Counted: s.counted, Usual: s.usual, Met: int(s.met), Wake: make([]int64, len(s.slots)),
		Error: cbor.ByteString(s.reason),
	}
	if s.asker != (fingerprint{}) {
		r.Asker = cbor.ByteString(s.asker[:])
	}
	for i := range s.slots {
		r.Wake[i] = s.slots[i].wake
	}
	return r
}
