package frontier

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
)

// ReserveFile is the name of the file that holds the space for tables.
const ReserveFile = "RESERVE"

// The messages that Badger logs at its steps. A test makes sure that it still does.
const (
	beforeFlush = "Flushing memtable"                  // before a full log is replaced, and when the store is closed
	beforeTable = "[%d] LOG Compact. Added"            // before a merged table is written; the first value is the merger
	afterMerge  = "[Compactor: %d] Compaction for"     // the merger has written all its tables
	failedMerge = "[Compactor: %d] LOG Compact FAILED" // the same
)

const (
	// manifestAhead is the space that is kept behind the end of the manifest. A change takes some 30 bytes per table.
	manifestAhead = 256 << 10
	// inFlight is the number of tables that one merger may be writing at the same time.
	inFlight = 13
)

// ReserveOptions configure a [Reserve].
type ReserveOptions struct {
	Dir   string // folder of the store
	Log   int64  // length of the file of a log, which is full when it has half of that
	Table int64  // maximum size of a merged table

	// Wait is called while a merge waits for space, again and again. It must return after a while.
	Wait func()
}

// ReserveLogger is the interface of Badger's loggers.
type ReserveLogger interface {
	Errorf(format string, args ...any)
	Warningf(format string, args ...any)
	Infof(format string, args ...any)
	Debugf(format string, args ...any)
}

// Reserve keeps disk space for the files that the store maps into memory. It is the logger of the store, and may be
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
// to take the step. So a [Reserve] is Badger's logger.
//
// When the reserve was used, [Reserve.Fill] fills it again. While it cannot be filled, nothing may be committed: then
// no log becomes full, and nothing is merged. A merge that Badger has begun waits. So the disk may fill to its last
// byte, and the process continues when there is space again. Where blocks cannot be reserved (on other systems than
// Linux, or on some file systems), nothing of this happens.
//
// Two cases are left. Others may take the space of a table in the milliseconds between the step and the writing. And
// Badger reports the flush of a log when the goroutine that makes its table has begun: if a busy machine halts the
// reporting goroutine until the table is written, on a disk that is full already, the process ends. It loses nothing
// and continues when it is started again.
type Reserve struct {
	o    ReserveOptions
	next ReserveLogger // nil discards messages

	full atomic.Bool // the reserve is complete; false after a part of it was used
	off  atomic.Bool // the file system cannot reserve blocks

	// mu guards the fields below. Badger holds locks of its own when it calls the logger, and nothing of Badger is called
	// while mu is held.
	mu      sync.Mutex
	file    *os.File    // holds the space for tables; nil before Begin and after Close
	held    int64       // its length
	log     int         // number of the log that is being written; 0 = not known yet
	flushes []int       // numbers of full logs whose table may not be written yet
	merging map[any]int // for each merger, the tables that may not be written yet
	short   bool        // the last attempt to reserve blocks failed
}

// NewReserve returns a reserve that has no space yet, and passes messages on to next.
func NewReserve(o ReserveOptions, next ReserveLogger) *Reserve {
	return &Reserve{o: o, next: next, merging: map[any]int{}}
}

// flush is the space of the table that a log becomes.
func (r *Reserve) flush() int64 { return r.o.Log/2 + r.o.Table }

// goal is the space for tables: two logs that wait to become one, and what is being merged at the same time.
func (r *Reserve) goal() int64 { return 2*r.flush() + 6*r.o.Table }

// Begin makes sure, before the store is opened, that there is space for everything that opening it writes: a table for
// each log, a new log, and the reserve itself.
func (r *Reserve) Begin(logs int) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.file == nil {
		f, err := os.OpenFile(filepath.Join(r.o.Dir, ReserveFile), os.O_RDWR|os.O_CREATE, 0o640)
		if err != nil {
			return r.explain(err)
		}
		r.file = f
	}
	err := r.resize(r.goal() + int64(logs+3)*r.o.Log)
	if err == nil {
		err = r.resize(r.goal())
	}
	if err != nil {
		return errors.Join(r.explain(err), r.remove())
	}
	return nil
}

// Fill completes the reserve: the blocks of the log that is being written, the logs that follow, the manifest and the
// space for tables. It costs nothing if nothing was used since the last call. An error says that the disk has no space.
func (r *Reserve) Fill() error {
	if r.full.Load() || r.off.Load() {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.file == nil || r.full.Load() {
		return nil
	}
	r.full.Store(true) // a step of Badger waits for mu, and then clears it again
	complete, err := r.fill()
	r.full.Store(complete && err == nil)
	return r.explain(err)
}

// fill reserves what is missing, the most urgent first. complete is false while it must wait for a table. The new log
// and the one after it have room for thousands of visits meanwhile.
func (r *Reserve) fill() (complete bool, err error) {
	if r.log == 0 {
		if r.log, err = lastLog(r.o.Dir); err != nil || r.log == 0 {
			return false, err
		}
	}
	r.forgetFlushed()
	if len(r.flushes) == 1 {
		return false, nil // its table has the space that was freed; it must not be taken back
	}
	if err := r.reserveFile(r.logPath(r.log), 0, r.o.Log, os.O_RDWR); err != nil {
		return false, err
	}
	for _, n := range r.spares() {
		if err := r.reserveFile(r.logPath(n), 0, r.o.Log, os.O_RDWR|os.O_CREATE); err != nil {
			return false, err
		}
	}
	manifest := filepath.Join(r.o.Dir, "MANIFEST")
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
func (r *Reserve) spares() []int { return []int{r.log + 1, r.log + 2} }

// forgetFlushed removes the logs from flushes that Badger has removed, because their tables are written.
func (r *Reserve) forgetFlushed() {
	var left []int
	for _, n := range r.flushes {
		if info, err := os.Stat(r.logPath(n)); err == nil && info.Size() > 0 {
			left = append(left, n)
		}
	}
	r.flushes = left
}

// lent returns the space that was freed for tables which may not be written yet.
func (r *Reserve) lent() int64 {
	n := int64(len(r.flushes)) * r.flush()
	for _, tables := range r.merging {
		n += int64(min(tables, inFlight)) * r.o.Table
	}
	return n
}

// lastLog returns the number of the log that is being written; 0 = there is none.
func lastLog(folder string) (last int, err error) {
	dir, err := os.ReadDir(folder)
	for _, e := range dir {
		var n int
		if _, bad := fmt.Sscanf(e.Name(), logName, &n); bad != nil || n <= last {
			continue
		}
		if info, err := e.Info(); err == nil && info.Size() > 0 {
			last = n
		}
	}
	return last, err
}

const logName = "%05d.mem"

func (r *Reserve) logPath(n int) string { return filepath.Join(r.o.Dir, fmt.Sprintf(logName, n)) }

// reserveFile reserves blocks of a file, without a change of its length. It removes a file that it has just made if
// there is no space for it.
func (r *Reserve) reserveFile(path string, from, length int64, flags int) error {
	if has, err := allocated(path); err == nil && has >= from+length {
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
func (r *Reserve) mayReserve(n int64) bool {
	lent := r.lent()
	free, err := freeBytes(r.o.Dir)
	return err != nil || free >= n+lent && !(r.short && lent > 0)
}

// grow makes the file for tables as long as it should be.
func (r *Reserve) grow() error {
	if r.held >= r.goal() {
		return nil
	}
	if !r.mayReserve(r.goal() - r.held) {
		return syscall.ENOSPC
	}
	return r.resize(r.goal())
}

// resize sets the length of the file for tables. All its blocks are reserved.
func (r *Reserve) resize(length int64) error {
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
func (r *Reserve) beginFlush() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.full.Store(false)
	if r.log > 0 {
		r.flushes = append(r.flushes, r.log)
		r.log++
	}
	if r.file != nil && !r.off.Load() {
		_ = r.resize(max(r.held-r.flush(), 0)) // to make a file shorter needs no space
	}
}

// beginTable frees the space of a table that a merger is about to write. If there is none, it waits until there is.
// What the next log needs to become a table is not for others.
func (r *Reserve) beginTable(merger any) {
	for !r.tryTable(merger) {
		r.o.Wait()
	}
}

func (r *Reserve) tryTable(merger any) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.full.Store(false)
	if r.file == nil || r.off.Load() {
		return true
	}
	if r.grow() != nil && r.held < r.o.Table+r.flush() {
		return false
	}
	r.merging[merger]++
	return r.resize(r.held-r.o.Table) == nil
}

func (r *Reserve) endMerge(merger any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.merging, merger)
}

// Close frees the space. If the reserve is not complete and cannot be, Close keeps the space and returns an error. The
// store could not write its last tables then, and must not be closed. Its log has everything.
func (r *Reserve) Close() error {
	err := r.Fill()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.file == nil {
		return nil
	}
	if err != nil {
		return err
	}
	for _, n := range r.spares() {
		if info, statErr := os.Stat(r.logPath(n)); statErr == nil && info.Size() == 0 {
			err = errors.Join(err, os.Remove(r.logPath(n)))
		}
	}
	return errors.Join(err, r.remove())
}

// remove removes the file for tables. The caller holds the lock.
func (r *Reserve) remove() error {
	err := errors.Join(r.file.Close(), os.Remove(r.file.Name()))
	r.file, r.held = nil, 0
	return err
}

// explain returns the reason why no space can be reserved; nil if there is no error, or if the file system does not
// support it.
func (r *Reserve) explain(err error) error {
	if err == nil {
		return nil
	}
	if errors.Is(err, errors.ErrUnsupported) {
		r.off.Store(true)
		return nil
	}
	return fmt.Errorf("reserve disk space in %s: %w; free some space, or raise the quota", r.o.Dir, err)
}

// Debugf takes the steps that must come before or after a step of Badger, and passes the message on.
func (r *Reserve) Debugf(format string, args ...any) {
	switch {
	case strings.HasPrefix(format, beforeFlush):
		r.beginFlush()
	case strings.HasPrefix(format, beforeTable) && len(args) > 0:
		r.beginTable(args[0])
	case strings.HasPrefix(format, afterMerge) && len(args) > 0:
		r.endMerge(args[0])
	}
	if r.next != nil {
		r.next.Debugf(format, args...)
	}
}

// Warningf notes that a merge failed, and passes the message on.
func (r *Reserve) Warningf(format string, args ...any) {
	if strings.HasPrefix(format, failedMerge) && len(args) > 0 {
		r.endMerge(args[0])
	}
	if r.next != nil {
		r.next.Warningf(format, args...)
	}
}

// Errorf passes a message on.
func (r *Reserve) Errorf(format string, args ...any) {
	if r.next != nil {
		r.next.Errorf(format, args...)
	}
}

// Infof passes a message on.
func (r *Reserve) Infof(format string, args ...any) {
	if r.next != nil {
		r.next.Infof(format, args...)
	}
}
