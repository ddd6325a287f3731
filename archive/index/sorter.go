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
	lineOverhead      = 16 // bytes of memory for a line beside its text
	runBuffer         = 64 << 10
)

// sorter sorts lines, of which there may be more than fit in memory: sorted runs wait in nameless files and are merged.
// Lines may be added by several goroutines at the same time.
type sorter struct {
	most int64
	dir  string

	mu    sync.Mutex // guards the fields below
	lines []string
	size  int64
	runs  []*os.File
}

func newSorter(most int64, dir string) *sorter {
	if most <= 0 {
		most = defaultSortMemory
	}
	return &sorter{most: most, dir: dir}
}

// add takes lines with their ends.
func (s *sorter) add(lines []string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range lines {
		s.size += int64(len(l) + lineOverhead)
	}
	s.lines = append(s.lines, lines...)
	if s.size < s.most {
		return nil
	}
	return s.spill()
}

// spill writes what is in memory to a run. The lock is held: whoever adds has to wait for room anyway.
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

// close gives the space of the runs back.
func (s *sorter) close() {
	for _, f := range s.runs {
		_ = f.Close() // it has no name any more and nothing needs it
	}
}

// writeTo writes all lines in order, equal ones once, and tells how many.
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
		if line != before {
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

// advance goes to the next line and reports whether there is one.
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

// runs is a heap of runs by their present lines.
type runs struct {
	list []*run
	err  error
}

// Len is how many runs have lines left.
func (h *runs) Len() int { return len(h.list) }

// Less compares present lines.
func (h *runs) Less(i, j int) bool { return strings.Compare(h.list[i].line, h.list[j].line) < 0 }

// Swap changes places.
func (h *runs) Swap(i, j int) { h.list[i], h.list[j] = h.list[j], h.list[i] }

// Push is for package heap.
func (h *runs) Push(x any) { h.list = append(h.list, x.(*run)) }

// Pop is for package heap.
func (h *runs) Pop() any {
	last := h.list[len(h.list)-1]
	h.list = h.list[:len(h.list)-1]
	return last
}

func (h *runs) add(r *run) {
	more, err := r.advance()
	h.err = errors.Join(h.err, err)
	if more {
		heap.Push(h, r)
	}
}

// next takes the smallest line off.
func (h *runs) next() {
	more, err := h.list[0].advance()
	h.err = errors.Join(h.err, err)
	if more && err == nil {
		heap.Fix(h, 0)
	} else {
		heap.Pop(h)
	}
}
