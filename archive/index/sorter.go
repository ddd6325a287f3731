package index

import (
	"bufio"
	"container/heap"
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
	var all runs
	all.add(&run{memory: s.lines})
	for _, f := range s.runs {
		if _, err := f.Seek(0, io.SeekStart); err != nil {
			return 0, fmt.Errorf("sort: read a run: %w", err)
		}
		all.add(&run{file: bufio.NewReaderSize(f, runBuffer)})
	}
	w := bufio.NewWriterSize(out, runBuffer)
	var n int64
	for before := ""; all.Len() > 0; {
		line := all.list[0].line
		if line != before && len(line) <= MaxLine { // an earlier version may have written longer ones
			if _, err := w.WriteString(line); err != nil {
				return n, fmt.Errorf("write the index: %w", err)
			}
			n++
			before = line
		}
		all.next()
	}
	if all.err != nil {
		return n, fmt.Errorf("sort: read a run: %w", all.err)
	}
	if err := w.Flush(); err != nil {
		return n, fmt.Errorf("write the index: %w", err)
	}
	return n, nil
}

// run is a sorted list of lines, in memory or in a file.
type run struct {
	memory []string
	file   *bufio.Reader
	line   string
}

// advance reads the next line and reports whether there is one.
func (r *run) advance() (bool, error) {
	if r.file == nil {
		if len(r.memory) == 0 {
			return false, nil
		}
		r.line, r.memory = r.memory[0], r.memory[1:]
		return true, nil
	}
	line, err := r.file.ReadString('\n')
	r.line = line
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return line != "", err
}

// runs is a heap of runs, ordered by their current lines.
type runs struct {
	list []*run
	err  error
}

// Len returns the number of runs that have lines left.
func (h *runs) Len() int { return len(h.list) }

// Less compares current lines.
func (h *runs) Less(i, j int) bool { return strings.Compare(h.list[i].line, h.list[j].line) < 0 }

// Swap swaps two runs.
func (h *runs) Swap(i, j int) { h.list[i], h.list[j] = h.list[j], h.list[i] }

// Push adds a run. Only package heap calls it.
func (h *runs) Push(x any) { h.list = append(h.list, x.(*run)) }

// Pop removes the last run. Only package heap calls it.
func (h *runs) Pop() any {
	last := h.list[len(h.list)-1]
	h.list = h.list[:len(h.list)-1]
	return last
}

// add adds a run that has lines.
func (h *runs) add(r *run) {
	more, err := r.advance()
	h.err = errors.Join(h.err, err)
	if more {
		heap.Push(h, r)
	}
}

// next advances the run with the smallest line.
func (h *runs) next() {
	more, err := h.list[0].advance()
	h.err = errors.Join(h.err, err)
	if more && err == nil {
		heap.Fix(h, 0)
	} else {
		heap.Pop(h)
	}
}
