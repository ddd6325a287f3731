package reserve

import (
	"os"

	"golang.org/x/sys/unix"
)

// reserveBlocks reserves the blocks of a part of a file on disk, also behind the end of the file. It changes neither
// the contents nor the length.
func reserveBlocks(f *os.File, from, length int64) error {
	for {
		switch err := unix.Fallocate(int(f.Fd()), unix.FALLOC_FL_KEEP_SIZE, from, length); err {
		case nil:
			return nil
		case unix.EINTR:
		default:
			return &os.PathError{Op: "fallocate", Path: f.Name(), Err: err}
		}
	}
}

// allocated returns the bytes of disk that a file takes.
func allocated(path string) (int64, error) {
	var s unix.Stat_t
	err := unix.Stat(path, &s)
	return s.Blocks * 512, err
}

// freeBytes returns the free bytes of a disk. It does not know of quotas.
func freeBytes(dir string) (int64, error) {
	var s unix.Statfs_t
	err := unix.Statfs(dir, &s)
	return int64(s.Bavail) * s.Bsize, err
}
