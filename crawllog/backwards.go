package crawllog

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/arcrawl/arcrawl/internal/fileio"
)

// backwardsBlock is how many bytes [Backwards] reads at a time.
const backwardsBlock = 256 << 10

// maxForwards is the maximum length of a line that [Forwards] reads, in bytes.
const maxForwards = 1 << 20

// Recent returns the paths of a log and of its rotated files, the newest first. They may be compressed.
func Recent(path string) ([]string, error) {
	files, err := Files(path)
	if err != nil {
		return nil, err
	}
	written := map[string]int64{}
	files = slices.DeleteFunc(files, func(name string) bool {
		info, err := os.Stat(name)
		if err == nil {
			written[name] = info.ModTime().UnixNano()
		}
		return err != nil || !info.Mode().IsRegular() || !isReadable(name)
	})
	slices.SortFunc(files, func(a, b string) int {
		switch {
		case a == path:
			return -1
		case b == path:
			return 1
		}
		return cmp.Or(cmp.Compare(written[b], written[a]), cmp.Compare(a, b))
	})
	return files, nil
}

// IsCompressed reports whether a file begins as gzip does.
func IsCompressed(name string) bool {
	f, err := os.Open(name)
	if err != nil {
		return false
	}
	var magic [2]byte
	_, err = f.ReadAt(magic[:], 0)
	return errors.Join(err, f.Close()) == nil && magic == [2]byte{0x1f, 0x8b}
}

// isReadable reports whether a file can be opened.
func isReadable(name string) bool {
	f, err := os.Open(name)
	return err == nil && f.Close() == nil
}

// Backwards calls f with each whole line of a file without its line end, the last line first, and with the offset at
// which it begins. It stops when f returns false. It skips lines longer than [MaxLine]. f must not keep the line. A
// compressed file is unpacked into a temporary file next to it; offsets count bytes of its text.
func Backwards(name string, f func(line []byte, offset int64) bool) (err error) {
	file, remove, err := openText(name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close(), remove()) }()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	begin := info.Size() // of the bytes in rest
	var rest []byte      // the end of the first line is read, its beginning is not
	whole := false       // rest ends with a line end, or did before it was cut
	for begin > 0 {
		n := min(begin, backwardsBlock)
		block := make([]byte, n, int(n)+len(rest))
		if _, err := file.ReadAt(block, begin-n); err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		rest, begin = append(block, rest...), begin-n
		for {
			end := bytes.LastIndexByte(rest, '\n')
			if end < 0 {
				break
			}
			if whole && !callWith(f, rest[end+1:], begin+int64(end)+1) {
				return nil
			}
			rest, whole = rest[:end], true
		}
		if len(rest) > MaxLine {
			rest, whole = nil, false // too long: the part before the next line end is skipped too
		}
	}
	if whole {
		callWith(f, rest, 0)
	}
	return nil
}

// Forwards calls f with each line of a file from an offset on, until f returns an error. The file may be compressed;
// the offset counts bytes of its text. A line of more than 1 MiB is an error.
func Forwards(name string, offset int64, f func(line string) error) (err error) {
	file, err := fileio.OpenText(name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	if _, err := io.CopyN(io.Discard, file, offset); err != nil {
		return fmt.Errorf("read %s from byte %d: %w", name, offset, err)
	}
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, maxForwards)
	for lines.Scan() {
		if err := f(lines.Text()); err != nil {
			return err
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("read %s: %w", name, err)
	}
	return nil
}

// openText opens a file to read its text at any place. A gzipped file is unpacked first, and remove then removes the
// text. It returns an error if the file is damaged.
func openText(name string) (text *os.File, remove func() error, err error) {
	packed, err := fileio.OpenText(name)
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, packed.Close()) }()
	if !packed.Compressed() {
		text, err = os.Open(name)
		return text, func() error { return nil }, err
	}
	text, err = os.CreateTemp(filepath.Dir(name), ".unpacked-*")
	if err != nil {
		return nil, nil, fmt.Errorf("unpack %s: %w", name, err)
	}
	remove = func() error { return os.Remove(text.Name()) }
	if _, err := io.Copy(text, packed); err != nil {
		return nil, nil, errors.Join(fmt.Errorf("unpack %s: %w", name, err), text.Close(), remove())
	}
	return text, remove, nil
}

// callWith calls f with a line, unless it is too long.
func callWith(f func(line []byte, offset int64) bool, line []byte, offset int64) bool {
	return len(line) > MaxLine || f(line, offset)
}

// Files returns the paths of a log and of the rotated files next to it, whose names begin with its name. There are none
// if the folder does not exist.
func Files(path string) (files []string, err error) {
	dir, name := filepath.Dir(path), filepath.Base(path)
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("look for the files of %s: %w", path, err)
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), name) {
			files = append(files, filepath.Join(dir, e.Name()))
		}
	}
	return files, nil
}
