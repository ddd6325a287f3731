package dedup

import (
	"bytes"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/dgraph-io/badger/v4"

	"github.com/arcrawl/arcrawl/digest"
)

// Shared is the index of all stores of one crawl, somewhere else. Somebody carries there what [KindOf] says, in the
// form of [Portable]. A store then needs only some of the rows itself, as a cache.
//
// A row that is not found, because it is on its way or because nobody answers, costs a second copy of a payload. So a
// row must not be there before its record is on disk.
type Shared interface {
	// Find returns the rows of keys, nil for each that is not there. A capture waits for it.
	Find(keys ...[]byte) (rows [][]byte, err error)
	// Keep returns how many rows of payloads this store keeps at most; 0 = no bound for now.
	Keep() int
}

// Kind says where a row belongs if several stores share an index.
type Kind uint8

// The kinds of rows. They are not stored.
const (
	Private    Kind = iota // to its store, as all rows of other packages
	Entry                  // to the shared index, where the last value counts
	Count                  // to the shared index, where the largest value counts
	SharedLoss             // to its store, and to the shared index, where the last value counts
	Cached                 // to its store, and to no copy of the store
)

// KindOf returns the kind of the row with a key.
func KindOf(key []byte) Kind {
	switch {
	case len(key) <= payloadEnd || key[0] != kind:
		return Private
	case !isMeta(key):
		if len(key) == len(countKey{}) {
			return Count
		}
		return Entry
	case key[payloadEnd] == lostFile:
		return SharedLoss
	case key[payloadEnd] == fileName: // only entries of the same store have the number
		return Cached
	}
	return Private // collections
}

// isMeta reports whether a row of the index is not about a payload.
func isMeta(key []byte) bool { return bytes.HasPrefix(key, metaPrefix[:]) }

var metaPrefix = [payloadEnd]byte{kind}

// Portable returns the value of a row of a store as the shared index has it: with the name of a file instead of a
// number, and counts so that their bytes are ordered. It returns [ErrCorrupt] for a damaged row.
func Portable(txn *badger.Txn, key, value []byte) ([]byte, error) {
	switch KindOf(key) {
	case Count:
		n, err := decodeCount(value)
		return binary.BigEndian.AppendUint64(nil, n), err
	case Entry:
		if len(value) < 2 || value[0] != compact {
			return value, nil // the long form has the name
		}
		e, err := decodeCompact(digest.Digest(key[1:payloadEnd]), value, func(n uint32) (name string, known bool) {
			item, err := txn.Get(nameKey(n))
			if err == nil {
				err = item.Value(func(v []byte) error { name = string(v[min(1, len(v)):]); return nil })
			}
			return name, err == nil && name != ""
		})
		return encodeCompact(e, 0), err
	}
	return value, nil
}

func portableCount(v []byte) uint64 {
	if len(v) != 8 {
		return 0
	}
	return binary.BigEndian.Uint64(v)
}

// findShared looks for a better record than m in the shared index, with one question for all candidates, and perhaps
// one for the file of the record. What is damaged there does not count: the payload is archived again, and that
// replaces it.
func (i *Index) findShared(key []byte, q Query, m Match) Match {
	keys := [][]byte{key}
	if !q.Strong.IsZero() && i.hasCollections() {
		keys = append(keys, q.weak(key))
	}
	for _, k := range keys[:len(keys):len(keys)] {
		keys = append(keys, i.underURI(k, q)...)
	}
	rows, err := i.o.Shared.Find(keys...)
	if err != nil {
		return m
	}
	found, err := i.findBoth(answer{keys, rows}, key, q)
	if err != nil || found.Hit == Miss || m.Hit != Miss && m.Hit <= found.Hit || i.lostShared(found.Origin) {
		return m
	}
	return found
}

// answer reads the rows of an answer.
type answer struct{ keys, rows [][]byte }

func (a answer) row(key []byte) (rowValue, error) {
	for n, k := range a.keys {
		if bytes.Equal(k, key) && a.rows[n] != nil {
			return answered(a.rows[n]), nil
		}
	}
	return nil, nil
}

type answered []byte

func (a answered) Value(use func([]byte) error) error { return use(a) }

// lostShared reports whether another store has lost a record, or whether that is not known.
func (i *Index) lostShared(o digest.Origin) bool {
	rows, err := i.o.Shared.Find(about(lostFile, o.File))
	if err != nil || rows[0] == nil {
		return err != nil
	}
	var l Loss
	return decodeRow(rows[0], &l) != nil || l.covers(o)
}

// sharedCounts returns the counts of revisits that the shared index has and this store lacks.
func (i *Index) sharedCounts(keys []countKey) (counts map[countKey]uint64, err error) {
	if i.o.Shared == nil {
		return nil, nil
	}
	var absent [][]byte
	err = i.o.View(func(txn *badger.Txn) error {
		for _, k := range keys {
			if _, err := txn.Get(k[:]); errors.Is(err, badger.ErrKeyNotFound) {
				absent = append(absent, k[:])
			} else if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil || len(absent) == 0 {
		return nil, err
	}
	rows, err := i.o.Shared.Find(absent...)
	if err != nil {
		return nil, errAway{err}
	}
	counts = map[countKey]uint64{}
	for n, v := range rows {
		counts[countKey(absent[n])] = portableCount(v)
	}
	return counts, nil
}

// errAway says that the shared index does not answer.
type errAway struct{ error }

const (
	// samples is the number of places of the index at which its rows are counted, each of 1/65,536 of all.
	samples = 64
	// exactRows is the number of rows that are counted before some are removed, at maxSamples places at most.
	exactRows, maxSamples = 2_000, 4_096
	// maxTrimmed is the maximum number of rows that are removed at once.
	maxTrimmed = 500_000
)

// trim removes rows of payloads while the store has more than it needs to keep. Digests are random, so the rows at a
// few places say how many there are, and neighbours have nothing in common.
func (i *Index) trim() error {
	if i.o.Shared == nil {
		return nil
	}
	keep := i.o.Shared.Keep()
	if keep <= 0 {
		return nil
	}
	batch := i.db.NewWriteBatch()
	defer batch.Cancel()
	err := i.db.View(func(txn *badger.Txn) error {
		n, err := guess(txn, samples)
		if err == nil && n > keep { // fewer rows need more places
			n, err = guess(txn, min(max(exactRows<<16/n, samples), maxSamples))
		}
		surplus := min(n-keep, maxTrimmed)
		if err != nil || surplus <= 0 {
			return err
		}
		return eachKey(txn, 0, func(key []byte) (more bool, err error) {
			surplus--
			return surplus > 0, batch.Delete(bytes.Clone(key))
		})
	})
	if err == nil {
		err = batch.Flush()
	}
	if err != nil {
		return fmt.Errorf("remove rows of the dedup index that others have: %w", err)
	}
	return nil
}

// guess returns the probable number of rows of payloads, by the rows at some places.
func guess(txn *badger.Txn, places int) (n int, err error) {
	for i := 0; i < places && err == nil; i++ {
		err = eachKey(txn, 2, func([]byte) (more bool, err error) { n++; return true, nil })
	}
	return n << 16 / places, err
}

// eachKey calls visit with the keys of payloads from a random digest on, as long as it wants more and the first bytes
// of the digests, some of them, are the same.
func eachKey(txn *badger.Txn, same int, visit func(key []byte) (more bool, err error)) error {
	var from [payloadEnd]byte
	_, _ = rand.Read(from[1 : 1+max(same, 2)])
	from[0] = kind
	it := txn.NewIterator(badger.IteratorOptions{Prefix: from[:1+same]})
	defer it.Close()
	for it.Seek(from[:]); it.Valid(); it.Next() {
		key := it.Item().Key()
		if isMeta(key) {
			continue
		}
		if more, err := visit(key); !more || err != nil {
			return err
		}
	}
	return nil
}
