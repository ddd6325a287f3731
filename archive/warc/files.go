package warc

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// OpenSuffix ends the name of a file that is being written.
const OpenSuffix = ".open"

// File is one file of an archive.
type File struct {
	Path string
	Name string // from the folder that was asked for, with slashes; the last element of a path that was given itself
	Size int64

	in inPackage
}

// IsArchive tells by its name whether a file in a folder is one of the archive. ARC files are taken too, so that
// somebody says that they are not read.
func IsArchive(name string) bool {
	name = strings.TrimSuffix(strings.ToLower(name), OpenSuffix)
	name = strings.TrimSuffix(name, ".gz")
	return strings.HasSuffix(name, ".warc") || strings.HasSuffix(name, ".arc")
}

// regular refuses what is no file of bytes: to open a named pipe may block for ever.
func regular(info fs.FileInfo) error {
	what := "it is something else"
	switch mode := info.Mode(); {
	case mode.IsRegular():
		return nil
	case mode.IsDir():
		what = "it is a folder"
	case mode&fs.ModeNamedPipe != 0:
		what = "it is a named pipe"
	case mode&fs.ModeSocket != 0:
		what = "it is a socket"
	case mode&fs.ModeDevice != 0:
		what = "it is a device"
	}
	return errors.New(what + ", and only regular files are read")
}

// OpenRegular opens a file to read, if it is one.
func OpenRegular(path string) (*os.File, fs.FileInfo, error) {
	info, err := os.Stat(path) // before it is opened, which may block
	if err == nil {
		err = regular(info)
	}
	if err != nil {
		return nil, nil, err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	return f, info, nil
}

// Files lists the WARC files among paths: each file that is named, and in each folder, with those below it, the files
// whose names end in .warc or .warc.gz, also with .open. They are sorted, and each is there once. What cannot be read, and
// a folder without any, is a finding; the others are listed all the same.
func Files(paths []string) ([]File, []*Finding) { return FilesNamed(paths, IsArchive) }

// FilesNamed is [Files] with those in folders whose names are wanted.
func FilesNamed(paths []string, wanted func(name string) bool) ([]File, []*Finding) {
	var files []File
	var faults []*Finding
	fault := func(path string, k Kind, text string) {
		faults = append(faults, &Finding{File: path, Offset: -1, Severity: Error, Kind: k, Text: text})
	}
	for _, root := range paths {
		info, err := os.Stat(root)
		if err != nil {
			fault(root, Unreadable, Cause(err))
			continue
		}
		if !info.IsDir() {
			if err := regular(info); err != nil {
				fault(root, Unreadable, Cause(err))
				continue
			}
			files = append(files, File{Path: root, Name: filepath.Base(root), Size: info.Size()})
			continue
		}
		before := len(files)
		_ = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error { // the function gives no error
			if err != nil {
				fault(path, Unreadable, Cause(err))
				return nil
			}
			if d.IsDir() || !wanted(d.Name()) {
				return nil
			}
			info, err := os.Stat(path)
			if err == nil {
				err = regular(info)
			}
			if err != nil {
				fault(path, Unreadable, Cause(err))
				return nil
			}
			name, _ := filepath.Rel(root, path) // both come from one walk
			files = append(files, File{Path: path, Name: filepath.ToSlash(name), Size: info.Size()})
			return nil
		})
		if len(files) == before {
			fault(root, Empty, "there is no WARC file in this folder: nothing was archived yet, or it is another one")
		}
	}
	slices.SortFunc(files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	return slices.CompactFunc(files, func(a, b File) bool { return filepath.Clean(a.Path) == filepath.Clean(b.Path) }), faults
}

// HashFile returns the SHA-256 of a file, as "sha256:" and hexadecimal, and its size.
func HashFile(path string) (string, int64, error) {
	f, _, err := OpenRegular(path)
	if err != nil {
		return "", 0, err
	}
	sum := sha256.New()
	n, err := io.Copy(sum, f)
	return "sha256:" + hex.EncodeToString(sum.Sum(nil)), n, errors.Join(err, f.Close())
}
