package fetch

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
)

// segmentSize is the unit of memory for responses. Most pages with their head fit in one or two segments.
const segmentSize = 16 << 10

// spools opens spools and provides their memory.
type spools struct {
	dir      string
	memory   int64
	create   func(dir, pattern string) (*os.File, error)
	segments sync.Pool // of *[segmentSize]byte
}

func (s *spools) open() *spool { return &spool{from: s} }

// spool holds the bytes of one response: the first ones in memory, the others in a file without a name. One goroutine
// writes it; then any number may read it. It must not be read while it is written or closed.
type spool struct {
	from     *spools
	segments []*[segmentSize]byte
	size     int64 // number of bytes
	inMemory int64 // how many of them are in memory
	file     *os.File
	named    string // path of the file if it could not be removed while open
	closed   bool
}

// Write appends bytes. An error means that the file could not be created or written.
func (s *spool) Write(p []byte) (int, error) {
	written := len(p)
	for len(p) > 0 && s.inMemory < s.from.memory {
		within := int(s.inMemory % segmentSize)
		if within == 0 {
			s.segments = append(s.segments, s.from.segments.Get().(*[segmentSize]byte))
		}
		room := min(int64(segmentSize-within), s.from.memory-s.inMemory, int64(len(p)))
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

// openFile creates the file, if there is none, and removes its name.
func (s *spool) openFile() error {
	if s.file != nil {
		return nil
	}
	f, err := s.from.create(s.from.dir, "arcrawl-spool-*")
	if err != nil {
		return fmt.Errorf("create spool file: %w", err)
	}
	s.file = f
	if err := os.Remove(f.Name()); err != nil {
		s.named = f.Name()
	}
	return nil
}

// ReadAt implements [io.ReaderAt].
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

// Close releases memory and disk space. It may be called again.
func (s *spool) Close() error {
	if s.closed {
		return nil
	}
	s.closed = true
	for _, b := range s.segments {
		s.from.segments.Put(b)
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
