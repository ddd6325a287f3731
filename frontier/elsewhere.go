package frontier

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/dgraph-io/badger/v4"
	"github.com/fxamacker/cbor/v2"

	"github.com/arcrawl/arcrawl/uri"
)

// Elsewhere says which hosts belong to other stores of the same crawl, and takes the URIs of these hosts. It is safe
// for concurrent use, and must not call the frontier.
type Elsewhere interface {
	// Has reports whether a host belongs to another store. Its URIs are not visited here.
	Has(uri.Host) bool
	// Post takes a URI that was found here for another store. It reads and writes rows of its own in the transaction of
	// the visit that found the URI. committed, unless it is nil, is called when the transaction is committed.
	Post(txn *badger.Txn, c Candidate, now time.Time) (result Added, committed func(), err error)
	// Row returns the value of a [Portable] key in the store of a host, as it was some seconds ago; nil if there is none,
	// or if it cannot be read now.
	Row(h uri.Host, portable []byte) []byte
	// Size returns how many bytes all stores of the crawl have, about. This one may have to adopt as many.
	Size() int64
}

// IsForeign reports whether a host belongs to another store.
func (f *Frontier) IsForeign(h uri.Host) bool { return f.o.Elsewhere != nil && f.o.Elsewhere.Has(h) }

// IsPart reports whether hosts may belong to other stores.
func (f *Frontier) IsPart() bool { return f.o.Elsewhere != nil }

// Own returns the candidates whose hosts belong to this store. Whoever has the other stores adds the others.
func (f *Frontier) Own(cs []Candidate) []Candidate {
	return slices.DeleteFunc(cs, func(c Candidate) bool { return f.IsForeign(c.URI.Host()) })
}

// postForeign passes a candidate on if its host belongs to another store, and counts it.
func (c *change) postForeign(n newCandidate, now time.Time, added *Added) (foreign bool, err error) {
	if !c.f.IsForeign(n.URI.Host()) {
		return false, nil
	}
	result, committed, err := c.f.o.Elsewhere.Post(c.txn, n.Candidate, now)
	if err != nil {
		return true, err
	}
	c.f.refused.Add(int64(result.Refused))
	if committed != nil {
		c.after(committed)
	}
	*added = added.plus(result)
	return true, nil
}

// candidateRow is a candidate as bytes. Times are in ms since 1970.
type candidateRow struct {
	Row       []byte `cbor:"1,keyasint"` // a uriRow
	Sooner    bool   `cbor:"2,keyasint,omitempty"`
	Changed   int64  `cbor:"3,keyasint,omitempty"`
	Unchanged int64  `cbor:"4,keyasint,omitempty"`
}

// Encode returns a candidate that was found at a time as bytes, for another store of the crawl.
func (c Candidate) Encode(now time.Time) ([]byte, error) {
	w := c.row(now)
	row, _ := w.appendTo(nil)
	return cbor.Marshal(candidateRow{row, c.Sooner, millis(c.ReportedChange), millis(c.ReportedUnchanged)})
}

// DecodeCandidate returns the candidate that [Candidate.Encode] has encoded.
func DecodeCandidate(value []byte) (Candidate, error) {
	var l candidateRow
	if err := cbor.Unmarshal(value, &l); err != nil {
		return Candidate{}, err
	}
	var w uriRow
	if !w.read(l.Row) {
		return Candidate{}, errors.New("its row cannot be read")
	}
	u, err := uri.Parse(string(w.URI))
	if err != nil {
		return Candidate{}, err
	}
	r, err := w.record()
	if err != nil || u != r.URI {
		return Candidate{}, errors.Join(err, fmt.Errorf("%q is not a canonical URI", r.URI))
	}
	return Candidate{
		URI: r.URI, Hops: r.Hops, Via: r.Via, Seed: r.Seed, Due: r.Due, Source: r.Source, Born: r.Born, Urgent: r.Urgent,
		RobotsVia: r.RobotsVia, Sooner: l.Sooner,
		ReportedChange: fromMillis(l.Changed), ReportedUnchanged: fromMillis(l.Unchanged),
	}, nil
}

// Join returns a candidate that says what two candidates of one URI say, as if a store had received was first.
func (c Candidate) Join(was Candidate) Candidate {
	if !c.Due.IsZero() && was.Due.Before(c.Due) {
		c.Due = was.Due
	}
	c.Hops, c.Via, c.Seed, c.Source, c.Born = was.Hops, was.Via, was.Seed, was.Source, was.Born
	c.Urgent, c.RobotsVia = c.Urgent || was.Urgent, cmp.Or(c.RobotsVia, was.RobotsVia)
	report := sourceReport{micros(c.ReportedChange), micros(c.ReportedUnchanged)}
	report = sourceReport{micros(was.ReportedChange), micros(was.ReportedUnchanged)}.merge(report)
	c.ReportedChange, c.ReportedUnchanged = fromMicros(report.changed), fromMicros(report.unchanged)
	return c
}

// Receive makes URIs known that other stores have found, as if visits had found them here. Receiving one twice changes
// nothing.
func (f *Frontier) Receive(now time.Time, cs ...Candidate) (added Added, err error) {
	fresh, added, err := f.filterKnown(cs)
	if err != nil {
		return Added{}, fmt.Errorf("receive URIs of other stores: %w", err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for len(fresh) > 0 && err == nil {
		n := 1
		for n < len(fresh) && fresh[n].Seed == fresh[0].Seed && (fresh[n].Hops == "") == (fresh[0].Hops == "") {
			n++
		}
		var from *hostAllowance // nobody bounds the hosts of seeds
		if fresh[0].Hops != "" {
			from = &hostAllowance{seed: fresh[0].Seed, many: true}
		}
		var more Added
		more, err = f.addBatches(fresh[:n], now, from)
		added, fresh = added.plus(more), fresh[n:]
	}
	if err != nil {
		err = fmt.Errorf("receive URIs of other stores: %w", err)
	}
	return added, err
}

// UpdateOthers changes rows that other packages keep in the store, in a transaction that no change of the frontier
// overlaps. If the list is too long for one, do is called with parts of it. done is called after each transaction.
func UpdateOthers[T any](f *Frontier, list []T, do func(*badger.Txn, []T) error, done func([]T)) error {
	return updateAll(f, list, max(len(list), 1), func(c *change, some []T) error {
		c.after(func() { done(some) })
		return do(c.txn, some)
	})
}

// foreignRobots returns the copy of a robots.txt, or of a URI that replaces one, from the store of its host.
func (f *Frontier) foreignRobots(file robotsFile) (c RobotsCopy, ok bool) {
	h := file.u.Host()
	_, key, _ := Portable(file.key(0), nil, func(uint32) uri.Host { return h })
	v := f.o.Elsewhere.Row(h, key)
	var w robotsRow
	if v == nil || cbor.Unmarshal(v, &w) != nil {
		return RobotsCopy{}, false
	}
	return w.copy(), true
}

// Has reports whether this store counts a host: it belongs here, or only this store has its URIs.
func (f *Frontier) Has(host uri.Host) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	h := f.hosts[host]
	return h == nil && !f.IsForeign(host) || h != nil && !h.isElsewhere()
}

// DropStrays removes the URIs of hosts that belong to other stores, after [Frontier.PartWith]. Hosts for which stays
// returns true are kept. It stops early when stop is closed, and then returns false. before is called before each
// portion, and may wait.
func (f *Frontier) DropStrays(stop <-chan struct{}, stays func(uri.Host) bool, before func()) (done bool, err error) {
	f.mu.Lock()
	var strays []*host
	for _, h := range f.byID {
		if h.stray && !h.vacant && !stays(h.name) {
			h.leaving = true // none of them is counted from now on
			strays = append(strays, h)
		}
	}
	f.mu.Unlock()
	for h := range slices.Values(strays) {
		more := true
		for from := (fingerprint{}); more; {
			if before(); isClosed(stop) {
				return false, nil
			}
			if from, _, more, err = f.evictPortion(h, from); err != nil {
				return false, fmt.Errorf("remove the URIs of other stores: %w", err)
			}
		}
	}
	return true, nil
}
