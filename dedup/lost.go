package dedup

import (
	"fmt"
	"sync"

	"github.com/dgraph-io/badger/v4"
	"github.com/fxamacker/cbor/v2"

	"github.com/arcrawl/arcrawl/digest"
)

// losses are the files of which part is lost, and from which byte on. They are few: a disk lost what it had promised.
type losses struct {
	mu   sync.RWMutex // guards from
	from map[string]int64
}

// loss is how one is stored.
type loss struct {
	File cbor.ByteString `cbor:"1,keyasint"`
	From int64           `cbor:"2,keyasint,omitempty"`
}

// Forget tells that a file holds nothing from a byte on, and never will again: all records that lay there are gone, and
// none of them is given as an origin from now on. It may be told again.
func (i *Index) Forget(file string, from int64) error {
	i.losses.mu.RLock()
	before, known := i.losses.from[file]
	i.losses.mu.RUnlock()
	if !known || from < before {
		v, err := encodeRow(loss{File: cbor.ByteString(file), From: from})
		if err == nil {
			err = i.db.Update(func(txn *badger.Txn) error { return txn.Set(about(lostFile, file), v) })
		}
		if err != nil {
			return fmt.Errorf("forget the records that %s has lost: %w", file, err)
		}
	}
	i.losses.mu.Lock()
	defer i.losses.mu.Unlock()
	if before, known = i.losses.from[file]; !known || from < before {
		i.losses.from[file] = from
	}
	return nil
}

// recall takes back that files are lost: somebody has just read them, or says that they are there again.
func (i *Index) recall(files []string) error {
	i.losses.mu.Lock()
	defer i.losses.mu.Unlock()
	for _, f := range files {
		if _, lost := i.losses.from[f]; !lost {
			continue
		}
		if err := i.db.Update(func(txn *badger.Txn) error { return txn.Delete(about(lostFile, f)) }); err != nil {
			return fmt.Errorf("take back that %s is lost: %w", f, err)
		}
		delete(i.losses.from, f)
	}
	return nil
}

// Lost reports whether a record is known to be lost, or to lie in a file of a removed collection.
func (i *Index) Lost(o digest.Origin) bool {
	i.losses.mu.RLock()
	defer i.losses.mu.RUnlock()
	from, some := i.losses.from[o.File]
	return !o.IsZero() && (some && (o.Offset >= from || o.Offset+o.Length > from) || i.imported.isGone(o.File))
}

// readLosses reads what was told in earlier runs.
func (i *Index) readLosses() error {
	prefix := about(lostFile, "")
	return i.db.View(func(txn *badger.Txn) error {
		it := txn.NewIterator(badger.IteratorOptions{Prefix: prefix, PrefetchValues: true, PrefetchSize: 10})
		defer it.Close()
		for it.Rewind(); it.Valid(); it.Next() {
			err := it.Item().Value(func(v []byte) error {
				var l loss
				err := decodeRow(v, &l)
				i.losses.from[string(l.File)] = l.From
				return err
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
}
