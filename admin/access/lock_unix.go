//go:build unix

package access

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"

	"github.com/arcrawl/arcrawl/internal/fileio"
)

// openLocked opens a file and waits until no other process has its lock. The lock ends when the file is closed. The
// file is opened for writing if that is allowed: over NFS only such a file can be locked.
func openLocked(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, unix.EROFS) {
		f, err = os.Open(path)
	}
	if err != nil {
		return nil, err
	}
	if err := fileio.Lock(f); err != nil {
		_ = f.Close() // nothing was written
		return nil, lockFault(path, err)
	}
	return f, nil
}

// lockFault returns the error of a lock, with a remedy if the file system has no locks.
func lockFault(path string, err error) error {
	if errors.Is(err, unix.ENOLCK) || errors.Is(err, unix.EOPNOTSUPP) || errors.Is(err, unix.EBADF) {
		return fmt.Errorf("lock %s: %w; its file system has no locks: put the folder of the file on a local disk, or let NFS "+
			"have locks (rpc.statd, or the mount option local_lock=flock)", path, err)
	}
	return fmt.Errorf("lock %s: %w", path, err)
}
