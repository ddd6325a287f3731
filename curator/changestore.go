package curator

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/archive/changes"
)

// changesFolder is the folder of the changes in the folder of the state. It has a file for each day, of lines of JSON.
const changesFolder = "changes"

// The bounds of the files. A day with more changes than fit leaves out the rest.
const (
	maxDays     = 400
	maxDayBytes = 64 << 20
	maxAllBytes = 4 << 30 // of all files; the oldest are removed
	maxAway     = 20_000  // pages that are known to be gone or behind a wall
)

// changeStore keeps what changed from version to version: the latest ones in memory, and the last [maxDays] days in
// files. Lines of a file are in the order in which they were noted. Its methods are safe for concurrent use.
type changeStore struct {
	dir string // "" stores nothing

	mu   sync.Mutex // guards the fields below
	ring ring
	file *os.File // of the day; nil = closed
	day  string
	size int64
	last time.Time // when the last change was noted
	away map[string]string
}

// openChanges returns the store of a folder of the state, with the changes of earlier runs. Without a folder it keeps
// changes in memory. The error is about files; the store can be used all the same.
func openChanges(state string) (*changeStore, error) {
	s := &changeStore{away: map[string]string{}}
	if state == "" {
		return s, nil
	}
	s.dir = filepath.Join(state, changesFolder)
	var latest []api.Capture
	err := s.eachLine("", "", func(line []byte) bool {
		if c, ok := parseChange(line); ok {
			latest = append(latest, c)
		}
		return len(latest) < maxCaptures
	})
	for _, c := range slices.Backward(latest) {
		s.remember(c)
	}
	return s, err
}

// parseChange parses a line. One that a crash has cut is left out.
func parseChange(line []byte) (c api.Capture, ok bool) {
	c, ok = parse(line)
	return c, ok && c.Change != nil
}

// remember adds a change to those in memory. The lock is held, or nobody else knows the store.
func (s *changeStore) remember(c api.Capture) {
	s.ring.put(c)
	s.last = c.Change.Noted
	if len(c.Change.Kinds) == 0 {
		return
	}
	switch kind := c.Change.Kinds[0]; {
	case kind != string(changes.Withdrawn) && kind != string(changes.Wall):
		delete(s.away, c.URI)
	case len(s.away) < maxAway:
		s.away[c.URI] = kind
	}
}

// Away returns why a page was not there at the last change that is known: "withdrawn", "wall", or "" if it was.
func (s *changeStore) Away(uri string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.away[uri]
}

// Add adds a change that is noted now. stored is false if no file has it: the day is full, or the disk has an error.
func (s *changeStore) Add(c api.Capture, now time.Time) (stored bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c.Change.Noted = now.UTC()
	if !c.Change.Noted.After(s.last) {
		c.Change.Noted = s.last.Add(time.Nanosecond)
	}
	s.remember(c)
	if s.dir == "" {
		return false, nil
	}
	line, err := lineOf(c)
	if err != nil {
		return false, err
	}
	if day := c.Change.Noted.Format(time.DateOnly); day != s.day || s.file == nil {
		if err := s.turn(day); err != nil {
			return false, err
		}
	}
	if s.size+int64(len(line)) > maxDayBytes {
		return false, nil
	}
	n, err := s.file.Write(line)
	s.size += int64(n)
	return err == nil, err
}

// lineOf returns a capture as a line.
func lineOf(c api.Capture) ([]byte, error) {
	var line bytes.Buffer
	e := json.NewEncoder(&line)
	e.SetEscapeHTML(false)
	err := e.Encode(c)
	return line.Bytes(), err
}

// turn opens the file of a day, and removes old ones. The lock is held.
func (s *changeStore) turn(day string) (err error) {
	if s.file != nil {
		err = s.file.Close()
		s.file = nil
	}
	if err = errors.Join(err, os.MkdirAll(s.dir, 0o750), s.removeOld()); err != nil {
		return err
	}
	name := filepath.Join(s.dir, day+".jsonl")
	f, err := os.OpenFile(name, os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o640)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err == nil && info.Size() > 0 {
		end := make([]byte, 1)
		if _, err = f.ReadAt(end, info.Size()-1); err == nil && end[0] != '\n' { // a crash has cut the line
			_, err = f.Write(newline)
		}
	}
	if err != nil {
		return errors.Join(err, f.Close())
	}
	s.file, s.day, s.size = f, day, info.Size()
	return nil
}

// removeOld removes the oldest files while there are too many.
func (s *changeStore) removeOld() error {
	files, err := s.files()
	if err != nil {
		return err
	}
	var all int64
	for i, f := range slices.Backward(files) { // the newest is the last
		all += f.size
		if len(files)-i > maxDays || all > maxAllBytes {
			err = errors.Join(err, os.Remove(f.path))
		}
	}
	return err
}

// dayFile is the file of a day.
type dayFile struct {
	day, path string
	size      int64
}

// files returns the files, the oldest first.
func (s *changeStore) files() (all []dayFile, err error) {
	entries, err := os.ReadDir(s.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, e := range entries {
		day, is := strings.CutSuffix(e.Name(), ".jsonl")
		if _, bad := time.Parse(time.DateOnly, day); !is || bad != nil {
			continue
		}
		f := dayFile{day: day, path: filepath.Join(s.dir, e.Name())}
		if info, err := e.Info(); err == nil {
			f.size = info.Size()
		}
		all = append(all, f)
	}
	slices.SortFunc(all, func(a, b dayFile) int { return cmp.Compare(a.day, b.day) })
	return all, err
}

// later returns the later one of two times.
func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// eachLine calls use with the lines of the files from one day to another, the newest first, until it returns false. ""
// is no bound.
func (s *changeStore) eachLine(from, to string, use func([]byte) bool) error {
	files, err := s.files()
	for _, f := range slices.Backward(files) {
		if f.day < from {
			break
		}
		if to != "" && f.day > to {
			continue
		}
		file, errOpen := os.Open(f.path)
		if errOpen != nil {
			err = errors.Join(err, errOpen)
			continue
		}
		more := true
		for line := range backward(file, maxBlock) {
			if more = use(line); !more {
				break
			}
		}
		_ = file.Close() // it was only read
		if !more {
			break
		}
	}
	return err
}

// Close closes the file.
func (s *changeStore) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.file == nil {
		return nil
	}
	err := s.file.Close()
	s.file = nil
	return err
}

// changeFilter selects changes. Empty fields select all.
type changeFilter struct {
	captureFilter
	Changes []string  // kinds, of which the change has one; [anyChange] is all
	URI     string    // exactly this one
	Removed int       // minimum number of words that the article lost
	Since   time.Time // of the visit
	Until   time.Time // of the visit, which is before
	After   time.Time // of the time when it was noted, as Before
	Before  time.Time
}

// anyChange selects changes of all kinds.
const anyChange = "any"

// isSet reports whether the filter asks for changes, and not for captures.
func (f changeFilter) isSet() bool {
	return len(f.Changes) > 0 || f.URI != "" || f.Removed > 0 ||
		!f.Since.IsZero() || !f.After.IsZero() || !f.Before.IsZero()
}

func (f changeFilter) selects(c api.Capture) bool {
	ch := c.Change
	is := func(kind string) bool { return kind == anyChange || slices.Contains(ch.Kinds, kind) }
	return (len(f.Changes) == 0 || slices.ContainsFunc(f.Changes, is)) && ch.Words.Removed >= f.Removed &&
		(f.URI == "" || c.URI == f.URI) && !c.At.Before(f.Since) &&
		(f.Until.IsZero() || c.At.Before(f.Until)) &&
		(f.After.IsZero() || ch.Noted.After(f.After)) && (f.Before.IsZero() || ch.Noted.Before(f.Before)) &&
		f.matches(c)
}

// mayMatch reports whether a line may be of a change that is selected. It parses nothing.
func (f changeFilter) mayMatch(line []byte) bool {
	for name, value := range map[string]string{"host": f.Host, "uri": f.URI} {
		if value == "" {
			continue
		}
		text, err := json.Marshal(value)
		if err == nil && !bytes.ContainsAny(text, `\`) && !bytes.Contains(line, append([]byte(`"`+name+`":`), text...)) {
			return false
		}
	}
	return len(f.Changes) == 0 || slices.ContainsFunc(f.Changes, func(kind string) bool {
		return kind == anyChange || bytes.Contains(line, []byte(`"`+kind+`"`))
	})
}

// Find returns the selected changes, the one noted last first. more is 1 if there are more, or may be: it searches for
// a bounded time.
func (s *changeStore) Find(f changeFilter, within time.Duration, now func() time.Time) (list []api.Capture, more int) {
	list = []api.Capture{}
	end := now().Add(within)
	see := func(c api.Capture) bool {
		if c.Change.Noted.Before(f.Since) || !f.After.IsZero() && !c.Change.Noted.After(f.After) {
			return false // all others were noted before
		}
		if !f.selects(c) {
			return true
		}
		if len(list) >= f.Limit {
			more = 1
			return false
		}
		list = append(list, c)
		return true
	}
	if s.dir == "" {
		for _, c := range s.latest() {
			if !see(c) {
				break
			}
		}
		return list, more
	}
	from := ""
	if since := later(f.Since, f.After); !since.IsZero() {
		from = since.UTC().Format(time.DateOnly)
	}
	to := ""
	if !f.Until.IsZero() {
		to = f.Until.UTC().Format(time.DateOnly) // what was visited before may be noted on this day
	}
	_ = s.eachLine(from, to, func(line []byte) bool { // a file that cannot be read is one that was removed
		if now().After(end) {
			more = 1
			return false
		}
		if !f.mayMatch(line) {
			return true
		}
		c, ok := parseChange(line)
		return !ok || see(c)
	})
	return list, more
}

// latest returns the changes in memory, the one noted last first.
func (s *changeStore) latest() []api.Capture {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := make([]api.Capture, 0, len(s.ring.list))
	for c := range s.ring.newest {
		list = append(list, c)
	}
	return list
}

// Join adds to captures, which are newest first, what changed in each of them, and the changes that are no captures:
// pages that are gone, that moved, that are behind a wall or that came back.
func (s *changeStore) Join(list []api.Capture, f changeFilter) []api.Capture {
	type visit struct {
		uri string
		at  int64
	}
	at := map[visit]int{}
	for i, c := range list {
		at[visit{c.URI, c.At.UnixNano()}] = i
	}
	var others []api.Capture
	for _, c := range s.latest() {
		i, is := at[visit{c.URI, c.At.UnixNano()}]
		switch {
		case !f.shows(c):
		case is:
			list[i].Change = c.Change
		case isPresence(c.Change) && f.matches(c) && len(others) < f.Limit:
			others = append(others, c)
		}
	}
	if len(others) == 0 {
		return list
	}
	full := len(list) == f.Limit
	oldest := time.Time{}
	if full {
		oldest = list[len(list)-1].At
	}
	for _, c := range others {
		if !c.At.Before(oldest) {
			list = append(list, c)
		}
	}
	slices.SortStableFunc(list, func(a, b api.Capture) int { return b.At.Compare(a.At) })
	return list[:min(len(list), f.Limit)]
}

// isPresence reports whether a page went or came back.
func isPresence(c *api.Change) bool {
	if len(c.Kinds) == 0 {
		return false
	}
	switch changes.Kind(c.Kinds[0]) {
	case changes.Withdrawn, changes.Moved, changes.Wall, changes.Returned:
		return true
	}
	return false
}
