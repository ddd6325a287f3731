package keep

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/arcrawl/arcrawl/archive/warc"
)

// ErrOtherServer says that a list of sent files belongs to another server.
var ErrOtherServer = errors.New("the list belongs to another server")

// SentFiles is a list of the files whose captures a server has. The list is a text: its first line names the server,
// and each other line a file with its size, its time of change and its name. The zero value lists nothing and
// remembers nothing.
type SentFiles struct {
	file  *os.File
	lines map[string]bool
}

// OpenSentFiles opens the list for a server, and makes it if there is none. An empty path makes a list that remembers
// nothing. The error wraps [ErrOtherServer] if it is the list of another server.
func OpenSentFiles(path, server string) (*SentFiles, error) {
	if path == "" {
		return &SentFiles{}, nil
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o644)
	if err != nil {
		return nil, err
	}
	s := &SentFiles{file: f, lines: map[string]bool{}}
	if err := s.read("server " + server); err != nil {
		return nil, errors.Join(fmt.Errorf("read the list of sent files %s: %w", path, err), f.Close())
	}
	return s, nil
}

// read reads the list, which begins with the line head.
func (s *SentFiles) read(head string) error {
	lines := bufio.NewScanner(s.file)
	if !lines.Scan() {
		if err := lines.Err(); err != nil {
			return err
		}
		return s.write(head)
	}
	if lines.Text() != head {
		return fmt.Errorf("%w: it begins with %q, want %q", ErrOtherServer, lines.Text(), head)
	}
	for lines.Scan() {
		s.lines[lines.Text()] = true
	}
	return lines.Err()
}

// Has reports whether the list has the file as it is now.
func (s *SentFiles) Has(f warc.File) bool { return s.lines[sentLine(f)] }

// Add adds the file as it is now to the list.
func (s *SentFiles) Add(f warc.File) error {
	if s.file == nil {
		return nil
	}
	return s.write(sentLine(f))
}

// Close closes the list.
func (s *SentFiles) Close() error {
	if s.file == nil {
		return nil
	}
	return s.file.Close()
}

// sentLine returns the line of a file as it is now. It is empty if there is no such file.
func sentLine(f warc.File) string {
	info, err := os.Stat(f.Path)
	if err != nil {
		return ""
	}
	return fmt.Sprintf("%d %s %s", info.Size(), info.ModTime().UTC().Format(time.RFC3339Nano), f.Name)
}

// write appends a line and makes it safe on disk.
func (s *SentFiles) write(line string) error {
	if _, err := io.WriteString(s.file, line+"\n"); err != nil {
		return fmt.Errorf("write the list of sent files: %w", err)
	}
	return s.file.Sync()
}
