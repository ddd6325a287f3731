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
		if err := unix.Fdatasync(int(f.Fd())); err != unix.EINTR {
			return err
		}
	}
}

// PageOut reduces the resident memory of mapped files if it is more than limit bytes. Badger maps all its tables. The
// parts that were read stay resident until the machine is short of memory. PageOut is for commands that read or write
// much of the store.
//
// It asks the kernel to page the tables out (MADV_PAGEOUT). That is safe for any memory: between finding a table and
// asking, Badger may have unmapped it.
func (f *Frontier) PageOut(limit int64) error {
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
	return f.pageOut()
}

func (f *Frontier) pageOut() error {
	dir, err := filepath.Abs(f.dir)
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
