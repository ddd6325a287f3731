package dedup

import (
	"encoding/binary"
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

// hasCollections reports whether anything was imported.
func (i *Index) hasCollections() bool {
	i.imported.mu.RLock()
	defer i.imported.mu.RUnlock()
	return len(i.imported.all) > 0
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

// Found is a record of a collection: an original with a Key, or a revisit that refers to the URI and date of Origin,
// or to its record id.
type Found struct {
	Key
	Origin  digest.Origin
	Revisit bool
}

// Store writes a collection, and some hundred of its records, in one transaction. The caller chooses the number of a
// new collection, and counts the records in its fields.
func (i *Index) Store(c Collection, records ...Found) error {
	v, err := c.encode()
	if err == nil {
		err = i.db.Update(func(txn *badger.Txn) error {
			for _, f := range records {
				if err := i.add(txn, f, c.Number); err != nil {
					return err
				}
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

// add writes a record of a collection.
func (i *Index) add(txn *badger.Txn, f Found, number uint32) error {
	if f.Revisit {
		k := refKey(f.Origin, f.Origin.URI == "" || f.Origin.Date.IsZero(), number)
		return add(txn, k[:], 0, 1)
	}
	key, err := f.bytes()
	if err != nil {
		return err
	}
	return i.put(txn, key, entry{f.Origin, number}, false)
}
