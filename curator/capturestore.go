package curator

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/crawler"
)

// The files of a store. When the first one is full it replaces the second one.
const (
	fileName = "captures.jsonl"
	oldName  = "captures-old.jsonl"
)

// The bounds of a file. Both files together hold at most twice as much.
const (
	maxLines = 50_000
	maxBytes = 16 << 20
)

// captureStore keeps the latest captures: [maxCaptures] of them in memory, and more in files, which survive a crash.
// Its methods are safe for concurrent use.
type captureStore struct {
	dir string

	mu    sync.Mutex // guards the fields below
	ring  ring
	file  *os.File // nil = nothing is stored
	lines int
	size  int64

	hours [2]hours // of the captures in the old and in the new file

	demanded map[string]bool // URIs that somebody wants to be visited now
}

// maxDemanded is the maximum number of URIs whose visits on demand are awaited.
const maxDemanded = 10_000

// openCaptures returns the store of a folder, with the captures of earlier runs. Without a folder nothing is stored.
// The error is about the files; the store can be used all the same, and keeps captures in memory.
func openCaptures(dir string) (*captureStore, error) {
	s := &captureStore{dir: dir}
	if dir == "" {
		return s, nil
	}
	text, errOld := s.read(oldName)
	newer, err := s.read(fileName)
	s.lines, s.size = bytes.Count(newer, newline), int64(len(newer))
	text = append(text, newer...)
	for line := range lastLines(text, maxCaptures) {
		if c, ok := parse(line); ok {
			s.ring.put(c)
		}
	}
	s.hours = [2]hours{hoursOf(text[:len(text)-len(newer)]), hoursOf(newer)}
	return s, errors.Join(errOld, err, s.openFile(len(newer) > 0 && newer[len(newer)-1] != '\n'))
}

var newline = []byte("\n")

func (s *captureStore) read(name string) ([]byte, error) {
	text, err := os.ReadFile(filepath.Join(s.dir, name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return text, err
}

// openFile opens the file to append to it. A last line that a crash has cut is ended.
func (s *captureStore) openFile(cut bool) (err error) {
	s.file, err = os.OpenFile(filepath.Join(s.dir, fileName), os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o640)
	if err == nil && cut {
		_, err = s.file.Write(newline)
	}
	return err
}

// lastLines returns the last n lines of a text, the oldest first.
func lastLines(text []byte, n int) func(yield func([]byte) bool) {
	at := len(text)
	for range n + 1 {
		if at <= 0 {
			break
		}
		at = bytes.LastIndexByte(text[:at], '\n')
	}
	return bytes.Lines(text[max(at, 0):])
}

// parse parses a line. A line that is not one of a capture is left out: a crash may have cut it.
func parse(line []byte) (c api.Capture, ok bool) {
	return c, json.Unmarshal(line, &c) == nil && strings.Contains(c.URI, "://")
}

// Add adds the capture of a visit, if the visit found a version of a page. The files are not synced: a crash of the
// program loses nothing, one of the machine the last seconds.
func (s *captureStore) Add(v crawler.Report) {
	s.mu.Lock()
	defer s.mu.Unlock()
	demanded := len(s.demanded) > 0 && s.demanded[v.URI.String()]
	if demanded {
		delete(s.demanded, v.URI.String())
	}
	if c, ok := captureOf(v, demanded); ok {
		s.put(c)
	}
}

// Demand notes that somebody wants URIs to be visited now. The next visit of each is listed even if it finds nothing
// new. A restart forgets it.
func (s *captureStore) Demand(uris []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.demanded == nil {
		s.demanded = map[string]bool{}
	}
	for _, u := range uris {
		if len(s.demanded) < maxDemanded {
			s.demanded[u] = true
		}
	}
}

// put adds a capture. The lock is held. After an error of the disk nothing more is stored until the next start: the
// captures are in the archive.
func (s *captureStore) put(c api.Capture) {
	s.ring.put(c)
	if s.file == nil {
		return
	}
	var line bytes.Buffer
	e := json.NewEncoder(&line)
	e.SetEscapeHTML(false) // so that a search finds the characters
	err := e.Encode(c)
	if err == nil && (s.lines >= maxLines || s.size+int64(line.Len()) > maxBytes) {
		err = s.turn()
	}
	if err == nil {
		_, err = s.file.Write(line.Bytes())
	}
	if err != nil {
		_ = s.file.Close()
		s.file = nil
		return
	}
	s.hours[1].add(c.Host, c.Kind, c.At)
	s.lines, s.size = s.lines+1, s.size+int64(line.Len())
}

// turn begins a new file. The full one replaces the old one.
func (s *captureStore) turn() error {
	name := filepath.Join(s.dir, fileName)
	if err := errors.Join(s.file.Close(), os.Rename(name, filepath.Join(s.dir, oldName))); err != nil {
		return err
	}
	s.lines, s.size, s.hours = 0, 0, [2]hours{s.hours[1], {}}
	return s.openFile(false)
}

// Select returns the selected captures among the latest, newest first, and how many there are beyond the limit.
func (s *captureStore) Select(f captureFilter) (list []api.Capture, more int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ring.Select(f)
}

// Titled returns the latest capture of each URI with a text in its title, newest first, and the time since which the
// titles of captures were searched. It searches the last 50,000 to 100,000 captures, for a bounded time.
func (s *captureStore) Titled(
	q captureFilter, within time.Duration, now func() time.Time,
) (list []api.Capture, since time.Time) {
	list = []api.Capture{}
	if s.dir == "" {
		return list, since
	}
	var quoted bytes.Buffer // the text as a line has it
	e := json.NewEncoder(&quoted)
	e.SetEscapeHTML(false)
	if e.Encode(strings.ToLower(q.Text)) != nil {
		return list, since
	}
	part := strings.Trim(strings.TrimSpace(quoted.String()), `"`)
	seen, end := map[string]bool{}, now().Add(within)
	var last []byte
	for line := range s.newestFirst() {
		if len(list) >= q.Limit || now().After(end) {
			break
		}
		if last = line; !strings.Contains(strings.ToLower(string(line)), part) {
			continue
		}
		c, ok := parse(line)
		if ok && !seen[c.URI] && contains(c.Title, q.Text) &&
			(q.Host == "" || c.Host == q.Host) && (q.Sites == nil || q.Sites(c.Host)) {
			seen[c.URI] = true
			list = append(list, c)
		}
	}
	if c, ok := parse(last); ok {
		since = c.At
	}
	return list, since
}

// Each calls use with the captures after a given time, newest first: the last 50,000 to 100,000. from is zero if these
// are all. Else the files have none before from, because they are full.
func (s *captureStore) Each(since time.Time, use func(api.Capture)) (from time.Time) {
	if s.dir == "" {
		return from
	}
	slack := since.Add(-maxDisorder)
	for line := range s.newestFirst() {
		c, ok := parse(line)
		if !ok {
			continue
		}
		if c.At.Before(slack) {
			return time.Time{}
		}
		if from = c.At; c.At.After(since) {
			use(c)
		}
	}
	if _, err := os.Stat(filepath.Join(s.dir, oldName)); errors.Is(err, fs.ErrNotExist) {
		return time.Time{}
	}
	return from
}

// maxDisorder is the maximum difference in the order of captures: one may be noted after others that ended later.
const maxDisorder = 10 * time.Minute

// newestFirst returns the lines of both files.
func (s *captureStore) newestFirst() func(yield func([]byte) bool) {
	return func(yield func([]byte) bool) {
		files := s.openBoth()
		defer func() {
			for _, f := range files {
				_ = f.Close()
			}
		}()
		for _, f := range files {
			for line := range backward(f, maxBlock) {
				if !yield(line) {
					return
				}
			}
		}
	}
}

// maxBlock is how much of a file is read at once, in bytes. Most questions are answered by the last lines.
const maxBlock = 256 << 10

// backward returns the lines of a file, the last one first, from blocks that are read from the end. It ends at an
// error, as behind the first line: the lines are for people who search.
func backward(f *os.File, block int64) func(yield func([]byte) bool) {
	return func(yield func([]byte) bool) {
		at, err := f.Seek(0, io.SeekEnd)
		var rest []byte // the end of a line whose beginning is in the block before
		for err == nil && at > 0 {
			n := min(at, block)
			at -= n
			text := make([]byte, n, n+int64(len(rest)))
			if _, err = f.ReadAt(text, at); err != nil {
				return
			}
			text = append(text, rest...)
			for len(text) > 0 {
				cut := bytes.LastIndexByte(text[:len(text)-1], '\n') + 1
				if cut == 0 && at > 0 {
					break // the line may begin before
				}
				if !yield(text[cut:]) {
					return
				}
				text = text[:cut]
			}
			rest = text
		}
	}
}

// openBoth opens the files, the newer one first, at one moment: no line is in both, and none between them is missing.
func (s *captureStore) openBoth() (files []*os.File) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, name := range []string{fileName, oldName} {
		if f, err := os.Open(filepath.Join(s.dir, name)); err == nil {
			files = append(files, f)
		}
	}
	return files
}

// Close closes the file.
func (s *captureStore) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.file == nil {
		return nil
	}
	err := s.file.Close()
	s.file = nil
	return err
}
