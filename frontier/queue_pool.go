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
	// crowdSize is how many URIs of a host must be due before [Options].Order applies. Fewer are visited soon anyway, in
	// the order of their due times.
	crowdSize = 4

	// maxPool is the maximum number of due URIs in the pool of a host, and maxPooled the maximum in all pools.
	maxPool   = 256
	maxPooled = 1 << 17

	// poolRead is how many URIs are added to a pool for each claim, so that the cost of a claim is bounded. If more URIs
	// than that become due with each visit, no order can help the host.
	poolRead = 16

	// poolReadAhead is how many places are read from the queue at a time, for the next claims too.
	poolReadAhead = 4 * poolRead

	// roundLength is the number of choices in a round. In each round one choice goes to the URI that has been due
	// longest, so that none waits forever; one to seeds and feeds, since they lead to everything else; and two to first
	// visits. Choices that one of these kinds does not need go to the others.
	roundLength = 8
)

// pool holds due URIs of a crowded host, to choose from. It is a hint that all clones of a state share: a chosen URI
// is looked up again, and may have moved. A URI that is not in the pool keeps its place in the queue.
type pool struct {
	due      []contender
	returned []place // of URIs whose claims were released, or that moved to a place before upTo
	upTo     place   // later places were not read yet
	turn     int64   // number of choices

	upcoming         queueSegment // the places that follow upTo
	upcomingComplete bool         // no place follows upcoming

	// The places before upTo are read again from the first one when the pool is new, and some turns after contenders were
	// dropped because the pool was full.
	rescanned  place        // the last place that was read
	rescan     queueSegment // the places that follow rescanned
	rescanTurn int64        // the turn at which reading may continue
	dropped    bool         // contenders were dropped

	counted [2]int // the numbers of contenders and places that the frontier has counted
}

// startRescan makes the pool read again, beginning at a turn, the places between from and upTo.
func (p *pool) startRescan(from place, turn int64) {
	p.rescanned, p.rescanTurn, p.rescan = from, turn, p.rescan[:0]
}

// contender is a due URI, and the values that decide about its turn.
type contender struct {
	at      place
	visited int64   // ms, 0 if never
	wait    int64   // ms, 0 if unknown
	rate    float64 // per day, 0 if unknown
	source  bool    // seed, feed or sitemap
	urgent  bool
}

// contenderRow reads of a uriRow the fields that a contender needs. A pool reads many rows.
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

// contender returns what a contender needs of a row.
func (w *uriRow) contender() contenderRow {
	return contenderRow{
		Hops: w.Hops, LastVisit: w.LastVisit, Due: w.Due, Wait: w.Wait, ContentType: w.ContentType, Rate: w.Rate,
		Held: w.Held, Source: w.Source, Urgent: w.Urgent,
	}
}

// newContender returns the contender at a place from the row of its URI.
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

// worth returns the value that the order prefers, as of now in ms. For ByValue it is the number x of changes expected
// since the last visit, because the expected loss, 1 − (1+x)e^(−x), grows with x.
func (c *contender) worth(o Order, now int64) float64 {
	switch {
	case o == ByOverdue:
		return float64(now-c.at.due()) / float64(max(c.wait, 1))
	case c.rate > 0:
		return c.rate * float64(now-c.visited) / day
	}
	return float64(now-c.visited) / float64(max(c.wait, 1)) // as if it changed once in each interval
}

// returnPlace adds a place of a URI that may be before the places that were read.
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

// countPool updates the counters of the frontier after a change of a pool.
func (f *Frontier) countPool(p *pool) {
	f.pooledContenders += len(p.due) - p.counted[0]
	f.pooledPlaces += len(p.rescan) + len(p.upcoming) - p.counted[1]
	p.counted = [2]int{len(p.due), len(p.rescan) + len(p.upcoming)}
}

// chooseFromPool returns the best contender. It returns no place if it is the turn of the URI that has been due
// longest.
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
		i := p.best(f.o.Order, now)
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

// best returns the index of the contender whose turn it is.
func (p *pool) best(o Order, now int64) int {
	source, first, best := -1, -1, -1
	var sourceWorth, bestWorth float64
	for i := range p.due {
		c := &p.due[i]
		if c.urgent && p.turn%2 == 1 { // it was queued before the frontier was opened, or there are too many urgent ones
			return i
		}
		worth := math.Inf(1) // of seeds and feeds, new ones are first
		switch {
		case c.visited != 0:
			worth = c.worth(o, now)
			if best < 0 || worth > bestWorth || worth == bestWorth && c.at.before(p.due[best].at) {
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

// fillPool adds due URIs to the pool: those that came back, those that became due since the last time, and, if there
// is time, some of those that were due before.
func (f *Frontier) fillPool(txn *badger.Txn, host uint32, p *pool, now int64) error {
	n := min(len(p.returned), poolRead)
	list := make([]scannedPlace, 0, poolRead)
	for _, back := range p.returned[:n] {
		list = append(list, scannedPlace{contender: contender{at: back}})
	}
	p.returned = p.returned[n:]
	fresh, more, err := f.newlyDue(txn, host, p, poolRead-len(list), now)
	if err != nil {
		return err
	}
	if more { // URIs that become due meanwhile must not wait until all of them have been read
		p.skipTo(now)
	}
	list = append(list, fresh...)
	if left := poolRead - len(list); left > 0 && p.turn >= p.rescanTurn {
		older, err := f.olderDue(txn, host, p, left)
		if err != nil {
			return err
		}
		if list = append(list, older...); len(older) == left {
			p.rescanned = older[left-1].at
			p.rescan = slices.Delete(p.rescan, 0, left)
		} else if p.startRescan(place{}, never); p.dropped {
			p.rescanTurn, p.dropped = p.turn+maxPool/4, false
		}
	}
	for _, scanned := range list {
		if p.contains(scanned.at) {
			continue
		}
		if !scanned.hinted {
			ok, err := scanned.readFrom(txn, host)
			if err != nil {
				return err
			}
			if !ok {
				continue // it has moved
			}
		}
		f.makeRoom(p, now)
		p.due = append(p.due, scanned.contender)
	}
	return nil
}

// contains reports whether the URI of a place is in the pool.
func (p *pool) contains(at place) bool {
	end := binary.LittleEndian.Uint64(at[placeLen-8:]) // places differ most at their ends, so these are compared first
	for i := range p.due {
		if c := &p.due[i]; binary.LittleEndian.Uint64(c.at[placeLen-8:]) == end && c.at == at {
			return true
		}
	}
	return false
}

// skipTo continues with the URIs that become due from now on. Those that were due before are left to the rescan.
func (p *pool) skipTo(now int64) {
	if p.turn < p.rescanTurn {
		p.dropped = p.dropped || p.rescanTurn != never
		p.startRescan(p.upTo, p.turn)
	}
	if to := newPlace(now, fingerprint{}); p.upTo.before(to) {
		p.upTo, p.upcoming = to, p.upcoming.behind(to)
	}
}

// makeRoom drops half of a full pool: of each kind the contenders whose turn would come last. They are read again
// later. Until then they have only the turns of the URI that has been due longest.
func (f *Frontier) makeRoom(p *pool, now int64) {
	if len(p.due) < maxPool && (f.pooledContenders < maxPooled || len(p.due) < crowdSize) {
		return
	}
	slices.SortFunc(p.due, func(a, b contender) int {
		if by := cmp.Compare(b.worth(f.o.Order, now), a.worth(f.o.Order, now)); by != 0 && a.visited != 0 && b.visited != 0 {
			return by
		}
		if (a.visited == 0) != (b.visited == 0) {
			return cmp.Compare(a.visited, b.visited) // first visits first
		}
		return a.at.compare(b.at)
	})
	half, eighth := len(p.due)/2, len(p.due)/8
	firsts, sources := 0, 0
	rest := make([]contender, 0, maxPool)
	for _, c := range p.due {
		switch {
		case c.source && sources < eighth:
			sources++
		case c.visited == 0 && firsts < eighth:
			firsts++
		case c.visited == 0 || len(rest) >= half:
			continue
		}
		rest = append(rest, c)
	}
	p.due, p.dropped = rest, true
}
