package archive

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Library is a folder of WARC files in which captures are looked up: in its index, as far as that covers the files as
// they are now, and for all other files in what was read of them when the library was opened.
type Library struct {
	dir     string
	files   map[string]File // by name
	covered map[string]bool // names that the index speaks for
	index   *os.File        // nil without one
	size    int64           // of the index
	read    []Entry         // of the other files, in the order of an index
}

// OpenLibrary opens a folder. What is damaged in the files that have to be read is given to see. See [WriteIndex] for the
// index that makes it fast; without one all files are read.
func OpenLibrary(ctx context.Context, dir string, o IndexOptions, see func(Finding) error) (*Library, error) {
	files, faults := Files([]string{dir})
	for _, f := range faults {
		if err := see(*f); err != nil {
			return nil, err
		}
	}
	l := &Library{dir: dir, files: map[string]File{}}
	path := filepath.Join(dir, IndexName)
	var err error
	if l.covered, err = covered(path, files); err != nil {
		return nil, err
	}
	var rest []string
	for _, f := range files {
		l.files[f.Name] = f
		if !l.covered[f.Name] {
			rest = append(rest, f.Path)
		}
	}
	if len(l.covered) > 0 {
		if err := l.openIndex(path); err != nil {
			return nil, err
		}
	}
	if len(rest) == 0 {
		return l, nil
	}
	if err := l.scan(ctx, rest, o, see); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

func (l *Library) openIndex(path string) error {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		l.covered = nil // a list without its index
		return nil
	}
	if err != nil {
		return fmt.Errorf("open the index: %w", err)
	}
	info, err := f.Stat()
	if err != nil {
		return errors.Join(fmt.Errorf("open the index: %w", err), f.Close())
	}
	l.index, l.size = f, info.Size()
	return nil
}

// scan reads the files that no index speaks for.
func (l *Library) scan(ctx context.Context, paths []string, o IndexOptions, see func(Finding) error) error {
	names := map[string]string{} // Index calls a file that is named itself by the last element of its path
	for name, f := range l.files {
		names[filepath.Base(f.Path)+"\x00"+f.Path] = name
	}
	for _, path := range paths {
		var out bytes.Buffer
		if _, err := Index(ctx, []string{path}, o, &out, see); err != nil {
			return err
		}
		for line := range strings.Lines(out.String()) {
			e, err := ParseEntry(line)
			if err != nil {
				return err
			}
			e.Filename = names[filepath.Base(path)+"\x00"+path]
			l.read = append(l.read, e)
		}
	}
	slices.SortFunc(l.read, compareEntries)
	return nil
}

func compareEntries(a, b Entry) int {
	if c := strings.Compare(a.Key, b.Key); c != 0 {
		return c
	}
	return strings.Compare(a.Timestamp, b.Timestamp)
}

// Close closes the index.
func (l *Library) Close() error {
	if l.index == nil {
		return nil
	}
	return l.index.Close()
}

// Lookup gives all captures under the key of a URI, oldest first. There may be those of other URIs among them: see [Key].
func (l *Library) Lookup(uri string) ([]Entry, error) {
	key := Key(uri)
	var found []Entry
	if l.index != nil {
		var err error
		if found, err = l.search(key); err != nil {
			return nil, err
		}
	}
	i, _ := slices.BinarySearchFunc(l.read, key, func(e Entry, key string) int { return strings.Compare(e.Key, key) })
	for ; i < len(l.read) && l.read[i].Key == key; i++ {
		found = append(found, l.read[i])
	}
	slices.SortStableFunc(found, compareEntries)
	return found, nil
}

// maxIndexLine is the longest line of an index that is read.
const maxIndexLine = 1 << 20

// search finds the lines of a key in the sorted index, by halving.
func (l *Library) search(key string) ([]Entry, error) {
	want := key + " "
	low, high := int64(0), l.size // the first line that is not before want begins in [low, high]
	for high-low > maxIndexLine/16 {
		middle := (low + high) / 2
		line, _, err := l.lineAfter(middle)
		if err != nil {
			return nil, err
		}
		if line != "" && line < want {
			low = middle
		} else {
			high = middle
		}
	}
	lines, err := l.linesFrom(low)
	if err != nil {
		return nil, err
	}
	var found []Entry
	for lines.Scan() && (lines.Text() < want || strings.HasPrefix(lines.Text(), want)) {
		if !strings.HasPrefix(lines.Text(), want) {
			continue
		}
		e, err := ParseEntry(lines.Text())
		if err != nil {
			return nil, fmt.Errorf("%s: %w", l.index.Name(), err)
		}
		if l.covered[e.Filename] {
			found = append(found, e)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read %s: %w", l.index.Name(), err)
	}
	return found, nil
}

// linesFrom reads the lines that begin at or after a place.
func (l *Library) linesFrom(at int64) (*bufio.Scanner, error) {
	from := max(0, at-1)
	lines := bufio.NewScanner(io.NewSectionReader(l.index, from, l.size-from))
	lines.Buffer(nil, maxIndexLine)
	if at > 0 {
		lines.Scan() // the end of the line before
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read %s: %w", l.index.Name(), err)
	}
	return lines, nil
}

func (l *Library) lineAfter(at int64) (line string, ok bool, _ error) {
	lines, err := l.linesFrom(at)
	if err != nil {
		return "", false, err
	}
	ok = lines.Scan()
	return lines.Text(), ok, lines.Err()
}
