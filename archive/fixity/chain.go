package fixity

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/arcrawl/arcrawl/internal/fileio"
)

const (
	// maxLine is the maximum length of a line in bytes.
	maxLine = 64 << 10
	// maxFaults is the maximum number of faults of a file that are kept. Each change of a line causes one.
	maxFaults = 100
)

// chain is a file of lines, each a JSON object, that only grows. Each line after the first is synced before the next,
// and has the SHA-256 of the line before it.
type chain struct {
	file  *os.File
	last  string                    // SHA-256 of the last line
	size  int64                     // of the whole lines
	lines map[[sha256.Size]byte]int // numbers of the lines, by their SHA-256; nil = they are not kept
}

// follow returns the faults of a file with the faults of one more line, which names the SHA-256 of the line before it.
func (c *chain) follow(faults []string, n int, previous string, readable bool) []string {
	switch {
	case len(faults) == maxFaults:
	case !readable:
		faults = append(faults, fmt.Sprintf("line %d cannot be read", n))
	case previous != c.last:
		faults = append(faults, fmt.Sprintf("line %d does not follow the line before it: a line was changed or removed", n))
	}
	return faults
}

// open opens a file to add lines to it, and calls see with each line. It removes a line that a crash has cut. It writes
// the first line if there is none.
func (c *chain) open(path string, see func(n int, line []byte) error, first func() any) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return err
	}
	c.file = f
	if err = c.read(f, see); err == nil {
		err = f.Truncate(c.size)
	}
	if err == nil && c.size == 0 {
		err = errors.Join(c.add(first()), fileio.SyncDir(filepath.Dir(path)))
	}
	if err != nil {
		return errors.Join(fmt.Errorf("%s: %w", path, err), f.Close())
	}
	return nil
}

// Close closes the file.
func (c *chain) Close() error { return c.file.Close() }

// read calls see with each whole line and its number, from 1.
func (c *chain) read(f io.Reader, see func(n int, line []byte) error) error {
	lines := bufio.NewReaderSize(f, maxLine)
	for n := 1; ; n++ {
		line, err := lines.ReadSlice('\n')
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read line %d: %w", n, err)
		}
		if err := see(n, line); err != nil {
			return err
		}
		c.grow(line)
	}
}

// grow notes that a line is the last.
func (c *chain) grow(line []byte) {
	sum := sumOf(line)
	if c.lines != nil {
		c.lines[sum] = len(c.lines) + 1
	}
	c.last = hex.EncodeToString(sum[:])
	c.size += int64(len(line))
}

// sumOf returns the SHA-256 of a line without its line end.
func sumOf(line []byte) [sha256.Size]byte { return sha256.Sum256(bytes.TrimSuffix(line, []byte("\n"))) }

// add appends a line and syncs it.
func (c *chain) add(v any) error {
	line, err := json.Marshal(v)
	if err != nil {
		return err
	}
	line = append(line, '\n')
	if _, err := c.file.WriteAt(line, c.size); err != nil {
		return errors.Join(err, c.file.Truncate(c.size))
	}
	if err := c.file.Sync(); err != nil {
		return err
	}
	c.grow(line)
	return nil
}

// lineOf returns the number of the line with a SHA-256; 0 if no line has it.
func (c *chain) lineOf(sum string) int {
	b, err := hex.DecodeString(sum)
	if err != nil || len(b) != sha256.Size {
		return 0
	}
	return c.lines[[sha256.Size]byte(b)]
}

// lastOf returns the SHA-256 of the last whole line of a file without reading the others; "" if there is none.
func lastOf(path string) (sum string, err error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	defer f.Close() //nolint:errcheck // nothing was written
	info, err := f.Stat()
	if err != nil {
		return "", err
	}
	tail := make([]byte, min(info.Size(), 2*maxLine))
	if _, err := f.ReadAt(tail, info.Size()-int64(len(tail))); err != nil {
		return "", err
	}
	end := bytes.LastIndexByte(tail, '\n')
	if end < 0 {
		return "", nil
	}
	last := sumOf(tail[bytes.LastIndexByte(tail[:end], '\n')+1 : end])
	return hex.EncodeToString(last[:]), nil
}
