package frontier

import (
	"errors"
	"fmt"
	"time"

	"github.com/dgraph-io/badger/v4"

	"github.com/arcrawl/arcrawl/uri"
)

// Claim is the right, and the duty, to visit one URI once. Exactly one of four calls ends it: [Frontier.Settle],
// [Frontier.Abandon], [Frontier.Release] or [Frontier.Divert]. The zero value is stale.
type Claim struct {
	Record  Record
	Overdue time.Duration // how long after its due time it was claimed; zero if it was not due

	NeverAnswered bool // nothing at the name of the host has ever answered a request
	HostFailures  int  // times in a row that the host could not be reached

	owner  *Frontier // a claim is stale for any other frontier
	serial uint64    // unique among the claims of owner
	uri    uri.URI   // the claimed URI, even if the caller changes Record
}

// Claim returns the next URI that is due, from a host that has a free slot and does not rest. ok is false if there is
// none now. Nothing is written, except before the first claim after [Open].
// [Options].MaxDoubtful bounds the claims of hosts that do not answer.
func (f *Frontier) Claim(now time.Time) (c Claim, ok bool, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return Claim{}, false, ErrClosed
	}
	h := f.firstClaimable(now.UnixMilli())
	if h == nil {
		return Claim{}, false, nil
	}
	if f.quiet {
		if err := f.endQuiet(); err != nil {
			return Claim{}, false, fmt.Errorf("note that a URI is claimed: %w", err)
		}
	}
	err = f.View(func(txn *badger.Txn) error {
		s := h.clone()
		at, w, err := f.chooseURI(txn, h, &s, now.UnixMilli())
		if err != nil {
			return err
		}
		record, err := w.record()
		if err != nil {
			return damaged(uriKey(h.id, at.fp()), err)
		}
		c = f.newClaim(s.firstFreeSlot(), record, w, at.fp(), now)
		c.NeverAnswered, c.HostFailures = s.met == metNever, s.failures
		if err := s.dropPlace(txn, h.id, at, f.readAhead()); err != nil {
			return err
		}
		f.setState(h, s)
		return nil
	})
	if err != nil {
		return Claim{}, false, fmt.Errorf("claim a URI of %s: %w", h.name, err)
	}
	return c, true, nil
}

// newClaim claims a URI through a slot. w is the row of the URI, the zero row if it has none.
func (f *Frontier) newClaim(s *slot, r Record, w uriRow, fp fingerprint, now time.Time) Claim {
	f.serial++
	*s = slot{
		wake: s.wake, serial: f.serial, fp: fp, place: w.place(fp), scheme: r.URI.Scheme(), known: w.URI != "",
		listed: w.Forbidden, outside: w.outside(), held: w.Held, diverted: s.diverted, priority: w.priority(),
	}
	c := Claim{Record: r, owner: f, serial: f.serial, uri: r.URI}
	if !r.Due.IsZero() {
		c.Overdue = max(now.Sub(r.Due), 0)
	}
	return c
}

// dropPlace removes a place that is claimed or moves. If it is the head, dropPlace finds the next one and may read up
// to n places for that.
func (s *state) dropPlace(txn *badger.Txn, host uint32, at place, n int) error {
	s.clearPriority(at)
	if at.isNone() || s.head != at {
		s.dropAhead(at)
		return nil
	}
	return s.advance(txn, host, n)
}

// advance moves head to the next place. If none is known it reads n. Reading skips at most as many places as the host
// has slots.
func (s *state) advance(txn *badger.Txn, host uint32, n int) error {
	if len(s.ahead) == 0 {
		ahead, err := readPlaces(txn, host, s.head, s, n)
		if err != nil {
			return err
		}
		s.ahead = ahead
	}
	s.head = place{}
	if len(s.ahead) > 0 {
		s.head, s.ahead = s.ahead[0], s.ahead[1:]
	}
	return nil
}

// The first places of a queue are read several at a time, since each read looks into every log that waits to be merged.
// The fewer hosts there are, the more places are read: between minReadAhead and maxReadAhead for a host, and at most
// maxReadAheadTotal for all.
const (
	minReadAhead      = 12
	maxReadAhead      = 48
	maxReadAheadTotal = 1 << 20
)

// readAhead returns the number of places to read from a queue at a time.
func (f *Frontier) readAhead() int {
	return min(max(maxReadAheadTotal/max(len(f.byID), 1), minReadAhead), maxReadAhead)
}

// readPlaces returns up to n places of unclaimed URIs that follow the given one.
func readPlaces(txn *badger.Txn, host uint32, from place, s *state, n int) (list []place, err error) {
	for k, err := range scan(txn, key(kindQueue, host, nil), append(queueKey(host, from), 0), 0) {
		if err != nil {
			return nil, err
		}
		p := place(k.rest)
		if s.slotClaiming(p.fp()) != nil {
			continue
		}
		if list == nil {
			list = make([]place, 0, min(n, int(s.queued)))
		}
		if list = append(list, p); len(list) == n {
			break
		}
	}
	return list, nil
}

// NextReady returns the earliest time at which [Frontier.Claim] can return a URI; it is in the past if there is one
// now. ok is false if only a settlement, a release or a new URI can make one ready.
func (f *Frontier) NextReady() (t time.Time, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return time.Time{}, false
	}
	h := f.queue.first()
	if h == nil || h.readyAt == never {
		return time.Time{}, false
	}
	return time.UnixMilli(h.readyAt).UTC(), true
}

// Release ends a claim without a visit. Its URI keeps its due time, and its slot is free at once. Nothing is written.
// If the host was sent a request, call [Frontier.Abandon] instead.
func (f *Frontier) Release(c Claim, _ time.Time) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	h, err := f.claimedHost(c)
	if err != nil {
		return fmt.Errorf("release %s: %w", c.uri, err)
	}
	s := h.clone()
	s.releaseSlot(c.serial, 0)
	s.resizeSlots(f.o.Valence(h.name))
	f.setState(h, s)
	return nil
}

// Abandon ends a claim whose visit failed on our side after its host had been sent a request. Its URI keeps its due
// time, and its slot sleeps for rest, at most a day, as after any other visit. If the rest cannot be written, the
// next [Open] treats the stop before it as unclean.
func (f *Frontier) Abandon(c Claim, finished time.Time, rest time.Duration) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	h, err := f.claimedHost(c)
	if err != nil {
		return fmt.Errorf("abandon the visit of %s: %w", c.uri, err)
	}
	change := f.begin()
	defer change.discard()
	d := change.draft(h.name)
	d.releaseSlot(c.serial, millis(finished.Add(min(rest, maxRest))))
	d.usual = max(d.usual, f.usualRest(min(rest, maxRest)))
	d.resizeSlots(f.o.Valence(h.name))
	d.dirty = true
	if change.commit() != nil { // for example on a full disk, which must not end the crawl
		f.restUnsaved = true
		f.setState(h, d.state)
	}
	return nil
}

// releaseSlot ends a claim without a settlement. Its slot sleeps until wake, in ms, or until it would have woken
// anyway. The URI waits again at its place in the queue.
func (s *state) releaseSlot(serial uint64, wake int64) {
	claimed := s.slotBySerial(serial)
	at, p := claimed.place, claimed.priority
	*claimed = slot{wake: max(claimed.wake, wake)}
	s.enqueue(at)
	s.setPriority(at, p)
}

// Divert spends the slot of a claim on another URI of the same host: on robots.txt, if its rules must be known before
// the claimed URI may be visited. The claimed URI keeps its due time, and c is stale afterwards.
//
// A URI that is not known gets an on-demand record with the hop path P; it becomes known when the new claim is
// settled. A URI that waits in the queue is visited out of turn. Divert returns [ErrClaimed] if the URI is being
// visited through another slot; c is still valid then.
func (f *Frontier) Divert(c Claim, to uri.URI, now time.Time) (Claim, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	diverted, err := f.divert(c, to, now)
	if err != nil {
		return Claim{}, fmt.Errorf("divert the visit of %s to %s: %w", c.uri, to, err)
	}
	return diverted, nil
}

func (f *Frontier) divert(c Claim, to uri.URI, now time.Time) (diverted Claim, err error) {
	h, err := f.claimedHost(c)
	if err != nil {
		return Claim{}, err
	}
	if to.IsZero() || to.Host() != h.name {
		return Claim{}, errors.New("it is on another host")
	}
	fp := newFingerprint(to.String())
	s := h.clone()
	claimed := s.slotBySerial(c.serial)
	if other := s.slotClaiming(fp); other != nil && other != claimed {
		return Claim{}, ErrClaimed
	}
	err = f.View(func(txn *badger.Txn) error {
		w, ok, err := uriRowFor(txn, h.id, fp, to)
		if err != nil {
			return err
		}
		record := Record{
			URI: to, Hops: uri.HopPath(uri.Prereq), Via: c.uri.String(), Seed: c.Record.Seed,
			History: History{FirstSeen: now},
		}
		if ok {
			if record, err = w.record(); err != nil {
				return damaged(uriKey(h.id, fp), err)
			}
		}
		at, p := claimed.place, claimed.priority
		claimed.diverted = true
		diverted = f.newClaim(claimed, record, w, fp, now)
		diverted.NeverAnswered, diverted.HostFailures = s.met == metNever, s.failures
		s.enqueue(at)
		s.setPriority(at, p)
		return s.dropPlace(txn, h.id, w.place(fp), f.readAhead())
	})
	if err != nil {
		return Claim{}, err
	}
	f.setState(h, s)
	return diverted, nil
}
