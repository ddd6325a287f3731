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

// OpenSuffix ends the name of a WARC file that is being written.
const OpenSuffix = ".open"

// File is one file of an archive.
type File struct {
	Path string
	Name string // relative to the folder that was searched, with slashes; the last element of a path that was named itself
	Size int64

	in inPackage
}

// IsArchive reports whether a file name is one of a WARC file. It includes ARC files, so that reading them reports that
// they are not supported.
func IsArchive(name string) bool {
	name = strings.TrimSuffix(strings.ToLower(name), OpenSuffix)
	name = strings.TrimSuffix(name, ".gz")
	return strings.HasSuffix(name, ".warc") || strings.HasSuffix(name, ".arc")
}

// regular returns an error for everything except regular files: opening a named pipe may block forever.
func regular(info fs.FileInfo) error {
	what := "it is not a regular file"
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

// OpenRegular opens a file for reading. It refuses everything except regular files.
func OpenRegular(path string) (*os.File, fs.FileInfo, error) {
	info, err := os.Stat(path) // before opening, which may block
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

// Files lists the WARC files in paths: each file that is named, and all files below each folder whose names end in
// .warc or .warc.gz, also followed by .open. The list is sorted and has no duplicates. It reports paths that cannot be
// read, and folders without WARC files, as findings.
func Files(paths []string) ([]File, []*Finding) { return FilesNamed(paths, IsArchive) }

// FilesNamed is [Files] with other names: wanted reports whether a file in a folder is listed.
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
		_ = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error { // the function returns no error
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
			name, _ := filepath.Rel(root, path) // path is always below root
			files = append(files, File{Path: path, Name: filepath.ToSlash(name), Size: info.Size()})
			return nil
		})
		if len(files) == before {
			fault(root, Empty, "there is no WARC file in this folder: nothing was archived yet, or it is the wrong folder")
		}
	}
	slices.SortFunc(files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	same := func(a, b File) bool { return filepath.Clean(a.Path) == filepath.Clean(b.Path) }
	return slices.CompactFunc(files, same), faults
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
