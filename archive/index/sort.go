package index

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
)

const (
	defaultSortMemory = 256 << 20
	lineOverhead      = 16 // bytes of memory that a line takes in addition to its text
	runBuffer         = 64 << 10
)

// sorter sorts lines. If they do not fit in memory, it writes sorted runs to temporary files without a name and merges
// these. Lines may be added by several goroutines at the same time.
type sorter struct {
	maxMemory int64
	dir       string

	mu    sync.Mutex // guards the fields below
	lines []string
	size  int64
	runs  []*os.File
}

// newSorter returns a sorter that holds lines of maxMemory bytes in memory. 0 is the default.
func newSorter(maxMemory int64, dir string) *sorter {
	if maxMemory <= 0 {
		maxMemory = defaultSortMemory
	}
	return &sorter{maxMemory: maxMemory, dir: dir}
}

// add adds lines with their line ends.
func (s *sorter) add(lines []string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range lines {
		s.size += int64(len(l) + lineOverhead)
	}
	s.lines = append(s.lines, lines...)
	if s.size < s.maxMemory {
		return nil
	}
	return s.spill()
}

// spill writes the lines in memory to a run. The lock is held meanwhile: other callers of add would have to wait for
// memory anyway.
func (s *sorter) spill() error {
	f, err := os.CreateTemp(s.dir, "arcrawl-sort-*")
	if err != nil {
		return fmt.Errorf("sort: %w", err)
	}
	s.runs = append(s.runs, f)
	if err := os.Remove(f.Name()); err != nil {
		return fmt.Errorf("sort: %w", err)
	}
	slices.Sort(s.lines)
	w := bufio.NewWriterSize(f, runBuffer)
	for _, l := range s.lines {
		if _, err := w.WriteString(l); err != nil {
			return fmt.Errorf("sort: write a run: %w", err)
		}
	}
	s.lines, s.size = s.lines[:0], 0
	if err := w.Flush(); err != nil {
		return fmt.Errorf("sort: write a run: %w", err)
	}
	return nil
}

// close closes the runs, which frees their space.
func (s *sorter) close() {
	for _, f := range s.runs {
		_ = f.Close() // nothing needs it any more
	}
}

// writeTo writes all lines in order, without duplicates, and returns how many it wrote.
func (s *sorter) writeTo(out io.Writer) (int64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	slices.Sort(s.lines)
	from := []LineSource{inMemory(s.lines)}
	for _, f := range s.runs {
		if _, err := f.Seek(0, io.SeekStart); err != nil {
			return 0, fmt.Errorf("sort: read a run: %w", err)
		}
		from = append(from, inFile(f))
	}
	w := bufio.NewWriterSize(out, runBuffer)
	var n int64
	err := MergeLines(from, func(line string) error {
		if len(line) > MaxLine {
			return nil // no reader accepts it
		}
		if _, err := w.WriteString(line); err != nil {
			return fmt.Errorf("write the index: %w", err)
		}
		n++
		return nil
	})
	if err != nil {
		return n, err
	}
	if err := w.Flush(); err != nil {
		return n, fmt.Errorf("write the index: %w", err)
	}
	return n, nil
}

// inMemory returns the lines of a sorted list.
func inMemory(lines []string) LineSource {
	return func() (line string, err error) {
		if len(lines) == 0 {
			return "", io.EOF
		}
		line, lines = lines[0], lines[1:]
		return line, nil
	}
}

// inFile returns the lines of a run.
func inFile(run io.Reader) LineSource {
	lines := bufio.NewReaderSize(run, runBuffer)
	return func() (string, error) {
		line, err := lines.ReadString('\n')
		switch {
		case err == nil || line != "" && errors.Is(err, io.EOF):
			return line, nil
		case errors.Is(err, io.EOF):
			return "", err
		}
		return "", fmt.Errorf("sort: read a run: %w", err)
	}
}

// SearchLines returns the offset from which a list of lines, sorted by bytes, must be read to find key: lines that are
// not less than key begin at it or behind it, and so do lines of about near bytes that are less. The list has size
// bytes. lineAfter returns the first line that begins behind an offset, or at it, and "" if there is none.
func SearchLines(size, near int64, key string, lineAfter func(at int64) (string, error)) (int64, error) {
	low, high := int64(0), size // the offset that is wanted
	for high-low > near {
		middle := (low + high) / 2
		line, err := lineAfter(middle)
		if err != nil {
			return 0, err
		}
		if line != "" && line < key {
			low = middle
		} else {
			high = middle
		}
	}
	return low, nil
}

// LineSource returns the next line of a list of lines, sorted by bytes, and [io.EOF] after the last one.
type LineSource func() (line string, err error)

// MergeLines calls write with the lines of all sources in order, without duplicates.
func MergeLines(from []LineSource, write func(line string) error) error {
	type list struct {
		line string // the last one
		next LineSource
	}
	var lists []list // ordered by their lines
	read := func(next LineSource) error {
		line, err := next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		at, _ := slices.BinarySearchFunc(lists, line, func(l list, line string) int { return strings.Compare(l.line, line) })
		lists = slices.Insert(lists, at, list{line, next})
		return err
	}
	for _, next := range from {
		if err := read(next); err != nil {
			return err
		}
	}
	for before := ""; len(lists) > 0; {
		first := lists[0]
		if first.line != before {
			if err := write(first.line); err != nil {
				return err
			}
			before = first.line
		}
		lists = slices.Delete(lists, 0, 1)
		if err := read(first.next); err != nil {
			return err
		}
	}
	return nil
}
