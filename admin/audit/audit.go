// Package audit keeps a log of who changed what in a crawl: a file with one JSON object on each line.
//
// The log is in the state folder. The daemon and commands that work on a stopped crawl append to it. A full file is
// renamed, and the oldest files are removed, so that the log takes at most about 100 MB.
package audit

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"
)

// Entry is one order or other change, and its result.
type Entry struct {
	Time   time.Time       `json:"time"`
	Who    string          `json:"who"`              // name of the user or of the token; "" if it is not known
	Way    string          `json:"way"`              // "socket", "token", "session", "proxy", "node", "files" or "store"
	What   string          `json:"what"`             // for example "pause" or "frontier/steer"
	Order  json.RawMessage `json:"order,omitempty"`  // the body of the request
	Result string          `json:"result"`           // "done", or the error
	Answer json.RawMessage `json:"answer,omitempty"` // for example how many URIs were changed
}

// Done is the result of an order that was carried out.
const Done = "done"

const (
	fileName = "audit.jsonl"
	maxSize  = 10 << 20 // bytes of a file
	maxFiles = 10

	// maxPart is the maximum size of an order or answer in bytes. A longer one is stored as text and cut.
	maxPart = 2 << 10
	// maxLine is longer than the longest line.
	maxLine = 64 << 10
)

// Log appends entries to the files in a folder. It is safe for concurrent use.
type Log struct {
	dir     string // "" stores nothing
	maxSize int64

	mu sync.Mutex // held while a file is written
}

// New returns the log in a folder. It opens files only while it writes.
func New(dir string) *Log { return &Log{dir: dir, maxSize: maxSize} }

// Add appends an entry.
func (l *Log) Add(e Entry) error {
	if l.dir == "" {
		return nil
	}
	e.Time, e.Order, e.Answer = e.Time.UTC(), part(e.Order), part(e.Answer)
	line, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("encode an entry of the audit log: %w", err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.rotate(e.Time); err != nil {
		return fmt.Errorf("rotate the audit log: %w", err)
	}
	f, err := os.OpenFile(filepath.Join(l.dir, fileName), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o640)
	if err != nil {
		return fmt.Errorf("append to the audit log: %w", err)
	}
	_, err = f.Write(append(line, '\n'))
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("append to the audit log: %w", err)
	}
	return nil
}

// part returns an order or answer that is not too long. What is not JSON becomes a text.
func part(text json.RawMessage) json.RawMessage {
	if len(text) == 0 || string(text) == "null" || string(text) == "{}" {
		return nil
	}
	if len(text) <= maxPart && json.Valid(text) {
		return text
	}
	cut, err := json.Marshal(string(bytes.ToValidUTF8(text[:min(len(text), maxPart)], nil)))
	if err != nil {
		return nil
	}
	return cut
}

// rotate renames a full file and removes the oldest ones. Names of old files contain the time and sort by age.
func (l *Log) rotate(now time.Time) error {
	path := filepath.Join(l.dir, fileName)
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && info.Size() < l.maxSize {
		return nil
	}
	if err != nil {
		return err
	}
	old := filepath.Join(l.dir, "audit-"+now.Format("20060102T150405.000000000")+".jsonl")
	if err := os.Rename(path, old); err != nil {
		return err
	}
	files := oldFiles(l.dir)
	for _, f := range files[:max(0, len(files)-(maxFiles-1))] {
		if err := os.Remove(f); err != nil {
			return err
		}
	}
	return nil
}

// oldFiles returns the renamed files, oldest first.
func oldFiles(dir string) []string {
	files, _ := filepath.Glob(filepath.Join(dir, "audit-*.jsonl")) // the pattern is valid
	slices.Sort(files)
	return files
}

// Filter selects entries. The zero value selects all.
type Filter struct {
	Who, What string    // the whole name; "" matches all
	Since     time.Time // the earliest time; zero matches all
	Limit     int       // maximum number of entries; 0 has no limit
}

func (f Filter) selects(e Entry) bool {
	return (f.Who == "" || f.Who == e.Who) && (f.What == "" || f.What == e.What) && !e.Time.Before(f.Since)
}

// Read returns the selected entries in a folder, newest first. It skips damaged lines.
func Read(dir string, f Filter) ([]Entry, error) {
	files := append(oldFiles(dir), filepath.Join(dir, fileName))
	slices.Reverse(files)
	out := []Entry{}
	for _, file := range files {
		entries, err := readFile(file, f)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return out, fmt.Errorf("read the audit log: %w", err)
		}
		slices.Reverse(entries)
		out = append(out, entries...)
		if f.Limit > 0 && len(out) >= f.Limit {
			return out[:f.Limit], nil
		}
	}
	return out, nil
}

// readFile returns the selected entries of a file, oldest first.
func readFile(path string, f Filter) ([]Entry, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	var out []Entry
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, maxLine)
	for lines.Scan() {
		var e Entry
		if json.Unmarshal(lines.Bytes(), &e) == nil && f.selects(e) {
			out = append(out, e)
		}
		if f.Limit > 0 && len(out) > 2*f.Limit { // keeps memory bounded
			out = slices.Delete(out, 0, len(out)-f.Limit)
		}
	}
	return out, errors.Join(lines.Err(), file.Close())
}
