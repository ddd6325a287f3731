package frontier

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// removeEmptyLogs removes logs without a single byte. Badger creates the file of a log first and sets its length in
// a second step; before it removes a log it empties it. A kill between the two steps leaves an empty file, which holds
// nothing and belongs to nothing. Badger refuses to open a store with such a file, once: the attempt sets the
// length of the file.
//
// The caller holds the lock of the folder.
func removeEmptyLogs(dir string) error {
	mem, vlog, err := logsIn(dir)
	if err != nil {
		return err
	}
	for _, name := range append(mem, vlog...) {
		path := filepath.Join(dir, name)
		info, err := os.Lstat(path)
		if err == nil && info.Mode().IsRegular() && info.Size() == 0 {
			err = os.Remove(path)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}
