package frontier

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/table"
)

// openStore opens Badger once it is sure that Badger can bear it: on a damaged table Badger ends the process or panics
// in a goroutine of its own, and after opening it passes over unreadable blocks as if they held nothing.
func openStore(o Options) (db *badger.DB, err error) {
	b := storeOptions(o)
	size, err := inspectStore(b)
	if err != nil {
		return nil, err
	}
	b = b.WithNumLevelZeroTables(logsToMerge(size, b.MemTableSize))
	defer func() {
		if r := recover(); r != nil {
			db, err = nil, fmt.Errorf("%v: %w", r, ErrCorrupt)
		}
	}()
	if o.Inspect {
		// A store that was not closed has a log with a loose end, which only a store that may be written can cut off.
		db, err = badger.Open(b.WithReadOnly(true))
		if err == nil || !strings.Contains(err.Error(), badger.ErrTruncateNeeded.Error()) { // Badger hides the cause
			return db, explainOpenError(err, o.Dir)
		}
	}
	db, err = badger.Open(b)
	return db, explainOpenError(err, o.Dir)
}

// storeOptions are those that were measured to be the leanest at the pace of a crawl. Values stay beside their keys, and
// commits do not wait for the disk: they survive the process, and Sync makes them survive the machine.
//
// What is written at random is written again by each level that it sinks through. So there is one level of up to 128 MB above
// the last one, instead of two or three small ones, and [logsAtATime] says how many logs are merged with it.
//
// What builds a table takes twice its size, then twice that and so on as it is filled, with each block as it is and a place for its
// compressed form; the store keeps up to eight of these, full or not. So tables and memory tables are just so large that 2, 4 and 8 MB
// suffice: of 1 MB if blocks shrink to no less than a sixth, and of 6 MB. A transaction takes 0.9 MB then, and values stay beside their keys up
// to that.
func storeOptions(o Options) badger.Options {
	compactors := 2
	switch {
	case o.Compactors > 0:
		compactors = o.Compactors
	case o.Compactors < 0:
		compactors = 0
	}
	b := badger.DefaultOptions(o.Dir).
		WithMemTableSize(6 << 20).
		WithValueThreshold(900 << 10).
		WithNumMemtables(2).
		WithBlockCacheSize(12 << 20).
		WithIndexCacheSize(48 << 20).
		WithNumCompactors(compactors).
		WithBaseTableSize(1 << 20).
		WithBaseLevelSize(128 << 20).
		WithNumLevelZeroTablesStall(48).
		WithBlockSize(8 << 10).
		WithValueLogFileSize(64 << 20).
		WithNumGoroutines(1).
		WithMetricsEnabled(false).
		WithSyncWrites(false).
		WithLogger(o.Logger)
	b.TableSizeMultiplier = 1
	if o.BulkLoad {
		b = b.WithMemTableSize(16 << 20).WithNumLevelZeroTablesStall(24).WithBaseTableSize(2 << 20).WithBaseLevelSize(64 << 20).WithBloomFalsePositive(0.002).WithBlockCacheSize(16 << 20)
	}
	return b
}

// refused says why Badger does not open a store.
func explainOpenError(err error, dir string) error {
	switch {
	case err == nil:
		return nil
	case strings.Contains(err.Error(), "Cannot acquire directory lock"): // Badger hides the cause
		return lockedError(dir)
	}
	return classifyError(err)
}

// logsAtATime is how many logs of so many bytes, each a table of its own by then, are merged with the others at a time, in a store
// with tables of so many bytes. The more of them wait, the more must be asked for each URI that was visited not long ago, which in a
// small store are all; the fewer, the more often a large one is written anew. Opening decides, which is often enough.
func logsToMerge(size, log int64) int {
	return int(min(max(minLogsToMerge, (minBytesToMerge+size>>2)/log), maxBytesToMerge/log))
}

// fewestLogs is how many logs are merged at a time at least, and fewestAtATime how many bytes of small ones, to which a quarter of the
// size of the store is added.
const (
	minLogsToMerge  = 3
	minBytesToMerge = 24 << 20
)

// mostAtATime is how many bytes of logs are merged at a time at most.
const maxBytesToMerge = 192 << 20

// inspect verifies, under the folder's lock, all files that Badger is going to trust, and tells how many bytes of tables
// there are.
func inspectStore(b badger.Options) (size int64, err error) {
	unlock, taken, err := lockDir(b.Dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return 0, nil // Badger makes it
	case taken:
		return 0, lockedError(b.Dir)
	case err != nil:
		return 0, err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	manifest, err := os.Open(filepath.Join(b.Dir, badger.ManifestFilename))
	if errors.Is(err, fs.ErrNotExist) {
		return 0, checkNoTables(b.Dir)
	}
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, manifest.Close()) }()
	m, end, err := badger.ReplayManifestFile(manifest, b.ExternalMagicVersion, b)
	if err != nil {
		return 0, classifyError(fmt.Errorf("read %s: %w", manifest.Name(), err))
	}
	if err := checkTail(manifest, end); err != nil {
		return 0, fmt.Errorf("read %s: %w", manifest.Name(), err)
	}
	var v verifier
	for _, id := range slices.Backward(slices.Sorted(maps.Keys(m.Tables))) { // the newest first
		o := table.Options{BlockSize: b.BlockSize, Compression: m.Tables[id].Compression}
		name := table.NewFilename(id, b.Dir)
		verify := verifyIndex
		if size < verifyAtOpen {
			verify = v.table
		}
		n, err := verify(name, id, o)
		if err != nil {
			return 0, fmt.Errorf("verify %s: %w", name, err)
		}
		size += n
	}
	return size, nil
}

// verifyAtOpen is how many bytes of tables are verified whole when a store is opened, which takes a quarter of a second.
// They are the newest ones, the only ones that a crash can have damaged.
const verifyAtOpen = 256 << 20

// checkTail looks at what Badger takes for an entry that was being written at a power failure, and would cut off,
// together with all tables that are named in it or behind it. If the checksum of that entry fits some of the bytes that
// follow, it is whole, and only its length is damaged. An entry is: length(4), CRC-32C(4), that many bytes.
func checkTail(manifest *os.File, end int64) error {
	info, err := manifest.Stat()
	if err != nil {
		return err
	}
	tail, err := io.ReadAll(io.NewSectionReader(manifest, end, info.Size()-end))
	if err != nil || len(tail) < 8 {
		return err
	}
	want := binary.BigEndian.Uint32(tail[4:])
	var sum uint32
	for i := range tail[8:] {
		if sum = crc32.Update(sum, castagnoli, tail[8+i:9+i]); sum == want {
			return fmt.Errorf("the length of the entry at byte %d is wrong: %w", end, ErrCorrupt)
		}
	}
	return nil
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// checkNoTables refuses a folder whose manifest is gone: Badger would take its tables for garbage and remove them.
func checkNoTables(dir string) error {
	tables, err := filepath.Glob(filepath.Join(dir, "*.sst"))
	if err != nil || len(tables) == 0 {
		return err
	}
	return fmt.Errorf("%d tables, but no %s: %w", len(tables), badger.ManifestFilename, ErrCorrupt)
}

// blame decides whether it is the store that is damaged, or something about the machine that keeps us from it.
func classifyError(err error) error {
	var machine syscall.Errno
	if errors.As(err, &machine) || errors.Is(err, fs.ErrPermission) {
		return err
	}
	for _, words := range []string{"permission denied", "no space left", "too many open files", "read-only file system"} {
		if strings.Contains(err.Error(), words) { // Badger hides the cause of some
			return err
		}
	}
	return fmt.Errorf("%w: %w", err, ErrCorrupt)
}

// locked tells who has the folder, as far as can be seen.
func lockedError(dir string) error {
	pid, err := os.ReadFile(filepath.Join(dir, "LOCK"))
	if who := strings.TrimSpace(string(pid)); err == nil && who != "" && len(who) < 20 {
		return fmt.Errorf("%w (pid %s)", ErrLocked, who)
	}
	return ErrLocked
}
