//go:build unix

package frontier

import (
	"errors"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// lockDir takes the lock that the store itself takes on its folder; taken is true if another process has it.
func lockDir(dir string) (unlock func() error, taken bool, err error) {
	d, err := os.Open(dir)
	if err != nil {
		return nil, false, err
	}
	if err := unix.Flock(int(d.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return nil, errors.Is(err, unix.EWOULDBLOCK), errors.Join(err, d.Close())
	}
	unlock = func() error {
		// Closing is not enough: a process that is being started at this moment may have a copy of d, and so the lock.
		return errors.Join(unix.Flock(int(d.Fd()), unix.LOCK_UN), d.Close())
	}
	return unlock, false, nil
}

// diskUsage returns how many bytes of disk a file takes. The store makes some files larger than their contents.
func diskUsage(info fs.FileInfo) int64 {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return s.Blocks * 512
	}
	return info.Size()
}
