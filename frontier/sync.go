package frontier

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// synced is what is known to be safe against power loss.
type synced struct {
	mu    sync.Mutex      // guards what follows; held during a sync
	upTo  uint64          // the store's version; nothing was written after it that was not synced
	logs  []string        // that the folder on disk is known to name
	whole map[string]bool // of these, the ones that are synced and not written any more
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
	if err := errors.Join(syncStore(f.db), f.synced.files(f.dir)); err != nil {
		return fmt.Errorf("sync frontier %s: %w", f.dir, err)
	}
	f.synced.upTo = version
	return nil
}

// files syncs all logs and the folder, which the store's own Sync leaves undone. That one syncs the log that is being written;
// but the one before it may still wait to become a table, and the folder may not know either of them yet: a power failure would
// take away what was acknowledged before, or cut a hole into the middle of it. A log that has gone meanwhile has become a table,
// which is on disk before its log is removed. Where there is a later one, a log is not written any more, and synced once.
// The times of the logs need not be kept, and what has them kept would wait for all the tables that are being written.
func (s *synced) files(dir string) error {
	var logs []string
	whole := map[string]bool{}
	for _, kind := range []string{"*.mem", "*.vlog"} {
		found, err := filepath.Glob(filepath.Join(dir, kind))
		if err != nil {
			return err
		}
		slices.SortFunc(found, byNumber)
		for i, name := range found {
			if !s.whole[name] {
				if err := syncFile(name, syncData); err != nil && !errors.Is(err, fs.ErrNotExist) {
					return err
				}
			}
			if i < len(found)-1 {
				whole[name] = true
			}
		}
		logs = append(logs, found...)
	}
	s.whole = whole
	if slices.Equal(logs, s.logs) {
		return nil // the same ones, since no number comes twice
	}
	if err := syncFile(dir, (*os.File).Sync); err != nil {
		return err
	}
	s.logs = logs
	return nil
}

// byNumber compares names that differ in a number only. Those of the logs have five digits or six, and more when these do not do.
func byNumber(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b)) }

func syncFile(name string, how func(*os.File) error) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(how(f), f.Close())
}
