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

// Stored opens the payloads of records in the folders, as an index of origins knows them: by file and place. The file may
// still be open. An error says that there is no such record there; one of Close, that the record is damaged.
func Stored(folders ...string) func(o digest.Origin) (io.ReadCloser, error) {
	return func(o digest.Origin) (io.ReadCloser, error) {
		path, err := locate(folders, o.File)
		if err != nil {
			return nil, err
		}
		r, err := OpenAt(path, o.Offset)
		if err != nil {
			return nil, Damaged(err)
		}
		rec, err := r.Next()
		if err != nil {
			return nil, errors.Join(Damaged(err), r.Close())
		}
		if o.RecordID != "" && rec.ID() != o.RecordID || rec.Header.Target() != o.URI {
			return nil, errors.Join(fmt.Errorf("%w: at %s:%d stands %s of %s, not %s of %s", ErrDamaged, path, o.Offset, rec.ID(), rec.Header.Target(), o.RecordID, o.URI), r.Close())
		}
		_, body, err := rec.Payload()
		if err != nil {
			return nil, errors.Join(fmt.Errorf("read %s at %d: %w", path, o.Offset, err), r.Close())
		}
		return &stored{Reader: body, rec: rec, file: r}, nil
	}
}

// locate finds a file by the name that it has, or will have, in one of the folders.
func locate(folders []string, name string) (string, error) {
	if !filepath.IsLocal(name) {
		return "", fmt.Errorf("%w: %q is no name of a file", ErrNotFound, name)
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

// stored is the payload of one record.
type stored struct {
	io.Reader
	rec  *Record
	file *Reader
}

// Close proves the record whole and gives the file back.
func (s *stored) Close() error { return errors.Join(s.rec.Close(), s.file.Close()) }
