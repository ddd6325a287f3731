package frontier

import (
	"os"

	"github.com/dgraph-io/badger/v4"
	"golang.org/x/sys/unix"
)

// syncStore does nothing. The store's own Sync holds the lock that each read and each write takes until the disk is
// done. It syncs mapped logs, which on Linux is the same as syncing the files, and [syncState] does that anyway.
func syncStore(*badger.DB) error { return nil }

// syncData writes the data that is needed to read the file again. os.File.Sync would write everything that is known
// about it.
func syncData(f *os.File) error {
	for {
		if err := unix.Fdatasync(int(f.Fd())); err != unix.EINTR {
			return err
		}
	}
}
