package dedup

import (
	"fmt"
	"sync"

	"github.com/dgraph-io/badger/v4"
	"github.com/fxamacker/cbor/v2"

	"github.com/arcrawl/arcrawl/digest"
)

// losses holds the files of which part is lost, and from which byte on. There are few: a disk lost data that it had
// confirmed.
type losses struct {
	mu   sync.RWMutex // guards from
	from map[string]int64
}

// loss is the stored form of one loss.
type loss struct {
	File cbor.ByteString `cbor:"1,keyasint"`
	From int64           `cbor:"2,keyasint,omitempty"`
}

// Forget records that a file is permanently lost from a byte on. [Index.Find] no longer returns records in that part.
// It may be called again.
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
			return fmt.Errorf("record that part of %s is lost: %w", file, err)
		}
	}
	i.losses.mu.Lock()
	defer i.losses.mu.Unlock()
	if before, known = i.losses.from[file]; !known || from < before {
		i.losses.from[file] = from
	}
	return nil
}

// recall records that files are not lost: they have just been read, or the operator says that they exist again.
func (i *Index) recall(files []string) error {
	i.losses.mu.Lock()
	defer i.losses.mu.Unlock()
	for _, f := range files {
		if _, lost := i.losses.from[f]; !lost {
			continue
		}
		if err := i.db.Update(func(txn *badger.Txn) error { return txn.Delete(about(lostFile, f)) }); err != nil {
			return fmt.Errorf("record that %s is not lost: %w", f, err)
		}
		delete(i.losses.from, f)
	}
	return nil
}

// Lost reports whether no revisit may refer to a record: it is known to be lost, it is in a file of a removed
// collection, or it is not a response.
func (i *Index) Lost(o digest.Origin) bool {
	return !o.IsZero() && (i.isLost(o) || i.isRefused(o))
}

func (i *Index) isLost(o digest.Origin) bool {
	i.losses.mu.RLock()
	defer i.losses.mu.RUnlock()
	from, known := i.losses.from[o.File]
	return known && (o.Offset >= from || o.Offset+o.Length > from) || i.imported.isGone(o.File)
}

// readLosses reads the losses of earlier runs from the store.
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
