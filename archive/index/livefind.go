package index

import (
	"bufio"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"os"
	"strings"

	"github.com/arcrawl/arcrawl/archive/warc"
)

// place is where a line of the live file begins. A look-up goes through the places of all lines, with 16 bytes each,
// and reads only the lines of its key.
type place struct {
	key uint64 // hash
	at  int64
}

// Find calls see with the entries of a key in the live file whose timestamps begin with a text, in the order in which
// they were added.
func (l *Live) Find(key, stamps string, see func(Entry)) error {
	f, places, err := l.placesOf(key)
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // nothing was written
	want := key + " " + stamps
	in, at := bufio.NewReaderSize(nil, lineBuffer), int64(-1) // at is where in is
	for _, pos := range places {
		line, err := "", io.EOF
		if gap := pos - at; at >= 0 && gap >= 0 && gap < int64(in.Buffered()) {
			_, _ = in.Discard(int(gap)) // it is in memory
			line, err = in.ReadString('\n')
		}
		if err != nil { // the line was not read before, or not to its end
			in.Reset(io.NewSectionReader(f, pos, MaxLine))
			line, err = in.ReadString('\n')
		}
		if err != nil && err != io.EOF {
			return fmt.Errorf("read %s: %w", f.Name(), err)
		}
		at = pos + int64(len(line))
		if !strings.HasPrefix(line, want) {
			continue // another time, or another key with the same hash
		}
		if e, err := ParseEntry(strings.TrimSuffix(line, "\n")); err == nil { // longer lines are not found
			see(e)
		}
	}
	return nil
}

// lineBuffer is the number of bytes that are read at once. The next lines often have the same key.
const lineBuffer = 8 << 10

// placesOf returns the places of the lines of a key, and the live file in which they are, also if it is replaced.
func (l *Live) placesOf(key string) (f *os.File, places []int64, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if f, err = l.reading(); err != nil {
		return nil, nil, err
	}
	hash := maphash.String(l.seed, key)
	for _, p := range l.places {
		if p.key == hash && p.at < l.size {
			places = append(places, p.at)
		}
	}
	return f, places, nil
}

// reading writes the waiting lines, and opens the live file to search it. The lock is held.
func (l *Live) reading() (*os.File, error) {
	if l.err == nil {
		_ = l.write() // the error is stored and stops the index, not this search
	}
	return os.Open(l.path(liveName))
}

// Knows reports whether the live file has the captures of a WARC file.
func (l *Live) Knows(file string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, ok := l.open[strings.TrimSuffix(file, warc.OpenSuffix)]
	return ok
}

// EachBelow calls do with the entries of the live file whose key is one for which begins returns true.
func (l *Live) EachBelow(begins func(key string) bool, do func(Entry) error) error {
	l.mu.Lock()
	f, err := l.reading()
	size := l.size
	l.mu.Unlock()
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // nothing was written
	lines := NewLines(io.LimitReader(f, size))
	for lines.Scan() {
		if key, _, _ := strings.Cut(lines.Text(), " "); !begins(key) {
			continue
		}
		if e, err := ParseEntry(lines.Text()); err == nil { // a merge may have cut the last line
			if err := do(e); err != nil {
				return err
			}
		}
	}
	return lines.Err()
}

// Dir returns the folder of the index.
func (l *Live) Dir() string { return l.dir }

// Merges returns how often lines were moved to a sorted index. Readers open the sorted indexes again when it changes.
func (l *Live) Merges() int64 { return l.merges.Load() }

// OnClose adds what [Live.Close] closes first, such as a reader.
func (l *Live) OnClose(do func() error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.readers = append(l.readers, do)
}

// closeReaders closes the readers. They may read while it waits for them.
func (l *Live) closeReaders() (err error) {
	l.mu.Lock()
	readers := l.readers
	l.mu.Unlock()
	for _, read := range readers {
		err = errors.Join(err, read())
	}
	return err
}
