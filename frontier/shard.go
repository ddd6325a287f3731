package frontier

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/dgraph-io/badger/v4"
	"github.com/fxamacker/cbor/v2"

	"github.com/arcrawl/arcrawl/frontier/recent"
	"github.com/arcrawl/arcrawl/uri"
)

// Shards says which hosts belong to other stores, if several nodes share a crawl. Each store has one shard.
type Shards struct {
	// Other returns the number of the shard that a host belongs to; 0 means the shard of this store. It must not call the
	// frontier.
	Other func(uri.Host) int
	// Read returns the value of a key in the store of another shard, as it was some seconds ago; nil if there is none, or
	// if it cannot be read now.
	Read func(shard int, key []byte) []byte
}

// ShardOf returns the number of the shard, from 1 to n, of a host or of its politeness group; group is "" if it has
// none. The name with and without "www." and all ports of a host have one shard. The result never changes, except that
// the shards of a multiple of n are parts of these.
func ShardOf(h uri.Host, group string, n int) int {
	key := "group " + group
	if group == "" {
		key = strings.TrimPrefix(string(h), "www.")
		if at := strings.LastIndexByte(key, ':'); at > strings.LastIndexByte(key, ']') { // a port, not a part of IPv6
			key = key[:at]
		}
	}
	sum := sha256.Sum256([]byte(key))
	return 1 + int(binary.BigEndian.Uint64(sum[:8])%uint64(n))
}

// Letter carries a URI to the shard that its host belongs to. It is written together with the visit that found the URI.
type Letter struct {
	Shard      int
	Key, Value []byte
	Sooner     bool // the candidate has [Candidate.Sooner]
}

// maxWaiting is the maximum number of letters that wait in the store. While there are more, links to other shards are
// refused, and added when they are found again.
const maxWaiting = 1_000_000

// letterRow is a candidate in a letter. Times are in ms since 1970.
type letterRow struct {
	Row       []byte `cbor:"1,keyasint"` // a uriRow
	Sooner    bool   `cbor:"2,keyasint,omitempty"`
	Changed   int64  `cbor:"3,keyasint,omitempty"`
	Unchanged int64  `cbor:"4,keyasint,omitempty"`
}

// letterPrefix begins the keys of letters that were not sent yet. The number of the shard follows, 2 bytes big-endian,
// and the fingerprint of the URI.
var letterPrefix = [2]byte{kindAside, asideLetter}

// shardOf returns the shard of a host; 0 means the shard of this store.
func (f *Frontier) shardOf(h uri.Host) int {
	if f.shards.Other == nil {
		return 0
	}
	return f.shards.Other(h)
}

// IsForeign reports whether a host belongs to the shard of another store.
func (f *Frontier) IsForeign(h uri.Host) bool { return f.shardOf(h) != 0 }

// Own returns the candidates whose hosts belong to this store. Other nodes that have the same list add the others.
func (f *Frontier) Own(cs []Candidate) []Candidate {
	return slices.DeleteFunc(cs, func(c Candidate) bool { return f.IsForeign(c.URI.Host()) })
}

// postForeign writes a letter if the host of a candidate belongs to another shard, and counts it.
func (c *change) postForeign(n newCandidate, now time.Time, added *Added) (foreign bool, err error) {
	shard := c.f.shardOf(n.URI.Host())
	if shard == 0 {
		return false, nil
	}
	return true, c.post(shard, n, now, added)
}

// post writes a letter with a candidate, unless one was written today or too many wait, and counts the candidate.
func (c *change) post(shard int, n newCandidate, now time.Time, added *Added) error {
	hash := c.f.posted.Hash(n.URI.String())
	hash[0] ^= uint64(now.Unix()/86_400) << 1 // the other shard may have refused it, and have room tomorrow
	fp := newFingerprint(n.URI.String())
	k := append(binary.BigEndian.AppendUint16(letterPrefix[:], uint16(shard)), fp[:]...)
	var known [1]bool
	c.f.posted.Contains([]recent.Hash{hash}, known[:])
	if known[0] && !n.Sooner {
		added.Known++
		return nil
	}
	waits, err := readBytes(c.txn, string(k))
	switch {
	case err != nil:
		return err
	case waits != nil && !n.Sooner: // a letter that waits may say more
		added.Known++
		return nil
	case waits == nil && c.f.waiting.Load() >= maxWaiting:
		added.Refused++
		c.f.refused.Add(1)
		return nil
	case waits != nil:
		if was, err := readLetter(waits); err == nil {
			n.Candidate = n.joined(was)
		}
	default:
		c.posted++
	}
	w := n.row(now)
	row, _ := w.appendTo(nil)
	value, err := cbor.Marshal(letterRow{row, n.Sooner, millis(n.ReportedChange), millis(n.ReportedUnchanged)})
	if err == nil {
		err = c.txn.Set(k, value)
	}
	c.postedURIs = append(c.postedURIs, hash)
	added.Posted++
	return err
}

// joined returns a candidate that says what both say, as if the other shard received one after the other.
func (c Candidate) joined(was Candidate) Candidate {
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

// eachLetter calls do with letters that were not sent yet, until it returns false. skip says to which shards none are
// sent now; nil skips none. Damaged keys are skipped: nothing says where these letters belong.
func eachLetter(txn *badger.Txn, skip func(int) bool, do func(Letter, *badger.Item) (more bool, err error)) error {
	o := badger.DefaultIteratorOptions
	o.Prefix, o.PrefetchValues = letterPrefix[:], false
	it := txn.NewIterator(o)
	defer it.Close()
	for it.Rewind(); it.Valid(); {
		l := Letter{Key: it.Item().KeyCopy(nil)}
		if len(l.Key) != len(letterPrefix)+2+fingerprintLen {
			it.Next()
			continue
		}
		number := binary.BigEndian.Uint16(l.Key[len(letterPrefix):])
		if l.Shard = int(number); skip != nil && skip(l.Shard) && number < math.MaxUint16 {
			it.Seek(binary.BigEndian.AppendUint16(letterPrefix[:], number+1))
			continue
		}
		if more, err := do(l, it.Item()); !more || err != nil {
			return err
		}
		it.Next()
	}
	return nil
}

// Waiting returns how many letters were not sent yet.
func (f *Frontier) Waiting() int { return int(f.waiting.Load()) }

// Letters returns up to n letters that were not sent yet, except to the shards that skip names; nil names none.
func (f *Frontier) Letters(n int, skip func(shard int) bool) (list []Letter, err error) {
	err = f.View(func(txn *badger.Txn) error {
		return eachLetter(txn, skip, func(l Letter, item *badger.Item) (more bool, err error) {
			if l.Value, err = item.ValueCopy(nil); err != nil {
				return false, err
			}
			var w letterRow
			l.Sooner = cbor.Unmarshal(l.Value, &w) == nil && w.Sooner
			list = append(list, l)
			return len(list) < n, nil
		})
	})
	if err != nil {
		return nil, fmt.Errorf("read letters to other shards: %w", err)
	}
	return list, nil
}

// Sent removes letters that were sent, unless they have changed since.
func (f *Frontier) Sent(letters []Letter) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return ErrClosed
	}
	err := inBatches(letters, func(some []Letter) error {
		c, gone := f.begin(), int64(0)
		defer c.discard()
		for _, l := range some {
			is, err := readBytes(c.txn, string(l.Key))
			if err == nil && bytes.Equal(is, l.Value) {
				err, gone = c.txn.Delete(l.Key), gone+1
			}
			if err != nil {
				return err
			}
		}
		c.posted = -gone
		return c.commit()
	})
	if err != nil {
		return fmt.Errorf("remove letters that were sent: %w", err)
	}
	return nil
}

// Receive makes the URIs of letters known, as if visits had found them here. Receiving a letter twice changes nothing.
// damaged has the places of the letters that cannot be read; they are skipped.
func (f *Frontier) Receive(now time.Time, values [][]byte) (added Added, damaged []int, err error) {
	var cs []Candidate
	for i, v := range values {
		c, err := readLetter(v)
		if err != nil {
			damaged = append(damaged, i)
			continue
		}
		cs = append(cs, c)
	}
	fresh, added, err := f.filterKnown(cs)
	if err != nil {
		return Added{}, damaged, fmt.Errorf("receive letters: %w", err)
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
		err = fmt.Errorf("receive letters: %w", err)
	}
	return added, damaged, err
}

// readLetter returns the candidate of a letter.
func readLetter(value []byte) (Candidate, error) {
	var l letterRow
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

// foreignRobots returns the copy of a robots.txt, or of a URI that replaces one, from the store of another shard.
func (f *Frontier) foreignRobots(shard int, file robotsFile) (c RobotsCopy, ok bool) {
	number := f.shards.Read(shard, nameKey(file.u.Host()))
	if len(number) != 4 {
		return RobotsCopy{}, false
	}
	v := f.shards.Read(shard, file.key(binary.BigEndian.Uint32(number)))
	var w robotsRow
	if v == nil || cbor.Unmarshal(v, &w) != nil {
		return RobotsCopy{}, false
	}
	return w.copy(), true
}

// Strays returns how many hosts of this store belong to other shards and still have URIs here. They are not visited.
func (f *Frontier) Strays() (n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, h := range f.byID {
		n += int(countIf(h.stray && h.uris > 0))
	}
	return n
}

// Has reports whether this store counts a host: it belongs here, or only this store has its URIs.
func (f *Frontier) Has(host uri.Host) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	h := f.hosts[host]
	return h == nil && f.shardOf(host) == 0 || h != nil && !h.isElsewhere()
}

// DropStrays removes the URIs of hosts that belong to other shards, after a store was copied for several of them. Hosts
// of those shards for which stays returns true are kept. It stops early when stop is closed, and then returns false.
// before is called before each portion, and may wait.
func (f *Frontier) DropStrays(stop <-chan struct{}, stays func(shard int) bool, before func()) (done bool, err error) {
	f.mu.Lock()
	var strays []*host
	for _, h := range f.byID {
		if h.stray && !h.vacant && !stays(f.shardOf(h.name)) {
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
				return false, fmt.Errorf("remove the URIs of other shards: %w", err)
			}
		}
	}
	return true, nil
}
