package frontier

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Size returns the number of bytes of disk that the store takes, without what it holds in reserve. It looks at each of
// its files.
func (f *Frontier) Size() (sum int64, err error) {
	entries, err := os.ReadDir(f.o.Dir)
	if err != nil {
		return 0, fmt.Errorf("measure the size of the frontier's store: %w", err)
	}
	for _, e := range entries {
		if e.Name() == reserveFile {
			continue
		}
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) || err == nil && !info.Mode().IsRegular() {
			continue // the store removes files at any time
		}
		if err == nil {
			var n int64
			n, err = diskUsage(filepath.Join(f.o.Dir, e.Name()))
			sum += n
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return 0, fmt.Errorf("measure the size of the frontier's store: %w", err)
		}
	}
	return sum, nil
}

// PageOut reduces the resident memory of mapped files if it is more than limit bytes. Badger maps all its tables. The
// parts that were read stay resident until the machine is short of memory. PageOut is for commands that read or write
// much of the store. It works on Linux only.
func (f *Frontier) PageOut(limit int64) error { return pageOutAbove(f.o.Dir, limit) }
