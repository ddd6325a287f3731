// Package fileio writes files atomically, locks them ([Lock]), and reads texts that may be compressed.
//
// [Create], [Write] and [Edit] write files that appear under their names only when they are complete and synced to
// disk.
//
// A file is written under a hidden name in the folder where it will be, synced, and renamed; then the folder is
// synced. So a crash or a power failure leaves the old file or the new one, never a part. A crash can also leave the
// hidden file, whose name begins with a dot and the name of the file.
//
// [OpenText] reads texts that may be compressed with gzip: logs, indexes, histories.
//
// Compression is recognised by the first bytes, never by the name. A small compressed file can hold a very long text,
// so a caller should limit how much it reads, and the length of a line.
package fileio

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
)

// Write replaces the named file, or creates it, with the given content. perm applies before the umask, to an existing
// file too.
func Write(name string, data []byte, perm fs.FileMode) error {
	f, err := Create(name, perm)
	if err != nil {
		return err
	}
	defer f.Discard()
	if _, err := f.Write(data); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return f.Replace()
}

// Edit replaces a file that people edit too, or creates it. The mode stays whatever the umask is, so that everybody who
// could edit the file still can. A new file may be read by all who may read its folder, and its group may write it if
// the group may write the folder. If root edits a file, its owner and group stay. A new file of root gets the owner and
// the group of its folder.
func Edit(name string, data []byte) error {
	mode := fs.FileMode(0o640)
	like, err := os.Stat(name)
	if err == nil {
		mode = like.Mode().Perm()
	} else if like, err = os.Stat(filepath.Dir(name)); err == nil {
		mode |= like.Mode().Perm() & 0o024
	}
	f, err := Create(name, 0o600)
	if err != nil {
		return err
	}
	defer f.Discard()
	if like != nil {
		_ = KeepOwner(f.f.Name(), like) // some file servers forbid it; the content is worth more
	}
	if _, err = f.Write(data); err == nil {
		err = f.f.Chmod(mode)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return f.Replace()
}

// File is a file that is being written. It does not have its name yet. Call [File.Replace] or [File.New] when it is
// complete, and [File.Discard] in any case.
type File struct {
	f    *os.File // nil after the end
	name string
}

// Create begins to write the named file, whose folder must exist. perm applies before the umask.
func Create(name string, perm fs.FileMode) (*File, error) {
	for range 1000 {
		hidden := "." + filepath.Base(name) + ".tmp-" + strconv.FormatUint(uint64(rand.Uint32()), 10)
		f, err := os.OpenFile(filepath.Join(filepath.Dir(name), hidden), os.O_RDWR|os.O_CREATE|os.O_EXCL, perm)
		switch {
		case err == nil:
			return &File{f: f, name: name}, nil
		case !errors.Is(err, fs.ErrExist):
			return nil, fmt.Errorf("write %s: %w", name, err)
		}
	}
	return nil, fmt.Errorf("write %s: every hidden name that was tried is taken", name)
}

// Write writes to the file.
func (f *File) Write(b []byte) (int, error) { return f.f.Write(b) }

// Replace syncs the file and moves it to its name. A file that has this name is replaced.
func (f *File) Replace() error { return f.finish(os.Rename) }

// New syncs the file and moves it to its name. If there is a file of that name, the error is [fs.ErrExist], and the
// old file stays.
func (f *File) New() error {
	return f.finish(func(hidden, name string) error {
		if err := os.Link(hidden, name); err != nil { // unlike a rename, a link never replaces a file
			return err
		}
		return os.Remove(hidden)
	})
}

func (f *File) finish(place func(hidden, name string) error) error {
	hidden := f.f.Name()
	err := errors.Join(f.f.Sync(), f.f.Close())
	f.f = nil
	if err == nil {
		err = place(hidden, f.name)
	}
	if err == nil {
		err = SyncDir(filepath.Dir(f.name))
	}
	if err != nil {
		_ = os.Remove(hidden)
		return fmt.Errorf("write %s: %w", f.name, err)
	}
	return nil
}

// Discard closes and removes the hidden file. After [File.Replace] or [File.New] it does nothing.
func (f *File) Discard() {
	if f.f == nil {
		return
	}
	_ = f.f.Close()
	_ = os.Remove(f.f.Name()) // a file that stays does no harm: it is hidden
	f.f = nil
}

// SyncDir makes the names in a folder safe on disk: new files, renamed and removed ones.
func SyncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("sync folder: %w", err)
	}
	if err := errors.Join(d.Sync(), d.Close()); err != nil {
		return fmt.Errorf("sync folder %s: %w", dir, err)
	}
	return nil
}
