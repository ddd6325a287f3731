package frontier

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/dgraph-io/badger/v4"

	"github.com/arcrawl/arcrawl/uri"
)

// maxFaults is how many faults Check reports. Reading on does not help to repair a store that has more.
const maxFaults = 100

// Check verifies every invariant of the package, and joins all faults into one error. It reads the whole store and
// blocks all other calls meanwhile.
func (f *Frontier) Check() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return ErrClosed
	}
	x := &checker{f: f, tallies: make([]tally, len(f.byID))}
	x.tables()
	x.memory()
	if err := f.db.View(x.store); err != nil {
		x.faultf("read the store: %w", err)
	}
	x.compareTallies()
	if len(x.faults) == 0 {
		return nil
	}
	return fmt.Errorf("check frontier %s: %w", f.o.Dir, errors.Join(x.faults...))
}

type checker struct {
	f       *Frontier
	txn     *badger.Txn
	tallies []tally // of host number n at n-1
	faults  []error
}

// tally counts what the store holds of a host.
type tally struct {
	uris, due, forbidden, held int64 // by its URI rows
	places, listed             int64 // by the queue and the list of forbidden ones
	head                       place // first unclaimed
	behind                     int   // unclaimed places behind it
	mark                       place
	hostRow, name              bool
	rescan, upcoming           int   // places that the pool knows already
	counted                    int64 // places before those that are counted as due
}

func (x *checker) faultf(format string, args ...any) {
	if len(x.faults) < maxFaults {
		x.faults = append(x.faults, fmt.Errorf(format, args...))
	}
}

// tables verifies the checksums of the files; Badger panics on some kinds of damage.
func (x *checker) tables() {
	defer func() {
		if r := recover(); r != nil {
			x.faultf("verify checksums: %v: %w", r, ErrCorrupt)
		}
	}()
	if err := x.f.db.VerifyChecksum(); err != nil {
		x.faultf("verify checksums: %w: %w", err, ErrCorrupt)
	}
}

// memory verifies the heap and the claims.
func (x *checker) memory() {
	q := &x.f.queue
	queued, doubtful := len(q.answering)+len(q.doubtful), int64(0)
	if queued != len(x.f.byID) || len(x.f.hosts) != len(x.f.byID) {
		x.faultf("%d hosts, %d in the heaps, %d by name", len(x.f.byID), queued, len(x.f.hosts))
	}
	for _, list := range []*hostHeap{&q.answering, &q.doubtful} {
		for i, h := range *list {
			own, at := h.readyTimes()
			if h.pos != i || h.ownReadyAt != own || h.readyAt != at || i > 0 && list.Less(i, (i-1)/2) || q.heapOf(h) != list {
				x.faultf("host %s is at the wrong place in the heaps", h.name)
			}
			doubtful += h.doubtfulClaims()
			x.state(h)
		}
	}
	if doubtful != q.claims {
		x.faultf("%d claims of hosts that do not answer, %d counted", doubtful, q.claims)
	}
	x.quotas()
	serials := map[uint64]bool{}
	for i, h := range x.f.byID {
		if h.id != uint32(i+1) || x.f.hosts[h.name] != h {
			x.faultf("host %s has the wrong number, %d", h.name, h.id)
		}
		taken := map[fingerprint]bool{}
		for _, s := range h.slots {
			switch {
			case s.serial == 0 && s != slot{wake: s.wake}:
				x.faultf("host %s: a free slot remembers a claim", h.name)
			case s.serial == 0:
			case serials[s.serial] || taken[s.fp] || s.serial > x.f.serial:
				x.faultf("host %s: a URI is claimed twice", h.name)
			}
			serials[s.serial], taken[s.fp] = s.serial != 0, s.serial != 0
		}
	}
}

// quotas verifies the counters and the lines of the quotas.
func (x *checker) quotas() {
	claims, hosts := map[*quota]int64{}, map[*quota]int{}
	for _, h := range x.f.byID {
		for _, q := range h.quotas {
			claims[q] += h.claims()
			hosts[q]++
		}
		if q := h.waitsFor; q != nil && (!slices.Contains(q.line, h) || !slices.Contains(h.quotas[:], q)) {
			x.faultf("host %s waits for a quota that does not know it", h.name)
		}
	}
	for key, q := range x.f.quotaByKey {
		if q.claims != claims[q] || q.hosts != hosts[q] || q.hosts == 0 || q.key != key {
			x.faultf("a quota counts %d claims of %d hosts, there are %d of %d", q.claims, q.hosts, claims[q], hosts[q])
		}
		for _, h := range q.line {
			if h.waitsFor != q {
				x.faultf("host %s is in the line of a quota that it does not wait for", h.name)
			}
		}
	}
}

// state verifies the state of a host: the host is not ready before its ready time, and ready from then on.
func (x *checker) state(h *host) {
	before, then := h.stateAt(h.readyAt-1), h.stateAt(h.readyAt)
	ok := before == Snoozed && then == Ready
	switch {
	case h.ownReadyAt == never:
		ok = then == Busy || then == Paused || then == Idle
	case h.readyAt == never:
		ok = before == Snoozed // the rest of its group is busy
	}
	if !ok {
		x.faultf("host %s is %s, and %s when it should be ready, at %s", h.name, before, then, fromMillis(h.readyAt))
	}
}

// store verifies every key against the others.
func (x *checker) store(txn *badger.Txn) error {
	x.txn = txn
	it := txn.NewIterator(badger.DefaultIteratorOptions)
	defer it.Close()
	for it.Rewind(); it.Valid() && len(x.faults) < maxFaults; it.Next() {
		if err := x.row(it.Item().KeyCopy(nil), it.Item()); err != nil {
			x.faultf("%w", err)
		}
	}
	return nil
}

// row verifies one key against the others.
func (x *checker) row(k []byte, item *badger.Item) error {
	switch k[0] {
	case kindName:
		return x.name(k, item)
	case kindRobots:
		return x.robots(k, item)
	case kindHost, kindURI, kindQueue, kindForbidden, kindSeen:
	default:
		return nil
	}
	h, t, rest, err := x.hostByKey(k)
	if err != nil {
		return err
	}
	switch k[0] {
	case kindHost:
		return x.host(k, h, t, item)
	case kindURI:
		return x.uri(k, h, t, fingerprint(rest), item)
	case kindQueue:
		return x.place(k, h, t, place(rest), item)
	case kindForbidden:
		return x.listed(k, h, t, fingerprint(rest), item)
	}
	if !x.hasKey(uriKey(h.id, fingerprint(rest))) { // the list of a feed or sitemap belongs to a URI
		return damaged(k, errors.New("its URI is missing"))
	}
	return nil
}

// hostByKey returns the host with the number in a key, its tally, and the rest of the key.
func (x *checker) hostByKey(k []byte) (*host, *tally, []byte, error) {
	id, rest, err := split(k)
	if err != nil {
		return nil, nil, nil, err
	}
	if id == 0 || int(id) > len(x.f.byID) {
		return nil, nil, nil, damaged(k, errors.New("its host is not known"))
	}
	return x.f.byID[id-1], &x.tallies[id-1], rest, nil
}

func (x *checker) host(k []byte, h *host, t *tally, item *badger.Item) error {
	var w hostRow
	if err := decodeRow(item, &w); err != nil {
		return err
	}
	t.hostRow = true
	if len(w.Mark) != placeLen {
		return damaged(k, errors.New("the watermark is missing"))
	}
	t.mark = place([]byte(w.Mark))
	if h.watermark().before(t.mark) {
		x.faultf("%s: the watermark is above the host's lowest place", describeKey(k))
	}
	if string(w.Name) != string(h.name) || w.URIs != h.uris || w.Queued != h.queued || w.Forbidden != h.forbidden ||
		w.Held != h.held || w.Paused != h.paused || w.Failures != h.failures ||
		string(w.Error) != h.reason {
		x.faultf("%s: differs from the host in memory", describeKey(k))
	}
	return nil
}

func (x *checker) name(k []byte, item *badger.Item) error {
	v, err := item.ValueCopy(nil)
	if err != nil {
		return err
	}
	h, t, _, err := x.hostByKey(append([]byte{kindHost}, v...))
	if err != nil {
		return damaged(k, err)
	}
	if string(k[1:]) != string(h.name) || t.name {
		x.faultf("%s: names host %d, which is %s", describeKey(k), h.id, h.name)
	}
	t.name = true
	return nil
}

func (x *checker) uri(k []byte, h *host, t *tally, fp fingerprint, item *badger.Item) error {
	var w uriRow
	if err := decodeRow(item, &w); err != nil {
		return err
	}
	r, err := w.record()
	if err != nil {
		return damaged(k, err)
	}
	if fp != newFingerprint(string(w.URI)) || r.URI.Host() != h.name {
		return damaged(k, fmt.Errorf("holds %q, which belongs to another key", w.URI))
	}
	t.uris++
	at := w.place(fp)
	t.held += countIf(w.Held)
	if !at.isNone() {
		t.due++
		if !x.hasKey(queueKey(h.id, at)) {
			x.faultf("%s: %s is due %s, but has no place in the queue", describeKey(k), w.URI, r.Due)
		}
	}
	if w.Forbidden {
		t.forbidden++
		if !x.hasKey(forbiddenKey(h.id, fp)) {
			x.faultf("%s: %s is forbidden, but not listed", describeKey(k), w.URI)
		}
	}
	if w.outside() != x.hasKey(asideKey(asideOutside, h.id, fp)) {
		x.faultf("%s: %s and the list of URIs out of scope differ", describeKey(k), w.URI)
	}
	if s := h.slotClaiming(fp); s != nil && (s.place != at || s.scheme != r.URI.Scheme() || !s.known ||
		s.listed != w.Forbidden || s.held != w.Held || s.outside != w.outside()) {
		x.faultf("%s: the claim of %s is out of date", describeKey(k), w.URI)
	}
	return nil
}

func (x *checker) hasKey(k []byte) bool {
	_, err := x.txn.Get(k)
	if err != nil && !errors.Is(err, badger.ErrKeyNotFound) {
		x.faultf("read key %q: %w", k, err)
	}
	return err == nil
}

func (x *checker) place(k []byte, h *host, t *tally, at place, item *badger.Item) error {
	t.places++
	var w uriRow
	if ok, err := readRow(x.txn, uriKey(h.id, at.fp()), &w); err != nil || !ok || w.place(at.fp()) != at {
		return damaged(k, errors.Join(errors.New("its URI is missing, or due at another time"), err))
	}
	if at.before(t.mark) {
		x.faultf("%s: is below the watermark, so %s will not be visited", describeKey(k), w.URI)
	}
	x.late(h, t, at)
	if err := x.pooled(h, t, at, item); err != nil || h.slotClaiming(at.fp()) != nil {
		return err
	}
	if t.head.isNone() {
		t.head = at
		return nil
	}
	if t.behind < len(h.ahead) && h.ahead[t.behind] != at {
		x.faultf("host %s: memory has %x as place number %d, the queue has %x", h.name, h.ahead[t.behind], t.behind+2, at)
	}
	t.behind++
	return nil
}

// late verifies that the count of due places skips none.
func (x *checker) late(h *host, t *tally, at place) {
	switch {
	case h.late == nil:
	case at.before(h.late.until):
		t.counted++
	case at.before(h.late.next):
		x.faultf("host %s: the count of due URIs skips the place %x", h.name, at)
	}
}

// pooled verifies that the places that a pool knows are in the queue, without a gap.
func (x *checker) pooled(h *host, t *tally, at place, item *badger.Item) error {
	p := h.pool
	if p == nil {
		return nil
	}
	return item.Value(func(v []byte) error {
		seen := newScannedPlace(at, v)
		for _, known := range []struct {
			queueSegment
			behind place
			n      *int
		}{{p.rescan, p.rescanned, &t.rescan}, {p.upcoming, p.upTo, &t.upcoming}} {
			if !known.behind.before(at) {
				continue
			}
			if *known.n < len(known.queueSegment) && known.queueSegment[*known.n] != seen {
				x.faultf("host %s: the pool has %x as the next place, the queue has %x", h.name, known.queueSegment[*known.n].at, at)
			}
			*known.n++
		}
		return nil
	})
}

func (x *checker) listed(k []byte, h *host, t *tally, fp fingerprint, item *badger.Item) error {
	scheme, err := item.ValueCopy(nil)
	if err != nil {
		return err
	}
	t.listed++
	var w uriRow
	ok, err := readRow(x.txn, uriKey(h.id, fp), &w)
	if err != nil || !ok || !w.Forbidden || !strings.HasPrefix(string(w.URI), string(scheme)+"://") {
		return damaged(k, errors.Join(errors.New("its URI is missing, or not forbidden, or of another scheme"), err))
	}
	return nil
}

func (x *checker) robots(k []byte, item *badger.Item) error {
	if len(k) < hostPrefix {
		return damaged(k, errors.New("the key is too short"))
	}
	h, _, _, err := x.hostByKey(append([]byte{kindHost}, k[1:hostPrefix]...))
	if err != nil {
		return damaged(k, err)
	}
	if rest := k[hostPrefix:]; len(rest) == fingerprintLen {
		_, ok, err := uriRowAt(x.txn, h.id, fingerprint(rest))
		if err == nil && !ok {
			err = damaged(k, errors.New("its URI is missing"))
		}
		if err != nil {
			return err
		}
	} else if origin := uri.FromCanonical(string(k[hostPrefix:]) + "://" + string(h.name) + "/"); origin.IsZero() {
		return damaged(k, errors.New("it does not belong to an origin"))
	}
	var w robotsRow
	return decodeRow(item, &w)
}

// compareTallies compares the tallies with the counters and the heads in memory.
func (x *checker) compareTallies() {
	for i, h := range x.f.byID {
		t := x.tallies[i]
		if !t.hostRow || !t.name {
			x.faultf("host %s: its record or its name is missing", h.name)
		}
		if t.uris != h.uris || t.due != h.queued || t.places != h.queued || t.held != h.held ||
			t.forbidden != h.forbidden || t.listed != h.forbidden {
			x.faultf("host %s: counted %d URIs, %d queued, %d forbidden, %d held; "+
				"the store has %d URIs, %d due, %d places, %d forbidden, %d in the list, %d held",
				h.name, h.uris, h.queued, h.forbidden, h.held, t.uris, t.due, t.places, t.forbidden, t.listed, t.held)
		}
		if t.behind < len(h.ahead) {
			x.faultf("host %s: %d places follow the first one in the queue, memory has %d", h.name, t.behind, len(h.ahead))
		}
		if h.late != nil && t.counted != h.late.n {
			x.faultf("host %s: %d due URIs are counted, the queue has %d", h.name, h.late.n, t.counted)
		}
		if t.head != h.head {
			x.faultf("host %s: memory has %x as the first place, the queue has %x", h.name, h.head, t.head)
		}
		if p := h.pool; p != nil && (t.rescan < len(p.rescan) || t.upcoming < len(p.upcoming) ||
			p.upcomingComplete && t.upcoming > len(p.upcoming)) {
			x.faultf("host %s: the pool has %d and %d places (complete: %t), the queue has %d and %d",
				h.name, len(p.rescan), len(p.upcoming), p.upcomingComplete, t.rescan, t.upcoming)
		}
	}
}
