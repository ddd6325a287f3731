package dedup

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/dgraph-io/badger/v4"

	"github.com/arcrawl/arcrawl/digest"
)

// Cause says why records of a file do not count. The numbers are stored: do not change or reuse them.
type Cause uint8

// The causes.
const (
	CutOff   Cause = iota // the end of the file was lost
	Absent                // the file is gone; it counts again when it is back
	Declared              // the operator says that the file is lost or damaged
	Moved                 // the operator says that the file is elsewhere: its records count
)

// String returns the cause in a few words.
func (c Cause) String() string {
	if c > Moved {
		return fmt.Sprintf("dedup.Cause(%d)", uint8(c))
	}
	return [...]string{"cut off", "absent", "declared lost", "moved"}[c]
}

// Loss is a file of which part is lost, or which was moved. Keys are stored: do not change or reuse them.
type Loss struct {
	File    string `cbor:"1,keyasint"`
	From    int64  `cbor:"2,keyasint,omitempty"` // the part from this byte on is lost
	Cause   Cause  `cbor:"3,keyasint,omitempty"`
	Pending bool   `cbor:"4,keyasint,omitempty"` // the URIs whose payload was in it are not due yet
}

// covers reports whether the loss includes a record.
func (l Loss) covers(o digest.Origin) bool {
	return l.Cause != Moved && (o.Offset >= l.From || o.Offset+o.Length > l.From)
}

// exceeds reports whether a loss that was found covers more than what is known. A file that was moved may be absent.
func (l Loss) exceeds(known Loss) bool {
	if known.Cause == Moved {
		return l.Cause != Absent
	}
	return l.From < known.From
}

// losses holds the files of which part is lost. There are few: a disk lost data that it had confirmed.
type losses struct {
	mu   sync.RWMutex // guards from
	from map[string]Loss
}

// Forget records that a file is permanently lost from a byte on. [Index.Find] no longer returns records in that part.
// It may be called again.
func (i *Index) Forget(file string, from int64) error {
	_, err := i.Lose(Loss{File: file, From: from})
	return err
}

// Lose records a loss, and reports whether it was not known. A loss of more of a file replaces a loss of less. A file
// that was moved is lost only if the operator says so.
func (i *Index) Lose(l Loss) (added bool, err error) {
	i.losses.mu.Lock()
	defer i.losses.mu.Unlock()
	before, known := i.losses.from[l.File]
	asked := l.Cause == Moved || l.Cause == Declared // by the operator
	if known && (before == l || !asked && !l.exceeds(before)) {
		return false, nil
	}
	if err := i.storeLosses(l); err != nil {
		return false, fmt.Errorf("record that part of %s is lost: %w", l.File, err)
	}
	return true, nil
}

// storeLosses stores losses in one transaction. The lock is held.
func (i *Index) storeLosses(all ...Loss) error {
	err := i.update(func(txn *badger.Txn) error {
		for _, l := range all {
			v, err := encodeRow(l)
			if err == nil {
				err = txn.Set(about(lostFile, l.File), v)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	for _, l := range all {
		if err == nil {
			i.losses.from[l.File] = l
		}
	}
	return err
}

// Losses returns all files of which part is lost or which were moved, sorted by name.
func (i *Index) Losses() []Loss {
	i.losses.mu.RLock()
	defer i.losses.mu.RUnlock()
	all := slices.Collect(maps.Values(i.losses.from))
	slices.SortFunc(all, func(a, b Loss) int { return strings.Compare(a.File, b.File) })
	return all
}

// Healed records that the URIs whose payloads were in the given losses are due. A loss that has grown since stays
// pending.
func (i *Index) Healed(done []Loss) error {
	i.losses.mu.Lock()
	defer i.losses.mu.Unlock()
	var changed []Loss
	for _, l := range done {
		if i.losses.from[l.File] == l && l.Pending {
			l.Pending = false
			changed = append(changed, l)
		}
	}
	if err := i.storeLosses(changed...); err != nil {
		return fmt.Errorf("record that the payloads of lost files will be archived again: %w", err)
	}
	return nil
}

// Recall records that files are neither lost nor moved: they have just been read, or are back.
func (i *Index) Recall(files ...string) error {
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

// Lost reports whether no revisit may refer to a record: it is known to be lost, or it is in a file of a removed
// collection.
func (i *Index) Lost(o digest.Origin) bool {
	if o.IsZero() {
		return false
	}
	i.losses.mu.RLock()
	defer i.losses.mu.RUnlock()
	loss, known := i.losses.from[o.File]
	return known && loss.covers(o) || i.imported.isGone(o.File)
}

// readLosses reads the losses of earlier runs from the store.
func (i *Index) readLosses() error {
	return i.db.View(func(txn *badger.Txn) error {
		return scan(txn, about(lostFile, ""), func(_, v []byte) error {
			var l Loss
			err := decodeRow(v, &l)
			i.losses.from[l.File] = l
			return err
		})
	})
}
