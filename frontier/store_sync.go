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
	"sync/atomic"
)

// synced is what is known to be safe against power loss.
type syncState struct {
	closed  atomic.Bool   // as [Frontier].closed, for who does not wait for its lock
	changes atomic.Uint64 // that were committed

	mu           sync.Mutex      // guards what follows; held during a sync
	covered      uint64          // of changes, these are synced
	version      uint64          // the store's version; nothing was written after it that was not synced; 0 if that is not known
	namedLogs    []string        // that the folder on disk is known to name
	completeLogs map[string]bool // of these, the ones that are synced and not written any more
}

// Sync makes all that was settled safe against power loss. It costs next to nothing when nothing was written since the last. It waits
// for the disk only, not for those who are settling, who may themselves wait until the store has merged its tables.
func (f *Frontier) Sync() error {
	if f.synced.closed.Load() {
		return ErrClosed
	}
	f.synced.mu.Lock()
	defer f.synced.mu.Unlock()
	f.views.refresh()
	changes := f.synced.changes.Load()
	var version uint64 // unknown
	if changes == f.synced.covered {
		txn := f.db.NewTransaction(false) // waits until all is written that was committed before it, by other rooms
		version = txn.ReadTs()
		txn.Discard()
		if version == f.synced.version {
			return nil
		}
	}
	if err := errors.Join(syncStore(f.db), f.synced.syncFiles(f.dir)); err != nil {
		return fmt.Errorf("sync frontier %s: %w", f.dir, err)
	}
	f.synced.version, f.synced.covered = version, changes
	return nil
}

// files syncs all logs and the folder, which the store's own Sync leaves undone. That one syncs the log that is being written;
// but the one before it may still wait to become a table, and the folder may not know either of them yet: a power failure would
// take away what was acknowledged before, or cut a hole into the middle of it. A log that has gone meanwhile has become a table,
// which is on disk before its log is removed. Where there is a later one, a log is not written any more, and synced once.
// The times of the logs need not be kept, and what has them kept would wait for all the tables that are being written.
func (s *syncState) syncFiles(dir string) error {
	mem, vlog, err := logsIn(dir)
	if err != nil {
		return err
	}
	whole := map[string]bool{}
	for _, logs := range [][]string{mem, vlog} {
		for i, name := range logs {
			if !s.completeLogs[name] {
				if err := syncLog(filepath.Join(dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
					return err
				}
			}
			if i < len(logs)-1 {
				whole[name] = true
			}
		}
	}
	logs := append(mem, vlog...)
	s.completeLogs = whole
	if slices.Equal(logs, s.namedLogs) {
		return nil // the same ones, since no number comes twice
	}
	if err := syncFile(dir, (*os.File).Sync); err != nil {
		return err
	}
	s.namedLogs = logs
	return nil
}

// logsIn lists the logs of a folder in the order of their numbers, which only go up: those of what is in memory, and those of values
// that are too long for that.
func logsIn(dir string) (mem, vlog []string, err error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, nil, err
	}
	names, err := f.Readdirnames(-1)
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, nil, err
	}
	for _, name := range names {
		switch filepath.Ext(name) {
		case ".mem":
			mem = append(mem, name)
		case ".vlog":
			vlog = append(vlog, name)
		}
	}
	slices.SortFunc(mem, byNumber)
	slices.SortFunc(vlog, byNumber)
	return mem, vlog, nil
}

// byNumber compares names that differ in a number only. Those of the logs have five digits or six, and more when these do not do.
func byNumber(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b)) }

// logHead is how many bytes a log has before its first entry, of which the first eight are never all zero: they hold the length
// of a key.
const logHead = 20

// syncLog syncs a log, unless there is no entry in it: no value of ours is long enough for the log of values, and to sync it all the
// same would be to wait for the disk twice.
func syncLog(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	var first [8]byte
	if _, err := f.ReadAt(first[:], logHead); err == nil && first == [8]byte{} {
		return f.Close()
	}
	return errors.Join(syncData(f), f.Close())
}

func syncFile(name string, how func(*os.File) error) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(how(f), f.Close())
}
