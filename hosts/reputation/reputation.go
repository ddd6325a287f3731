// Package reputation remembers what the validators of each host have been worth.
//
// A [Book] keeps one [evaluators.Reputation] for each host. It grows by [Book.Add], one observation at a time, and is
// asked by [Book.Of] before a visit. It judges nothing itself.
//
// Beside that it keeps one [evaluators.Dates] for each host: what dates of feeds and sitemaps have been worth. These grow by
// [Book.AddDate] and are asked for by [Book.Dates], which reads the store.
//
// The book keeps its rows in a store that belongs to someone else, all of their keys beginning with the letter 't', or with "pF" where
// they are of dates. An observation is added after its visit is archived and logged, and before the frontier hears of it. When a crash
// comes in between, the visit is made again and observed again, which is true both times. What Add has written survives the process; the
// owner of the store makes it survive the machine.
package reputation

import (
	"errors"
	"fmt"
	"sync"

	"github.com/dgraph-io/badger/v4"
	"github.com/fxamacker/cbor/v2"

	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/uri"
)

// kind begins each key; the rest is the host. format begins each value, and one that is not known is an error.
const (
	kind   = 't'
	format = 1
)

// ErrCorrupt tells that a row cannot be what was written.
var ErrCorrupt = errors.New("reputation is damaged")

// Book keeps the reputations in an open store. Its methods may be called by many goroutines at once. It needs no
// closing, and is of no use when the store is closed.
type Book struct {
	db *badger.DB

	mu    sync.Mutex // guards the fields below; nothing is called while it is held
	known map[uri.Host]evaluators.Reputation
	added uint64 // observations so far
}

// maxKnown is how many reputations are in memory, of 2 KB each, since each conditional request asks for one.
const maxKnown = 1000

// Open takes a store to keep the book in.
func Open(db *badger.DB) (*Book, error) {
	if db == nil {
		return nil, errors.New("open the book of reputations: no store")
	}
	return &Book{db: db, known: make(map[uri.Host]evaluators.Reputation)}, nil
}

// Of gives the reputation of a host; the zero value if nothing was observed there yet.
func (b *Book) Of(host uri.Host) (r evaluators.Reputation, err error) {
	b.mu.Lock()
	r, known := b.known[host]
	before := b.added
	b.mu.Unlock()
	if known {
		return r, nil
	}
	err = b.db.View(func(txn *badger.Txn) error {
		r, err = get(txn, host)
		return err
	})
	if err != nil {
		return evaluators.Reputation{}, fmt.Errorf("look up the reputation of %s: %w", host, err)
	}
	b.mu.Lock()
	if b.added == before { // else it may be the one before an observation
		if len(b.known) >= maxKnown {
			clear(b.known)
		}
		b.known[host] = r
	}
	b.mu.Unlock()
	return r, nil
}

// forget makes the next [Book.Of] read the store.
func (b *Book) forget(host uri.Host) {
	b.mu.Lock()
	delete(b.known, host)
	b.added++
	b.mu.Unlock()
}

// Add adds an observation to the reputation of a host.
func (b *Book) Add(host uri.Host, o evaluators.Observation) error {
	add := func(txn *badger.Txn) error {
		r, err := get(txn, host)
		if err != nil {
			return err
		}
		after := r.After(o)
		if after == r {
			return nil
		}
		v, err := cbor.Marshal(rowOf(after))
		if err != nil {
			return err
		}
		return txn.Set(key(host), append([]byte{format}, v...))
	}
	defer b.forget(host)
	err := b.db.Update(add)
	for errors.Is(err, badger.ErrConflict) { // another goroutine was first; each round lets one through
		err = b.db.Update(add)
	}
	if err != nil {
		return fmt.Errorf("add to the reputation of %s: %w", host, err)
	}
	return nil
}

// Each calls see with every host that something was observed of, in the order of their names, until see returns an
// error, which Each returns.
func (b *Book) Each(see func(uri.Host, evaluators.Reputation) error) error {
	return each(b.db, string(kind), decode, see)
}

// each calls see with every row of a kind.
func each[T any](db *badger.DB, prefix string, decode func([]byte, *T) error, see func(uri.Host, T) error) error {
	return db.View(func(txn *badger.Txn) error {
		o := badger.DefaultIteratorOptions
		o.Prefix = []byte(prefix)
		it := txn.NewIterator(o)
		defer it.Close()
		for it.Rewind(); it.Valid(); it.Next() {
			host := uri.Host(it.Item().Key()[len(prefix):])
			var row T
			if err := it.Item().Value(func(v []byte) error { return decode(v, &row) }); err != nil {
				return fmt.Errorf("read the reputation of %s: %w", host, err)
			}
			if err := see(host, row); err != nil {
				return err
			}
		}
		return nil
	})
}

func key(host uri.Host) []byte { return append([]byte{kind}, host...) }

func get(txn *badger.Txn, host uri.Host) (r evaluators.Reputation, err error) {
	item, err := txn.Get(key(host))
	if errors.Is(err, badger.ErrKeyNotFound) {
		return r, nil
	}
	if err == nil {
		err = item.Value(func(v []byte) error { return decode(v, &r) })
	}
	return r, err
}

// row is a reputation as it is stored: CBOR maps with integer keys, to which keys are only ever added. Standings that
// know nothing are left out.
type row struct {
	Standings []standing `cbor:"1,keyasint,omitempty"`
}

type standing struct {
	Class       uint8  `cbor:"1,keyasint,omitempty"`
	Witness     uint8  `cbor:"2,keyasint,omitempty"`
	ChangeRight int64  `cbor:"3,keyasint,omitempty"`
	ChangeWrong int64  `cbor:"4,keyasint,omitempty"`
	SameRight   int64  `cbor:"5,keyasint,omitempty"`
	SameWrong   int64  `cbor:"6,keyasint,omitempty"`
	Missing     int64  `cbor:"7,keyasint,omitempty"`
	Recent      uint64 `cbor:"8,keyasint,omitempty"`
	Known       int    `cbor:"9,keyasint,omitempty"`
	Doubts      int    `cbor:"10,keyasint,omitempty"`
}

func rowOf(r evaluators.Reputation) row {
	var w row
	for c, of := range r {
		for i, s := range of {
			if s == (evaluators.Standing{}) {
				continue
			}
			w.Standings = append(w.Standings, standing{
				Class: uint8(c), Witness: uint8(i), ChangeRight: s.ChangeRight, ChangeWrong: s.ChangeWrong, SameRight: s.SameRight,
				SameWrong: s.SameWrong, Missing: s.Missing, Recent: s.Recent, Known: s.Known, Doubts: s.Doubts,
			})
		}
	}
	return w
}

func decode(v []byte, r *evaluators.Reputation) error {
	if len(v) == 0 || v[0] != format {
		return fmt.Errorf("%w: format %x, want %x", ErrCorrupt, v[:min(1, len(v))], format)
	}
	var w row
	if err := cbor.Unmarshal(v[1:], &w); err != nil {
		return fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	for _, s := range w.Standings {
		if int(s.Class) >= evaluators.Classes || int(s.Witness) >= evaluators.Witnesses || s.Known < 0 || s.Known > 64 {
			return fmt.Errorf("%w: class %d, witness %d, %d predictions", ErrCorrupt, s.Class, s.Witness, s.Known)
		}
		r[s.Class][s.Witness] = evaluators.Standing{
			ChangeRight: s.ChangeRight, ChangeWrong: s.ChangeWrong, SameRight: s.SameRight, SameWrong: s.SameWrong,
			Missing: s.Missing, Recent: s.Recent, Known: s.Known, Doubts: s.Doubts,
		}
	}
	return nil
}
