//go:build unix

package fileio

import (
	"os"

	"golang.org/x/sys/unix"
)

// Lock waits until no other process has the lock of f (flock). The lock ends when f is closed, or with the process.
func Lock(f *os.File) error { return unix.Flock(int(f.Fd()), unix.LOCK_EX) }

// TryLock is like [Lock], but fails if another process has the lock.
func TryLock(f *os.File) error { return unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) }
