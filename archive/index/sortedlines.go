package index

import (
	"container/heap"
	"errors"
	"io"
)

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
	var h lists
	for _, next := range from {
		line, err := next()
		switch {
		case err == nil:
			h = append(h, list{line, next})
		case !errors.Is(err, io.EOF):
			return err
		}
	}
	heap.Init(&h)
	for before := ""; len(h) > 0; {
		if line := h[0].line; line != before {
			if err := write(line); err != nil {
				return err
			}
			before = line
		}
		line, err := h[0].next()
		switch {
		case err == nil:
			h[0].line = line
			heap.Fix(&h, 0)
		case errors.Is(err, io.EOF):
			heap.Pop(&h)
		default:
			return err
		}
	}
	return nil
}

// list is a source with the line that it returned last.
type list struct {
	line string
	next LineSource
}

// lists is a heap of lists, ordered by their current lines.
type lists []list

// Len returns the number of lists that have lines left.
func (h lists) Len() int { return len(h) }

// Less compares current lines.
func (h lists) Less(i, j int) bool { return h[i].line < h[j].line }

// Swap swaps two lists.
func (h lists) Swap(i, j int) { h[i], h[j] = h[j], h[i] }

// Push adds a list. Only package heap calls it.
func (h *lists) Push(x any) { *h = append(*h, x.(list)) }

// Pop removes the last list. Only package heap calls it.
func (h *lists) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}
