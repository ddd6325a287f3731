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

// syncState says which data is safe against power loss.
type syncState struct {
	closed  atomic.Bool   // the same as Frontier.closed, to be read without its lock
	changes atomic.Uint64 // number of committed changes

	mu           sync.Mutex      // guards the fields below; held during a sync
	covered      uint64          // the value of changes at the last sync
	version      uint64          // the store's version at the last sync; 0 = unknown
	namedLogs    []string        // logs whose names are on disk in the folder
	completeLogs map[string]bool // of these, the ones that are synced and not written any more
}

// Sync makes everything that was settled safe against power loss. It costs little if nothing was written since the
// last call. It waits for the disk only, not for settlements, which may themselves wait until the store has merged
// its tables.
func (f *Frontier) Sync() error {
	if f.synced.closed.Load() {
		return ErrClosed
	}
	if err := f.o.reserve.fault(); err != nil {
		return err
	}
	f.synced.mu.Lock()
	defer f.synced.mu.Unlock()
	f.views.refresh()
	changes := f.synced.changes.Load()
	var version uint64 // unknown
	if changes == f.synced.covered {
		txn := f.db.NewTransaction(false) // waits until everything is written that other packages have committed
		version = txn.ReadTs()
		txn.Discard()
		if version == f.synced.version {
			return nil
		}
	}
	if err := errors.Join(syncStore(f.db), f.synced.syncFiles(f.o.Dir)); err != nil {
		return fmt.Errorf("sync frontier %s: %w", f.o.Dir, err)
	}
	f.synced.version, f.synced.covered = version, changes
	return nil
}

// syncFiles syncs all logs and the folder, which the store's own Sync does not. The store syncs the log that is being
// written. But the log before that may still wait to become a table, and the folder may not know either of them yet.
// A power failure would then lose entries that were acknowledged, or leave a gap in the middle.
//
// A log that has gone meanwhile has become a table, which is on disk before its log is removed. A log that is
// followed by a later one is not written any more, and is synced once.
//
// The times of the logs need not be kept. Keeping them would mean waiting for all the tables that are being written.
func (s *syncState) syncFiles(dir string) error {
	mem, vlog, err := logsIn(dir)
	if err == nil {
		mem, err = withoutSpares(dir, mem)
	}
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
		return nil // the same files, since numbers are not used again
	}
	if err := syncFile(dir, (*os.File).Sync); err != nil {
		return err
	}
	s.namedLogs = logs
	return nil
}

// withoutSpares returns the logs without the last ones that are empty. These are held in reserve, and the log before
// them is being written. If the store begins to use a spare meanwhile, everything that was written before is in the log
// before it.
func withoutSpares(dir string, logs []string) ([]string, error) {
	for len(logs) > 0 {
		info, err := os.Stat(filepath.Join(dir, logs[len(logs)-1]))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		if err != nil || info.Size() > 0 {
			break
		}
		logs = logs[:len(logs)-1]
	}
	return logs, nil
}

// logsIn returns the logs of a folder in the order of their numbers, which only increase: the logs of memory tables,
// and the logs of values that are too long for these.
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

// byNumber compares names that differ in a number only. The numbers of logs have five or six digits, or more if these
// are not enough.
func byNumber(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b)) }

// logHead is the number of bytes before the first entry of a log. The first eight bytes of an entry hold the length
// of a key, so they are never all zero.
const logHead = 20

// syncLog syncs a log, unless it has no entry. No value of ours is long enough for the log of values, and syncing it
// nevertheless would mean waiting for the disk twice.
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
		if err != nil {
			return 0, fmt.Errorf("measure the size of the frontier's store: %w", err)
		}
		sum += diskUsage(info)
	}
	return sum, nil
}

// PageOut reduces the resident memory of mapped files if it is more than limit bytes. Badger maps all its tables. The
// parts that were read stay resident until the machine is short of memory. PageOut is for commands that read or write
// much of the store. It works on Linux only.
func (f *Frontier) PageOut(limit int64) error { return pageOutAbove(f.o.Dir, limit) }
