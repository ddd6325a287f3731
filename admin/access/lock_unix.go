//go:build unix

package access

import (
	"os"

	"golang.org/x/sys/unix"
)

// lockFile waits until no other process has the lock of a file. It ends when f is closed.
func lockFile(f *os.File) error { return unix.Flock(int(f.Fd()), unix.LOCK_EX) }
