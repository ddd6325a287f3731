package warc

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// NewFile is a file that appears under its name only when it is whole and safe on disk.
type NewFile struct {
	*bufio.Writer
	f    *os.File
	Path string
}

// CreateFile begins a file; the folder is made if need be. Nothing is at path until commit.
func CreateFile(path string) (*NewFile, error) {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("write %s: %w", path, err)
	}
	f, err := os.CreateTemp(dir, "."+filepath.Base(path)+".tmp-*")
	if err != nil {
		return nil, fmt.Errorf("write %s: %w", path, err)
	}
	return &NewFile{Writer: bufio.NewWriterSize(f, rawBuffer), f: f, Path: path}, nil
}

// Discard removes a file that was not committed; after commit it does nothing.
func (n *NewFile) Discard() {
	if n.f != nil {
		_ = n.f.Close()
		_ = os.Remove(n.f.Name()) // a file of that name does no harm: it is hidden, and no archive file by its name
		n.f = nil
	}
}

// Commit gives the file its name. When replace is false and there is a file of that name, the old one stays and
// fs.ErrExist is given.
func (n *NewFile) Commit(replace bool) error {
	err := errors.Join(n.Flush(), n.f.Chmod(0o644), n.f.Sync(), n.f.Close())
	temp := n.f.Name()
	n.f = nil
	if err == nil {
		if replace {
			err = os.Rename(temp, n.Path)
		} else if err = os.Link(temp, n.Path); err == nil { // unlike a rename, a link is never made over a file
			err = os.Remove(temp)
		}
	}
	if err == nil {
		err = syncDir(filepath.Dir(n.Path))
	}
	if err != nil {
		_ = os.Remove(temp)
		if errors.Is(err, fs.ErrExist) {
			return fmt.Errorf("write %s: %w: nothing is overwritten", n.Path, fs.ErrExist)
		}
		return fmt.Errorf("write %s: %w", n.Path, err)
	}
	return nil
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
