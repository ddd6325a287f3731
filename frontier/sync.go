package frontier

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// syncLogs does what the store's own Sync leaves undone. That one syncs the log that is being written; but the one before
// it may still wait to become a table, and the folder may not know either of them yet: a power failure would take away
// what was acknowledged before, or cut a hole into the middle of it. A log that has gone meanwhile has become a table,
// which is on disk before its log is removed.
func syncLogs(dir string) error {
	logs, err := filepath.Glob(filepath.Join(dir, "*.mem"))
	if err != nil {
		return err
	}
	for _, name := range logs {
		if err := syncFile(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return syncFile(dir)
}

func syncFile(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
