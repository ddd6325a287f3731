package warc

import (
	"archive/zip"
	"errors"
	"io"
	"path"
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
