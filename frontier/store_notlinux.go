//go:build !linux

package frontier

import (
	"os"

	"github.com/dgraph-io/badger/v4"
)

// syncStore is the store's own Sync: to sync the file of a log that is mapped need not sync what was written to the mapping.
func syncStore(db *badger.DB) error { return db.Sync() }

// syncData writes the file.
func syncData(f *os.File) error { return f.Sync() }

// PageOut does nothing here: how to let mapped files go is known for Linux only.
func (f *Frontier) PageOut(int64) error { return nil }
