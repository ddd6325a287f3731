package frontier

import (
	"os"

	"github.com/dgraph-io/badger/v4"
	"golang.org/x/sys/unix"
)

// syncStore does nothing. The store's own Sync holds the lock that each read and each write takes until the disk is done, and what it
// syncs are logs that are mapped: here that is the same as to sync the files, which [synced] does anyway.
func syncStore(*badger.DB) error { return nil }

// syncData writes what is needed to read the file again, as os.File.Sync does for all that is known about it.
func syncData(f *os.File) error {
	for {
		if err := unix.Fdatasync(int(f.Fd())); err != unix.EINTR {
			return err
		}
	}
}
