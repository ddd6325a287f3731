// Package rows keeps rows of one kind in a Badger store, with the rows in use in memory.
//
// A [Store] reads a row when it is first needed. [Store.Change] changes it in memory, and [Store.Flush] writes all
// rows that were changed since the last Flush. A crash loses what was changed in between. Rows that are already written
// are dropped from memory when there are too many. [Store.OnDamage] says what happens to a damaged row.
//
// The Badger store is shared with other packages and is opened and closed by its owner, the frontier. The keys of each
// kind have a prefix of their own. The packages that use this one define the formats of keys and values.
package rows

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/dgraph-io/badger/v4"

	"github.com/arcrawl/arcrawl/internal/human"
)

// ErrCorrupt says that a row was not written by this program, or is damaged.
var ErrCorrupt = errors.New("a row is damaged")

// Kind describes the rows of a [Store]. All fields except Outdated and Portion are required.
type Kind[K comparable, V any] struct {
	Name        string                      // of one row, for errors: "reputation"
	Prefix      string                      // begins each key
	MaxInMemory int                         // rows
	RowBytes    int64                       // bytes in memory of a row with its key, at most
	Portion     int                         // rows that are written in one transaction; 0 = as many as have up to 2 KB
	Own         func(K) K                   // returns a copy of a key that shares no memory with it
	Key         func(K) []byte              // the whole key
	ParseKey    func([]byte) (K, bool)      // the reverse of Key; false if it is not such a key
	Encode      func(V) ([]byte, error)     // returns the value to store
	Decode      func(v []byte, to *V) error // the reverse of Encode; returns ErrCorrupt for anything else
	// Outdated returns the keys to delete when a row is written for the first time. It only reads txn; nil deletes
	// nothing.
	Outdated func(txn *badger.Txn, added K) [][]byte
}

// Store keeps the rows of one kind. Its methods may be called by several goroutines at once. It needs no closing
// except a last [Store.Flush], and must not be used after the Badger store is closed.
type Store[K comparable, V any] struct {
	db      *badger.DB
	kind    Kind[K, V]
	damaged func(error) // see OnDamage; nil = a damaged row is an error

	// The locks are taken in this order.
	loading  sync.Mutex // held while a row is read into memory, and while rows are dropped from it
	flushing sync.Mutex // held while rows are written
	mu       sync.Mutex // guards the fields below and what they point to; not held while the Badger store is used
	rows     map[K]*row[K, V]
	changed  map[K]struct{} // keys of the rows that differ from the Badger store or are not in it; all of them are in rows
}

// row is a row in memory.
type row[K comparable, V any] struct {
	key    K
	value  V
	stored bool // the Badger store has a row with this key
}

// New returns a store of rows in db.
func New[K comparable, V any](db *badger.DB, kind Kind[K, V]) (*Store[K, V], error) {
	if db == nil {
		return nil, fmt.Errorf("open the store of each %s: no Badger store is given", kind.Name)
	}
	return &Store[K, V]{db: db, kind: kind, rows: map[K]*row[K, V]{}, changed: map[K]struct{}{}}, nil
}

// OnDamage makes the store call a function when a row is damaged, and replace the row by the zero value at the next
// Flush: so each damage is reported once. Without it, a damaged row is an error each time that it is read. It must be
// called before the store is used.
func (s *Store[K, V]) OnDamage(report func(error)) { s.damaged = report }

// Get returns a row, or the zero value if there is none.
func (s *Store[K, V]) Get(key K) (v V, err error) {
	err = s.with(key, func(r *row[K, V]) { v = r.value })
	return v, err
}

// Change replaces a row by what change returns for it. A row that does not exist yet is passed as the zero value. If
// change returns false, the row stays unchanged. change must not use the store.
func (s *Store[K, V]) Change(key K, change func(V) (V, bool)) error {
	return s.with(key, func(r *row[K, V]) {
		if v, ok := change(r.value); ok {
			r.value = v
			s.changed[r.key] = struct{}{}
		}
	})
}

// with calls do with a row, which it reads if it is not in memory. do is called under the lock.
func (s *Store[K, V]) with(key K, do func(*row[K, V])) error {
	if s.inMemory(key, do) {
		return nil
	}
	s.loading.Lock()
	defer s.loading.Unlock()
	if s.inMemory(key, do) { // another goroutine has read it meanwhile
		return nil
	}
	r, err := s.load(key)
	replace := s.damaged != nil && errors.Is(err, ErrCorrupt)
	if replace {
		s.damaged(err)
		r, err = &row[K, V]{stored: true}, nil
	}
	if err == nil {
		err = s.makeRoom()
	}
	if err != nil {
		return err
	}
	key = s.kind.Own(key) // the key of a caller may be a part of a long URI, which it would keep in memory
	s.mu.Lock()
	defer s.mu.Unlock()
	r.key = key
	s.rows[key] = r
	if replace {
		s.changed[key] = struct{}{}
	}
	do(r)
	return nil
}

func (s *Store[K, V]) inMemory(key K, do func(*row[K, V])) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, ok := s.rows[key]
	if ok {
		do(r)
	}
	return ok
}

// load reads a row from the Badger store.
func (s *Store[K, V]) load(key K) (*row[K, V], error) {
	r := new(row[K, V])
	err := s.db.View(func(txn *badger.Txn) error {
		item, err := txn.Get(s.kind.Key(key))
		if errors.Is(err, badger.ErrKeyNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		r.stored = true
		return item.Value(func(v []byte) error { return s.kind.Decode(v, &r.value) })
	})
	if err != nil {
		return nil, fmt.Errorf("read the %s of %v: %w", s.kind.Name, key, err)
	}
	return r, nil
}

// makeRoom drops the rows that need not be written if memory is full. s.loading is held.
func (s *Store[K, V]) makeRoom() error {
	s.mu.Lock()
	full := len(s.rows) >= s.kind.MaxInMemory
	s.mu.Unlock()
	if !full {
		return nil
	}
	s.flushing.Lock()
	defer s.flushing.Unlock()
	if err := s.flush(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.DeleteFunc(s.rows, func(key K, _ *row[K, V]) bool {
		_, changed := s.changed[key]
		return !changed
	})
	return nil
}

// Bytes returns how much memory the rows take at most.
func (s *Store[K, V]) Bytes() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return int64(len(s.rows)) * s.kind.RowBytes
}

// maxPortion is the number of rows that are written in one transaction. Rows have up to 2 KB and a transaction of the
// frontier's store may have some 900 KB.
const maxPortion = 200

// Flush writes the rows that were changed. If it fails, the next Flush writes them.
func (s *Store[K, V]) Flush() error {
	s.flushing.Lock()
	defer s.flushing.Unlock()
	return s.flush()
}

// flush is Flush while s.flushing is held.
func (s *Store[K, V]) flush() error {
	s.mu.Lock()
	changed := slices.Collect(maps.Keys(s.changed))
	s.mu.Unlock()
	size := s.kind.Portion
	if size == 0 {
		size = maxPortion
	}
	for portion := range slices.Chunk(changed, size) {
		if err := s.write(portion); err != nil {
			return fmt.Errorf("write the %s of %s: %w", s.kind.Name, human.Count(len(changed), "key"), err)
		}
	}
	return nil
}

// write writes rows in one transaction. Outdated ones are looked up first, because an iterator sorts everything that
// its transaction has written.
func (s *Store[K, V]) write(keys []K) error {
	values, added, err := s.take(keys)
	if err == nil {
		err = s.db.Update(func(txn *badger.Txn) error {
			var old [][]byte
			if s.kind.Outdated != nil {
				for _, key := range added {
					old = append(old, s.kind.Outdated(txn, key)...)
				}
			}
			for i, key := range keys {
				if err := txn.Set(s.kind.Key(key), values[i]); err != nil {
					return err
				}
			}
			for _, k := range old {
				if err := txn.Delete(k); err != nil {
					return err
				}
			}
			return nil
		})
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, key := range keys {
		if err != nil {
			s.changed[key] = struct{}{}
		} else {
			s.rows[key].stored = true
		}
	}
	return err
}

// take encodes rows and marks them as written. It also returns the keys of those that were never stored.
func (s *Store[K, V]) take(keys []K) (values [][]byte, added []K, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, key := range keys {
		r := s.rows[key]
		v, err := s.kind.Encode(r.value)
		if err != nil {
			return nil, nil, err
		}
		values = append(values, v)
		delete(s.changed, key)
		if !r.stored {
			added = append(added, key)
		}
	}
	return values, added, nil
}

// Each calls see with each row whose key begins with prefix, in the order of the keys, after a [Store.Flush]. prefix
// begins with the prefix of the kind; if it is nil, see gets all rows of the kind. Each stops at the first error of
// see, and returns it. After [Store.OnDamage] it leaves damaged rows out, and replaces them.
func (s *Store[K, V]) Each(prefix []byte, see func(K, V) error) error {
	if err := s.Flush(); err != nil {
		return err
	}
	var damaged []K
	if err := s.each(prefix, see, &damaged); err != nil {
		return err
	}
	for _, key := range damaged {
		if _, err := s.Get(key); err != nil {
			return err
		}
	}
	return nil
}

// each is Each for the rows that are stored. It adds the keys of damaged rows to a list if they are to be replaced.
func (s *Store[K, V]) each(prefix []byte, see func(K, V) error, damaged *[]K) error {
	o := badger.DefaultIteratorOptions
	if o.Prefix = prefix; prefix == nil {
		o.Prefix = []byte(s.kind.Prefix)
	}
	return s.db.View(func(txn *badger.Txn) error {
		it := txn.NewIterator(o)
		defer it.Close()
		for it.Rewind(); it.Valid(); it.Next() {
			key, ok := s.kind.ParseKey(it.Item().Key())
			if !ok {
				return fmt.Errorf("read each %s: %w: its key is %q", s.kind.Name, ErrCorrupt, it.Item().Key())
			}
			var v V
			err := it.Item().Value(func(b []byte) error { return s.kind.Decode(b, &v) })
			if errors.Is(err, ErrCorrupt) && s.damaged != nil && len(*damaged) < s.kind.MaxInMemory {
				*damaged = append(*damaged, s.kind.Own(key))
				continue
			}
			if err != nil {
				return fmt.Errorf("read the %s of %v: %w", s.kind.Name, key, err)
			}
			if err := see(key, v); err != nil {
				return err
			}
		}
		return nil
	})
}
