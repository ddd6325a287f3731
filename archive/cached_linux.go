package archive

import (
	"os"

	"golang.org/x/sys/unix"
)

// dropCached removes the pages of a file from the memory of the system, so the next reader gets them from the disk.
func dropCached(f *os.File) {
	_ = unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED) // it is advice only
}
