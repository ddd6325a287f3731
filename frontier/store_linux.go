package frontier

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/dgraph-io/badger/v4"
	"golang.org/x/sys/unix"
)

// syncStore does nothing. The store's own Sync holds the lock that each read and each write takes until the disk is
// done. It syncs mapped logs, which on Linux is the same as syncing the files, and [syncState] does that anyway.
func syncStore(*badger.DB) error { return nil }

// syncData writes the data that is needed to read the file again. os.File.Sync would write everything that is known
// about it.
func syncData(f *os.File) error {
	for {
		switch err := unix.Fdatasync(int(f.Fd())); err {
		case nil:
			return nil
		case unix.EINTR:
		default:
			return &os.PathError{Op: "fdatasync", Path: f.Name(), Err: err}
		}
	}
}

// pageOutAbove pages out the tables in a folder if more than limit bytes of mapped files are resident.
//
// It asks the kernel to page the tables out (MADV_PAGEOUT). That is safe for any memory: between finding a table and
// asking, Badger may have unmapped it.
func pageOutAbove(dir string, limit int64) error {
	var pages [64]byte
	statm, err := os.Open("/proc/self/statm")
	if err != nil {
		return nil // this system does not say
	}
	n, err := statm.Read(pages[:])
	if err = errors.Join(err, statm.Close()); err != nil {
		return fmt.Errorf("read how much memory is resident: %w", err)
	}
	fields := bytes.Fields(pages[:n])
	if len(fields) < 3 {
		return nil
	}
	shared, err := strconv.ParseInt(string(fields[2]), 10, 64)
	if err != nil || shared*int64(os.Getpagesize()) <= limit {
		return nil
	}
	return pageOutTables(dir)
}

// pageOutTables pages out the tables in a folder.
func pageOutTables(dir string) error {
	dir, err := filepath.Abs(dir)
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		return fmt.Errorf("find the tables of the frontier: %w", err)
	}
	maps, err := os.Open("/proc/self/maps")
	if err != nil {
		return nil //nolint:nilerr // this system does not say
	}
	defer maps.Close() //nolint:errcheck // nothing was written
	for s := bufio.NewScanner(maps); s.Scan(); {
		line := s.Text()
		at := strings.IndexByte(line, '/')
		if at < 0 || filepath.Dir(line[at:]) != dir || !strings.HasSuffix(line, ".sst") {
			continue
		}
		bounds, _, _ := strings.Cut(line, " ")
		from, to, _ := strings.Cut(bounds, "-")
		low, err1 := strconv.ParseUint(from, 16, 64)
		high, err2 := strconv.ParseUint(to, 16, 64)
		if errors.Join(err1, err2) != nil || high <= low {
			continue
		}
		// The result does not matter: the range may be unmapped, or the kernel too old.
		_, _, _ = unix.Syscall(unix.SYS_MADVISE, uintptr(low), uintptr(high-low), unix.MADV_PAGEOUT)
	}
	return nil
}

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
