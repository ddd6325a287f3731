package warcout

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/internal/fileio"
)

// journalVersion is the first line of a journal. A change of the format of lines needs another number. Events are
// stored: do not change or reuse their names.
const (
	journalMagic   = "arcrawl-warc-journal "
	journalVersion = journalMagic + "1\n"
)

type event string

const (
	eventOpened     event = "opened"     // size and records of the warcinfo record
	eventCheckpoint event = "checkpoint" // size and records that were synced
	eventSealed     event = "sealed"     // final size and records
	eventRemoved    event = "removed"    // the file had no visit
)

// remembered holds what the journal says about one file.
type remembered struct {
	last    event
	size    int64
	records int64
}

// journal appends lines to a text file. The zero journal has no file and drops all events.
type journal struct {
	file *os.File
	size int64
}

// openJournal reads the journal at path and opens it for appending. It counts invalid lines as damaged. It cuts off an
// incomplete last line without counting it.
func openJournal(path string) (j *journal, known map[string]remembered, damaged int64, err error) {
	known = map[string]remembered{}
	if path == "" {
		return &journal{}, known, 0, nil
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, nil, 0, fmt.Errorf("open WARC journal: %w", err)
	}
	size, damaged, err := readJournal(f, known)
	if err == nil {
		err = f.Truncate(size)
	}
	j = &journal{file: f, size: size}
	if err == nil && size == 0 {
		err = errors.Join(j.appendLine(journalVersion), j.sync(), fileio.SyncDir(filepath.Dir(path)))
	}
	if err != nil {
		return nil, nil, 0, errors.Join(fmt.Errorf("open WARC journal %s: %w", path, err), f.Close())
	}
	return j, known, damaged, nil
}

// readJournal fills known, and returns the size of the complete lines.
func readJournal(f io.Reader, known map[string]remembered) (size, damaged int64, err error) {
	lines := bufio.NewReaderSize(f, 4096) // much longer than a line
	for {
		line, err := lines.ReadSlice('\n')
		n := int64(len(line))
		tooLong := false
		for err == bufio.ErrBufferFull {
			tooLong = true
			line, err = lines.ReadSlice('\n')
			n += int64(len(line))
		}
		switch {
		case size == 0 && err == nil && string(line) != journalVersion:
			return 0, 0, fmt.Errorf("first line is %.40q, want %q: not a journal, or written by a newer arcrawl", line, strings.TrimSpace(journalVersion))
		case size == 0 && err == io.EOF && !bytes.HasPrefix([]byte(journalVersion), line):
			return 0, 0, errors.New("not a WARC journal")
		case err == io.EOF:
			return size, damaged, nil
		case err != nil:
			return 0, 0, err
		}
		if size > 0 && (tooLong || !remember(known, string(line))) {
			damaged++
		}
		size += n
	}
}

// remember reads one line into known, and reports whether the line is valid.
func remember(known map[string]remembered, line string) bool {
	parts := strings.Split(strings.TrimSuffix(line, "\n"), " ")
	if len(parts) != 5 {
		return false
	}
	name, happened := parts[2], event(parts[1])
	size, err1 := strconv.ParseInt(parts[3], 10, 64)
	records, err2 := strconv.ParseInt(parts[4], 10, 64)
	if errors.Join(err1, err2) != nil || size < 0 || records < 0 || name == "" || name != filepath.Base(name) {
		return false
	}
	switch happened {
	case eventOpened, eventCheckpoint, eventSealed:
		known[name] = remembered{happened, size, records}
	case eventRemoved:
		delete(known, name)
	default:
		return false
	}
	return true
}

// add appends one event. After an error the journal is as before.
func (j *journal) add(now time.Time, happened event, name string, size, records int64) error {
	if j.file == nil {
		return nil
	}
	line := fmt.Sprintf("%s %s %s %d %d\n", stamp(now), happened, name, size, records)
	if err := j.appendLine(line); err != nil {
		return fmt.Errorf("write WARC journal: %w", err)
	}
	return nil
}

func (j *journal) appendLine(line string) error {
	if _, err := j.file.WriteAt([]byte(line), j.size); err != nil {
		// If a partial line cannot be cut off, the next line overwrites it, or the next start drops it.
		return errors.Join(err, j.file.Truncate(j.size))
	}
	j.size += int64(len(line))
	return nil
}

func (j *journal) sync() error {
	if j.file == nil {
		return nil
	}
	if err := j.file.Sync(); err != nil {
		return fmt.Errorf("sync WARC journal: %w", err)
	}
	return nil
}

func (j *journal) close() error {
	if j.file == nil {
		return nil
	}
	return errors.Join(j.sync(), j.file.Close())
}
