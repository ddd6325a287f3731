package dedup

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/dgraph-io/badger/v4"

	"github.com/arcrawl/arcrawl/digest"
)

// refLen is the length of the name by which an original is referred to.
const refLen = 8

// refKey is the key under which the revisits of one collection that refer to an original are counted. Some writers refer by
// URI and date, some by record id; byID says which of the names of o is meant.
func refKey(o digest.Origin, byID bool, source uint32) []byte {
	name := o.RecordID
	if !byID {
		name = o.URI + " " + o.Date.UTC().Format(time.RFC3339)
	}
	sum := sha256.Sum256([]byte(name))
	b := make([]byte, 0, 1+len(o.Payload)+1+refLen+4)
	b = append(b, kind)
	b = append(b, o.Payload[:]...)
	b = append(append(b, reference), sum[:refLen]...)
	return binary.BigEndian.AppendUint32(b, source)
}

// refer counts one revisit.
func refer(txn *badger.Txn, o digest.Origin, source uint32) error {
	return add(txn, refKey(o, o.URI == "" || o.Date.IsZero(), source), 1)
}

func add(txn *badger.Txn, key []byte, more uint64) error {
	n, err := count(txn, key)
	if err != nil {
		return err
	}
	return txn.Set(key, binary.AppendUvarint([]byte{format}, n+more))
}

// count reads a counter; one that is not there is zero.
func count(txn *badger.Txn, key []byte) (n uint64, err error) {
	item, err := txn.Get(key)
	if errors.Is(err, badger.ErrKeyNotFound) {
		return 0, nil
	}
	if err == nil {
		err = item.Value(func(v []byte) error {
			n, err = decodeCount(v)
			return err
		})
	}
	return n, err
}

func decodeCount(v []byte) (uint64, error) {
	if len(v) > 1 && v[0] == format {
		if n, size := binary.Uvarint(v[1:]); size == len(v)-1 {
			return n, nil
		}
	}
	return 0, fmt.Errorf("%w: a count of revisits is %x", ErrCorrupt, v)
}

// maxPending is how many originals have revisits that are counted but not stored yet.
const maxPending = 500

// pending are the revisits that are counted but not stored yet, by the key of what they refer to.
type pending struct {
	mu     sync.Mutex // guards counts
	counts map[string]uint64
}

// add counts one more, and reports whether there are many to be stored.
func (p *pending) add(key []byte) (many bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.counts == nil {
		p.counts = make(map[string]uint64)
	}
	p.counts[string(key)]++
	return len(p.counts) >= maxPending
}

func (p *pending) take() map[string]uint64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	counts := p.counts
	p.counts = nil
	return counts
}

// Refer counts a revisit record that was written of an original. Like [Index.Put] it is called after the record is on disk.
// The count is stored by the next [Index.Flush], so that a crash may leave some uncounted; the archive itself knows each,
// see the command deps.
func (i *Index) Refer(o digest.Origin) error {
	if o.Payload.IsZero() || o.IsZero() {
		return errors.New("count a revisit: it refers to nothing")
	}
	if i.pending.add(refKey(o, o.URI == "" || o.Date.IsZero(), 0)) {
		return i.Flush()
	}
	return nil
}

// Flush stores the counts of revisits. It is called now and then, and before the store is closed.
func (i *Index) Flush() error {
	counts := i.pending.take()
	if len(counts) == 0 {
		return nil
	}
	store := func(txn *badger.Txn) error {
		for key, more := range counts {
			if err := add(txn, []byte(key), more); err != nil {
				return err
			}
		}
		return nil
	}
	err := i.db.Update(store)
	for errors.Is(err, badger.ErrConflict) { // another goroutine stored some of the same; each round lets one through
		err = i.db.Update(store)
	}
	if err != nil {
		return fmt.Errorf("store how many revisits there are of %d records: %w", len(counts), err)
	}
	return nil
}

// References is how many revisits are known to refer to an original, those of removed collections apart.
func (i *Index) References(o digest.Origin) (n int64, err error) {
	if err := i.Flush(); err != nil {
		return 0, err
	}
	err = i.db.View(func(txn *badger.Txn) error {
		for _, byID := range []bool{false, true} {
			prefix := refKey(o, byID, 0)
			prefix = prefix[:len(prefix)-4]
			it := txn.NewIterator(badger.IteratorOptions{Prefix: prefix, PrefetchValues: true, PrefetchSize: 4})
			for it.Rewind(); it.Valid(); it.Next() {
				key := it.Item().Key()
				if len(key) != len(prefix)+4 || !i.imported.counts(binary.BigEndian.Uint32(key[len(prefix):])) {
					continue
				}
				err := it.Item().Value(func(v []byte) error {
					more, err := decodeCount(v)
					n += int64(more)
					return err
				})
				if err != nil {
					it.Close()
					return err
				}
			}
			it.Close()
		}
		return nil
	})
	if err != nil {
		return 0, fmt.Errorf("count the revisits of %s: %w", o.RecordID, err)
	}
	return n, nil
}
