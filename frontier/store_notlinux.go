//go:build !linux

package frontier

import (
	"os"

	"github.com/dgraph-io/badger/v4"
)

// syncStore calls the store's own Sync, because syncing the file of a mapped log need not sync the mapping.
func syncStore(db *badger.DB) error { return db.Sync() }

// syncData syncs the file.
func syncData(f *os.File) error { return f.Sync() }
