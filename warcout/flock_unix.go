//go:build unix

package warcout

import (
	"os"

	"golang.org/x/sys/unix"
)

// lockFile marks f as being written, until it is closed or the process ends. It fails when another has it.
func lockFile(f *os.File) error {
	return unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
}
