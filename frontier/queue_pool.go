package frontier

import (
	"cmp"
	"encoding/binary"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/dgraph-io/badger/v4"
	"github.com/fxamacker/cbor/v2"
)

const (
	// crowd is how many URIs of a host must be due for their order to be a matter of policy. Fewer are visited soon anyway,
	// the one that has been due for longest first.
	crowdSize = 4

	// maxPool is how many due URIs of one host are weighed against each other, and maxPooled of all hosts.
	maxPool   = 256
	maxPooled = 1 << 17

	// poolRead is how many records are read into a pool for each claim, so that the cost of a claim is bounded. A host where
	// more URIs become due with each visit is lost anyway.
	poolRead = 16

	// poolSight is how many of those places are looked up at a time that are read in the next turns too.
	poolReadAhead = 4 * poolRead

	// turns is the length of a round of choices. In each round one choice goes to the URI that has been due for longest, so
	// that none waits for ever, one to seeds and feeds, since they lead to everything else, and two to first visits; what
	// one of these kinds does not need the others have.
	roundLength = 8
)

// pool holds what is due on a crowded host, to choose from. It is a hint, shared by all clones of a state: what is chosen
// from it is looked up again, and may turn out to be gone. A URI that is not in it keeps its place in the queue.
type pool struct {
	due      []contender
	returned []place // where URIs stand that came back
	upTo     place   // what became due later was not looked at
	turn     int64

	upcoming         queueSegment // what follows upTo
	upcomingComplete bool         // nothing follows that

	// What is due before upTo is read from its beginning from time to time: when the pool is new, and again after some turns
	// when contenders were dropped for want of room.
	rescanned  place        // how far
	rescan     queueSegment // what follows swept
	rescanTurn int64        // the turn from which on
	dropped    bool         // some were dropped

	counted [2]int // of due, and of read and coming
}

// restart has all that is due before upTo read again, from a turn on.
func (p *pool) startRescan(from place, turn int64) {
	p.rescanned, p.rescanTurn, p.rescan = from, turn, p.rescan[:0]
}

// contender is a due URI and what its turn depends on.
type contender struct {
	at      place
	visited int64   // ms, 0 if never
	wait    int64   // ms, 0 if unknown
	rate    float64 // per day, 0 if unknown
	source  bool    // seed, feed or sitemap
	urgent  bool
}

// contenderRow reads of a uriRow what a contender needs.
type contenderRow struct {
	Hops        cbor.ByteString `cbor:"2,keyasint,omitempty"`
	LastVisit   int64           `cbor:"6,keyasint,omitempty"`
	Due         int64           `cbor:"9,keyasint,omitempty"`
	Wait        int64           `cbor:"15,keyasint,omitempty"`
	ContentType cbor.ByteString `cbor:"16,keyasint,omitempty"`
	Rate        float64         `cbor:"40,keyasint,omitempty"`
	Held        bool            `cbor:"80,keyasint,omitempty"`
	Source      cbor.ByteString `cbor:"50,keyasint,omitempty"`
	Urgent      bool            `cbor:"52,keyasint,omitempty"`
}

func newContender(at place, w contenderRow) contender {
	return contender{
		at: at, visited: w.LastVisit / 1000, wait: w.Wait / int64(time.Millisecond), rate: w.Rate,
		source: len(w.Hops) == 0 || len(w.Source) > 0 || isFeed(string(w.ContentType)), urgent: w.Urgent,
	}
}

func isFeed(contentType string) bool {
	t := strings.ToLower(contentType)
	return strings.Contains(t, "rss") || strings.Contains(t, "atom") || strings.Contains(t, "feed+json")
}

const day = float64(24 * time.Hour / time.Millisecond)

// worth is what the order prefers, as of now in ms. By value it is the number x of changes expected since the last visit,
// since what is lost, 1 − (1+x)e^(−x), grows with x.
func (c *contender) worth(o Order, now int64) float64 {
	switch {
	case o == ByOverdue:
		return float64(now-c.at.due()) / float64(max(c.wait, 1))
	case c.rate > 0:
		return c.rate * float64(now-c.visited) / day
	}
	return float64(now-c.visited) / float64(max(c.wait, 1)) // as if it changed once in each interval
}

// again tells the pool of a place where a URI stands now that may lie before what was read.
func (p *pool) returnPlace(at place) {
	if p == nil || !at.before(p.upTo) {
		return
	}
	if len(p.returned) == maxPool {
		p.startRescan(place{}, 0)
		p.returned = nil
	}
	p.returned = append(p.returned, at)
}

// count tells of a pool that has changed.
func (f *Frontier) countPool(p *pool) {
	f.pooledContenders += len(p.due) - p.counted[0]
	f.pooledPlaces += len(p.rescan) + len(p.upcoming) - p.counted[1]
	p.counted = [2]int{len(p.due), len(p.rescan) + len(p.upcoming)}
}

// weigh chooses from the pool. No place tells that it is the turn of the one that has been due for longest.
func (f *Frontier) chooseFromPool(txn *badger.Txn, h *host, s *state, now int64) (place, uriRow, error) {
	if s.pool == nil {
		s.pool = &pool{upTo: newPlace(now, fingerprint{})}
	}
	p := s.pool
	defer f.countPool(p)
	if err := f.fillPool(txn, h.id, p, now); err != nil {
		return place{}, uriRow{}, err
	}
	if p.turn++; p.turn%roundLength == 0 {
		return place{}, uriRow{}, nil
	}
	for len(p.due) > 0 {
		i := p.best(f.order, now)
		at := p.due[i].at
		p.due = slices.Delete(p.due, i, i+1)
		if s.slotClaiming(at.fp()) != nil {
			continue
		}
		w, ok, err := uriRowAt(txn, h.id, at.fp())
		if err != nil {
			return place{}, uriRow{}, err
		}
		if ok && w.place(at.fp()) == at {
			return at, w, nil
		}
	}
	return place{}, uriRow{}, nil
}

// pick is the index of the one whose turn it is.
func (p *pool) best(o Order, now int64) int {
	source, first, best := -1, -1, -1
	var sourceWorth, bestWorth float64
	for i := range p.due {
		c := &p.due[i]
		if c.urgent && p.turn%2 == 1 { // since before the frontier was opened, or too many to remember
			return i
		}
		worth := math.Inf(1) // among the seeds and feeds those first that are new
		switch {
		case c.visited != 0:
			if worth = c.worth(o, now); best < 0 || worth > bestWorth || worth == bestWorth && c.at.before(p.due[best].at) {
				best, bestWorth = i, worth
			}
		case first < 0 || c.at.before(p.due[first].at):
			first = i
		}
		if c.source && (source < 0 || worth > sourceWorth || worth == sourceWorth && c.at.before(p.due[source].at)) {
			source, sourceWorth = i, worth
		}
	}
	turn := p.turn % roundLength
	switch {
	case turn == 4 && source >= 0:
		return source
	case best < 0, (turn == 2 || turn == 6) && first >= 0:
		return first
	}
	return best
}

// read takes more of what is due into the pool: what came back, what became due since the last time, and, as far as there
// is time, a part of what was due before.
func (f *Frontier) fillPool(txn *badger.Txn, host uint32, p *pool, now int64) error {
	n := min(len(p.returned), poolRead)
	found := make([]scannedPlace, 0, poolRead)
	for _, at := range p.returned[:n] {
		found = append(found, scannedPlace{contender: contender{at: at}})
	}
	p.returned = p.returned[n:]
	fresh, more, err := f.newlyDue(txn, host, p, poolRead-len(found), now)
	if err != nil {
		return err
	}
	if more { // than can be looked at now: what becomes due meanwhile must not wait for all of them
		p.skipTo(now)
	}
	found = append(found, fresh...)
	if left := poolRead - len(found); left > 0 && p.turn >= p.rescanTurn {
		older, err := f.olderDue(txn, host, p, left)
		if err != nil {
			return err
		}
		if found = append(found, older...); len(older) == left {
			p.rescanned = older[left-1].at
			p.rescan = slices.Delete(p.rescan, 0, left)
		} else if p.startRescan(place{}, never); p.dropped {
			p.rescanTurn, p.dropped = p.turn+maxPool/4, false
		}
	}
	for _, seen := range found {
		if p.contains(seen.at) {
			continue
		}
		if !seen.hinted {
			ok, err := seen.readFrom(txn, host)
			if err != nil {
				return err
			}
			if !ok {
				continue // it has moved
			}
		}
		f.makeRoom(p, now)
		p.due = append(p.due, seen.contender)
	}
	return nil
}

// has tells whether a place is in the pool.
func (p *pool) contains(at place) bool {
	end := binary.LittleEndian.Uint64(at[placeLen-8:]) // where places differ
	for i := range p.due {
		if c := &p.due[i]; binary.LittleEndian.Uint64(c.at[placeLen-8:]) == end && c.at == at {
			return true
		}
	}
	return false
}

// skip goes on with what is due from now on, and has what was due before read bit by bit.
func (p *pool) skipTo(now int64) {
	if p.turn < p.rescanTurn {
		p.dropped = p.dropped || p.rescanTurn != never
		p.startRescan(p.upTo, p.turn)
	}
	if to := newPlace(now, fingerprint{}); p.upTo.before(to) {
		p.upTo, p.upcoming = to, p.upcoming.behind(to)
	}
}

// makeRoom drops half of a full pool: of each kind those whose turn would come last. They are read again later, and until
// then get the turns of those that wait for longest.
func (f *Frontier) makeRoom(p *pool, now int64) {
	if len(p.due) < maxPool && (f.pooledContenders < maxPooled || len(p.due) < crowdSize) {
		return
	}
	slices.SortFunc(p.due, func(a, b contender) int {
		if by := cmp.Compare(b.worth(f.order, now), a.worth(f.order, now)); by != 0 && a.visited != 0 && b.visited != 0 {
			return by
		}
		if (a.visited == 0) != (b.visited == 0) {
			return cmp.Compare(a.visited, b.visited) // first visits first
		}
		return a.at.compare(b.at)
	})
	half, eighth := len(p.due)/2, len(p.due)/8
	firsts, sources := 0, 0
	kept := make([]contender, 0, maxPool)
	for _, c := range p.due {
		switch {
		case c.source && sources < eighth:
			sources++
		case c.visited == 0 && firsts < eighth:
			firsts++
		case c.visited == 0 || len(kept) >= half:
			continue
		}
		kept = append(kept, c)
	}
	p.due, p.dropped = kept, true
}
