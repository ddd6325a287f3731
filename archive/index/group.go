package index

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"

	"github.com/arcrawl/arcrawl/archive/warc"
)

// Group calls do with the record of an entry, and then with the records next to it that belong to the same visit, such
// as its request and its metadata. The first error of do ends it. What is damaged behind the first record is left out.
func (l *Library) Group(e Entry, do func(r *warc.Reader, rec *warc.Record) error) error {
	_, r, rec, err := l.openRecord(e)
	if err != nil {
		return err
	}
	defer r.Close() //nolint:errcheck // nothing was written
	id := rec.ID()
	if err := do(r, rec); err != nil {
		return err
	}
	for range maxCompanions {
		rec, err := r.Next()
		if err != nil || !slices.Contains(rec.Header.Values("WARC-Concurrent-To"), "<"+id+">") {
			return nil
		}
		if err := do(r, rec); err != nil {
			return err
		}
	}
	return nil
}

// goneError says which file is not in the folder.
type goneError struct {
	file string
	err  error
}

func (g goneError) Error() string { return g.err.Error() }

func (g goneError) Unwrap() error { return g.err }

// GoneFile returns the name of the file that is not in the folder, if an error says that.
func GoneFile(err error) (name string, ok bool) {
	var g goneError
	ok = errors.As(err, &g)
	return g.file, ok
}

// openRecord opens the record of an entry, and checks that it is the one that the entry is about.
func (l *Library) openRecord(e Entry) (warc.File, *warc.Reader, *warc.Record, error) {
	f, ok := l.fileOf(e.Filename)
	if !ok {
		return f, nil, nil, goneError{e.Filename, fmt.Errorf("%w: bring %s back to %s to read the record at %d",
			ErrElsewhere, e.Filename, l.dir, e.Offset)}
	}
	r, err := f.OpenAt(e.Offset)
	if err != nil {
		err = warc.Damaged(err)
		if _, errStat := os.Stat(cmp.Or(f.Package(), f.Path)); errors.Is(errStat, fs.ErrNotExist) {
			err = goneError{e.Filename, err} // it was removed since the library was opened
		}
		return f, nil, nil, err
	}
	rec, err := r.Next()
	switch {
	case errors.Is(err, io.EOF):
		err = fmt.Errorf("%w: %s ends before %d, where the index has %s", warc.ErrDamaged, f.Path, e.Offset, e.URL)
	case err != nil:
		err = warc.Damaged(err)
	case rec.Header.Target() != e.URL:
		err = fmt.Errorf("%w: at %s:%d the index has %s and the file %s",
			warc.ErrDamaged, f.Path, e.Offset, e.URL, rec.Header.Target())
	}
	if err != nil {
		return f, nil, nil, errors.Join(err, r.Close())
	}
	return f, r, rec, nil
}

// OriginalOf returns the entry of the capture that holds the payload of e: e itself, unless it is a revisit.
func (l *Library) OriginalOf(ctx context.Context, e Entry) (Entry, error) {
	if e.MIME != RevisitMIME {
		return e, nil
	}
	c, err := l.load(e)
	if err != nil {
		return Entry{}, err
	}
	c, err = l.Original(ctx, c)
	return c.Entry, err
}
