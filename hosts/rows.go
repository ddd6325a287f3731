// Package hosts keeps what was learned of each host, as rows in the Badger store of the frontier: its [Cookies], what
// each day brought ([Daily]), how far its headers and dates are believed ([Reputation]), and what its URIs of one kind
// have in common ([Similar]). [Rows] are the common base, for other packages too.
//
// # Rows
//
// A [Rows] reads a row when it is first needed. [Rows.Change] changes it in memory, and [Rows.Flush] writes all
// rows that were changed since the last Flush. A crash loses what was changed in between. Rows that are already written
// are dropped from memory when there are too many. [Rows.OnDamage] says what happens to a damaged row.
//
// The Badger store is shared with other packages and is opened and closed by its owner, the frontier. The keys of each
// kind have a prefix of their own. The packages that use this one define the formats of keys and values.
package hosts

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/dgraph-io/badger/v4"
	"github.com/fxamacker/cbor/v2"

	"github.com/arcrawl/arcrawl/uri"
)

// ErrCorrupt says that a row was not written by this program, or is damaged.
var ErrCorrupt = errors.New("a row is damaged")

// RowKind describes the rows of a [Rows]. Outdated, Portion, MaxBytes and RowBytes may be zero.
type RowKind[K comparable, V any] struct {
	Name        string                      // of one row, for errors: "reputation"
	Prefix      string                      // begins each key
	MaxInMemory int                         // rows
	MaxBytes    int64                       // in memory, of all rows; 0 = bounded by MaxInMemory alone
	RowBytes    int64                       // bytes in memory of a row with its key, at most; 0 = by its stored form
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

// Rows keeps the rows of one kind. Its methods may be called by several goroutines at once. It needs no closing
// except a last [Rows.Flush], and must not be used after the Badger store is closed.
type Rows[K comparable, V any] struct {
	db      *badger.DB
	kind    RowKind[K, V]
	damaged atomic.Pointer[func(error)] // see OnDamage; nil = a damaged row is an error

	flushing sync.Mutex // held while rows are written or forgotten; taken before the lock of a row
	mu       sync.Mutex // guards the fields below; taken last, and not held while the Badger store is used
	rows     map[K]*row[K, V]
	changed  map[K]struct{} // keys of the rows that differ from the Badger store or are not in it; all of them are in rows
	bytes    int64          // in memory, of all rows
}

// row is a row in memory. Its lock is held while the Badger store is read for it, so that a slow disk delays only those
// who need this row.
type row[K comparable, V any] struct {
	key   K
	users int   // goroutines that use it; guarded by the lock of the store
	bytes int64 // in memory; guarded by the lock of the store

	mu     sync.Mutex // guards the fields below
	loaded bool
	stored bool // the Badger store has a row with this key; after loading, only Flush and Forget change it
	value  V
}

// NewRows returns a store of rows in db.
func NewRows[K comparable, V any](db *badger.DB, kind RowKind[K, V]) *Rows[K, V] {
	return &Rows[K, V]{db: db, kind: kind, rows: map[K]*row[K, V]{}, changed: map[K]struct{}{}}
}

// NewHostRows returns a store of rows whose keys are the prefix of their kind and a host.
func NewHostRows[V any](db *badger.DB, kind RowKind[uri.Host, V]) *Rows[uri.Host, V] {
	kind.Own = uri.Host.Clone
	kind.Key = func(h uri.Host) []byte { return append([]byte(kind.Prefix), h...) }
	kind.ParseKey = func(k []byte) (uri.Host, bool) { return uri.Host(k[len(kind.Prefix):]), true }
	return NewRows(db, kind)
}

// rowFormat begins the rows that [EncodeRow] writes.
const rowFormat = 1

// EncodeRow returns a row as it is stored: its format, then CBOR.
func EncodeRow(row any) ([]byte, error) {
	mode, err := cbor.EncOptions{Time: cbor.TimeRFC3339Nano}.EncMode()
	if err != nil {
		return nil, err
	}
	b, err := mode.Marshal(row)
	return append([]byte{rowFormat}, b...), err
}

// DecodeRow reads what [EncodeRow] wrote. It returns [ErrCorrupt] for anything else.
func DecodeRow(b []byte, row any) error {
	if len(b) == 0 || b[0] != rowFormat {
		return fmt.Errorf("%w: format %x, want %x", ErrCorrupt, b[:min(1, len(b))], rowFormat)
	}
	if err := cbor.Unmarshal(b[1:], row); err != nil {
		return fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	return nil
}

// OnDamage makes the store call a function when a row is damaged, and replace the row by the zero value at the next
// Flush: so each damage is reported once. Without it, a damaged row is an error each time that it is read. It may be
// called while others use the store.
func (s *Rows[K, V]) OnDamage(report func(error)) { s.damaged.Store(&report) }

// Get returns a row, or the zero value if there is none.
func (s *Rows[K, V]) Get(key K) (v V, err error) {
	err = s.with(key, func(r *row[K, V]) { v = r.value })
	return v, err
}

// Change replaces a row by what change returns for it. A row that does not exist yet is passed as the zero value. If
// change returns false, the row stays unchanged. change must not use the store.
func (s *Rows[K, V]) Change(key K, change func(V) (V, bool)) error {
	return s.with(key, func(r *row[K, V]) {
		if v, ok := change(r.value); ok {
			r.value = v
			s.mu.Lock()
			defer s.mu.Unlock()
			s.changed[r.key] = struct{}{}
		}
	})
}

// with calls do with a row, which it reads if it is not in memory. do is called under the lock of the row.
func (s *Rows[K, V]) with(key K, do func(*row[K, V])) error {
	r, err := s.use(key)
	if err != nil {
		return err
	}
	defer s.release(r)
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.loaded {
		if err := s.load(r); err != nil {
			return err
		}
	}
	do(r)
	return nil
}

// use returns a row, which may not be loaded, and keeps it in memory until [Rows.release].
func (s *Rows[K, V]) use(key K) (*row[K, V], error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.rows[key] == nil && s.isFull() {
		s.mu.Unlock()
		err := s.makeRoom()
		s.mu.Lock()
		if err != nil {
			return nil, err
		}
	}
	r := s.rows[key]
	if r == nil {
		// The key of a caller may be a part of a long URI, which it would keep in memory.
		r = &row[K, V]{key: s.kind.Own(key)}
		s.rows[r.key] = r
		s.resize(r, 0)
	}
	r.users++
	return r, nil
}

func (s *Rows[K, V]) release(r *row[K, V]) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r.users--
}

// resize sets the size of a row in memory by the size of its stored form. s.mu is held.
func (s *Rows[K, V]) resize(r *row[K, V], stored int) {
	size := s.kind.RowBytes
	if size == 0 {
		size = int64(500 + 3*stored) // an estimate
	}
	s.bytes += size - r.bytes
	r.bytes = size
}

// isFull reports whether there is no room for another row. s.mu is held.
func (s *Rows[K, V]) isFull() bool {
	return len(s.rows) >= s.kind.MaxInMemory || s.kind.MaxBytes > 0 && s.bytes >= s.kind.MaxBytes
}

// load reads a row from the Badger store. The lock of the row is held.
func (s *Rows[K, V]) load(r *row[K, V]) error {
	size, stored := 0, false
	var value V
	err := s.db.View(func(txn *badger.Txn) error {
		item, err := txn.Get(s.kind.Key(r.key))
		if errors.Is(err, badger.ErrKeyNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		stored = true
		return item.Value(func(v []byte) error {
			size = len(v)
			return s.kind.Decode(v, &value)
		})
	})
	if err != nil {
		err = fmt.Errorf("read the %s of %v: %w", s.kind.Name, r.key, err)
	}
	report := s.damaged.Load()
	replace := report != nil && errors.Is(err, ErrCorrupt)
	switch {
	case replace:
		(*report)(err)
		value, size = *new(V), 0
	case err != nil:
		return err
	}
	r.loaded, r.stored, r.value = true, stored, value
	s.mu.Lock()
	defer s.mu.Unlock()
	s.resize(r, size)
	if replace {
		s.changed[r.key] = struct{}{}
	}
	return nil
}

// makeRoom drops the rows that nobody uses and that are written.
func (s *Rows[K, V]) makeRoom() error {
	s.flushing.Lock()
	defer s.flushing.Unlock()
	if err := s.flush(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.isFull() { // another goroutine has made room meanwhile
		return nil
	}
	maps.DeleteFunc(s.rows, func(key K, r *row[K, V]) bool {
		_, changed := s.changed[key]
		if changed || r.users > 0 {
			return false
		}
		s.bytes -= r.bytes
		return true
	})
	return nil
}

// Forget drops rows from memory, also changed ones that are not written: their changes are lost. What uses such a row
// next reads it from the Badger store. Call Forget after the rows there were replaced or deleted. Others may use the
// store meanwhile: a change that they begin before Forget ends may be dropped or not.
func (s *Rows[K, V]) Forget(is func(K) bool) {
	s.flushing.Lock()
	defer s.flushing.Unlock()
	s.mu.Lock()
	all := slices.Collect(maps.Values(s.rows))
	s.mu.Unlock()
	for _, r := range all {
		if is(r.key) {
			s.forget(r)
		}
	}
}

// forget drops a row. One that somebody uses stays, to be read again. s.flushing is held.
func (s *Rows[K, V]) forget(r *row[K, V]) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.loaded, r.stored, r.value = false, false, *new(V)
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.changed, r.key)
	if r.users == 0 {
		s.bytes -= r.bytes
		delete(s.rows, r.key)
	}
}

// Bytes returns how much memory the rows take at most.
func (s *Rows[K, V]) Bytes() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.bytes
}

// maxPortion is the number of rows that are written in one transaction. Rows have up to 2 KB and a transaction of the
// frontier's store may have some 900 KB.
const maxPortion = 200

// Flush writes the rows that were changed. If it fails, the next Flush writes them.
func (s *Rows[K, V]) Flush() error {
	s.flushing.Lock()
	defer s.flushing.Unlock()
	return s.flush()
}

// flush is Flush while s.flushing is held.
func (s *Rows[K, V]) flush() error {
	s.mu.Lock()
	changed := make([]*row[K, V], 0, len(s.changed))
	for key := range s.changed {
		changed = append(changed, s.rows[key])
	}
	s.mu.Unlock()
	size := s.kind.Portion
	if size == 0 {
		size = maxPortion
	}
	for portion := range slices.Chunk(changed, size) {
		if err := s.write(portion); err != nil {
			return fmt.Errorf("write the %s of %d hosts or keys: %w", s.kind.Name, len(changed), err)
		}
	}
	return nil
}

// write writes rows in one transaction. Outdated ones are looked up first, because an iterator sorts everything that
// its transaction has written.
func (s *Rows[K, V]) write(rows []*row[K, V]) error {
	values, err := s.take(rows)
	if err == nil {
		err = s.db.Update(func(txn *badger.Txn) error {
			var old [][]byte
			for _, r := range rows {
				if s.kind.Outdated != nil && !r.stored {
					old = append(old, s.kind.Outdated(txn, r.key)...)
				}
			}
			for i, r := range rows {
				if err := txn.Set(s.kind.Key(r.key), values[i]); err != nil {
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
	for _, r := range rows {
		if err != nil {
			s.changed[r.key] = struct{}{}
		} else {
			r.stored = true
		}
	}
	return err
}

// take encodes rows and marks them as written.
func (s *Rows[K, V]) take(rows []*row[K, V]) (values [][]byte, err error) {
	for _, r := range rows {
		r.mu.Lock()
		v, err := s.kind.Encode(r.value)
		if err == nil {
			s.mu.Lock()
			delete(s.changed, r.key)
			s.resize(r, len(v))
			s.mu.Unlock()
		}
		r.mu.Unlock()
		if err != nil {
			return nil, err
		}
		values = append(values, v)
	}
	return values, nil
}

// Each calls see with each row whose key begins with prefix, in the order of the keys, after a [Rows.Flush]. prefix
// begins with the prefix of the kind; if it is nil, see gets all rows of the kind. Each stops at the first error of
// see, and returns it. After [Rows.OnDamage] it leaves damaged rows out, and replaces them.
func (s *Rows[K, V]) Each(prefix []byte, see func(K, V) error) error {
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
func (s *Rows[K, V]) each(prefix []byte, see func(K, V) error, damaged *[]K) error {
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
			if errors.Is(err, ErrCorrupt) && s.damaged.Load() != nil && len(*damaged) < s.kind.MaxInMemory {
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
