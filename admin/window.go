package admin

import (
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"

	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/crawler"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/hosts/daily"
	"github.com/arcrawl/arcrawl/hosts/reputation"
	"github.com/arcrawl/arcrawl/scope/traps"
	"github.com/arcrawl/arcrawl/warcout"
)

// Options are what a window looks into. The rooms must be open for as long as it is used; what is nil is not shown.
type Options struct {
	Crawler   *crawler.Crawler
	Frontier  *frontier.Frontier
	Trust     *reputation.Store
	Traps     *traps.Store // nil knows of no traps
	Accounts  *daily.Store // nil knows of no days
	Archive   *warcout.Writer
	FreeSpace func() (int64, error) // bytes, where there are fewest

	Config func() Loaded    // the configuration in force
	Now    func() time.Time // the clock

	// Notify, when set, hears of alarms. It must not block.
	Notify func(Notice)

	Dir     string // where what is counted and a pause are kept; "" keeps nothing
	Version string // of the program
	Workers int    // visits at once
	Log     zerolog.Logger
}

// Loaded is the configuration in force, and what became of the last attempt to load another one.
type Loaded struct {
	Config *config.Config
	At     time.Time
	Tried  time.Time      // zero if there was no attempt since
	Faults []config.Fault // why that one failed
}

// Window shows and steers a running crawl. Its methods may be called by many goroutines at once.
type Window struct {
	o       Options
	started time.Time

	reading sync.Mutex // held by whoever reads the log

	mu      sync.Mutex // guards the fields below
	minute  lastMinute
	series  *series
	current Counts    // of the minute in progress
	closed  time.Time // until when minutes are closed
	free    int64     // bytes on disk as last seen, -1 is not known
	paces   paces     // of the hosts
	total   Counts    // since the start

	predicted   predictions // by headers
	predictedAt time.Time

	alarms   alarms
	pulses   pulses               // of hosts and seeds
	gaps     map[string]time.Time // when feeds turned over
	listened time.Time            // when it was last looked for silence
	silences []trouble            // that were found then

	told string // the last day whose account stands in the log; only Tick uses it

	surveys surveys
	took    prometheus.Histogram
}

// The files that a window keeps in its folder.
const (
	seriesFile = "series.jsonl"
	pauseFile  = "pause.json"
)

// New makes a window, and takes up a pause that an earlier run left.
func New(o Options) (*Window, error) {
	now := o.Now()
	w := &Window{o: o, started: now, closed: now.Truncate(time.Minute), paces: paces{}, took: newVisitSeconds(), pulses: loadPulses(o.Dir), gaps: map[string]time.Time{}, listened: now, told: loadTold(o.Dir, now)}
	w.look()
	file := ""
	if o.Dir != "" {
		file = filepath.Join(o.Dir, seriesFile)
	}
	var err error
	if w.series, err = openSeries(file, now); err != nil {
		return nil, err
	}
	if err := w.takeUpPause(now); err != nil {
		return nil, err
	}
	return w, nil
}

// Observe hears of a settled visit. It does not block.
func (w *Window) Observe(r crawler.Report) {
	c := countsOf(r)
	w.measure(r)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.minute.add(r.Finished, c)
	w.current, w.total = w.current.plus(c), w.total.plus(c)
	w.paces.add(r)
	w.pulses.add(r)
	if r.Source.Gap && len(w.gaps) < maxGaps {
		w.gaps[r.URI.String()] = r.Finished
	}
}

// Tick looks at the crawl and closes the minutes that are over. It wants to be called a few times a minute. An error is
// of the file that keeps what was counted; nothing else is lost by it.
func (w *Window) Tick(now time.Time) error {
	w.look()
	w.watch(now)
	if err := w.tellDay(now); err != nil {
		w.o.Log.Error().Err(err).Msg("the account of a day could not be told")
	}
	minute := now.Truncate(time.Minute)
	w.mu.Lock()
	over := minute.After(w.closed)
	w.mu.Unlock()
	if !over {
		return nil
	}
	gauges := w.gauges(now)
	w.mu.Lock()
	defer w.mu.Unlock()
	p := Point{Start: minute.Add(-time.Minute), Counts: w.current, Gauges: gauges}
	w.closed, w.current = minute, Counts{}
	return w.series.add(p)
}

// Close keeps the minute in progress, so that the next run knows of it.
func (w *Window) Close(now time.Time) error {
	gauges := w.gauges(now)
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := keepJSON(w.o.Dir, pulseFile, w.pulses); err != nil {
		return err
	}
	if w.current == (Counts{}) {
		return nil
	}
	p := Point{Start: now.Truncate(time.Minute), Counts: w.current, Gauges: gauges}
	w.current = Counts{}
	return w.series.add(p)
}

// look asks how much room the disk has.
func (w *Window) look() {
	free := int64(-1)
	if bytes, err := w.o.FreeSpace(); err == nil {
		free = bytes
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.free = free
}

// gauges tells how the crawl stands.
func (w *Window) gauges(now time.Time) Gauges {
	n := w.o.Frontier.Counts(now)
	g := Gauges{
		URIs: n.URIs, Hosts: n.Hosts, Queued: n.Queued, InProgress: n.InProgress, Due: w.countDue(now), DiskFree: w.diskFree(), Store: w.storeSize(),
	}
	if !n.Oldest.IsZero() {
		g.Overdue = int64(max(0, now.Sub(n.Oldest)) / time.Second)
	}
	for _, h := range w.o.Frontier.Hosts(now) {
		if h.Failures > 0 {
			g.HostsDown++
		}
	}
	return g
}

// maxDue is how far what is due is counted each minute; beyond it arcrawl overdue knows.
const maxDue = 100_000

// countDue is how many URIs are due, -1 if that cannot be told.
func (w *Window) countDue(now time.Time) int64 {
	n, err := w.o.Frontier.CountDue(now, maxDue)
	if err != nil {
		w.o.Log.Error().Err(err).Msg("what is due could not be counted")
		return -1
	}
	return n
}

func (w *Window) diskFree() int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.free
}

func (w *Window) storeSize() int64 {
	size, err := w.o.Frontier.Size()
	if err != nil {
		return -1
	}
	return size
}

var errNotHere = errors.New("not known here")

// unknown tells that there is nothing by that name.
func unknown(what string) error { return fmt.Errorf("%s: %w", what, errNotHere) }
