package warc

import (
	"archive/zip"
	"errors"
	"io"
	"path"
	"path/filepath"
	"strings"
)

// inPackage is where a file is in a WACZ package. Other tools may have compressed it there.
type inPackage struct {
	path       string // of the package; empty for a file of its own
	offset     int64
	compressed bool // it cannot be read from its middle
}

// PackedFile returns a member of the WACZ package at path as a file. It is read within the package.
func PackedFile(pack string, m *zip.File) File {
	offset, err := m.DataOffset()
	return File{
		Path: pack + "/" + m.Name, Name: path.Base(m.Name), Size: int64(m.UncompressedSize64),
		in: inPackage{path: pack, offset: offset, compressed: err != nil || m.Method != zip.Store},
	}
}

// IsPackage reports whether a file name is one of a WACZ package.
func IsPackage(name string) bool { return strings.HasSuffix(strings.ToLower(name), ".wacz") }

// FilesAndPackages is [Files] that also lists the WARC files in WACZ packages, after all others. The name of such a
// file is the name of its package, a slash, and its path in the package. A file that is also there outside a package,
// with the same name and size, is listed only once.
func FilesAndPackages(paths []string) ([]File, []*Finding) {
	all, faults := FilesNamed(paths, func(name string) bool { return IsArchive(name) || IsPackage(name) })
	var files, packed []File
	type copied struct {
		name string
		size int64
	}
	outside := map[copied]bool{}
	for _, f := range all {
		if !IsPackage(f.Path) {
			files = append(files, f)
			outside[copied{filepath.Base(f.Path), f.Size}] = true
		}
	}
	for _, f := range all {
		if !IsPackage(f.Path) {
			continue
		}
		members, err := membersOf(f)
		if err != nil {
			faults = append(faults, &Finding{
				File: f.Path, Offset: -1, Severity: Error, Kind: NotWARC, Text: "this is not a WACZ package: " + Cause(err),
			})
		}
		for _, m := range members {
			if !outside[copied{path.Base(m.Name), m.Size}] {
				packed = append(packed, m)
			}
		}
	}
	return append(files, packed...), faults
}

// membersOf returns the WARC files in a package.
func membersOf(pack File) ([]File, error) {
	z, err := zip.OpenReader(pack.Path)
	if err != nil {
		return nil, err
	}
	defer z.Close() //nolint:errcheck // nothing was written
	var members []File
	for _, m := range z.File {
		if path.Dir(m.Name) == "archive" && IsArchive(m.Name) {
			f := PackedFile(pack.Path, m)
			f.Name = pack.Name + "/" + m.Name
			members = append(members, f)
		}
	}
	if len(members) == 0 {
		return nil, errors.New("there is no WARC file in it")
	}
	return members, nil
}

// Package returns the path of the WACZ package that holds the file. It is empty for a file of its own.
func (f File) Package() string { return f.in.path }

// OpenAt opens the file, wherever it is, at an offset where a record begins.
func (f File) OpenAt(offset int64) (*Reader, error) {
	if f.in.path == "" {
		return OpenAt(f.Path, offset)
	}
	unreadable := func(text string) error {
		return &Finding{File: f.Path, Offset: -1, Severity: Error, Kind: Unreadable, Text: text}
	}
	if f.in.compressed {
		return nil, unreadable("it is compressed within the package, where it cannot be read from its middle; " +
			"unpack the package and name the file")
	}
	file, _, err := OpenRegular(f.in.path)
	if err != nil {
		return nil, unreadable(Cause(err))
	}
	r, err := NewReader(f.Path, io.NewSectionReader(file, f.in.offset, f.Size), f.Size, offset)
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	r.close = file.Close
	return r, nil
}
