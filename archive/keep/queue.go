package keep

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
	"github.com/arcrawl/arcrawl/internal/fileio"
)

const (
	queueName    = "queue.cdxj"
	positionName = "position"
	// emptyFrom is the minimum size in bytes at which a queue that was read to its end is emptied.
	emptyFrom = 1 << 20
)

// Queue holds the lines of an index on disk, in the order in which they were added, until a server has accepted them.
// It consists of a file of lines and a file with the position up to which they were sent. One goroutine may read while
// others add.
//
// Each line is sent at least once. The position advances only after the server has accepted the lines, and is reset
// before the file of lines is emptied. Lines are not synced one by one: [Queue.Sync] must run before an [index.Live]
// merges them. Lines that a crash loses before that are added again at the next start, by [index.OpenLive].
type Queue struct {
	dir string

	mu   sync.Mutex // guards the fields below
	file *os.File
	size int64 // of the whole lines, in bytes
	at   int64 // position up to which lines were sent
	err  error // the first disk error; no line is added after it
}

// OpenQueue opens the queue in a folder, which is created if it is missing. It removes a line that a crash has cut.
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

// endOfLines returns the offset at which the last whole line ends.
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

// position reads the position up to which lines were sent. It is 0 if the stored position is not valid: sending a line
// twice is harmless.
func (q *Queue) position(f *os.File) (int64, error) {
	text, err := os.ReadFile(filepath.Join(q.dir, positionName))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return 0, err
	}
	at, err := strconv.ParseInt(strings.TrimSuffix(string(text), "\n"), 10, 64)
	if err != nil || at <= 0 {
		return 0, nil
	}
	if at >= q.size { // a power cut has lost the rest, after it had been sent
		return q.size, nil
	}
	end := make([]byte, 1)
	if _, err := f.ReadAt(end, at-1); err != nil || end[0] != '\n' {
		return 0, err
	}
	return at, nil
}

// Add adds a line of CDXJ with its line end. It returns a disk error once and then ignores all further lines.
// [Queue.Sync] keeps returning the error, so that the next start adds what is missing.
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

// Sync makes the added lines safe on disk. Lines may be added meanwhile.
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
		q.err = err // a later success would not mean that these lines are safe
		q.mu.Unlock()
		return err
	}
	return nil
}

// Next returns the first entries that were not sent yet, at most the given number of lines and bytes. next is the
// argument of [Queue.Done] for when they were sent. Next skips lines that are not valid. It always makes progress: next
// is greater than the position, unless the queue is empty.
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

// beyond returns the end of a line that is too long to be valid.
func (q *Queue) beyond(from, to int64) int64 {
	in := bufio.NewReader(io.NewSectionReader(q.file, from, to-from))
	for pos := from; ; pos++ {
		if c, err := in.ReadByte(); err != nil || c == '\n' {
			return min(pos+1, to)
		}
	}
}

// Done stores that all lines before next were sent. It empties a long queue when all its lines were sent, and blocks
// Add only for that.
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
	if err := q.note(0); err != nil { // first the position: after a crash in between, all lines are sent again
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

// note stores the position.
func (q *Queue) note(at int64) error {
	err := fileio.Write(filepath.Join(q.dir, positionName), fmt.Appendln(nil, at), 0o644)
	if err != nil {
		return fmt.Errorf("store the position of the queue of index lines in %s: %w", q.dir, err)
	}
	return nil
}

// Waiting returns the size of the lines that were not sent yet, in bytes.
func (q *Queue) Waiting() int64 {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.size - q.at
}

// Close closes the queue. Lines that were not sent stay for the next start.
func (q *Queue) Close() error {
	return errors.Join(q.Sync(), q.file.Close())
}
