// Package similar remembers what the URIs of one kind on a host have in common.
//
// A [Book] keeps one [evaluators.Relatives] for each host and [evaluators.Kind]. It is asked by [Book.Of] before the wait of
// a URI is decided, and grows by [Book.Add]: what one visit changes is added, so that visits that go on at once do not
// undo each other. It judges nothing itself. A host has at most 97 rows of some 120
// bytes, or 600 where two or more URIs were seen to change.
//
// Add only adds to a row in memory, since each visit adds to one; [Book.Keep] writes what was added, and is called with each sync of
// the store and before it is closed. The rows lie in a store that belongs to someone else, all of their keys beginning with the letter 'k'.
// A visit's share is added after it is archived and logged, and before the frontier hears of it. A crash takes what was added since the last
// Keep, or has a visit count twice that is made again; both change little in what is known of a kind.
package similar

import (
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"sync"

	"github.com/dgraph-io/badger/v4"

	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/uri"
)

// letter begins each key; a byte for the kind and the host follow. A format begins each value: behind it are the numbers of
// [evaluators.Relatives], in the order of its fields, as big-endian floats of 64 bits. The older format is without the
// rhythm, and is written where there is none.
const (
	letter        = 'k'
	withoutRhythm = 1
	withRhythm    = 2
)

// ErrCorrupt tells that a row cannot be what was written.
var ErrCorrupt = errors.New("what is known of a kind is damaged")

// Book keeps what is known in an open store. Its methods may be called by many goroutines at once. It needs no closing but a last
// [Book.Keep], and is of no use when the store is closed.
type Book struct {
	db *badger.DB

	storing sync.Mutex // held by the one who reads or writes the store; taken before mu
	mu      sync.Mutex // guards rows
	rows    map[place]*row
}

type place struct {
	host uri.Host
	kind evaluators.Kind
}

// row is what is known of a kind, and whether the store knows less.
type row struct {
	evaluators.Relatives
	added bool
}

// maxRows is how many rows are in memory, of 0.6 KB each.
const maxRows = 4000

// Open takes a store to keep the book in.
func Open(db *badger.DB) (*Book, error) {
	if db == nil {
		return nil, errors.New("open the book of kinds: no store")
	}
	return &Book{db: db, rows: map[place]*row{}}, nil
}

// Of gives what the URIs of a kind on a host have in common; the zero value if none is known.
func (b *Book) Of(host uri.Host, kind evaluators.Kind) (r evaluators.Relatives, err error) {
	err = b.with(place{host, kind}, func(w *row) { r = w.Relatives })
	return r, err
}

// Add adds what a visit changes in what is known of a kind. Nothing is added to kind zero.
func (b *Book) Add(host uri.Host, kind evaluators.Kind, lesson evaluators.Relatives) error {
	if kind == 0 || lesson == (evaluators.Relatives{}) {
		return nil
	}
	return b.with(place{host, kind}, func(w *row) { w.Relatives, w.added = w.Plus(lesson), true })
}

// with calls do with the row of a kind, which is read if it is not in memory. What do is given is its own until it returns.
func (b *Book) with(at place, do func(*row)) error {
	if b.inMemory(at, do) {
		return nil
	}
	b.storing.Lock()
	defer b.storing.Unlock()
	if b.inMemory(at, do) { // somebody else has read it
		return nil
	}
	var w row
	err := b.db.View(func(txn *badger.Txn) (err error) {
		w.Relatives, err = get(txn, at)
		return err
	})
	if err != nil {
		return fmt.Errorf("look up kind %d of %s: %w", at.kind, at.host, err)
	}
	if err := b.makeRoom(); err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.rows[at] = &w
	do(&w)
	return nil
}

func (b *Book) inMemory(at place, do func(*row)) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	w, ok := b.rows[at]
	if ok {
		do(w)
	}
	return ok
}

// makeRoom forgets the rows that the store knows, once there are too many.
func (b *Book) makeRoom() error {
	b.mu.Lock()
	full := len(b.rows) >= maxRows
	b.mu.Unlock()
	if !full {
		return nil
	}
	if err := b.keep(); err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	maps.DeleteFunc(b.rows, func(_ place, w *row) bool { return !w.added })
	return nil
}

// Keep writes what was added. When it cannot, nothing is lost: it is written the next time.
func (b *Book) Keep() error {
	b.storing.Lock()
	defer b.storing.Unlock()
	return b.keep()
}

func (b *Book) keep() error {
	var added []place
	b.mu.Lock()
	for at, w := range b.rows {
		if w.added {
			added = append(added, at)
		}
	}
	b.mu.Unlock()
	for portion := range slices.Chunk(added, maxPortion) {
		err := b.db.Update(func(txn *badger.Txn) error {
			for _, at := range portion {
				if err := txn.Set(key(at), b.taken(at)); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			b.mu.Lock()
			for _, at := range portion {
				b.rows[at].added = true
			}
			b.mu.Unlock()
			return fmt.Errorf("keep what is known of %d kinds: %w", len(added), err)
		}
	}
	return nil
}

// maxPortion is how many rows are written in one transaction, 60 KB at most.
const maxPortion = 100

// taken is a row as it is stored, and notes that it is.
func (b *Book) taken(at place) []byte {
	b.mu.Lock()
	defer b.mu.Unlock()
	w := b.rows[at]
	w.added = false
	return encode(w.Relatives)
}

func key(at place) []byte { return append([]byte{letter, byte(at.kind)}, at.host...) }

func get(txn *badger.Txn, at place) (r evaluators.Relatives, err error) {
	item, err := txn.Get(key(at))
	if errors.Is(err, badger.ErrKeyNotFound) {
		return r, nil
	}
	if err == nil {
		err = item.Value(func(v []byte) error { return decode(v, &r) })
	}
	return r, err
}

// numbers lists the fields in the order of the row.
func numbers(r *evaluators.Relatives, rhythm bool) []*float64 {
	all := []*float64{&r.URIs, &r.Rate[0], &r.Rate[1], &r.Ageing[0], &r.Ageing[1]}
	for i := range r.Weight {
		all = append(all, &r.Weight[i])
	}
	if !rhythm {
		return all
	}
	all = append(all, &r.Rhythm.At)
	for i := range r.Rhythm.Seen {
		all = append(all, &r.Rhythm.Seen[i])
	}
	for i := range r.Rhythm.Expected {
		all = append(all, &r.Rhythm.Expected[i])
	}
	return all
}

func encode(r evaluators.Relatives) []byte {
	format := byte(withoutRhythm)
	if r.Rhythm.At > 0 {
		format = withRhythm
	}
	all := numbers(&r, format == withRhythm)
	b := append(make([]byte, 0, 1+8*len(all)), format)
	for _, n := range all {
		b = binary.BigEndian.AppendUint64(b, math.Float64bits(*n))
	}
	return b
}

func decode(v []byte, r *evaluators.Relatives) error {
	if len(v) == 0 {
		return fmt.Errorf("%w: it is empty", ErrCorrupt)
	}
	all := numbers(r, v[0] == withRhythm)
	if len(v) != 1+8*len(all) || v[0] != withRhythm && v[0] != withoutRhythm {
		return fmt.Errorf("%w: %d bytes", ErrCorrupt, len(v))
	}
	for i, n := range all {
		*n = math.Float64frombits(binary.BigEndian.Uint64(v[1+8*i:]))
		if math.IsNaN(*n) || math.IsInf(*n, 0) {
			return fmt.Errorf("%w: number %d is none", ErrCorrupt, i)
		}
	}
	return nil
}
