package admin

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"time"

	"github.com/arcrawl/arcrawl/internal/atomicfile"
)

// How much is kept: each minute of a day, each hour of ninety days.
const (
	minutesKept = 24 * 60
	hoursKept   = 90 * 24
)

// Gauges is how the crawl stood at the end of a minute. What is not known is -1.
type Gauges struct {
	URIs       int64 `json:"uris"`        // known
	Hosts      int64 `json:"hosts"`       // known
	Queued     int64 `json:"queued"`      // have a due time
	Due        int64 `json:"due"`         // due and waiting; counted to 100,000
	Overdue    int64 `json:"overdue"`     // seconds since the URI that waits and has been due for longest was due
	InProgress int64 `json:"in_progress"` // visits
	HostsDown  int64 `json:"hosts_down"`  // could not be reached the last time
	DiskFree   int64 `json:"disk_free"`   // bytes, where there are fewest
	Store      int64 `json:"store"`       // bytes of the store
}

// Point is a minute or an hour of the crawl.
type Point struct {
	Start  time.Time `json:"start"`
	Hour   bool      `json:"hour,omitempty"` // it lasted an hour, not a minute
	Counts Counts    `json:"counts"`
	Gauges Gauges    `json:"gauges"` // as they were at its end; Overdue is the largest within an hour
}

// series is what happened in the last minutes and hours, oldest first.
type series struct {
	minutes, hours []Point
	file           string // "" keeps nothing
	lines          int    // in the file
}

// openSeries reads what an earlier run left. A line that was torn by a crash is passed over.
func openSeries(file string, now time.Time) (*series, error) {
	s := &series{file: file}
	if file == "" {
		return s, nil
	}
	f, err := os.Open(file)
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read what was counted before: %w", err)
	}
	err = errors.Join(s.read(f), f.Close())
	if err != nil {
		return nil, fmt.Errorf("read what was counted before from %s: %w", file, err)
	}
	s.forget(now)
	return s, nil
}

// maxLine bounds a line of the file; a point takes some 500 bytes.
const maxLine = 16 << 10

func (s *series) read(r io.Reader) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLine)
	for lines.Scan() {
		var p Point
		if json.Unmarshal(lines.Bytes(), &p) != nil || p.Start.IsZero() {
			continue
		}
		s.lines++
		s.put(p)
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		return nil
	}
	return lines.Err()
}

// put adds a point to its kind. A minute that a restart fell into comes in two parts and is joined; what is older than the
// last, after the clock was set back, is passed over.
func (s *series) put(p Point) {
	list, most := &s.minutes, minutesKept
	if p.Hour {
		list, most = &s.hours, hoursKept
	}
	if n := len(*list); n > 0 && !p.Start.After((*list)[n-1].Start) {
		if last := &(*list)[n-1]; p.Start.Equal(last.Start) && !p.Hour {
			last.Counts, last.Gauges = last.Counts.plus(p.Counts), p.Gauges
		}
		return
	}
	if *list = append(*list, p); len(*list) > most+most/8 { // not each time: what stays is moved
		*list = slices.Delete(*list, 0, len(*list)-most)
	}
}

// forget drops what is older than what is kept.
func (s *series) forget(now time.Time) {
	old := func(oldest time.Time) func(Point) bool {
		return func(p Point) bool { return p.Start.Before(oldest) || p.Start.After(now) }
	}
	s.minutes = slices.DeleteFunc(s.minutes, old(now.Add(-minutesKept*time.Minute)))
	s.hours = slices.DeleteFunc(s.hours, old(now.Add(-hoursKept*time.Hour)))
}

// add keeps a minute, and the hour that ends with it.
func (s *series) add(p Point) error {
	s.put(p)
	fresh := []Point{p}
	if end := p.Start.Add(time.Minute); end.Truncate(time.Hour).Equal(end) {
		hour := s.sum(end.Add(-time.Hour), end)
		hour.Hour = true
		s.put(hour)
		fresh = append(fresh, hour)
	}
	return s.save(fresh)
}

// sum joins the minutes between two times.
func (s *series) sum(from, to time.Time) Point {
	all := Point{Start: from}
	for _, m := range s.since(from) {
		if m.Start.Before(to) {
			all.Counts = all.Counts.plus(m.Counts)
			most := max(all.Gauges.Overdue, m.Gauges.Overdue)
			all.Gauges = m.Gauges
			all.Gauges.Overdue = most
		}
	}
	return all
}

// since lists the minutes that began no earlier.
func (s *series) since(t time.Time) []Point {
	i := len(s.minutes)
	for i > 0 && !s.minutes[i-1].Start.Before(t) {
		i--
	}
	return s.minutes[i:]
}

// save appends points to the file. When most of the file is out of date, save replaces it.
func (s *series) save(fresh []Point) (err error) {
	if s.file == "" {
		return nil
	}
	if s.lines > 2*(minutesKept+hoursKept) {
		return s.rewrite()
	}
	f, err := os.OpenFile(s.file, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o640)
	if err != nil {
		return fmt.Errorf("save the counts of minutes: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	s.lines += len(fresh)
	return s.encode(f, fresh)
}

// rewrite replaces the file by one with the points that are in memory.
func (s *series) rewrite() error {
	f, err := atomicfile.Create(s.file, 0o640)
	if err != nil {
		return fmt.Errorf("save the counts of minutes: %w", err)
	}
	defer f.Discard()
	points := slices.Concat(s.hours, s.minutes)
	if err := s.encode(f, points); err != nil {
		return err
	}
	if err := f.Replace(); err != nil {
		return fmt.Errorf("save the counts of minutes: %w", err)
	}
	s.lines = len(points)
	return nil
}

// encode writes points, one in a line.
func (s *series) encode(to io.Writer, points []Point) error {
	w := bufio.NewWriter(to)
	e := json.NewEncoder(w)
	for _, p := range points {
		if err := e.Encode(p); err != nil {
			return fmt.Errorf("save the counts of minutes in %s: %w", s.file, err)
		}
	}
	return w.Flush()
}
