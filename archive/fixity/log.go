package fixity

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// LogName is the name of the log of checks, next to the manifest. Like the manifest it only grows, and each line has
// the SHA-256 of the line before it.
const LogName = "fixity.jsonl"

// Outcome says how a file compares with the manifest.
type Outcome string

// The outcomes of a check. The log contains them, so they never change.
const (
	Same       Outcome = "same"
	Changed    Outcome = "changed"
	Short      Outcome = "short" // its end is lost
	Gone       Outcome = "gone"
	Unreadable Outcome = "unreadable"
)

// Event is one line of the log: a file was compared with the manifest.
type Event struct {
	File    string    `json:"file"` // its name in the manifest
	At      time.Time `json:"at"`   // when it was read to its end
	Agent   string    `json:"agent"`
	Outcome Outcome   `json:"outcome"`
	Size    int64     `json:"size"`               // as it was read
	SHA256  string    `json:"sha256,omitempty"`   // the same
	Error   string    `json:"error,omitempty"`    // why it could not be read
	Sealed  *Sealed   `json:"sealed,omitempty"`   // what the manifest says, if the file differs
	Before  string    `json:"previous,omitempty"` // SHA-256 of the line before, without its line end
}

// Sealed says how a file was when it was sealed.
type Sealed struct {
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
}

// logHead is the first line of the log.
type logHead struct {
	Format int `json:"arcrawl-fixity-log"`
}

// Log is the log of the checks of a folder, open to add to it. One goroutine may use it.
type Log struct {
	Last   map[string]Event // the last check of each file, by its name; only time and outcome if it was the same
	Latest time.Time        // of all checks
	Faults []string         // what is wrong with the chain of lines

	chain
}

// OpenLog opens the log of a folder. It creates the log if there is none. It removes a line that a crash has cut.
func OpenLog(dir string) (*Log, error) {
	l := &Log{Last: map[string]Event{}}
	if err := l.open(filepath.Join(dir, LogName), l.take, func() any { return logHead{format} }); err != nil {
		return nil, fmt.Errorf("open the log of fixity checks: %w", err)
	}
	return l, nil
}

// logFaults returns what is wrong with the chain of the log of a folder; nothing if there is no log.
func logFaults(dir string) ([]string, error) {
	f, err := os.Open(filepath.Join(dir, LogName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	l := &Log{Last: map[string]Event{}}
	err = errors.Join(l.read(f, l.take), f.Close())
	return l.Faults, err
}

func (l *Log) take(n int, line []byte) error {
	if n == 1 {
		var h logHead
		if err := json.Unmarshal(line, &h); err != nil || h.Format < 1 || h.Format > format {
			return fmt.Errorf("line 1 is %.60q: not a log of fixity checks, or written by a newer arcrawl", line)
		}
		return nil
	}
	var e Event
	readable := json.Unmarshal(line, &e) == nil && e.File != ""
	l.Faults = l.follow(l.Faults, n, e.Before, readable)
	if readable {
		l.note(e)
	}
	return nil
}

func (l *Log) note(e Event) {
	if e.At.After(l.Latest) {
		l.Latest = e.At
	}
	if e.Outcome == Same { // there may be 100,000
		e = Event{File: e.File, At: e.At, Outcome: Same}
	}
	l.Last[e.File] = e
}

// Add appends the event of a check that ended at a time, made by an agent.
func (l *Log) Add(e Event, agent string, at time.Time) error {
	e.Agent, e.At, e.Before = agent, at.UTC().Truncate(time.Second), l.last
	if err := l.add(e); err != nil {
		return fmt.Errorf("record the fixity check of %s: %w", e.File, err)
	}
	l.note(e)
	return nil
}

// Compare reads the file of an entry at a path and compares it. slow may limit how fast it is read; nil = not at all.
// The outcome is empty if ctx ends.
func (e Entry) Compare(ctx context.Context, path string, slow func(*os.File) io.Reader) Event {
	v := Event{File: e.File, Outcome: Same}
	var err error
	v.SHA256, v.Size, err = hashFile(ctx, path, slow)
	switch {
	case ctx.Err() != nil:
		v.Outcome = ""
	case errors.Is(err, fs.ErrNotExist):
		v.Outcome, v.SHA256 = Gone, ""
	case err != nil:
		v.Outcome, v.SHA256, v.Error = Unreadable, "", err.Error()
	case v.Size < e.Size:
		v.Outcome = Short
	case v.SHA256 != e.SHA256:
		v.Outcome = Changed
	}
	if v.Outcome != Same {
		v.Sealed = &Sealed{e.Size, e.SHA256}
	}
	return v
}

// Text says how a file differs from the manifest; "" if it does not.
func (v Event) Text() string {
	var was Sealed
	if v.Sealed != nil {
		was = *v.Sealed
	}
	switch v.Outcome {
	case Changed:
		return fmt.Sprintf("has SHA-256 %s, and %s when it was sealed: it was changed", v.SHA256, was.SHA256)
	case Short:
		return fmt.Sprintf("has %d bytes, and %d when it was sealed: %d are lost", v.Size, was.Size, was.Size-v.Size)
	case Gone:
		return fmt.Sprintf("is gone; it had %d bytes and SHA-256 %s", was.Size, was.SHA256)
	case Unreadable:
		return "cannot be read: " + v.Error
	}
	return ""
}
