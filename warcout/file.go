package warcout

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync/atomic"
	"time"
)

// checkpointEvery is how many synced bytes pass between two checkpoints in the journal: about a third of a second of reading
// after a crash, and some seventy lines for a file of 1 GiB.
const checkpointEvery = 16 << 20

// storage is the file that records are written to. It is an interface so that tests can put a full or failing disk here.
type storage interface {
	io.WriterAt
	Truncate(size int64) error
	Sync() error
	Close() error
}

// createFile opens a new file that must not exist, locked against the repair of other writers.
func createFile(path string) (storage, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return nil, err
	}
	if err := lockFile(f); err != nil {
		return nil, errors.Join(fmt.Errorf("lock %s: %w", path, err), f.Close(), os.Remove(path))
	}
	return f, nil
}

// syncDir makes new and changed names in dir safe.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("sync folder: %w", err)
	}
	if err := errors.Join(d.Sync(), d.Close()); err != nil {
		return fmt.Errorf("sync folder %s: %w", dir, err)
	}
	return nil
}

// extent is a whole part of a file, from its first byte.
type extent struct{ size, records int64 }

// batch is the visits that one sync makes safe. One of them makes the sync, the others sleep until it has ended.
type batch struct {
	visits int
	first  atomic.Bool   // somebody sees to the sync
	ended  chan struct{} // closed when it is known what became of them
	err    error         // what became of them, from then on
}

func (b *batch) end(err error) {
	b.err = err
	close(b.ended)
}

// file is a WARC file that is being written. Everything in it is guarded by Writer.mu.
type file struct {
	name     string // final, without folder
	infoID   string // of its warcinfo record
	opened   time.Time
	disk     storage
	written  extent // ends with a whole visit
	given    extent // what of it was given to the disk, or is about to be
	waits    []byte // the rest of it: the batch that waits will write it
	spare    []byte // memory for the next
	synced   extent // what is safe of it
	info     extent // the warcinfo record alone
	told     int64  // size at the last line in the journal
	waiting  *batch // was appended, and no sync has begun for it; nil if there is none
	syncing  *batch // what the sync in progress is for; nil if there is none
	together int    // visits that the last sync was for
	users    int    // visits on their way into this file
	visits   uint32 // all that ever were, also those that failed
	broken   error  // why nothing more is written to it; nil while all is well
	renamed  bool   // to its final name, though the folder is not synced yet
}

// maxWaits is the longest visit, compressed, that is written together with others.
const maxWaits = 64 << 10

// add appends one visit; it is not safe yet, but part of the batch that is given. On an error the file is what it was before, or ends with
// what is safe.
func (f *file) add(visit *spool, records int64) (*batch, error) {
	if f.broken != nil {
		return nil, f.broken
	}
	if visit.size <= maxWaits && visit.file == nil {
		f.waits = append(f.waits, visit.mem...)
	} else if err := f.addLarge(visit); err != nil {
		return nil, err
	}
	f.written = extent{f.written.size + visit.size, f.written.records + records}
	if len(f.waits) == 0 {
		f.given = f.written
	}
	if f.waiting == nil {
		f.waiting = &batch{ended: make(chan struct{})}
	}
	f.waiting.visits++
	return f.waiting, nil
}

// addLarge writes a visit at once, behind what waits.
func (f *file) addLarge(visit *spool) error {
	if err := f.write(f.waits, f.given.size); err != nil {
		f.cut(f.given)
		err = errors.Join(err, f.broken)
		f.waiting.end(err)
		f.waiting = nil
		return err
	}
	f.given, f.waits = f.written, f.waits[:0]
	if err := visit.copyTo(f.disk, f.written.size); err != nil {
		f.cut(f.written)
		return errors.Join(fmt.Errorf("write %s: %w", f.name, err), f.broken)
	}
	return nil
}

// takeWaits gives the bytes that wait, and where they belong. They are good until what is taken next is written.
func (f *file) takeWaits() (waits []byte, at int64) {
	waits, at = f.waits, f.given.size
	f.given = f.written
	if f.waits, f.spare = f.spare[:0], waits; cap(waits) > 4*maxWaits {
		f.spare = nil
	}
	return waits, at
}

// write writes bytes that waited.
func (f *file) write(waits []byte, at int64) error {
	if len(waits) == 0 {
		return nil
	}
	if _, err := f.disk.WriteAt(waits, at); err != nil {
		return fmt.Errorf("write %s: %w", f.name, err)
	}
	return nil
}

// cut takes the file back to an earlier end that is on disk, or closes it off.
func (f *file) cut(to extent) {
	if f.broken != nil {
		return
	}
	f.written, f.given, f.waits = to, to, f.waits[:0]
	if err := f.disk.Truncate(to.size); err != nil {
		f.breakOff(err)
	}
}

// breakOff gives the file up; it stays as it is for the next start to repair.
func (f *file) breakOff(err error) {
	f.broken = errors.Join(fmt.Errorf("%s is closed off: %w", f.name, err), f.disk.Close())
}

// settle tells those who wait what became of the sync that has ended; when it began the file ended at target.
func (f *file) settle(target extent, err error) {
	if err != nil {
		f.fail(err)
		return
	}
	f.synced = target
	f.syncing.end(nil)
	f.syncing = nil
}

// fail tells all who wait that nothing of theirs is in the file. Which bytes reached the disk is unknown, also of visits that came later: all
// that is not safe is cut off.
func (f *file) fail(err error) {
	f.cut(f.synced)
	if f.broken == nil {
		if err := f.disk.Sync(); err != nil {
			f.breakOff(err)
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
