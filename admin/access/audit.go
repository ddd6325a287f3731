package access

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

	"github.com/arcrawl/arcrawl/admin/api"
)

// OrderDone is the result of an order that was carried out.
const OrderDone = "done"

const (
	auditName = "audit.jsonl"
	maxAudit  = 10 << 20 // bytes of a file
	maxAudits = 10       // files

	// maxPart is the maximum size of an order or answer in bytes. A longer one is stored as text and cut.
	maxPart = 2 << 10
	// maxAuditLine is longer than the longest line.
	maxAuditLine = 64 << 10
)

// AuditLog keeps who changed what in a crawl: files in the state folder, with one JSON object on each line. The daemon
// and commands that work on a stopped crawl append to them. A full file is renamed, and the oldest files are removed,
// so that the log takes at most about 100 MB. It is safe for concurrent use.
type AuditLog struct {
	dir     string // "" stores nothing
	maxSize int64

	mu sync.Mutex // held while a file is written
}

// NewAuditLog returns the log in a folder. It opens files only while it writes.
func NewAuditLog(dir string) *AuditLog { return &AuditLog{dir: dir, maxSize: maxAudit} }

// Add appends an entry.
func (l *AuditLog) Add(e api.AuditEntry) error {
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
	return l.append(append(line, '\n'), os.O_CREATE)
}

// Check returns why nothing can be appended; nil if it can.
func (l *AuditLog) Check() error {
	if err := l.append(nil, 0); l.dir != "" && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// append writes text at the end of the file.
func (l *AuditLog) append(text []byte, flags int) error {
	f, err := os.OpenFile(filepath.Join(l.dir, auditName), os.O_APPEND|os.O_WRONLY|flags, 0o640)
	if err == nil {
		_, err = f.Write(text)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
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
func (l *AuditLog) rotate(now time.Time) error {
	path := filepath.Join(l.dir, auditName)
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
	files := oldAudits(l.dir)
	for _, f := range files[:max(0, len(files)-(maxAudits-1))] {
		if err := os.Remove(f); err != nil {
			return err
		}
	}
	return nil
}

// oldAudits returns the renamed files of the audit log, oldest first.
func oldAudits(dir string) []string {
	files, _ := filepath.Glob(filepath.Join(dir, "audit-*.jsonl")) // the pattern is valid
	slices.Sort(files)
	return files
}

// selects reports whether a filter selects an entry.
func selects(f api.AuditFilter, e api.AuditEntry) bool {
	return (f.Who == "" || f.Who == e.Who) && (f.What == "" || f.What == e.What) && !e.Time.Before(f.Since)
}

// ReadAudit returns the selected entries in a folder, newest first. It skips damaged lines.
func ReadAudit(dir string, f api.AuditFilter) ([]api.AuditEntry, error) {
	files := append(oldAudits(dir), filepath.Join(dir, auditName))
	slices.Reverse(files)
	out := []api.AuditEntry{}
	for _, file := range files {
		entries, err := readAudit(file, f)
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

// readAudit returns the selected entries of a file, oldest first.
func readAudit(path string, f api.AuditFilter) ([]api.AuditEntry, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	var out []api.AuditEntry
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, maxAuditLine)
	for lines.Scan() {
		var e api.AuditEntry
		if json.Unmarshal(lines.Bytes(), &e) == nil && selects(f, e) {
			out = append(out, e)
		}
		if f.Limit > 0 && len(out) > 2*f.Limit { // keeps memory bounded
			out = slices.Delete(out, 0, len(out)-f.Limit)
		}
	}
	return out, errors.Join(lines.Err(), file.Close())
}
