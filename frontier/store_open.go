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
	"runtime/debug"
	"slices"
	"strings"
	"syscall"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/table"
)

// openStore opens Badger, after making sure that Badger can open the files safely. On a damaged table Badger ends the
// process or panics in a goroutine of its own. Once open, it skips unreadable blocks as if they were empty.
func openStore(o Options) (db *badger.DB, err error) {
	b := storeOptions(o)
	// A disk that fails or is full makes mapped memory fault. Here, that becomes a panic.
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if r := recover(); r != nil {
			db, err = nil, explainPanic(r)
		}
	}()
	size, err := inspectStore(b)
	if err != nil {
		return nil, err
	}
	if o.Elsewhere != nil {
		size = max(size, o.Elsewhere.Size())
	}
	b = b.WithNumLevelZeroTables(logsToMerge(size, b.MemTableSize))
	if o.reserve != nil && !o.Inspect {
		b = b.WithLogger(o.reserve)
		if err := o.reserve.begin(); err != nil {
			return nil, err
		}
	}
	if o.Inspect {
		// The log of a store that was not closed has an incomplete end. Only a store that may be written can remove it.
		db, err = badger.Open(b.WithReadOnly(true))
		if err == nil || !strings.Contains(err.Error(), badger.ErrTruncateNeeded.Error()) { // Badger hides the cause
			return db, explainOpenError(err, o.Dir)
		}
	}
	db, err = badger.Open(b)
	return db, explainOpenError(err, o.Dir)
}

// storeOptions returns the options that need the least memory and processor time at the pace of a crawl;
// docs/benchmarks.md has the measurements. Values stay next to their keys. Commits do not wait for the disk: they
// survive the process, and Sync makes them survive the machine.
//
// Data that is written at random is written again by each level that it moves through. So there is one level of up to
// 128 MB above the last one, instead of two or three small ones. [logsToMerge] says how many logs are merged with it.
//
// A builder of a table takes twice the size of the table, and doubles that each time it is full. It holds each block
// uncompressed, with room for its compressed form. The store keeps up to eight builders, full or not. So the sizes of
// tables and memory tables are chosen such that builders of 2, 4 and 8 MB suffice: 1 MB for tables, if blocks shrink
// to no less than a sixth, and 6 MB for memory tables. A transaction may then have 0.9 MB, and so may a value next to
// its key.
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
		b = b.WithMemTableSize(16 << 20).WithNumLevelZeroTablesStall(24).WithBaseTableSize(2 << 20).
			WithBaseLevelSize(64 << 20).WithBloomFalsePositive(0.002).WithBlockCacheSize(16 << 20)
	}
	return b
}

// explainPanic returns the reason why opening a store panicked: the memory that a file is mapped to cannot be read or
// written, or the store is damaged.
func explainPanic(r any) error {
	if fault, ok := r.(interface{ Addr() uintptr }); ok {
		return machineError{fmt.Errorf("a mapped file cannot be read or written (%v): the disk fails or is full", fault), syscall.EIO}
	}
	return fmt.Errorf("%v: %w", r, ErrCorrupt)
}

// explainOpenError returns the reason why Badger did not open a store.
func explainOpenError(err error, dir string) error {
	switch {
	case err == nil:
		return nil
	case strings.Contains(err.Error(), "Cannot acquire directory lock"): // Badger hides the cause
		return lockedError(dir)
	}
	return classifyError(err)
}

// logsToMerge returns how many logs of the given size are merged with the other tables at a time, in a store with
// tables of size bytes in all. Each log is a table of its own by then. The more logs wait, the more of them must be
// searched for a URI that was visited recently; in a small store these are all URIs. The fewer wait, the more often a
// large store is rewritten: one that is to adopt millions of URIs would be written again for each 24 MB of them. The
// number is chosen at each opening, which is often enough.
func logsToMerge(size, log int64) int {
	return int(min(max(minLogsToMerge, (minBytesToMerge+size>>2)/log), maxBytesToMerge/log))
}

// Bounds for [logsToMerge]. A quarter of the size of the store is added to minBytesToMerge.
const (
	minLogsToMerge  = 3
	minBytesToMerge = 24 << 20
	maxBytesToMerge = 192 << 20
)

// inspectStore removes what a kill has left, and verifies all files that Badger is going to trust. It has the lock of
// the folder meanwhile. It returns the size of all tables.
func inspectStore(b badger.Options) (size int64, err error) {
	unlock, taken, err := lockDir(b.Dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return 0, nil // Badger creates it
	case taken:
		return 0, lockedError(b.Dir)
	case err != nil:
		return 0, err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	if err := removeEmptyLogs(b.Dir); err != nil {
		return 0, fmt.Errorf("remove the empty logs that a kill has left: %w", err)
	}
	if err := repairManifest(b.Dir); err != nil {
		return 0, err
	}
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

// verifyAtOpen is how many bytes of tables are verified completely when a store is opened, which takes a quarter of a
// second. They are the newest ones, because a crash can have damaged only these.
const verifyAtOpen = 256 << 20

// checkTail looks at the end of the manifest. Badger takes it for an entry that was being written at a power failure,
// and would cut it off, with all tables that it names. If the checksum of that entry fits some of the bytes that
// follow, the entry is whole, and only its length is damaged. An entry is: length(4), CRC-32C(4), that many bytes.
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

// checkNoTables refuses a folder that has tables but no manifest: Badger would take the tables for garbage and remove
// them.
func checkNoTables(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	tables := 0
	for _, e := range entries {
		if filepath.Ext(e.Name()) == ".sst" {
			tables++
		}
	}
	if tables == 0 {
		return nil
	}
	return fmt.Errorf("%d tables, but no %s: %w", tables, badger.ManifestFilename, ErrCorrupt)
}

// classifyError returns err as [ErrCorrupt], unless it is about the machine and not about the store.
func classifyError(err error) error {
	err = hiddenCause(err)
	if machine := syscall.Errno(0); errors.As(err, &machine) || errors.Is(err, fs.ErrPermission) {
		return err
	}
	return fmt.Errorf("%w: %w", err, ErrCorrupt)
}

// hiddenCause returns an error that wraps its cause if that is an error of the machine. Badger hides the cause of some.
func hiddenCause(err error) error {
	if machine := syscall.Errno(0); err == nil || errors.As(err, &machine) {
		return err
	}
	for _, errno := range machineErrors {
		if strings.Contains(err.Error(), errno.Error()) {
			return machineError{err, errno}
		}
	}
	return err
}

// machineError is an error of the machine whose cause Badger hides.
type machineError struct {
	error
	cause syscall.Errno
}

// Unwrap returns the cause.
func (e machineError) Unwrap() error { return e.cause }

// machineErrors lists the errors that say nothing about the contents of the store: after each of them the same files
// may open later. ENFILE comes first, because its text begins with the text of EMFILE.
var machineErrors = [...]syscall.Errno{
	syscall.EACCES, syscall.EPERM, syscall.ENOSPC, syscall.EDQUOT, syscall.EIO, syscall.EROFS, syscall.ENFILE,
	syscall.EMFILE, syscall.ENOMEM, syscall.EAGAIN, syscall.EBUSY, syscall.EINTR, syscall.ESTALE, syscall.ETIMEDOUT,
	syscall.ENODEV, syscall.ENXIO, syscall.EFBIG,
}

// lockedError returns [ErrLocked], with the process that has the folder if it is known.
func lockedError(dir string) error {
	pid, err := os.ReadFile(filepath.Join(dir, "LOCK"))
	if who := strings.TrimSpace(string(pid)); err == nil && who != "" && len(who) < 20 {
		return fmt.Errorf("%w (pid %s)", ErrLocked, who)
	}
	return ErrLocked
}

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
