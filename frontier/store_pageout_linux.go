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

	"golang.org/x/sys/unix"
)

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
