package warc

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/arcrawl/arcrawl/digest"
)

// Stored returns a function that opens the payload of the record at an origin, in files of the given folders. The file
// may still be open. The function returns an error if there is no such record. Close returns one if the record is
// damaged.
func Stored(folders ...string) func(o digest.Origin) (io.ReadCloser, error) {
	open := StoredMessage(folders...)
	return func(o digest.Origin) (io.ReadCloser, error) {
		_, body, err := open(o)
		return body, err
	}
}

// StoredMessage returns a function as [Stored] does that also returns the head of the message.
func StoredMessage(folders ...string) func(o digest.Origin) (Head, io.ReadCloser, error) {
	return func(o digest.Origin) (Head, io.ReadCloser, error) {
		path, err := locate(folders, o.File)
		if err != nil {
			return Head{}, nil, err
		}
		r, err := OpenAt(path, o.Offset)
		if err != nil {
			return Head{}, nil, Damaged(err)
		}
		rec, err := r.Next()
		if err != nil {
			return Head{}, nil, errors.Join(Damaged(err), r.Close())
		}
		if o.RecordID != "" && rec.ID() != o.RecordID || rec.Header.Target() != o.URI {
			err := fmt.Errorf("%w: at %s:%d is the record %s of %s, want %s of %s",
				ErrDamaged, path, o.Offset, rec.ID(), rec.Header.Target(), o.RecordID, o.URI)
			return Head{}, nil, errors.Join(err, r.Close())
		}
		head, body, err := rec.Payload()
		if err != nil {
			return Head{}, nil, errors.Join(fmt.Errorf("read %s at %d: %w", path, o.Offset, err), r.Close())
		}
		return head, &stored{Reader: body, rec: rec, file: r}, nil
	}
}

// locate returns the path of a file in one of the folders. name is its final name, which a file that is still open does
// not have yet.
func locate(folders []string, name string) (string, error) {
	if !filepath.IsLocal(name) {
		return "", fmt.Errorf("%w: %q is not the name of a file", ErrNotFound, name)
	}
	for _, folder := range folders {
		for _, suffix := range []string{"", OpenSuffix} {
			path := filepath.Join(folder, name) + suffix
			_, err := os.Stat(path)
			if err == nil {
				return path, nil
			}
			if !errors.Is(err, fs.ErrNotExist) {
				return "", err
			}
		}
	}
	return "", fmt.Errorf("%w: there is no %s in %q", ErrNotFound, name, folders)
}

// stored reads the payload of one record.
type stored struct {
	io.Reader
	rec  *Record
	file *Reader
}

// Close checks that the record is whole and closes the file.
func (s *stored) Close() error { return errors.Join(s.rec.Close(), s.file.Close()) }
