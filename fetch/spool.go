package fetch

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
)

// segmentSize is the unit of memory for response bytes: most pages with their head fit in one or two.
const segmentSize = 16 << 10

// store opens spools and lends them their memory.
type store struct {
	dir      string
	memory   int64
	create   func(dir, pattern string) (*os.File, error)
	segments sync.Pool // of *[segmentSize]byte
}

func (s *store) open() *spool { return &spool{store: s} }

// spool holds the bytes of one response: the first ones in memory, the others in a file without a name. It is written
// by one goroutine, then read by any; it must not be read while it is written or closed.
type spool struct {
	store    *store
	segments []*[segmentSize]byte
	size     int64 // of all
	inMemory int64 // the first of them
	file     *os.File
	named    string // of a file that could not be removed while open
	closed   bool
}

// Write appends. The error is our own: the file could not be made or written.
func (s *spool) Write(p []byte) (int, error) {
	written := len(p)
	for len(p) > 0 && s.inMemory < s.store.memory {
		within := int(s.inMemory % segmentSize)
		if within == 0 {
			s.segments = append(s.segments, s.store.segment())
		}
		room := min(int64(segmentSize-within), s.store.memory-s.inMemory, int64(len(p)))
		copy(s.segments[len(s.segments)-1][within:], p[:room])
		s.inMemory += room
		s.size += room
		p = p[room:]
	}
	if len(p) == 0 {
		return written, nil
	}
	if err := s.openFile(); err != nil {
		return 0, err
	}
	if _, err := s.file.Write(p); err != nil {
		return 0, fmt.Errorf("write spool file: %w", err)
	}
	s.size += int64(len(p))
	return written, nil
}

func (s *store) segment() *[segmentSize]byte {
	if b, ok := s.segments.Get().(*[segmentSize]byte); ok {
		return b
	}
	return new([segmentSize]byte)
}

func (s *spool) openFile() error {
	if s.file != nil {
		return nil
	}
	f, err := s.store.create(s.store.dir, "arcrawl-spool-*")
	if err != nil {
		return fmt.Errorf("make spool file: %w", err)
	}
	s.file = f
	if err := os.Remove(f.Name()); err != nil {
		s.named = f.Name()
	}
	return nil
}

// ReadAt reads back; see [io.ReaderAt].
func (s *spool) ReadAt(p []byte, off int64) (int, error) {
	if s.closed {
		return 0, ErrClosed
	}
	read := 0
	for read < len(p) && off < s.inMemory {
		within := off % segmentSize
		end := min(segmentSize, within+s.inMemory-off)
		n := copy(p[read:], s.segments[off/segmentSize][within:end])
		read += n
		off += int64(n)
	}
	if read == len(p) {
		return read, nil
	}
	if s.file == nil {
		return read, io.EOF
	}
	n, err := s.file.ReadAt(p[read:], off-s.inMemory)
	if err != nil && !errors.Is(err, io.EOF) {
		return read + n, fmt.Errorf("read spool file: %w", err)
	}
	return read + n, err
}

// Close gives back memory and disk space. It may be called again.
func (s *spool) Close() error {
	if s.closed {
		return nil
	}
	s.closed = true
	for _, b := range s.segments {
		s.store.segments.Put(b)
	}
	s.segments = nil
	if s.file == nil {
		return nil
	}
	err := s.file.Close()
	if s.named != "" {
		err = errors.Join(err, os.Remove(s.named))
	}
	if err != nil {
		return fmt.Errorf("close spool file: %w", err)
	}
	return nil
}
