package warcout

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/arcrawl/arcrawl/internal/fileio"
)

// newFile creates a file of a series with its warcinfo record.
func (w *Writer) newFile(series string, now time.Time) (*file, error) {
	if series != "" && !IsSeries(series) {
		return nil, fmt.Errorf("%w: %q is not the name of a series", ErrRefused, series)
	}
	f, err := w.takeName(series, now)
	if err != nil {
		return nil, fmt.Errorf("create a WARC file: %w", err)
	}
	if err := w.begin(series, now, f); err != nil {
		return nil, errors.Join(fmt.Errorf("write warcinfo of %s: %w", f.name, err), f.disk.Close(), os.Remove(w.openPath(f)))
	}
	return f, nil
}

func (w *Writer) openPath(f *file) string { return filepath.Join(w.o.Dir, f.name+openSuffix) }

// takeName creates the .open file under a name that is also free without the suffix.
func (w *Writer) takeName(series string, now time.Time) (*file, error) {
	w.serial++
	name := w.names.name(series, now, w.serial)
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
		free, err := isFree(w.o.Dir, name) // no other writer sealed a file of that name meanwhile
		if err == nil && free {
			return f, nil
		}
		if err = errors.Join(err, f.disk.Close(), os.Remove(w.openPath(f))); err != nil {
			return nil, err
		}
	}
	return nil, fmt.Errorf("all of %d names up to %s are taken", maxSerials, name)
}

// begin writes and syncs the warcinfo record, so that no failed visit can remove it.
func (w *Writer) begin(series string, now time.Time, f *file) error {
	fields := w.o.Info
	if w.more != nil {
		fields = append(slices.Clip(fields), w.more(series)...)
	}
	if series != "" {
		fields = append(slices.Clip(fields), Field{Name: "isPartOf", Value: series})
	}
	info, err := warcinfo(now, f.name, fields)
	if err != nil {
		return err
	}
	s := w.spools.Get().(*spool)
	defer w.spools.Put(s)
	_, err = w.encode(s, []record{info})
	if err == nil {
		err = s.copyTo(f.disk, 0)
	}
	date := now.UnixMicro()
	f.infoID, f.info = info.id, extent{size: s.size, records: 1, first: date, last: date}
	f.appended, f.handed, f.synced, f.logged = f.info, f.info, f.info, f.info.size
	s.reset()
	if err != nil {
		return err
	}
	if err := errors.Join(f.disk.Sync(), fileio.SyncDir(w.o.Dir)); err != nil {
		return err
	}
	return w.journal.add(now, eventOpened, f.name, f.info.size, f.info.records)
}

// retire makes the next visit of a series begin a new file.
func (w *Writer) retire(series string) {
	if f := w.current[series]; f != nil {
		w.retired = append(w.retired, f)
		delete(w.current, series)
	}
}

// retireAll makes the next visit of each series begin a new file.
func (w *Writer) retireAll() {
	for series := range w.current {
		w.retire(series)
	}
}

// sealRetired seals the retired files without visits in progress. Files that it cannot seal stay retired for the next
// call.
func (w *Writer) sealRetired(now time.Time) error {
	var errs error
	var remaining []*file
	for _, f := range w.retired {
		if f.users > 0 {
			remaining = append(remaining, f)
			continue
		}
		if err := w.seal(now, f); err != nil {
			errs = errors.Join(errs, fmt.Errorf("seal %s: %w", f.name, err))
			remaining = append(remaining, f)
		}
	}
	w.retired = remaining
	return errs
}

func (w *Writer) seal(now time.Time, f *file) error {
	if f.broken != nil {
		return nil // already reported
	}
	if f.appended == f.info {
		return w.discard(now, f)
	}
	if f.final == "" {
		if err := f.disk.Sync(); err != nil {
			return err
		}
		final, err := place(w.o.Dir, w.names, w.journal, f.name, f.appended, now)
		if err != nil {
			return err
		}
		f.final = final
	}
	if err := fileio.SyncDir(w.o.Dir); err != nil {
		return err
	}
	w.summaries.add(f)
	f.broken = ErrClosed // an error of Close is reported once, without a retry
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

// place logs the size of a synced .open file in the journal, and renames the file to its final name, or to a later one
// if that was taken meanwhile. The journal comes first: it must say what was written, not what was found.
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
