// Package kin remembers what the URIs of one kind on a host have in common.
//
// A [Book] keeps one [evaluators.Relatives] for each host and [evaluators.Kind]. It is asked by [Book.Of] before the wait of
// a URI is decided, and grows by [Book.Add]: what one visit changes is added, so that visits that go on at once do not
// undo each other. It judges nothing itself. A host has at most 97 rows of some 120
// bytes, or 600 where two or more URIs were seen to change.
//
// The book keeps its rows in a store that belongs to someone else, all of their keys beginning with the letter 'k'. A
// visit's share is added after it is archived and logged, and before the frontier hears of it. When a crash comes in
// between, the visit is made again and counted twice, which is one among many. What Add has written survives the process;
// the owner of the store makes it survive the machine.
package kin

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

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

// Book keeps what is known in an open store. Its methods may be called by many goroutines at once. It needs no closing, and
// is of no use when the store is closed.
type Book struct{ db *badger.DB }

// Open takes a store to keep the book in.
func Open(db *badger.DB) (*Book, error) {
	if db == nil {
		return nil, errors.New("open the book of kinds: no store")
	}
	return &Book{db: db}, nil
}

// Of gives what the URIs of a kind on a host have in common; the zero value if none is known.
func (b *Book) Of(host uri.Host, kind evaluators.Kind) (r evaluators.Relatives, err error) {
	err = b.db.View(func(txn *badger.Txn) error {
		r, err = get(txn, host, kind)
		return err
	})
	if err != nil {
		return evaluators.Relatives{}, fmt.Errorf("look up kind %d of %s: %w", kind, host, err)
	}
	return r, nil
}

// Add adds what a visit changes in what is known of a kind. Nothing is added to kind zero.
func (b *Book) Add(host uri.Host, kind evaluators.Kind, lesson evaluators.Relatives) error {
	if kind == 0 || lesson == (evaluators.Relatives{}) {
		return nil
	}
	add := func(txn *badger.Txn) error {
		r, err := get(txn, host, kind)
		if err != nil {
			return err
		}
		return txn.Set(key(host, kind), encode(r.Plus(lesson)))
	}
	err := b.db.Update(add)
	for errors.Is(err, badger.ErrConflict) { // another goroutine was first; each round lets one through
		err = b.db.Update(add)
	}
	if err != nil {
		return fmt.Errorf("add to kind %d of %s: %w", kind, host, err)
	}
	return nil
}

func key(host uri.Host, kind evaluators.Kind) []byte {
	return append([]byte{letter, byte(kind)}, host...)
}

func get(txn *badger.Txn, host uri.Host, kind evaluators.Kind) (r evaluators.Relatives, err error) {
	item, err := txn.Get(key(host, kind))
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
