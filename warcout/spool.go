package warcout

import (
	"errors"
	"fmt"
	"io"
	"os"
)

// spoolMemory is the largest compressed visit that waits in memory. Nearly all pages are smaller.
const spoolMemory = 1 << 20

// textMemory is the size of the reused memory in which records are composed. It suffices for four short ones.
const textMemory = 8 << 10

// spool holds the compressed records of one visit until they can be appended: in memory, or in an unnamed file.
type spool struct {
	text  []byte // memory for records before they are compressed
	short brief
	one   []byte // a short record, compressed
	dir   string // for the file
	mem   []byte
	file  *os.File
	size  int64
	limit int // of mem
}

func newSpool(dir string, code *briefCode) *spool {
	return &spool{text: make([]byte, 0, textMemory), short: brief{code: code}, dir: dir, limit: spoolMemory}
}

// brief appends a record as a gzip member, if it is a short one.
func (s *spool) brief(text []byte) (done bool, err error) {
	if s.one, done = s.short.member(s.one[:0], text); done {
		_, err = s.Write(s.one)
	}
	return done, err
}

// Write appends p to the spool.
func (s *spool) Write(p []byte) (int, error) {
	if s.file == nil && len(s.mem)+len(p) <= s.limit {
		s.mem = append(s.mem, p...)
		s.size += int64(len(p))
		return len(p), nil
	}
	if err := s.openFile(); err != nil {
		return 0, err
	}
	n, err := s.file.Write(p)
	s.size += int64(n)
	return n, err
}

// openFile creates the file and removes its name at once, so that a crash leaves nothing.
func (s *spool) openFile() error {
	if s.file != nil {
		return nil
	}
	f, err := os.CreateTemp(s.dir, "warcout-*.tmp")
	if err != nil {
		return fmt.Errorf("create a temporary file for a large visit: %w", err)
	}
	if err := os.Remove(f.Name()); err != nil {
		return errors.Join(fmt.Errorf("create a temporary file for a large visit: %w", err), f.Close())
	}
	s.file = f
	return nil
}

// copyTo writes the content to dst at offset.
func (s *spool) copyTo(dst io.WriterAt, offset int64) error {
	if _, err := dst.WriteAt(s.mem, offset); err != nil {
		return err
	}
	if s.file == nil {
		return nil
	}
	rest := s.size - int64(len(s.mem))
	n, err := io.Copy(io.NewOffsetWriter(dst, offset+int64(len(s.mem))), io.NewSectionReader(s.file, 0, rest))
	if err == nil && n < rest {
		err = fmt.Errorf("spool file: %w", io.ErrUnexpectedEOF)
	}
	return err
}

// reset empties the spool for the next visit. An error of closing the file says nothing about the visit: what was in it
// is in the archive, or is dropped.
func (s *spool) reset() {
	if s.file != nil {
		_ = s.file.Close()
	}
	s.mem, s.file, s.size = s.mem[:0], nil, 0
}
