package smalldisk

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"
)

// What [os.File.Seek] looks for on Linux: the next byte that is stored, and the next that is not.
const (
	seekData = 3
	seekHole = 4
)

// CopyFS copies the folder from to the new folder to, like [os.CopyFS], and leaves out the bytes that no disk holds.
// The logs of a store are files of 12 to 128 MB that are almost empty. It begins again if a file appears,
// disappears or changes its length meanwhile: a store in use writes tables, names them in its manifest, and removes
// logs. The copy of a table may be torn only if the copy of the manifest does not name it, as after a kill.
func CopyFS(to, from string) error {
	for range 100 {
		before, err := files(from)
		if err != nil {
			return err
		}
		if err = copyFiles(to, from, before); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		after, gone := files(from)
		if err == nil && gone == nil && slices.Equal(before, after) {
			return nil
		}
		if err := os.RemoveAll(to); err != nil {
			return err
		}
	}
	return fmt.Errorf("copy %s: its files change all the time", from)
}

// file is a file of a folder.
type file struct {
	path string
	size int64
}

// files returns the files below a folder.
func files(folder string) (all []file, err error) {
	err = filepath.WalkDir(folder, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		switch info, err := e.Info(); {
		case err == nil:
			all = append(all, file{path, info.Size()})
		case !errors.Is(err, fs.ErrNotExist): // it was removed meanwhile
			return err
		}
		return nil
	})
	return all, err
}

func copyFiles(to, from string, all []file) error {
	if err := os.MkdirAll(to, 0o777); err != nil {
		return err
	}
	for _, f := range all {
		name, err := filepath.Rel(from, f.path)
		if err != nil {
			return err
		}
		if err := os.MkdirAll(filepath.Dir(filepath.Join(to, name)), 0o777); err != nil {
			return err
		}
		if err := CopyFile(filepath.Join(to, name), f.path); err != nil {
			return err
		}
	}
	return nil
}

// CopyFile copies the file from to the new file to, and leaves out the bytes that no disk holds.
func CopyFile(to, from string) (err error) {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return err
	}
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, info.Mode()&0o777|0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	for pos := int64(0); pos < info.Size(); {
		begin, end := part(in, pos, info.Size())
		if _, err := io.Copy(io.NewOffsetWriter(out, begin), io.NewSectionReader(in, begin, end-begin)); err != nil {
			return err
		}
		pos = end
	}
	return out.Truncate(info.Size())
}

// part returns where the first part of a file of size bytes is that holds bytes, at or behind an offset. It returns all
// the rest if the system does not know.
func part(f *os.File, at, size int64) (begin, end int64) {
	if runtime.GOOS != "linux" {
		return at, size
	}
	begin, err := f.Seek(at, seekData)
	if err != nil {
		if errors.Is(err, syscall.ENXIO) {
			return size, size // only a hole follows
		}
		return at, size
	}
	if end, err = f.Seek(begin, seekHole); err != nil {
		end = size
	}
	return min(begin, size), min(end, size)
}
