package warcout

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync/atomic"
	"time"

	"github.com/arcrawl/arcrawl/internal/fileio"
)

// checkpointEvery is the number of synced bytes between two checkpoints in the journal. That makes about a third of a
// second of reading after a crash, and some seventy lines for a file of 1 GiB.
const checkpointEvery = 16 << 20

// storage is the file that records are written to. Tests replace it by a full or failing disk.
type storage interface {
	io.WriterAt
	Truncate(size int64) error
	Sync() error
	Close() error
}

// createFile creates a file that must not exist, and locks it, so that other writers do not repair it.
func createFile(path string) (storage, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return nil, err
	}
	if err := fileio.TryLock(f); err != nil {
		return nil, errors.Join(fmt.Errorf("lock %s: %w", path, err), f.Close(), os.Remove(path))
	}
	return f, nil
}

// extent is a part of a file from its first byte on that ends with a whole record. For a file that another run began,
// only size and records are known.
type extent struct {
	size, records int64
	captures      int64 // how many of the records are responses, resources or revisits
	first, last   int64 // dates of the oldest and the newest record, in microseconds since 1970
}

// and returns the extent with the records of one more visit.
func (x extent) and(size int64, c composed) extent {
	return extent{
		size: x.size + size, records: x.records + c.records, captures: x.captures + c.captures,
		first: min(x.first, c.date), last: max(x.last, c.date),
	}
}

// composed describes the records of one visit.
type composed struct{ records, captures, date int64 }

// batch is a group of visits that share one sync. One of them syncs, the others wait for it.
type batch struct {
	visits int
	first  atomic.Bool   // a visit has taken on the sync
	ended  chan struct{} // closed when err is set
	err    error         // the result of the sync
}

func (b *batch) end(err error) {
	b.err = err
	close(b.ended)
}

// file is a WARC file that is being written. Writer.mu guards all its fields.
type file struct {
	name     string // final, without folder
	infoID   string // of its warcinfo record
	opened   time.Time
	disk     storage
	appended extent // ends with a whole visit
	handed   extent // the part that was written to the disk, or is about to be
	pending  []byte // the rest of appended, which the waiting batch will write
	spare    []byte // memory for the next pending
	synced   extent // the part that is synced
	info     extent // the warcinfo record alone
	logged   int64  // size at the last line in the journal
	waiting  *batch // appended visits for which no sync has begun; nil if there are none
	syncing  *batch // the batch of the sync in progress; nil if there is none
	together int    // number of visits of the last sync
	users    int    // number of visits in progress in this file
	visits   uint32 // number of all visits, with failed ones
	broken   error  // why nothing more is written to it; nil = it is writable
	final    string // its final name, once it has it; the folder may not be synced yet
}

// maxPending is the longest visit, compressed, that is written together with others.
const maxPending = 64 << 10

// add appends one visit, which is not on disk yet, but in the batch returned. After an error the file is as before, or
// ends with its synced part.
func (f *file) add(visit *spool, c composed) (*batch, error) {
	if f.broken != nil {
		return nil, f.broken
	}
	if visit.size <= maxPending && visit.file == nil {
		f.pending = append(f.pending, visit.mem...)
	} else if err := f.addLarge(visit); err != nil {
		return nil, err
	}
	f.appended = f.appended.and(visit.size, c)
	if len(f.pending) == 0 {
		f.handed = f.appended
	}
	if f.waiting == nil {
		f.waiting = &batch{ended: make(chan struct{})}
	}
	f.waiting.visits++
	return f.waiting, nil
}

// addLarge writes a visit at once, after the pending bytes.
func (f *file) addLarge(visit *spool) error {
	if err := f.write(f.pending, f.handed.size); err != nil {
		f.cut(f.handed)
		err = errors.Join(err, f.broken)
		f.waiting.end(err)
		f.waiting = nil
		return err
	}
	f.handed, f.pending = f.appended, f.pending[:0]
	if err := visit.copyTo(f.disk, f.appended.size); err != nil {
		f.cut(f.appended)
		return errors.Join(fmt.Errorf("write %s: %w", f.name, err), f.broken)
	}
	return nil
}

// takePending returns the pending bytes and their offset. They are valid until the next ones taken are written.
func (f *file) takePending() (pending []byte, at int64) {
	pending, at = f.pending, f.handed.size
	f.handed = f.appended
	if f.pending, f.spare = f.spare[:0], pending; cap(pending) > 4*maxPending {
		f.spare = nil
	}
	return pending, at
}

// write writes pending bytes.
func (f *file) write(pending []byte, at int64) error {
	if len(pending) == 0 {
		return nil
	}
	if _, err := f.disk.WriteAt(pending, at); err != nil {
		return fmt.Errorf("write %s: %w", f.name, err)
	}
	return nil
}

// cut truncates the file to an earlier end that is on disk. If that fails, it abandons the file.
func (f *file) cut(to extent) {
	if f.broken != nil {
		return
	}
	f.appended, f.handed, f.pending = to, to, f.pending[:0]
	if err := f.disk.Truncate(to.size); err != nil {
		f.abandon(err)
	}
}

// abandon closes the file for good. The next start repairs it.
func (f *file) abandon(err error) {
	f.broken = errors.Join(fmt.Errorf("abandoned %s; the next start repairs it: %w", f.name, err), f.disk.Close())
}

// finishSync reports the result of a sync to the visits that wait for it. The file ended at target when it began.
func (f *file) finishSync(target extent, err error) {
	if err != nil {
		f.fail(err)
		return
	}
	f.synced = target
	f.syncing.end(nil)
	f.syncing = nil
}

// fail reports to all visits that wait that nothing of theirs is in the file. Which bytes reached the disk is unknown,
// also of later visits, so everything that is not synced is cut off.
func (f *file) fail(err error) {
	f.cut(f.synced)
	if f.broken == nil {
		if err := f.disk.Sync(); err != nil {
			f.abandon(err)
		}
	}
	err = errors.Join(err, f.broken)
	for _, b := range []*batch{f.syncing, f.waiting} {
		if b != nil {
			b.end(err)
		}
	}
	f.syncing, f.waiting = nil, nil
}
