package crawllog

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"github.com/arcrawl/arcrawl/internal/fileio"
	"github.com/arcrawl/arcrawl/internal/panics"
)

// checkInterval is how often a Writer checks whether its path still names its file, by the clock of the entries.
const checkInterval = time.Second

// Writer appends entries to a crawl log. Several goroutines may use it at once. A file should have one Writer only.
type Writer struct {
	path  string
	extra bool

	mu      sync.Mutex  // guards the fields below; held while lines are written, so that they stay whole
	file    *os.File    // nil once closed
	info    os.FileInfo // of file
	checked time.Time   // when path was last compared with info; the time of an entry
	damaged bool        // part of a failed write may be at the end of the file
	unsafe  error       // why lines in a rotated file may not survive a power failure; nil = they do

	gate      sync.Mutex // guards the fields below; may be locked while mu is held, but not the other way round
	gathering *lines     // nil if no goroutine waits
	spare     []byte     // memory for the next lines
}

// lines are lines of several entries. The first goroutine that can writes them all, because one write for many lines
// costs much less than one for each.
type lines struct {
	text   []byte
	logged time.Time // of the first entry

	// The fields below are guarded by the mu of the Writer.
	done bool
	err  error
}

// Open opens the log at path for appending, and creates it if it does not exist. With extra, lines have the thirteenth
// column. Open cuts off a last line without a line end, which a crash can leave behind. It refuses a file that is not a
// crawl log, and does not change it.
func Open(path string, extra bool) (*Writer, error) {
	w := &Writer{path: path, extra: extra}
	if err := w.open(); err != nil {
		return nil, err
	}
	return w, nil
}

// open opens path and replaces file and its state. On an error it changes nothing.
func (w *Writer) open() error {
	_, err := os.Stat(w.path)
	created := errors.Is(err, os.ErrNotExist)
	f, err := os.OpenFile(w.path, os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o644)
	if err != nil {
		return fmt.Errorf("open crawl log: %w", err)
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("not a regular file")
	}
	if err == nil {
		err = repair(f, info.Size())
	}
	if err == nil && created {
		err = fileio.SyncDir(filepath.Dir(w.path))
	}
	if err != nil {
		return errors.Join(fmt.Errorf("open crawl log %s: %w", w.path, err), f.Close())
	}
	w.file, w.info, w.damaged = f, info, false
	return nil
}

// Write appends the line of e. On an error the line is not in the log. Errors come from the disk or the folder, and
// from the entry only if it makes the program panic. If the file was renamed or removed, entries that are logged a
// second later or more go to a new one. The line survives a crash of the process. To survive a power failure it needs
// [Writer.Sync].
func (w *Writer) Write(e Entry) error {
	l, err := w.gather(e)
	if err != nil {
		return fmt.Errorf("compose a line of crawl log %s: %w", w.path, err)
	}
	runtime.Gosched() // so that other goroutines can add their lines
	w.mu.Lock()
	defer w.mu.Unlock()
	if !l.done {
		w.gate.Lock()
		w.gathering = nil // from now on, lines are added to the next group
		w.gate.Unlock()
		l.done, l.err = true, w.write(l)
		w.gate.Lock()
		w.spare = l.text
		w.gate.Unlock()
	}
	return l.err
}

// gather adds the line of an entry to the lines that are written next. A panic becomes an error, and adds nothing.
func (w *Writer) gather(e Entry) (_ *lines, err error) {
	defer panics.Recover(&err)
	w.gate.Lock()
	defer w.gate.Unlock()
	if w.gathering == nil {
		w.gathering = &lines{logged: e.Logged, text: w.spare[:0]}
		w.spare = nil
	}
	l := w.gathering
	l.text = append(e.AppendTo(l.text, w.extra), '\n')
	return l, nil
}

// write writes all lines or none. Like the methods that it calls, it requires that mu is held.
func (w *Writer) write(l *lines) error {
	if w.file == nil {
		return fmt.Errorf("write crawl log %s: %w", w.path, os.ErrClosed)
	}
	if l.logged.Sub(w.checked).Abs() >= checkInterval { // also if the clock was set back
		if err := w.checkPath(); err != nil {
			return err
		}
		w.checked = l.logged
	}
	if w.damaged {
		if err := w.repair(); err != nil {
			return err
		}
	}
	n, err := w.file.Write(l.text)
	if err == nil {
		return nil
	}
	err = fmt.Errorf("write crawl log: %w", err)
	if n > 0 {
		w.damaged = true
		err = errors.Join(err, w.undo(int64(n)))
	}
	return err
}

// undo cuts off the n bytes that a failed write left.
func (w *Writer) undo(n int64) error {
	info, err := w.file.Stat()
	if err == nil {
		err = w.file.Truncate(max(info.Size()-n, 0))
	}
	if err != nil {
		return fmt.Errorf("cut off unwritten lines from crawl log %s: %w", w.path, err)
	}
	w.damaged = false
	return nil
}

// checkPath begins a new file if path no longer names the present one.
func (w *Writer) checkPath() error {
	info, err := os.Stat(w.path)
	if err == nil && os.SameFile(info, w.info) {
		return nil
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("look for crawl log: %w", err)
	}
	return w.swap()
}

// repair cuts off an unfinished line at the end of the file.
func (w *Writer) repair() error {
	info, err := w.file.Stat()
	if err == nil {
		err = repair(w.file, info.Size())
	}
	if err != nil {
		return fmt.Errorf("cut off an unfinished line from crawl log %s: %w", w.path, err)
	}
	w.damaged = false
	return nil
}

// Reopen opens the path again, as after a rotation. If that fails, the writer continues with the file that it has.
func (w *Writer) Reopen() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.file == nil {
		return fmt.Errorf("reopen crawl log %s: %w", w.path, os.ErrClosed)
	}
	return w.swap()
}

// swap opens path, and then syncs and closes the old file. Sync would not reach the old file any more, so it returns
// the error of that.
func (w *Writer) swap() error {
	var unfinished error
	if w.damaged {
		unfinished = w.repair()
	}
	old := w.file
	if err := w.open(); err != nil {
		return err
	}
	if err := errors.Join(unfinished, old.Sync(), old.Close()); err != nil {
		w.unsafe = errors.Join(w.unsafe, fmt.Errorf("close rotated crawl log: %w", err))
	}
	return nil
}

// Sync makes all lines that were written survive a power failure. Other methods do not wait for it. If a rotated file
// could not be synced, each call returns why.
func (w *Writer) Sync() error {
	w.mu.Lock()
	f := w.file
	w.mu.Unlock()
	if f == nil {
		return fmt.Errorf("sync crawl log %s: %w", w.path, os.ErrClosed)
	}
	err := f.Sync()
	if errors.Is(err, os.ErrClosed) {
		err = nil // swap or Close closed the file meanwhile, and both sync it before
	}
	w.mu.Lock()
	err = errors.Join(err, w.unsafe)
	w.mu.Unlock()
	if err != nil {
		return fmt.Errorf("sync crawl log: %w", err)
	}
	return nil
}

// Close syncs all lines and closes the log. A closed Writer cannot be used again.
func (w *Writer) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.file == nil {
		return fmt.Errorf("close crawl log %s: %w", w.path, os.ErrClosed)
	}
	err := errors.Join(w.unsafe, w.file.Sync(), w.file.Close())
	w.file = nil
	if err != nil {
		return fmt.Errorf("close crawl log: %w", err)
	}
	return nil
}

var errForeign = errors.New("does not begin like a crawl log; move it away or choose another path")

// repair cuts f, which has size bytes, back to its last line end.
func repair(f *os.File, size int64) error {
	if size == 0 {
		return nil
	}
	if err := checkBeginning(f, size); err != nil {
		return err
	}
	end, err := lastLineEnd(f, size)
	if err != nil {
		return fmt.Errorf("look for the last line: %w", err)
	}
	if end == size {
		return nil
	}
	if err := f.Truncate(end); err != nil {
		return fmt.Errorf("cut off the unfinished line: %w", err)
	}
	return f.Sync()
}

// checkBeginning returns an error unless the file begins with a time, as a log does. It protects other files. After a
// power failure there may be zeros.
func checkBeginning(f *os.File, size int64) error {
	b := make([]byte, min(size, int64(len(timeLayout))))
	if _, err := f.ReadAt(b, 0); err != nil {
		return fmt.Errorf("read beginning: %w", err)
	}
	for i, c := range b {
		sign := timeLayout[i]
		isDigit := sign >= '0' && sign <= '9'
		if c != 0 && c != sign && !(isDigit && c >= '0' && c <= '9') {
			return errForeign
		}
	}
	return nil
}

// lastLineEnd returns the offset behind the last line end, or 0 if there is none.
func lastLineEnd(f io.ReaderAt, size int64) (int64, error) {
	block := make([]byte, MaxLine)
	for end := size; end > 0; {
		start := max(0, end-int64(len(block)))
		b := block[:end-start]
		if _, err := f.ReadAt(b, start); err != nil {
			return 0, err
		}
		if i := bytes.LastIndexByte(b, '\n'); i >= 0 {
			return start + int64(i) + 1, nil
		}
		end = start
	}
	return 0, nil
}
