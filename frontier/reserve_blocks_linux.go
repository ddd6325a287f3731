package frontier

import (
	"errors"
	"fmt"
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

// quotaRoom is the minimum of space that a quota must leave. A crawl writes less between two checks.
const quotaRoom = 128 << 20

// CheckQuota returns an error if a folder's quota leaves less than 128 MiB, on a file system where blocks that are
// reserved do not suffice: for each change of a page, btrfs wants new space in the quota. It never shows a quota in its
// free space, and lets only root read it. So CheckQuota tries to reserve that much, for a moment.
func CheckQuota(dir string) error {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil || s.Type != unix.BTRFS_SUPER_MAGIC {
		return nil
	}
	const advice = "the quota of %s leaves less than %d MiB: %w; raise it, or move finished files away"
	fd, err := unix.Open(dir, unix.O_TMPFILE|unix.O_RDWR|unix.O_CLOEXEC, 0o600)
	if err == unix.EDQUOT {
		return fmt.Errorf(advice, dir, quotaRoom>>20, err)
	}
	if err != nil {
		return nil // the crawl sees for itself whether it can write
	}
	f := os.NewFile(uintptr(fd), dir)
	defer f.Close()
	if err := reserveBlocks(f, 0, quotaRoom); errors.Is(err, unix.EDQUOT) {
		return fmt.Errorf(advice, dir, quotaRoom>>20, unix.EDQUOT)
	}
	return nil
}
