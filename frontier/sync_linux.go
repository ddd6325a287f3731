package frontier

import (
	"os"

	"golang.org/x/sys/unix"
)

// syncData writes what is needed to read the file again, as os.File.Sync does for all that is known about it.
func syncData(f *os.File) error {
	for {
		if err := unix.Fdatasync(int(f.Fd())); err != unix.EINTR {
			return err
		}
	}
}
