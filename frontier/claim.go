package frontier

import (
	"errors"
	"fmt"
	"time"

	"github.com/dgraph-io/badger/v4"

	"github.com/arcrawl/arcrawl/uri"
)

// Claim is the right, and the duty, to visit one URI once. It is ended by exactly one of [Frontier.Settle],
// [Frontier.Release] and [Frontier.Divert]. The zero value is stale.
type Claim struct {
	Record  Record
	Overdue time.Duration // how long after its due time it was claimed; zero for one that was not due

	owner  *Frontier // frontiers do not take each other's claims
	serial uint64    // unique among the claims of owner
	uri    uri.URI   // the claimed one, whatever the caller does with Record
}

// Claim hands out the next URI that is due, from a host that has a free slot and is rested; ok is false when there is
// none now. Nothing is written.
func (f *Frontier) Claim(now time.Time) (c Claim, ok bool, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return Claim{}, false, ErrClosed
	}
	if len(f.queue) == 0 || f.queue[0].readyAt > now.UnixMilli() {
		return Claim{}, false, nil
	}
	h := f.queue[0]
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

// take makes a claim on the URI that has this row, the zero row if none.
func (f *Frontier) newClaim(s *slot, r Record, w uriRow, fp fingerprint, now time.Time) Claim {
	f.serial++
	*s = slot{
		wake: s.wake, serial: f.serial, fp: fp, place: w.place(fp), scheme: r.URI.Scheme(), known: w.URI != "",
		listed: w.Forbidden, held: w.Held, diverted: s.diverted, priority: w.priority(),
	}
	c := Claim{Record: r, owner: f, serial: f.serial, uri: r.URI}
	if !r.Due.IsZero() {
		c.Overdue = max(now.Sub(r.Due), 0)
	}
	return c
}

// leave forgets a place that is to be claimed, or moves. Where it was the first it looks as far ahead as sight says.
func (s *state) dropPlace(txn *badger.Txn, host uint32, at place, sight int) error {
	s.clearPriority(at)
	if at.isNone() || s.head != at {
		s.dropAhead(at)
		return nil
	}
	return s.advance(txn, host, sight)
}

// advance goes on from head to the next place. When none is known it reads some, and passes over no more places than the
// host has slots.
func (s *state) advance(txn *badger.Txn, host uint32, sight int) error {
	if len(s.ahead) == 0 {
		next, err := readPlaces(txn, host, s.head, s, sight)
		if err != nil {
			return err
		}
		s.ahead = next
	}
	s.head = place{}
	if len(s.ahead) > 0 {
		s.head, s.ahead = s.ahead[0], s.ahead[1:]
	}
	return nil
}

// The first places of a queue are read some at a time: to look into it is to look into each log that waits to be merged. The fewer hosts
// there are, the more of them: not less than leastSight, and not more than maxSight or maxSighted of all hosts.
const (
	minReadAhead      = 12
	maxReadAhead      = 48
	maxReadAheadTotal = 1 << 20
)

// sight is how many places are read from a queue at a time.
func (f *Frontier) readAhead() int {
	return min(max(maxReadAheadTotal/max(len(f.byID), 1), minReadAhead), maxReadAhead)
}

// places reads some places of URIs that are not claimed, behind the given one.
func readPlaces(txn *badger.Txn, host uint32, from place, s *state, sight int) (found []place, err error) {
	o := badger.DefaultIteratorOptions
	o.PrefetchValues = false
	o.Prefix = key(kindQueue, host, nil)
	it := txn.NewIterator(o)
	defer it.Close()
	for it.Seek(queueKey(host, from)); it.Valid() && len(found) < sight; it.Next() {
		_, at, err := split(it.Item().Key(), placeLen)
		if err != nil {
			return nil, err
		}
		if p := place(at); p != from && s.slotClaiming(p.fp()) == nil {
			if found == nil {
				found = make([]place, 0, min(sight, int(s.queued)))
			}
			found = append(found, p)
		}
	}
	return found, nil
}

// NextReady is the earliest time at which [Frontier.Claim] can hand out a URI, in the past when it can now; ok is false
// when only a settlement, a release or a new URI can change that.
func (f *Frontier) NextReady() (t time.Time, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed || len(f.queue) == 0 || f.queue[0].readyAt == never {
		return time.Time{}, false
	}
	return time.UnixMilli(f.queue[0].readyAt).UTC(), true
}

// Release gives a claim back unused: its URI stays due where it was, and its slot is free at once. Nothing is written. If its host was asked
// for anything, see [Frontier.Abandon].
func (f *Frontier) Release(c Claim, _ time.Time) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	h, err := f.claimedHost(c)
	if err != nil {
		return fmt.Errorf("release %s: %w", c.uri, err)
	}
	s := h.clone()
	s.releaseSlot(c.serial, 0)
	s.resizeSlots(f.valence(h.name))
	f.setState(h, s)
	return nil
}

// Abandon gives a claim back whose visit came to nothing after its host had been asked: its URI stays due where it was, and its slot
// sleeps for the rest, a day at most, as after any other visit. If that cannot be written, the next opening takes the stop before it for an unclean one.
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
	d.resizeSlots(f.valence(h.name))
	d.dirty = true
	if change.commit() != nil { // as on a full disk, which shall not end the crawl
		f.restUnsaved = true
		f.setState(h, d.state)
	}
	return nil
}

// giveBack frees the slot of a claim, which sleeps until wake, in ms, or as long as it would have anyway. The URI waits again where it
// stands in the queue.
func (s *state) releaseSlot(serial uint64, wake int64) {
	claimed := s.slotBySerial(serial)
	at, haste := claimed.place, claimed.priority
	*claimed = slot{wake: max(claimed.wake, wake)}
	s.enqueue(at)
	s.setPriority(at, haste)
}

// Divert spends the slot of a claim on another URI of the same host: on robots.txt, when it must be known before the
// claimed URI may be visited. The claimed URI stays due where it was, and c is stale. A URI that is not known gets an
// on-demand record with the hop path P; it becomes known when the new claim is settled. One that waits in the queue is
// visited out of turn. [ErrClaimed] tells that the URI is being visited through another slot, and c is still good.
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
		at, haste := claimed.place, claimed.priority
		claimed.diverted = true
		diverted = f.newClaim(claimed, record, w, fp, now)
		s.enqueue(at)
		s.setPriority(at, haste)
		return s.dropPlace(txn, h.id, w.place(fp), f.readAhead())
	})
	if err != nil {
		return Claim{}, err
	}
	f.setState(h, s)
	return diverted, nil
}
