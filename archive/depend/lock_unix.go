//go:build unix

package depend

import (
	"os"

	"golang.org/x/sys/unix"
)

// lockFile waits until no other process writes the index. The lock ends when f is closed.
func lockFile(f *os.File) error { return unix.Flock(int(f.Fd()), unix.LOCK_EX) }
