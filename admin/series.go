package admin

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"time"

	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/internal/fileio"
)

// Numbers of stored points: each minute of a day, each hour of ninety days.
const (
	minutesKept = 24 * 60
	hoursKept   = 90 * 24
)

// gauges is the state of the crawl at the end of a minute. Unknown values are -1.
type gauges struct {
	URIs       int64 `json:"uris"`        // known
	Hosts      int64 `json:"hosts"`       // known
	Queued     int64 `json:"queued"`      // have a due time
	Due        int64 `json:"due"`         // due and waiting; counted up to 100,000
	Overdue    int64 `json:"overdue"`     // longest overdue time in seconds
	InProgress int64 `json:"in_progress"` // visits
	HostsDown  int64 `json:"hosts_down"`  // unreachable at the last visit
	DiskFree   int64 `json:"disk_free"`   // bytes of the disk that has the least
	Store      int64 `json:"store"`       // bytes of the store
}

// seriesPoint is a minute or an hour of the crawl.
type seriesPoint struct {
	Start  time.Time  `json:"start"`
	Hour   bool       `json:"hour,omitempty"` // an hour, not a minute
	Counts api.Counts `json:"counts"`
	Gauges gauges     `json:"gauges"` // at its end; Overdue is the maximum within an hour
}

// timeSeries holds the points of the last minutes and hours, oldest first. The zero value is empty and stores nothing.
//
// It keeps what happened in a crawl over time: counts and gauges by minute and hour, and in short steps for
// the last minutes.
type timeSeries struct {
	minutes, hours []seriesPoint
	file           string // "" stores nothing
	lines          int    // in the file
}

// openSeries reads the file of an earlier run. A line that a crash has cut is skipped.
func openSeries(file string, now time.Time) (*timeSeries, error) {
	s := &timeSeries{file: file}
	if file == "" {
		return s, nil
	}
	f, err := os.Open(file)
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read earlier counts: %w", err)
	}
	err = errors.Join(s.read(f), f.Close())
	if err != nil {
		return nil, fmt.Errorf("read earlier counts from %s: %w", file, err)
	}
	s.forget(now)
	return s, nil
}

// maxSeriesLine is the maximum length of a line; a point takes about 500 bytes.
const maxSeriesLine = 16 << 10

func (s *timeSeries) read(r io.Reader) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxSeriesLine)
	for lines.Scan() {
		var p seriesPoint
		if json.Unmarshal(lines.Bytes(), &p) != nil || p.Start.IsZero() {
			continue
		}
		s.lines++
		s.Put(p)
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		return nil
	}
	return lines.Err()
}

// Put adds a point to the minutes or hours. Two parts of one minute, before and after a restart, are joined. A point
// that is older than the last one, because the clock was set back, is skipped.
func (s *timeSeries) Put(p seriesPoint) {
	list, limit := &s.minutes, minutesKept
	if p.Hour {
		list, limit = &s.hours, hoursKept
	}
	if n := len(*list); n > 0 && !p.Start.After((*list)[n-1].Start) {
		if last := &(*list)[n-1]; p.Start.Equal(last.Start) && !p.Hour {
			last.Counts, last.Gauges = last.Counts.Plus(p.Counts), p.Gauges
		}
		return
	}
	if *list = append(*list, p); len(*list) > limit+limit/8 { // not each time, because deletion moves the rest
		*list = slices.Delete(*list, 0, len(*list)-limit)
	}
}

// forget removes points that are too old.
func (s *timeSeries) forget(now time.Time) {
	old := func(oldest time.Time) func(seriesPoint) bool {
		return func(p seriesPoint) bool { return p.Start.Before(oldest) || p.Start.After(now) }
	}
	s.minutes = slices.DeleteFunc(s.minutes, old(now.Add(-minutesKept*time.Minute)))
	s.hours = slices.DeleteFunc(s.hours, old(now.Add(-hoursKept*time.Hour)))
}

// Add stores a minute, and the hour that ends with it.
func (s *timeSeries) Add(p seriesPoint) error {
	s.Put(p)
	fresh := []seriesPoint{p}
	if end := p.Start.Add(time.Minute); end.Truncate(time.Hour).Equal(end) {
		hour := s.Sum(end.Add(-time.Hour), end)
		hour.Hour = true
		s.Put(hour)
		fresh = append(fresh, hour)
	}
	return s.save(fresh)
}

// Sum adds up the minutes between two times.
func (s *timeSeries) Sum(from, to time.Time) seriesPoint {
	all := seriesPoint{Start: from}
	for _, m := range s.Since(from) {
		if m.Start.Before(to) {
			all.Counts = all.Counts.Plus(m.Counts)
			longest := max(all.Gauges.Overdue, m.Gauges.Overdue)
			all.Gauges = m.Gauges
			all.Gauges.Overdue = longest
		}
	}
	return all
}

// Since returns the minutes that started at or after t.
func (s *timeSeries) Since(t time.Time) []seriesPoint {
	i := len(s.minutes)
	for i > 0 && !s.minutes[i-1].Start.Before(t) {
		i--
	}
	return s.minutes[i:]
}

// save appends points to the file. If most of the file is out of date, it replaces the file.
func (s *timeSeries) save(added []seriesPoint) (err error) {
	if s.file == "" {
		return nil
	}
	if s.lines > 2*(minutesKept+hoursKept) {
		return s.rewrite()
	}
	text, err := encodeSeries(added)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(s.file, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o640)
	if err != nil {
		return fmt.Errorf("store counts: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	s.lines += len(added)
	_, err = f.Write(text)
	return err
}

// rewrite replaces the file by one with the current points.
func (s *timeSeries) rewrite() error {
	points := slices.Concat(s.hours, s.minutes)
	text, err := encodeSeries(points)
	if err != nil {
		return err
	}
	s.lines = len(points)
	return fileio.Write(s.file, text, 0o640)
}

// encodeSeries writes each point as one line of JSON.
func encodeSeries(points []seriesPoint) ([]byte, error) {
	var b bytes.Buffer
	to := json.NewEncoder(&b)
	for _, p := range points {
		if err := to.Encode(p); err != nil {
			return nil, fmt.Errorf("store counts: %w", err)
		}
	}
	return b.Bytes(), nil
}

type seriesValue struct {
	name  string
	value int64
}

// values returns the values of a point with their JSON names.
func (p seriesPoint) values() []seriesValue {
	c, g := p.Counts, p.Gauges
	return []seriesValue{
		{"visits", c.Visits},
		{"versions", c.Versions},
		{"unchanged", c.Unchanged},
		{"unread", c.Unread},
		{"failed", c.Failed},
		{"refused", c.Refused},
		{"found", c.Found},
		{"received", c.Received},
		{"spared", c.Spared},
		{"deduped", c.Deduped},
		{"written", c.Written},
		{"down", c.Down},
		{"uris", g.URIs},
		{"hosts", g.Hosts},
		{"queued", g.Queued},
		{"due", g.Due},
		{"overdue", g.Overdue},
		{"in_progress", g.InProgress},
		{"hosts_down", g.HostsDown},
		{"disk_free", g.DiskFree},
		{"store", g.Store},
	}
}

// FullIn predicts when the space will be used up, from the known minutes of about a day: what the crawl wrote, or the
// change of the space if that is less. It returns nil if it cannot. Another program may fill the disk for some hours
// and then end.
func (s *timeSeries) FullIn(d api.Disk) *api.Seconds {
	var first, last *seriesPoint
	written := int64(0)
	for i := range s.minutes { // no copies: this is asked several times a minute
		p := &s.minutes[i]
		written += p.Counts.Written
		if p.Gauges.DiskFree >= 0 {
			first, last = cmp.Or(first, p), p
		}
	}
	if d.Free < 0 || first == nil || last.Start.Sub(first.Start) < minProjected {
		return nil
	}
	used := min(first.Gauges.DiskFree-last.Gauges.DiskFree, written+max(last.Gauges.Store-first.Gauges.Store, 0))
	if used <= 0 {
		return nil
	}
	perByte := float64(last.Start.Sub(first.Start)) / float64(used)
	left := min(max(0, float64(d.Free-d.MinFree))*perByte, float64(100*365*24*time.Hour))
	in := api.Seconds(left)
	return &in
}

// minProjected is the time of which the use of the disk must be known: nearly all that is kept in minutes.
const minProjected = 23 * time.Hour

// Within returns the points of the last part of the time up to now: minutes if it is at most a day, or else hours.
func (s *timeSeries) Within(long time.Duration, now time.Time) (step time.Duration, points []seriesPoint) {
	step, points = time.Minute, s.minutes
	if long > 24*time.Hour {
		step, points = time.Hour, s.hours
	}
	from := now.Add(-long)
	i := slices.IndexFunc(points, func(p seriesPoint) bool { return !p.Start.Before(from) })
	if i < 0 {
		i = len(points)
	}
	return step, points[i:]
}

// The live series has short steps, so that the charts of a crawl that has just started move while somebody watches.
const (
	liveStep  = 5 * time.Second
	liveSteps = 120
	// liveSpan names the period that the steps cover.
	liveSpan = "10m"
)

// livePoint is one step of the live series.
type livePoint struct {
	seriesPoint
	sampled bool // the gauges are known
}

// liveSeries holds the steps of the last ten minutes. The zero value is empty.
type liveSeries [liveSteps]livePoint

// at returns the step of a moment. A step of an earlier round is emptied.
func (l *liveSeries) at(now time.Time) *livePoint {
	start := now.Truncate(liveStep)
	p := &l[start.Unix()/int64(liveStep/time.Second)%liveSteps]
	if !p.Start.Equal(start) {
		*p = livePoint{seriesPoint: seriesPoint{Start: start}}
	}
	return p
}

// points returns the steps up to now, and not before from. A step without sample has the gauges of the one before.
func (l *liveSeries) points(from, now time.Time) []seriesPoint {
	first := now.Add(-(liveSteps - 1) * liveStep)
	if first.Before(from) {
		first = from
	}
	var out []seriesPoint
	gauges := gauges{
		URIs: -1, Hosts: -1, Queued: -1, Due: -1, Overdue: -1, InProgress: -1, HostsDown: -1, DiskFree: -1, Store: -1,
	}
	for t := first.Truncate(liveStep); !t.After(now); t = t.Add(liveStep) {
		p := *l.at(t)
		if p.sampled {
			gauges = p.Gauges
		}
		p.Gauges = gauges
		out = append(out, p.seriesPoint)
	}
	return out
}

// Count adds the counts of a visit that ended now.
func (l *liveSeries) Count(now time.Time, c api.Counts) {
	p := l.at(now)
	p.Counts = p.Counts.Plus(c)
}

// Sample stores the gauges of now.
func (l *liveSeries) Sample(now time.Time, g gauges) {
	p := l.at(now)
	p.Gauges, p.sampled = g, true
}

// Since returns the steps up to now as the API has them, and not those before from.
func (l *liveSeries) Since(from, now time.Time) api.Series {
	return answerSeries(liveStep, l.points(from, now))
}

// answerSeries returns points as the API has them.
func answerSeries(step time.Duration, points []seriesPoint) api.Series {
	out := api.Series{Step: api.Seconds(step), Times: []int64{}, Values: map[string][]int64{}}
	for _, p := range points {
		out.Times = append(out.Times, p.Start.Unix())
		for _, v := range p.values() {
			out.Values[v.name] = append(out.Values[v.name], v.value)
		}
	}
	return out
}
