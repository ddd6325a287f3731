package warc

import (
	"archive/zip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/netip"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/digest"
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

// ReadFile returns the first max bytes of a file. It refuses everything except regular files.
func ReadFile(path string, max int64) ([]byte, error) {
	f, _, err := OpenRegular(path)
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(f, max))
	return text, errors.Join(err, f.Close())
}

// Files lists the WARC files in paths: each file that is named, and all files below each folder whose names end in
// .warc or .warc.gz, also followed by .open. The list is sorted and has no duplicates. It reports paths that cannot be
// read, and folders without WARC files, as findings.
func Files(paths []string) ([]File, []*Finding) { return FilesNamed(paths, IsArchive) }

// FilesNamed is [Files] with other names: wanted reports whether a file in a folder is listed.
func FilesNamed(paths []string, wanted func(name string) bool) ([]File, []*Finding) {
	var files []File
	var faults []*Finding
	fault := func(path string, k Kind, text string) { faults = append(faults, FileFinding(path, k, text)) }
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

// Without returns the files for which leave does not return true. leave may be nil.
func Without(files []File, leave func(File) bool) []File {
	if leave == nil {
		return files
	}
	return slices.DeleteFunc(files, leave)
}

// Stamp returns size, time of change and name of the file as it is now, in one line. It is empty if there is no such
// file.
func (f File) Stamp() string {
	info, err := os.Stat(f.Path)
	if err != nil {
		return ""
	}
	return fmt.Sprintf("%d %s %s", info.Size(), info.ModTime().UTC().Format(time.RFC3339Nano), f.Name)
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
			faults = append(faults, FileFinding(f.Path, NotWARC, "this is not a WACZ package: "+Cause(err)))
		}
		for _, m := range members {
			if !outside[copied{path.Base(m.Name), m.Size}] {
				packed = append(packed, m)
			}
		}
	}
	return append(files, packed...), faults
}

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
	if f.in.compressed {
		return nil, FileFinding(f.Path, Unreadable, "it is compressed within the package, where it cannot be read from "+
			"its middle; unpack the package and name the file")
	}
	file, _, err := OpenRegular(f.in.path)
	if err != nil {
		return nil, FileFinding(f.Path, Unreadable, Cause(err))
	}
	r, err := NewReader(f.Path, io.NewSectionReader(file, f.in.offset, f.Size), f.Size, offset)
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	r.close = file.Close
	return r, nil
}

// RecordAt opens the file at an offset, and reads the header of the record there. The caller closes the reader. The
// error wraps [ErrDamaged].
func (f File) RecordAt(offset int64) (*Reader, *Record, error) {
	r, err := f.OpenAt(offset)
	if err != nil {
		return nil, nil, Damaged(err)
	}
	rec, err := r.Next()
	if err != nil {
		return nil, nil, errors.Join(Damaged(err), r.Close())
	}
	return r, rec, nil
}

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
		r, rec, err := File{Path: path}.RecordAt(o.Offset)
		if err != nil {
			return Head{}, nil, err
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
		if ip, err := netip.ParseAddr(rec.Header.Get("WARC-IP-Address")); err == nil {
			head.Server = ip.Unmap()
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
