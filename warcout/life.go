package warcout

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// newFile makes a file with its warcinfo record.
func (w *Writer) newFile(now time.Time) (*file, error) {
	f, err := w.takeName(now)
	if err != nil {
		return nil, fmt.Errorf("make a new WARC file: %w", err)
	}
	if err := w.begin(now, f); err != nil {
		return nil, errors.Join(fmt.Errorf("begin %s: %w", f.name, err), f.disk.Close(), os.Remove(w.openPath(f)))
	}
	return f, nil
}

func (w *Writer) openPath(f *file) string { return filepath.Join(w.o.Dir, f.name+openSuffix) }

// takeName creates the .open file under a name that is free also without that suffix.
func (w *Writer) takeName(now time.Time) (*file, error) {
	w.serial++
	name := w.names.name(now, w.serial)
	for range maxSerials {
		var err error
		if name, err = w.names.freeName(w.o.Dir, name); err != nil {
			return nil, err
		}
		f := &file{name: name, opened: now}
		f.disk, err = w.create(w.openPath(f))
		if errors.Is(err, fs.ErrExist) {
			name = w.names.another(name)
			continue
		}
		if err != nil {
			return nil, err
		}
		free, err := isFree(w.o.Dir, name) // nobody sealed a file of that name in between
		if err == nil && free {
			return f, nil
		}
		if err = errors.Join(err, f.disk.Close(), os.Remove(w.openPath(f))); err != nil {
			return nil, err
		}
	}
	return nil, fmt.Errorf("%d names up to %s are taken", maxSerials, name)
}

// begin writes the warcinfo record and makes it safe, so that no failed visit can take it along.
func (w *Writer) begin(now time.Time, f *file) error {
	info, err := warcinfo(now, f.name, w.o.Info)
	if err != nil {
		return err
	}
	s := w.spools.Get().(*spool)
	defer w.spools.Put(s)
	_, err = w.encode(s, []record{info})
	if err == nil {
		err = s.copyTo(f.disk, 0)
	}
	f.infoID, f.info = info.id, extent{s.size, 1}
	f.written, f.given, f.synced, f.told = f.info, f.info, f.info, f.info.size
	if err := errors.Join(err, s.reset()); err != nil {
		return err
	}
	if err := errors.Join(f.disk.Sync(), syncDir(w.o.Dir)); err != nil {
		return err
	}
	return w.journal.add(now, eventOpened, f.name, f.info.size, f.info.records)
}

// retire lets the next visit begin a new file.
func (w *Writer) retire() {
	if w.current != nil {
		w.retired = append(w.retired, w.current)
		w.current = nil
	}
}

// sealRetired seals the files that no visit is on its way to. Those that it cannot seal stay, for the next call.
func (w *Writer) sealRetired(now time.Time) error {
	var errs error
	var kept []*file
	for _, f := range w.retired {
		if f.users > 0 {
			kept = append(kept, f)
			continue
		}
		if err := w.seal(now, f); err != nil {
			errs = errors.Join(errs, fmt.Errorf("seal %s: %w", f.name, err))
			kept = append(kept, f)
		}
	}
	w.retired = kept
	return errs
}

func (w *Writer) seal(now time.Time, f *file) error {
	if f.broken != nil {
		return nil // who met it first has told
	}
	if f.written == f.info {
		return w.discard(now, f)
	}
	if !f.renamed {
		if err := f.disk.Sync(); err != nil {
			return err
		}
		if _, err := place(w.o.Dir, w.names, w.journal, f.name, f.written, now); err != nil {
			return err
		}
		f.renamed = true
	}
	if err := syncDir(w.o.Dir); err != nil {
		return err
	}
	f.broken = ErrClosed // a failing Close is told once, not tried again
	return f.disk.Close()
}

// discard removes a file without visits.
func (w *Writer) discard(now time.Time, f *file) error {
	if err := os.Remove(w.openPath(f)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := w.journal.add(now, eventRemoved, f.name, 0, 0); err != nil {
		return err
	}
	f.broken = ErrClosed
	return f.disk.Close()
}

// place tells the journal what a synced .open file holds and gives it its final name; only when another file took that
// meanwhile it becomes a later one. The journal comes first: what it says must be what was written, not what was found.
func place(dir string, names naming, j *journal, name string, whole extent, now time.Time) (string, error) {
	final, err := names.freeName(dir, name)
	if err != nil {
		return "", err
	}
	if err := errors.Join(j.add(now, eventSealed, final, whole.size, whole.records), j.sync()); err != nil {
		return "", err
	}
	return final, os.Rename(filepath.Join(dir, name+openSuffix), filepath.Join(dir, final))
}
