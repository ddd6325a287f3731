package frontier

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
)

// synced is what is known to be safe against power loss.
type synced struct {
	mu   sync.Mutex // guards what follows; held during a sync
	upTo uint64     // the store's version; nothing was written after it that was not synced
	logs []string   // that the folder on disk is known to name
}

// Sync makes all that was settled safe against power loss. It costs next to nothing when nothing was written since the last.
func (f *Frontier) Sync() error {
	f.mu.Lock()
	closed := f.closed
	f.mu.Unlock()
	if closed {
		return ErrClosed
	}
	f.synced.mu.Lock()
	defer f.synced.mu.Unlock()
	txn := f.db.NewTransaction(false) // waits until all is written that was committed before it
	version := txn.ReadTs()
	txn.Discard()
	if version == f.synced.upTo {
		return nil
	}
	if err := errors.Join(f.db.Sync(), f.synced.files(f.dir)); err != nil {
		return fmt.Errorf("sync frontier %s: %w", f.dir, err)
	}
	f.synced.upTo = version
	return nil
}

// files does what the store's own Sync leaves undone. That one syncs the log that is being written; but the one before
// it may still wait to become a table, and the folder may not know either of them yet: a power failure would take away
// what was acknowledged before, or cut a hole into the middle of it. A log that has gone meanwhile has become a table,
// which is on disk before its log is removed. The times of the logs need not be kept, and what has them kept would wait for
// all the tables that are being written.
func (s *synced) files(dir string) error {
	logs, err := filepath.Glob(filepath.Join(dir, "*.mem"))
	if err != nil {
		return err
	}
	for _, name := range logs {
		if err := syncFile(name, syncData); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if slices.Equal(logs, s.logs) {
		return nil // their numbers only go up, so that these are the same
	}
	if err := syncFile(dir, (*os.File).Sync); err != nil {
		return err
	}
	s.logs = logs
	return nil
}

func syncFile(name string, how func(*os.File) error) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(how(f), f.Close())
}
