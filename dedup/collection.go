package dedup

import (
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/dgraph-io/badger/v4"

	"github.com/arcrawl/arcrawl/digest"
)

// State says whether the records of a collection count. The numbers are stored: do not change or reuse them.
type State uint8

// The states.
const (
	Importing State = 1 + iota // not read to its end yet: its records do not count
	Active                     // its records may be originals
	Removed                    // its records are missing or will soon be removed; they are kept until a purge
)

// String returns the state in one word.
func (s State) String() string {
	if s < Importing || s > Removed {
		return fmt.Sprintf("dedup.State(%d)", uint8(s))
	}
	return [...]string{"importing", "active", "removed"}[s-1]
}

// maxFiles bounds the file names that are stored with one collection. Records in further files of a removed collection
// are not recognised by the name of their file.
const maxFiles = 10_000

// Collection is an earlier archive, or a part of one, that was read into the index. Its hash and its crawl identify it,
// whatever its name. Keys are stored: do not change or reuse them.
type Collection struct {
	Number   uint32   `cbor:"-"` // in this index; 0 = the records of the crawl itself
	Name     string   `cbor:"1,keyasint"`
	Hash     string   `cbor:"2,keyasint"`           // of the file read: "sha256:" and hexadecimal digits
	Size     int64    `cbor:"3,keyasint,omitempty"` // of that file
	Crawl    string   `cbor:"4,keyasint,omitempty"` // id of the crawl that wrote it; may be empty
	Manifest string   `cbor:"5,keyasint,omitempty"` // the list that named it; empty if none
	State    State    `cbor:"6,keyasint"`
	Position int64    `cbor:"7,keyasint,omitempty"` // how far it was read, in units of the caller
	Files    []string `cbor:"8,keyasint,omitempty"` // names of the WARC files that hold its records

	Entries int64     `cbor:"9,keyasint,omitempty"`  // number of originals in it
	Refs    int64     `cbor:"10,keyasint,omitempty"` // number of revisits in it
	Skipped int64     `cbor:"11,keyasint,omitempty"` // number of other or incomplete records
	Changed time.Time `cbor:"-"`
}

// collectionRow is the stored form of a Collection.
type collectionRow struct {
	Collection
	Micro int64 `cbor:"12,keyasint,omitempty"` // Changed, in µs since 1970
}

func (c Collection) key() []byte { return numbered(c.Number) }

func numbered(n uint32) []byte {
	return about(collection, string(binary.BigEndian.AppendUint32(nil, n)))
}

func (c Collection) encode() ([]byte, error) {
	return encodeRow(collectionRow{c, c.Changed.UnixMicro()})
}

func decodeCollection(number uint32, v []byte) (Collection, error) {
	var w collectionRow
	if err := decodeRow(v, &w); err != nil {
		return Collection{}, err
	}
	w.Number, w.Changed = number, time.UnixMicro(w.Micro).UTC()
	return w.Collection, nil
}

// collections holds all collections of the index.
type collections struct {
	mu   sync.RWMutex // guards the fields below
	all  map[uint32]Collection
	gone map[string]bool   // names of files of removed collections that no active collection has
	in   map[string]string // name of the package that holds a file; empty if several active ones have a file of this name
}

// counts reports whether the records of a collection can be originals.
func (c *collections) counts(number uint32) bool {
	if number == 0 {
		return true
	}
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.all[number].State == Active
}

func (c *collections) isGone(file string) bool {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return file != "" && c.gone[file]
}

// packageSuffix ends the name of a WACZ package.
const packageSuffix = ".wacz"

// Container returns the name of the imported package that holds the record of an origin. It is empty if the record is
// in no package, or if several packages have a file of the name.
func (i *Index) Container(o digest.Origin) string {
	i.imported.mu.RLock()
	defer i.imported.mu.RUnlock()
	return i.imported.in[o.File]
}

// put replaces a collection by its stored state.
func (c *collections) put(one Collection) {
	c.mu.Lock()
	defer c.mu.Unlock()
	before := c.all[one.Number]
	c.all[one.Number] = one
	if before.State == Importing && one.State == Importing {
		return
	}
	c.gone, c.in = map[string]bool{}, map[string]string{}
	for _, o := range c.all {
		if o.State == Active && strings.HasSuffix(strings.ToLower(o.Name), packageSuffix) {
			for _, f := range o.Files {
				if other, taken := c.in[f]; taken && other != o.Name {
					c.in[f] = ""
				} else {
					c.in[f] = o.Name
				}
			}
		}
	}
	for _, state := range []State{Removed, Active} {
		for _, o := range c.all {
			for _, f := range o.Files {
				if o.State == Removed && state == Removed {
					c.gone[f] = true
				} else if o.State == Active && state == Active {
					delete(c.gone, f)
				}
			}
		}
	}
}

// readCollections reads the collections of earlier runs from the store.
func (i *Index) readCollections() error {
	i.imported.mu.Lock()
	i.imported.all, i.imported.gone = map[uint32]Collection{}, map[string]bool{}
	i.imported.mu.Unlock()
	prefix := about(collection, "")
	return i.db.View(func(txn *badger.Txn) error {
		return scan(txn, prefix, func(key, v []byte) error {
			if len(key) != len(prefix)+4 {
				return fmt.Errorf("%w: the key of a collection has %d bytes", ErrCorrupt, len(key))
			}
			c, err := decodeCollection(binary.BigEndian.Uint32(key[len(prefix):]), v)
			if err == nil {
				i.imported.put(c)
			}
			return err
		})
	})
}

// Collections returns all collections in the order in which their imports began.
func (i *Index) Collections() []Collection {
	i.imported.mu.RLock()
	defer i.imported.mu.RUnlock()
	byNumber := func(a, b Collection) int { return int(a.Number) - int(b.Number) }
	return slices.SortedFunc(maps.Values(i.imported.all), byNumber)
}

// Collection returns the collection with the given hash and crawl.
func (i *Index) Collection(hash, crawl string) (Collection, bool) {
	i.imported.mu.RLock()
	defer i.imported.mu.RUnlock()
	for _, c := range i.imported.all {
		if c.Hash == hash && c.Crawl == crawl {
			return c, true
		}
	}
	return Collection{}, false
}

// store writes a collection, and the changes of more, in one transaction.
func (i *Index) store(c Collection, more func(txn *badger.Txn) error) error {
	v, err := c.encode()
	if err == nil {
		err = i.db.Update(func(txn *badger.Txn) error {
			if err := more(txn); err != nil {
				return err
			}
			return txn.Set(c.key(), v)
		})
	}
	if err != nil {
		return fmt.Errorf("store the collection %s: %w", c.Name, err)
	}
	i.imported.put(c)
	return nil
}

// Remove marks the records of a collection as missing. [Index.Find] no longer returns them.
func (i *Index) Remove(number uint32, now time.Time) error {
	i.imported.mu.RLock()
	c, ok := i.imported.all[number]
	i.imported.mu.RUnlock()
	if !ok {
		return fmt.Errorf("remove the collection %d: no collection has this number", number)
	}
	c.State, c.Changed = Removed, now
	return i.store(c, func(*badger.Txn) error { return nil })
}

// Begin starts the import of a collection, or continues an earlier one of the same collection. If the collection has
// been imported already, the Import is nil, and a removed collection becomes active again.
func (i *Index) Begin(c Collection, now time.Time) (*Import, error) {
	if c.Hash == "" {
		return nil, errors.New("begin an import: the collection has no hash")
	}
	next := uint32(1)
	for _, known := range i.Collections() {
		next = max(next, known.Number+1)
		if known.Hash != c.Hash || known.Crawl != c.Crawl {
			continue
		}
		same := c.Manifest == "" || c.Manifest == known.Manifest
		if !same {
			known.Manifest = c.Manifest
		}
		switch {
		case known.State == Importing:
			return &Import{index: i, c: known}, nil
		case known.State == Active && same:
			return nil, nil
		}
		return nil, i.activate(known, now)
	}
	c.Number, c.State, c.Changed = next, Importing, now
	c.Position, c.Entries, c.Refs, c.Skipped, c.Files = 0, 0, 0, 0, nil
	return &Import{index: i, c: c}, i.store(c, func(*badger.Txn) error { return nil })
}

// Import reads one collection into the index. One goroutine may use it, while others use the index.
type Import struct {
	index *Index
	c     Collection
}

// Collection returns the collection with its progress.
func (m *Import) Collection() Collection { return m.c }

// Found is a record of a collection: an original with a Key, or a revisit that refers to the URI and date of Origin,
// or to its record id.
type Found struct {
	Key
	Origin  digest.Origin
	Revisit bool
}

// MaxBatch is the maximum number of records in one call of [Import.Add].
const MaxBatch = 256

// Add takes the records up to a position. They count after [Import.Done]. Added records survive a crash, and a later
// Import of the same collection continues at the position.
func (m *Import) Add(records []Found, skipped, position int64) error {
	if len(records) > MaxBatch {
		return fmt.Errorf("add to the collection %s: %d records at once, more than the maximum of %d", m.c.Name, len(records), MaxBatch)
	}
	c := m.c
	c.Files = slices.Clone(c.Files)
	c.Position, c.Skipped = position, c.Skipped+skipped
	for _, f := range records {
		if f.Revisit {
			c.Refs++
			continue
		}
		c.Entries++
		file, last := f.Origin.File, c.Files[max(0, len(c.Files)-16):] // most records are in one of the last files
		if len(c.Files) < maxFiles && file != "" && !slices.Contains(last, file) && !slices.Contains(c.Files, file) {
			c.Files = append(c.Files, file)
		}
	}
	err := m.index.store(c, func(txn *badger.Txn) error {
		for _, f := range records {
			if err := m.add(txn, f); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		m.c = c
	}
	return err
}

func (m *Import) add(txn *badger.Txn, f Found) error {
	if f.Revisit {
		return refer(txn, f.Origin, m.c.Number)
	}
	key, err := f.bytes()
	if err != nil {
		return err
	}
	return m.index.put(txn, key, entry{f.Origin, m.c.Number})
}

// Done ends an import that has read the whole collection. From now on its records count.
func (m *Import) Done(now time.Time) error {
	return m.index.activate(m.c, now)
}

// activate makes the records of a collection count. Its files have been read, or the operator says that they exist.
func (i *Index) activate(c Collection, now time.Time) error {
	if err := i.Recall(c.Files...); err != nil {
		return err
	}
	c.State, c.Changed = Active, now
	return i.store(c, func(*badger.Txn) error { return nil })
}
