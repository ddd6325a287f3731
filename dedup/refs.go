package dedup

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/dgraph-io/badger/v4"

	"github.com/arcrawl/arcrawl/digest"
)

// refLen is the length of the name by which revisits refer to an original.
const refLen = 8

// countKey is the key of a count of revisits.
type countKey [1 + len(digest.Digest{}) + 1 + refLen + 4]byte

// refKey returns the key of the count of revisits in one collection that refer to an original. Some writers refer by
// URI and date, others by record id; byID chooses the name of o.
func refKey(o digest.Origin, byID bool, source uint32) (k countKey) {
	name := make([]byte, 0, 256)
	if byID {
		name = append(name, o.RecordID...)
	} else {
		name = append(append(name, o.URI...), ' ')
		name = o.Date.UTC().AppendFormat(name, time.RFC3339)
	}
	sum := sha256.Sum256(name)
	b := append(k[:0], kind)
	b = append(b, o.Payload[:]...)
	b = append(append(b, reference), sum[:refLen]...)
	binary.BigEndian.AppendUint32(b, source)
	return k
}

// add adds to a counter. A missing one begins with first.
func add(txn *badger.Txn, key []byte, first, more uint64) error {
	n, known, err := count(txn, key)
	if err != nil {
		return err
	}
	if !known {
		n = first
	}
	return txn.Set(key, binary.AppendUvarint([]byte{format}, n+more))
}

// count reads a counter; a missing one is zero.
func count(txn *badger.Txn, key []byte) (n uint64, known bool, err error) {
	row, err := stored{txn}.row(key)
	if row == nil || err != nil {
		return 0, false, err
	}
	err = row.Value(func(v []byte) error {
		n, err = decodeCount(v)
		return err
	})
	return n, err == nil, err
}

func decodeCount(v []byte) (uint64, error) {
	if len(v) > 1 && v[0] == format {
		if n, size := binary.Uvarint(v[1:]); size == len(v)-1 {
			return n, nil
		}
	}
	return 0, fmt.Errorf("%w: a count of revisits is %x", ErrCorrupt, v)
}

// maxPending is the maximum number of originals whose new revisits are counted but not stored yet, of 80 bytes each.
// maxPortion is the number of counts stored in one transaction.
const (
	maxPending = 10_000
	maxPortion = 500
)

// pending holds the counts of revisits that are not stored yet, by [refKey].
type pending struct {
	mu     sync.Mutex // guards counts
	counts map[countKey]uint64
}

// add counts one more revisit, and reports whether the counts have to be stored.
func (p *pending) add(key countKey) (many bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.counts == nil {
		p.counts = make(map[countKey]uint64)
	}
	p.counts[key]++
	return len(p.counts) >= maxPending
}

// count returns how many revisits are not stored yet.
func (p *pending) count(key countKey) uint64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.counts[key]
}

func (p *pending) take() map[countKey]uint64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	counts := p.counts
	p.counts = nil
	return counts
}

// putBack counts what was taken again.
func (p *pending) putBack(counts map[countKey]uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for key, n := range p.counts {
		counts[key] += n
	}
	p.counts = counts
}

// Refer counts a revisit record that refers to an original. Like [Index.Put] it is called after the record is on disk.
// The next [Index.Flush] stores the count, so a crash may lose some. The command deps counts the records of the
// archive itself.
func (i *Index) Refer(o digest.Origin) error {
	if o.Payload.IsZero() || o.IsZero() {
		return errors.New("count a revisit: it has no original")
	}
	if i.pending.add(refKey(o, o.URI == "" || o.Date.IsZero(), 0)) {
		return i.Flush()
	}
	return nil
}

// Apart reports whether a record is in a file of another series than p asks for. It cannot be an origin then: each
// series can be replayed alone.
func (i *Index) Apart(p Policy, o digest.Origin) bool {
	return i.o.Series != nil && !o.IsZero() && i.o.Series(o.File) != p.Series
}

// Spent reports whether a record is no origin any more at now: it is too old, has too many revisits, or is in another
// series. The payload is then archived whole again. It reads the store only if p limits the number.
func (i *Index) Spent(p Policy, o digest.Origin, now time.Time) (bool, error) {
	if p.TooOld(o.Date, now) || i.Apart(p, o) {
		return true, nil
	}
	if p.Copies == 0 || o.IsZero() {
		return false, nil
	}
	key := refKey(o, o.URI == "" || o.Date.IsZero(), 0)
	n := i.pending.count(key)
	err := i.o.View(func(txn *badger.Txn) error {
		stored, _, err := count(txn, key[:])
		n += stored
		return err
	})
	if err == nil {
		var more map[countKey]uint64
		more, err = i.sharedCounts([]countKey{key})
		n += more[key]
	}
	if away := (errAway{}); err != nil && !errors.As(err, &away) {
		return false, fmt.Errorf("count the revisits of %s: %w", o.RecordID, err)
	}
	return n >= uint64(p.Copies), nil
}

// Flush stores the counts of revisits, and removes rows that the shared index has if there are too many. It is called
// regularly, and before the store is closed. After an error, and while the shared index does not answer, what was not
// stored is still counted.
func (i *Index) Flush() error {
	return errors.Join(i.storeCounts(), i.trim())
}

func (i *Index) storeCounts() error {
	counts := i.pending.take()
	// In the order of the store, so that neighbours are read from the same block.
	keys := slices.SortedFunc(maps.Keys(counts), func(a, b countKey) int { return bytes.Compare(a[:], b[:]) })
	for portion := range slices.Chunk(keys, maxPortion) {
		first, err := i.sharedCounts(portion)
		if away := (errAway{}); errors.As(err, &away) {
			i.pending.putBack(counts)
			return nil
		}
		if err == nil {
			err = i.update(func(txn *badger.Txn) error {
				for _, key := range portion {
					if err := add(txn, key[:], first[key], counts[key]); err != nil {
						return err
					}
				}
				return nil
			})
		}
		if err != nil {
			i.pending.putBack(counts)
			return fmt.Errorf("store the revisit counts of %d records: %w", len(keys), err)
		}
		for _, key := range portion {
			delete(counts, key)
		}
	}
	return nil
}
