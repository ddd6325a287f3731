package frontier

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/dgraph-io/badger/v4"
)

// reserveFile is the name of the file that holds the space for tables.
const reserveFile = "RESERVE"

// The messages that Badger logs at its steps. A test makes sure that it still does.
const (
	beforeFlush = "Flushing memtable"                  // before a full log is replaced, and when the store is closed
	beforeTable = "[%d] LOG Compact. Added"            // before a merged table is written; the first value is the merger
	afterMerge  = "[Compactor: %d] Compaction for"     // the merger has written all its tables
	failedMerge = "[Compactor: %d] LOG Compact FAILED" // the same
	failedFlush = "error flushing memtable to disk"    // it tries again each second, without end; the value is the error

	inManifest = badger.ManifestFilename // is in the text of an error of the manifest
)

const (
	// manifestAhead is the space that is kept behind the end of the manifest. A change takes some 30 bytes per table.
	manifestAhead = 256 << 10
	// inFlight is the number of tables that one merger may be writing at the same time.
	inFlight = 13
)

// reserve keeps disk space for the files that the store maps into memory. It is the logger of the store, and may be
// used by many goroutines.
//
// Badger writes its logs and tables through mapped memory. If the disk has no block for a page, the kernel sends
// SIGBUS, and a Go program cannot handle that in a goroutine of somebody else: the process ends. So the blocks must be
// there before the page is written:
//
//	the log that is being written   all its blocks are reserved when the store is opened
//	the two logs that follow        exist as empty files with reserved blocks; Badger uses them as its own
//	tables                          a file of the reserve shrinks by the size of a table before the table is written
//	the manifest                    has reserved blocks behind its end, because Badger appends to it between tables
//
// Badger has no hook for any of that. But it reports each of these steps to its logger, in the goroutine that is going
// to take the step. So a reserve is Badger's logger.
//
// When the reserve was used, fill fills it again. While it cannot be filled, nothing may be committed: then
// no log becomes full, and nothing is merged. A merge that Badger has begun waits. So the disk may fill to its last
// byte, and the process continues when there is space again. Where blocks cannot be reserved (on other systems than
// Linux, or on some file systems), nothing of this happens.
//
// Two cases are left. Others may take the space of a table in the milliseconds between the step and the writing. And
// Badger reports the flush of a log when the goroutine that makes its table has begun: if a busy machine halts the
// reporting goroutine until the table is written, on a disk that is full already, the process ends. It loses nothing
// and continues when it is started again.
type reserve struct {
	badger.Logger // gets all messages

	dir   string
	log   int64  // length of the file of a log, which is full when it has half of that
	table int64  // maximum size of a merged table
	wait  func() // see Options.AwaitSpace

	failed chan error // has the last error of a table that could not be written

	broken atomic.Pointer[error] // why nothing may be written any more; nil if it may

	full atomic.Bool // the reserve is complete; false after a part of it was used
	off  atomic.Bool // the file system cannot reserve blocks

	// mu guards the fields below. Badger holds locks of its own when it calls the logger, and nothing of Badger is called
	// while mu is held.
	mu      sync.Mutex
	file    *os.File    // holds the space for tables; nil before begin and after close
	held    int64       // its length
	current int         // number of the log that is being written; 0 = not known yet
	flushes []int       // numbers of full logs whose table may not be written yet
	merging map[any]int // for each merger, the tables that may not be written yet
	short   bool        // the last attempt to reserve blocks failed
	unmade  error       // why the table of a full log could not be written; nil if no attempt failed
}

// withReserve returns the options with a reserve of disk space, if they ask for one. It has no space yet.
func (o Options) withReserve() Options {
	if o.AwaitSpace == nil || o.Inspect {
		return o
	}
	b := storeOptions(o)
	o.reserve = &reserve{
		Logger: o.Logger, dir: o.Dir, log: 2 * b.MemTableSize, table: 2 * b.BaseTableSize, wait: o.AwaitSpace,
		merging: map[any]int{}, failed: make(chan error, 1),
	}
	if o.Logger == nil {
		o.reserve.Logger = silent{}
	}
	return o
}

// silent discards messages.
type silent struct{}

func (silent) Errorf(string, ...any)   {}
func (silent) Warningf(string, ...any) {}
func (silent) Infof(string, ...any)    {}
func (silent) Debugf(string, ...any)   {}

// flush is the space of the table that a log becomes.
func (r *reserve) flush() int64 { return r.log/2 + r.table }

// goal is the space for tables: two logs that wait to become one, and what is being merged at the same time.
func (r *reserve) goal() int64 { return 2*r.flush() + 6*r.table }

// begin makes sure, before the store is opened, that there is space for everything that opening it writes: a table for
// each log, a new log, and the reserve itself.
func (r *reserve) begin() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := os.MkdirAll(r.dir, 0o750); err != nil {
		return err
	}
	mem, _, err := logsIn(r.dir)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(filepath.Join(r.dir, reserveFile), os.O_RDWR|os.O_CREATE, 0o640)
	if err != nil {
		return r.explain(err)
	}
	r.file = f
	err = r.resize(r.goal() + int64(len(mem)+3)*r.log)
	if err == nil {
		err = r.resize(r.goal())
	}
	if err != nil {
		err = errors.Join(r.explain(err), r.remove())
	}
	return err
}

// Space makes sure that the store can be written. It returns [ErrFull] if the disk has no space for it, another error
// if the store must be opened again, and nil without [Options].AwaitSpace. It costs nothing if nothing was written
// since the last call.
func (f *Frontier) Space() error { return f.o.reserve.fill() }

// fill completes the reserve, if there is one: the blocks of the log that is being written, the logs that follow, the
// manifest and the space for tables. An error says that the disk has no space.
func (r *reserve) fill() error {
	if err := r.fault(); err != nil {
		return err
	}
	if r == nil || r.full.Load() || r.off.Load() {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.file == nil || r.full.Load() {
		return nil
	}
	r.full.Store(true) // a step of Badger waits for mu, and then clears it again
	complete, err := r.complete()
	r.full.Store(complete && err == nil)
	return r.explain(err)
}

// complete reserves what is missing, the most urgent first. It returns false while it must wait for a table. The new
// log and the one after it have room for thousands of visits meanwhile.
func (r *reserve) complete() (complete bool, err error) {
	if r.current == 0 {
		if r.current, err = lastLog(r.dir); err != nil || r.current == 0 {
			return false, err
		}
	}
	r.forgetFlushed()
	if len(r.flushes) == 0 {
		r.unmade = nil
	}
	if r.unmade != nil {
		return false, r.unmade
	}
	if len(r.flushes) == 1 {
		return false, nil // its table has the space that was freed; it must not be taken back
	}
	if err := r.reserveFile(r.logPath(r.current), 0, r.log, os.O_RDWR); err != nil {
		return false, err
	}
	for _, n := range r.spares() {
		if err := r.reserveFile(r.logPath(n), 0, r.log, os.O_RDWR|os.O_CREATE); err != nil {
			return false, err
		}
	}
	manifest := filepath.Join(r.dir, "MANIFEST")
	info, err := os.Stat(manifest)
	if err != nil {
		return false, err
	}
	if err := r.reserveFile(manifest, info.Size(), manifestAhead, os.O_RDWR); err != nil {
		return false, err
	}
	return true, r.grow()
}

// spares returns the numbers of the logs that follow. There are two: a second log may be full before the table of the
// first one is written.
func (r *reserve) spares() []int { return []int{r.current + 1, r.current + 2} }

// forgetFlushed removes the logs from flushes that Badger has removed, because their tables are written.
func (r *reserve) forgetFlushed() {
	r.flushes = slices.DeleteFunc(r.flushes, func(n int) bool {
		info, err := os.Stat(r.logPath(n))
		return err != nil || info.Size() == 0
	})
}

// lent returns the space that was freed for tables which may not be written yet.
func (r *reserve) lent() int64 {
	n := int64(len(r.flushes)) * r.flush()
	for _, tables := range r.merging {
		n += int64(min(tables, inFlight)) * r.table
	}
	return n
}

// lastLog returns the number of the log that is being written; 0 = there is none.
func lastLog(dir string) (last int, err error) {
	mem, _, err := logsIn(dir)
	if err == nil {
		mem, err = withoutSpares(dir, mem)
	}
	if err == nil && len(mem) > 0 {
		_, err = fmt.Sscanf(mem[len(mem)-1], logName, &last)
	}
	return last, err
}

const logName = "%05d.mem"

func (r *reserve) logPath(n int) string { return filepath.Join(r.dir, fmt.Sprintf(logName, n)) }

// reserveFile reserves blocks of a file, without a change of its length. It removes a file that it has just made if
// there is no space for it.
func (r *reserve) reserveFile(path string, from, length int64, flags int) error {
	if info, err := os.Stat(path); err == nil && diskUsage(info) >= from+length {
		return nil
	} else if !r.mayReserve(length) {
		return syscall.ENOSPC
	}
	f, err := os.OpenFile(path, flags, 0o600)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // Badger is about to make it
	}
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err == nil {
		err = reserveBlocks(f, from, length)
	}
	r.short = err != nil
	err = errors.Join(err, f.Close())
	if err != nil && info != nil && info.Size() == 0 {
		err = errors.Join(err, os.Remove(path))
	}
	return err
}

// mayReserve reports whether to try to reserve n bytes. An attempt that fails takes all space for a moment. So there is
// none if the disk has less, or if the last one failed and tables are being written.
func (r *reserve) mayReserve(n int64) bool {
	lent := r.lent()
	free, err := freeBytes(r.dir)
	return err != nil || free >= n+lent && !(r.short && lent > 0)
}

// grow makes the file for tables as long as it should be.
func (r *reserve) grow() error {
	if r.held >= r.goal() {
		return nil
	}
	if !r.mayReserve(r.goal() - r.held) {
		return syscall.ENOSPC
	}
	return r.resize(r.goal())
}

// resize sets the length of the file for tables. All its blocks are reserved.
func (r *reserve) resize(length int64) error {
	if length > r.held {
		if err := reserveBlocks(r.file, 0, length); err != nil {
			r.short = true
			return errors.Join(err, r.file.Truncate(r.held)) // a part may have been reserved
		}
		r.short = false
	}
	if err := r.file.Truncate(length); err != nil {
		return err
	}
	r.held = length
	return nil
}

// beginFlush frees the space of the table that a full log becomes. Badger uses the log that follows at once. It holds
// the lock that every reader needs, so this must not wait.
func (r *reserve) beginFlush() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.full.Store(false)
	if r.current > 0 {
		r.flushes = append(r.flushes, r.current)
		r.current++
	}
	if r.file != nil && !r.off.Load() {
		_ = r.resize(max(r.held-r.flush(), 0)) // to make a file shorter needs no space
	}
}

// beginTable frees the space of a table that a merger is about to write. If there is none, it waits until there is.
// What the next log needs to become a table is not for others.
func (r *reserve) beginTable(merger any) {
	for waits := 1; !r.tryTable(merger, waits%patience == 0); waits++ {
		r.wait()
	}
}

// patience is how often a merger waits before blocks are reserved although the last attempt failed and tables are being
// written. These may be its own, written long ago, or wait for it themselves: then nobody else would try again.
const patience = 10

func (r *reserve) tryTable(merger any, again bool) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.full.Store(false)
	if r.file == nil || r.off.Load() {
		return true
	}
	r.short = r.short && !again
	if r.grow() != nil && r.held < r.table+r.flush() {
		return false
	}
	r.merging[merger]++
	return r.resize(r.held-r.table) == nil
}

func (r *reserve) endMerge(merger any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.merging, merger)
}

// closeStore closes the store. If the disk is so full that the last tables could not be written, it leaves
// the store open, with everything in its log. The next opening writes the tables. It does the same if the disk fails:
// Badger would try without end, and the process would never be started again.
func (f *Frontier) closeStore() error {
	r := f.o.reserve
	if err := r.close(); err != nil {
		return errors.Join(err, f.synced.syncFiles(f.o.Dir))
	}
	if r == nil {
		return hiddenCause(f.db.Close())
	}
	select {
	case <-r.failed: // earlier, and Badger has tried again since
	default:
	}
	closed := make(chan error, 1)
	go func() { closed <- f.db.Close() }()
	select {
	case err := <-closed:
		return hiddenCause(err)
	case err := <-r.failed:
		err = hiddenCause(fmt.Errorf("close the store: write its last table: %w; the next start writes it from the log", err))
		return errors.Join(err, f.synced.syncFiles(f.o.Dir))
	}
}

// close frees the space. If the reserve is not complete and cannot be, close keeps the space and returns an error. The
// store could not write its last tables then, and must not be closed. Its log has everything.
func (r *reserve) close() error {
	if r == nil {
		return nil
	}
	err := r.fill()
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil || r.file == nil {
		return err
	}
	for _, n := range r.spares() {
		if info, statErr := os.Stat(r.logPath(n)); statErr == nil && info.Size() == 0 {
			err = errors.Join(err, os.Remove(r.logPath(n)))
		}
	}
	if err = errors.Join(err, r.remove()); err != nil {
		err = fmt.Errorf("%w: %w", ErrFull, err)
	}
	return err
}

// remove removes the file for tables. The caller holds the lock.
func (r *reserve) remove() error {
	err := errors.Join(r.file.Close(), os.Remove(r.file.Name()))
	r.file, r.held = nil, 0
	return err
}

// explain returns the reason why no space can be reserved; nil if there is no error, or if the file system does not
// support it.
func (r *reserve) explain(err error) error {
	if err == nil {
		return nil
	}
	if errors.Is(err, errors.ErrUnsupported) {
		r.off.Store(true)
		return nil
	}
	if errors.Is(err, r.unmade) {
		return fmt.Errorf("%w: %s: %w", ErrFull, r.dir, err)
	}
	return fmt.Errorf("%w: reserve disk space in %s: %w; free some space, or raise the quota", ErrFull, r.dir, err)
}

// Debugf takes the steps that must come before or after a step of Badger, and passes the message on.
func (r *reserve) Debugf(format string, args ...any) {
	switch {
	case strings.HasPrefix(format, beforeFlush):
		r.beginFlush()
	case strings.HasPrefix(format, beforeTable) && len(args) > 0:
		r.beginTable(args[0])
	case strings.HasPrefix(format, afterMerge) && len(args) > 0:
		r.endMerge(args[0])
	}
	r.Logger.Debugf(format, args...)
}

// Errorf notes that a table could not be written, and passes the message on. If it could not be listed, Errorf does not
// return.
func (r *reserve) Errorf(format string, args ...any) {
	r.Logger.Errorf(format, args...)
	if !strings.HasPrefix(format, failedFlush) || len(args) == 0 {
		return
	}
	err, _ := args[0].(error)
	if err != nil && strings.Contains(err.Error(), inManifest) {
		r.stopListing(err)
	}
	r.mu.Lock()
	r.unmade = hiddenCause(fmt.Errorf("write a table, which is tried again each second: %w", err))
	r.full.Store(false)
	r.mu.Unlock()
	select {
	case r.failed <- err:
	default:
	}
}

// Warningf notes that a merge failed, and passes the message on. If the merged tables could not be listed, Warningf
// does not return.
func (r *reserve) Warningf(format string, args ...any) {
	r.Logger.Warningf(format, args...)
	if !strings.HasPrefix(format, failedMerge) || len(args) < 2 {
		return
	}
	if err, _ := args[1].(error); err != nil && strings.Contains(err.Error(), inManifest) {
		r.stopListing(err)
	}
	r.endMerge(args[0])
}
