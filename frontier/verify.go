package frontier

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"sync"

	"github.com/dgraph-io/badger/v4/table"
)

// patrol is how far [Frontier.Verify] has come.
type patrol struct {
	mu   sync.Mutex // guards what follows
	left []uint64   // the tables of this round that were not verified yet
}

// Verify compares the checksums of a part of the store with what is on disk, and goes on where it ended last. It stops
// after the table with which it has read most bytes, at least one; done tells that a round of the whole store is complete.
// A disk can spoil what has lain there for years: whoever calls Verify now and then learns of it while there is a backup
// to restore. The frontier can be used meanwhile. [ErrCorrupt] names the table.
func (f *Frontier) Verify(most int64) (done bool, err error) {
	f.mu.Lock()
	closed := f.closed
	f.mu.Unlock()
	if closed {
		return false, ErrClosed
	}
	f.patrol.mu.Lock()
	defer f.patrol.mu.Unlock()
	standing := map[uint64]bool{}
	for _, t := range f.db.Tables() {
		standing[t.ID] = true
	}
	if len(f.patrol.left) == 0 {
		for id := range standing {
			f.patrol.left = append(f.patrol.left, id)
		}
		slices.Sort(f.patrol.left)
	}
	o, v := f.db.Opts(), verifier{}
	for most = max(most, 1); len(f.patrol.left) > 0 && most > 0; {
		id := f.patrol.left[0]
		f.patrol.left = f.patrol.left[1:]
		if !standing[id] {
			continue // others took its place
		}
		name := table.NewFilename(id, f.dir)
		size, err := v.table(name, id, table.Options{BlockSize: o.BlockSize, Compression: o.Compression})
		if errors.Is(err, fs.ErrNotExist) && !f.stands(id) {
			continue
		}
		if err != nil {
			return false, fmt.Errorf("verify %s: %w", name, err)
		}
		most -= size
	}
	return len(f.patrol.left) == 0, nil
}

func (f *Frontier) stands(id uint64) bool {
	for _, t := range f.db.Tables() {
		if t.ID == id {
			return true
		}
	}
	return false
}
