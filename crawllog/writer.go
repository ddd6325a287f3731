package crawllog

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"time"
)

// lookEvery is how often, by the clock of the entries, a Writer looks whether its path leads elsewhere by now.
const lookEvery = time.Second

// Writer appends entries to a crawl log. It is safe for use by many goroutines. There should be one for a file.
type Writer struct {
	path  string
	extra bool

	mu      sync.Mutex  // guards the fields below; held while lines are written, so that they stay whole
	file    *os.File    // nil once closed
	info    os.FileInfo // of file
	looked  time.Time   // when path was last compared with info; an entry's time
	torn    int64
	damaged bool // what failed to be written may stand at the end of file

	gate      sync.Mutex // guards what follows; taken while mu is held, never the other way round
	gathering *lines     // nil when nobody waits
	spare     []byte     // memory for the next lines
}

// lines are those of several entries, which are written together by the first who can: one write for many costs a fraction of one for each.
type lines struct {
	text   []byte
	logged time.Time // of the first entry

	done bool // guarded by the Writer's mu, as what follows
	err  error
}

// Open opens the log at path for appending, and creates it if there is none. With extra, lines have the thirteenth
// column. A last line without line end, which a crash can leave behind, is cut away; [Writer.Torn] says how much that
// was. A file that is no crawl log is refused and stays as it is.
func Open(path string, extra bool) (*Writer, error) {
	w := &Writer{path: path, extra: extra}
	if err := w.open(); err != nil {
		return nil, err
	}
	return w, nil
}

// open sets file and what belongs to it, or leaves everything as it is.
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
	var torn int64
	if err == nil {
		torn, err = repair(f, info.Size())
	}
	if err == nil && created {
		err = syncFolder(filepath.Dir(w.path))
	}
	if err != nil {
		return errors.Join(fmt.Errorf("open crawl log %s: %w", w.path, err), f.Close())
	}
	w.file, w.info, w.damaged = f, info, false
	w.torn += torn
	return nil
}

// Torn is how many bytes of unfinished lines were cut away when the log was opened and reopened.
func (w *Writer) Torn() int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.torn
}

// Write appends the line of e. On an error the line is not in the log; the error is of the disk or the folder, never of
// the entry. If the file was renamed or removed, at the latest an entry logged a second later goes to a new one. The
// line survives a crash of the process; for a loss of power, see [Writer.Sync].
func (w *Writer) Write(e Entry) error {
	l := w.gather(e)
	runtime.Gosched() // so that others who are about to write can come along
	w.mu.Lock()
	defer w.mu.Unlock()
	if !l.done {
		w.gate.Lock()
		w.gathering = nil // whoever comes now is too late for these
		w.gate.Unlock()
		l.done, l.err = true, w.write(l)
		w.gate.Lock()
		w.spare = l.text
		w.gate.Unlock()
	}
	return l.err
}

// gather adds the line of an entry to those that are written next.
func (w *Writer) gather(e Entry) *lines {
	w.gate.Lock()
	defer w.gate.Unlock()
	if w.gathering == nil {
		w.gathering = &lines{logged: e.Logged, text: w.spare[:0]}
		w.spare = nil
	}
	l := w.gathering
	l.text = append(e.AppendTo(l.text, w.extra), '\n')
	return l
}

// write writes lines, all or none. The lock is held, as for what follows.
func (w *Writer) write(l *lines) error {
	if w.file == nil {
		return fmt.Errorf("write crawl log %s: %w", w.path, os.ErrClosed)
	}
	if l.logged.Sub(w.looked).Abs() >= lookEvery { // also if the clock was set back
		if err := w.look(); err != nil {
			return err
		}
		w.looked = l.logged
	}
	if w.damaged {
		if err := w.mend(); err != nil {
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

// undo cuts off what a failed write left.
func (w *Writer) undo(n int64) error {
	info, err := w.file.Stat()
	if err == nil {
		err = w.file.Truncate(max(info.Size()-n, 0))
	}
	if err != nil {
		return fmt.Errorf("cut unwritten lines from crawl log %s: %w", w.path, err)
	}
	w.damaged = false
	return nil
}

// look begins a new file if path does not lead to ours any more.
func (w *Writer) look() error {
	info, err := os.Stat(w.path)
	if err == nil && os.SameFile(info, w.info) {
		return nil
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("look for crawl log: %w", err)
	}
	return w.swap()
}

// mend cuts off half a line at the end of the file.
func (w *Writer) mend() error {
	info, err := w.file.Stat()
	if err == nil {
		_, err = repair(w.file, info.Size())
	}
	if err != nil {
		return fmt.Errorf("cut unfinished line from crawl log %s: %w", w.path, err)
	}
	w.damaged = false
	return nil
}

// Reopen opens the path anew, as after a rotation. If that fails the writer goes on with the file that it has.
func (w *Writer) Reopen() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.file == nil {
		return fmt.Errorf("reopen crawl log %s: %w", w.path, os.ErrClosed)
	}
	return w.swap()
}

// swap opens path and only then lets go of the old file, which is made safe before, as Sync will not reach it any more.
func (w *Writer) swap() error {
	var unfinished error
	if w.damaged {
		unfinished = w.mend()
	}
	old := w.file
	if err := w.open(); err != nil {
		return err
	}
	if err := errors.Join(unfinished, old.Sync(), old.Close()); err != nil {
		return fmt.Errorf("close rotated crawl log: %w", err)
	}
	return nil
}

// Sync makes all lines written so far safe against a loss of power. Writers do not wait for it.
func (w *Writer) Sync() error {
	w.mu.Lock()
	f := w.file
	w.mu.Unlock()
	if f == nil {
		return fmt.Errorf("sync crawl log %s: %w", w.path, os.ErrClosed)
	}
	err := f.Sync()
	if err == nil || errors.Is(err, os.ErrClosed) {
		return nil // closed meanwhile by swap or Close, and both sync before
	}
	return fmt.Errorf("sync crawl log: %w", err)
}

// Close makes all lines safe and closes the log. A closed Writer cannot be used again.
func (w *Writer) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.file == nil {
		return fmt.Errorf("close crawl log %s: %w", w.path, os.ErrClosed)
	}
	err := errors.Join(w.file.Sync(), w.file.Close())
	w.file = nil
	if err != nil {
		return fmt.Errorf("close crawl log: %w", err)
	}
	return nil
}

func syncFolder(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
