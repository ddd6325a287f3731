package access

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/arcrawl/arcrawl/internal/fileio"
)

// edit replaces a file of tokens or users by what change returns, or creates it. change reads the file. Two processes
// that edit a file at the same time do it one after the other, so that no change is lost; change may be called again.
func edit(path string, change func() (text string, err error)) error {
	for {
		unlock, exists, err := lock(path)
		if err != nil {
			return err
		}
		text, err := change()
		if err == nil {
			err = replace(path, text, exists)
		}
		unlock()
		if exists || !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
}

// lock waits until no other process edits a file. exists says that there is one; a file that does not exist cannot be
// locked.
func lock(path string) (unlock func(), exists bool, err error) {
	for {
		f, err := openLocked(path)
		if errors.Is(err, fs.ErrNotExist) {
			return func() {}, false, nil
		}
		if err != nil {
			return nil, false, err
		}
		locked, err := f.Stat()
		if err == nil {
			var now fs.FileInfo
			if now, err = os.Stat(path); err == nil && os.SameFile(locked, now) {
				return func() { _ = f.Close() }, true, nil // closing ends the lock
			}
		}
		_ = f.Close() // another process has replaced the file meanwhile
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, false, err
		}
	}
}

// replace writes a file as a whole. Its owner stays; a new file belongs to the owner of its folder. If the file is not
// expected to exist and does, the error is [fs.ErrExist].
func replace(path, text string, exists bool) error {
	at := path
	if !exists {
		at = filepath.Dir(path)
	}
	like, err := os.Stat(at)
	if err != nil && !exists {
		return fmt.Errorf("%w; start the daemon once, which makes its folders", err)
	}
	if err != nil {
		return err
	}
	f, err := fileio.Create(path, 0o600)
	if err != nil {
		return err
	}
	defer f.Discard()
	if _, err := f.Write([]byte(text)); err != nil {
		return err
	}
	place := f.New
	if exists {
		place = f.Replace
	}
	if err := place(); err != nil {
		return err
	}
	if err := fileio.KeepOwner(path, like); err != nil {
		return fmt.Errorf("give it its owner: %w; the daemon may be unable to read it: use chown", err)
	}
	return nil
}
