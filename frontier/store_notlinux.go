//go:build !linux

package frontier

import (
	"errors"
	"os"

	"github.com/dgraph-io/badger/v4"
)

// syncStore calls the store's own Sync, because syncing the file of a mapped log need not sync the mapping.
func syncStore(db *badger.DB) error { return db.Sync() }

// syncData syncs the file.
func syncData(f *os.File) error { return f.Sync() }

// pageOutAbove does nothing on this system.
func pageOutAbove(string, int64) error { return nil }

// reserveBlocks returns an error: this system has no call for it.
func reserveBlocks(*os.File, int64, int64) error { return errors.ErrUnsupported }

func freeBytes(string) (int64, error) { return 0, errors.ErrUnsupported }

// CheckQuota does nothing on this system.
func CheckQuota(string) error { return nil }
