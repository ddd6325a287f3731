//go:build unix

package frontier

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// lockDir holds the lock that the store itself takes on its folder, and tells whether another process has it.
func lockDir(dir string) (unlock func() error, taken bool, err error) {
	d, err := os.Open(dir)
	if err != nil {
		return nil, false, err
	}
	if err := unix.Flock(int(d.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return nil, errors.Is(err, unix.EWOULDBLOCK), errors.Join(err, d.Close())
	}
	unlock = func() error {
		// A process that is being started at this moment may have a copy of d, and with it the lock.
		return errors.Join(unix.Flock(int(d.Fd()), unix.LOCK_UN), d.Close())
	}
	return unlock, false, nil
}
