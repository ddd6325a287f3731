package outbackcdx

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"github.com/arcrawl/arcrawl/archive/index"
	"github.com/arcrawl/arcrawl/internal/atomicfile"
)

const (
	queueName    = "queue.cdxj"
	positionName = "position"
	// emptyFrom is the length from which a queue that was read to its end is begun anew.
	emptyFrom = 1 << 20
)

// Queue holds the lines of an index, in the order in which they landed, until they have been handed to another server. It is a file of
// lines and another with the position up to which they were handed on. One goroutine reads, any number add.
//
// Each line is handed on at least once. The position goes ahead only after the server has said that it has the lines, and it goes back
// to the beginning before the file is emptied. Lines are not synced one by one: [Queue.Sync] has to come before the [Live] index believes
// that it holds them for good, and what a crash takes before that is made anew by [OpenLive], which gives it back.
type Queue struct {
	dir string

	mu   sync.Mutex // guards the fields below
	file *os.File
	size int64 // whole lines
	at   int64 // handed on
	err  error // of the disk; nothing is added after it
}

// OpenQueue opens the queue in a folder, which is made if need be. A line that a crash has cut is dropped.
func OpenQueue(dir string) (*Queue, error) {
	q := &Queue{dir: dir}
	if err := q.open(); err != nil {
		return nil, fmt.Errorf("open the queue of index lines in %s: %w", dir, err)
	}
	return q, nil
}

func (q *Queue) open() error {
	if err := os.MkdirAll(q.dir, 0o755); err != nil {
		return err
	}
	f, err := os.OpenFile(filepath.Join(q.dir, queueName), os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	if q.size, err = endOfLines(f); err == nil {
		err = f.Truncate(q.size)
	}
	if err == nil {
		q.at, err = q.position(f)
	}
	if err != nil {
		return errors.Join(err, f.Close())
	}
	q.file = f
	return nil
}

// endOfLines is where the last whole line ends.
func endOfLines(f *os.File) (int64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	block := make([]byte, 128<<10)
	for end := info.Size(); end > 0; {
		from := max(0, end-int64(len(block)))
		n, err := f.ReadAt(block[:end-from], from)
		if err != nil && !errors.Is(err, io.EOF) {
			return 0, err
		}
		if i := bytes.LastIndexByte(block[:n], '\n'); i >= 0 {
			return from + int64(i) + 1, nil
		}
		end = from
	}
	return 0, nil
}

// position reads how far the lines were handed on. What makes no sense is the beginning: a line may be handed on twice.
func (q *Queue) position(f *os.File) (int64, error) {
	text, err := os.ReadFile(filepath.Join(q.dir, positionName))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return 0, err
	}
	at, err := strconv.ParseInt(strings.TrimSuffix(string(text), "\n"), 10, 64)
	if err != nil || at <= 0 {
		return 0, nil
	}
	if at >= q.size { // the rest was lost with the power, after it had been handed on
		return q.size, nil
	}
	end := make([]byte, 1)
	if _, err := f.ReadAt(end, at-1); err != nil || end[0] != '\n' {
		return 0, err
	}
	return at, nil
}

// Add adds a line of CDXJ with its end. An error is told once. Nothing is added after it, and [Queue.Sync] gives it, so that the next start
// makes good for what is missing.
func (q *Queue) Add(line []byte) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.err != nil {
		return nil
	}
	if _, err := q.file.Write(line); err != nil {
		q.err = fmt.Errorf("add to the queue of index lines in %s: %w", q.dir, err)
		return q.err
	}
	q.size += int64(len(line))
	return nil
}

// Sync makes what was added safe. Lines may be added meanwhile.
func (q *Queue) Sync() error {
	q.mu.Lock()
	err := q.err
	q.mu.Unlock()
	if err != nil {
		return err
	}
	if err := q.file.Sync(); err != nil {
		err = fmt.Errorf("sync the queue of index lines in %s: %w", q.dir, err)
		q.mu.Lock()
		q.err = err // a later success would not speak for these lines
		q.mu.Unlock()
		return err
	}
	return nil
}

// Next gives the first lines that were not handed on, at most so many and of at most so many bytes, and what to tell [Queue.Done]
// when they were. Lines that are none are passed over. There is always progress: next is beyond the position unless the queue is empty.
func (q *Queue) Next(lines, size int) (entries []index.Entry, next int64, _ error) {
	q.mu.Lock()
	from, to := q.at, q.size
	q.mu.Unlock()
	in := bufio.NewReader(io.NewSectionReader(q.file, from, min(to-from, int64(size))))
	next = from
	for len(entries) < lines {
		line, err := in.ReadString('\n')
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, from, fmt.Errorf("read the queue of index lines in %s: %w", q.dir, err)
		}
		next += int64(len(line))
		if e, err := index.ParseEntry(line); err == nil {
			entries = append(entries, e)
		}
	}
	if next == from && to > from {
		return nil, q.beyond(from, to), nil
	}
	return entries, next, nil
}

// beyond is the end of a line that is longer than any that was ever added.
func (q *Queue) beyond(from, to int64) int64 {
	in := bufio.NewReader(io.NewSectionReader(q.file, from, to-from))
	for at := from; ; at++ {
		if c, err := in.ReadByte(); err != nil || c == '\n' {
			return min(at+1, to)
		}
	}
}

// Done remembers that everything before next was handed on, safely. A long queue that is at its end is emptied; only for that does it
// keep those waiting who add.
func (q *Queue) Done(next int64) error {
	if err := q.note(next); err != nil {
		return err
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.at = next
	if next < q.size || q.size < emptyFrom {
		return nil
	}
	if err := q.note(0); err != nil { // first the position: whoever crashes in between hands it all on again
		return err
	}
	err := q.file.Truncate(0)
	if err == nil {
		err = q.file.Sync()
	}
	if err != nil {
		return fmt.Errorf("empty the queue of index lines in %s: %w", q.dir, err)
	}
	q.at, q.size = 0, 0
	return nil
}

// note writes the position, whole or not at all.
func (q *Queue) note(at int64) error {
	err := atomicfile.Write(filepath.Join(q.dir, positionName), fmt.Appendln(nil, at), 0o644)
	if err != nil {
		return fmt.Errorf("note how far the queue of index lines in %s was handed on: %w", q.dir, err)
	}
	return nil
}

// Waiting is how many bytes of lines were not handed on yet.
func (q *Queue) Waiting() int64 {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.size - q.at
}

// Close ends the queue; what waits is there at the next start.
func (q *Queue) Close() error {
	return errors.Join(q.Sync(), q.file.Close())
}
