package admin

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"

	"github.com/arcrawl/arcrawl/admin/access"
	"github.com/arcrawl/arcrawl/admin/alarm"
	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/aspects/spaces"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/crawler"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/hosts"
	"github.com/arcrawl/arcrawl/internal/fileio"
	"github.com/arcrawl/arcrawl/uri"
)

// Options holds the packages and settings of a window. They must stay open while the window is used. Optional parts may
// be nil.
type Options struct {
	Crawler   *crawler.Crawler
	Frontier  *frontier.Frontier
	Trust     *hosts.Reputation
	Traps     *spaces.Store         // nil knows of no traps
	Accounts  *hosts.Daily          // nil knows of no days
	FreeSpace func() (int64, error) // bytes of the disk that has the least

	Config func() Loaded    // the configuration in force
	Now    func() time.Time // the clock

	Node string // name of this node, for readers of packages: its archive may lack hosts; "" = the archive has all

	Lose func(api.LostFiles) (api.LostAnswer, error) // records which WARC files are lost

	Dir     string // folder of the files for counts, pauses and alarms; "" stores nothing
	Version string // of the program
	Workers int    // maximum number of visits in progress
	// Extensions of the wings add requests and parts of the status.
	Extensions []Extension
	// Stored, when set, describes the archive: which files grow, and where the finished ones are.
	Stored func(*api.Archive)
	// Refused, when set, returns how many connections of clients the process has refused: their address had too many
	// open, the listener had, the TLS handshake failed.
	Refused func() [3]int64
	Missing int64 // visits that crawl.log had and the store did not know, at the start
	Log     zerolog.Logger
}

// Loaded is the configuration in force, and the result of the last reload.
type Loaded struct {
	Config *config.Config
	At     time.Time
	Tried  time.Time      // time of the last reload; zero if there was none
	Faults []config.Fault // why it failed
	// Warnings about the configuration in force, as arcrawl check prints them.
	Warnings []config.Fault
}

// Window shows and steers a running crawl. Its methods are safe for concurrent use.
type Window struct {
	o       Options
	started time.Time

	writing   sync.Mutex   // held while files of the configuration are written
	comparing sync.Mutex   // held while versions are read whole
	heavy     *access.Gate // of heavy requests

	mu      sync.Mutex // guards the fields below
	minute  minuteCounts
	live    liveSeries
	series  *timeSeries
	current api.Counts // of the minute in progress
	closed  time.Time  // end of the last complete minute
	free    int64      // free bytes on disk, -1 if unknown
	total   api.Counts // since the start

	sites  *config.Config // in force at the last tick; knows the labels of hosts
	labels labelCounts

	predicted   headerPredictions // by headers
	predictedAt time.Time

	warned map[string]bool // seeds whose first visit failed

	alarms         alarm.Set
	activities     alarm.Activities // of hosts and seeds
	gaps           alarm.Gaps       // when feeds may have lost entries
	repaired       int64            // responses whose heads were repaired
	secondLooks    map[string]int64 // by what they found
	kept           map[string]int64 // due URIs that were not visited because of a trap, by its kind
	documents      alarm.Documents  // that could not be processed
	silenceChecked time.Time        // time of the last check for silence
	silences       []alarm.Trouble  // results of that check

	names *nameBook // which hosts had a file
	audit *access.AuditLog
	// inForce and inForceAt are the digest and time of the configuration that was last seen in force. Only Tick uses them.
	inForce   string
	inForceAt time.Time

	survey *surveyor
	due    dueCounter
	took   prometheus.Histogram
}

// Names of files in the folder of a window.
const (
	seriesFile   = "series.jsonl"
	pauseFile    = "pause.json"
	activityFile = "pulses.json"
)

// New returns a window. It continues a pause of an earlier run.
func New(o Options) (*Window, error) {
	now := o.Now()
	w := &Window{
		o: o, started: now, closed: now.Truncate(time.Minute), took: newVisitSeconds(),
		activities: loadActivities(o.Dir), names: openNames(o.Dir), audit: access.NewAuditLog(o.Dir),
		inForce: o.Config().Config.Digest, inForceAt: o.Config().At, sites: o.Config().Config,
		heavy:  access.NewGate(heavyAtOnce, heavyWaiting),
		warned: map[string]bool{}, secondLooks: map[string]int64{}, kept: map[string]int64{},
		silenceChecked: now,
	}
	w.survey = newSurveyor(surveyorOptions{
		Traps: o.Traps, Frontier: o.Frontier, Now: o.Now, Config: func() *config.Config { return o.Config().Config },
		Stopped: func() bool { s := o.Crawler.Status(); return s.Paused != "" || s.Held != "" },
	})
	w.due.Frontier = o.Frontier
	var raised []api.Alarm
	if loadJSON(o.Dir, alarmFile, &raised) { // alarms that an earlier run had raised
		w.alarms.Restore(raised, now)
	}
	w.checkDisk()
	file := ""
	if o.Dir != "" {
		file = filepath.Join(o.Dir, seriesFile)
	}
	w.updateNames(o.Config().Config)
	var err error
	if w.series, err = openSeries(file, now); err != nil {
		return nil, err
	}
	if err := w.restorePause(now); err != nil {
		return nil, err
	}
	for _, added := range o.Extensions {
		if added.Open != nil {
			if err := added.Open(w); err != nil {
				return w, err
			}
		}
	}
	return w, nil
}

// Observe counts a settled visit. It does not block.
func (w *Window) Observe(r crawler.Report) {
	c, now := countsOf(r), w.o.Now()
	w.measure(r)
	w.survey.observe(r)
	for _, added := range w.o.Extensions {
		if added.Observe != nil {
			added.Observe(r)
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.logFirstFailure(r)
	w.minute.Add(now, r.Finished, c)
	w.live.Count(now, c)
	w.current, w.total = w.current.Plus(c), w.total.Plus(c)
	w.noteActivity(r)
	w.labels.Visit(w.sites.Site(r.URI.Host()).Labels, c.Versions)
	if r.Repaired {
		w.repaired++
	}
	if kind, ok := spaces.KindOf(r.Wait.Reason); ok {
		w.kept[kind]++
	}
	if r.Looked {
		w.secondLooks[r.Look.String()]++
	}
	if r.Fault != "" {
		w.documents.Add(string(r.URI.Host()), r.URI.String(), r.FaultKind, r.Fault, r.Finished)
	}
	if r.Source.Gap {
		w.gaps.Add(r.URI.String(), r.Finished)
	}
}

// Tick checks the crawl for troubles and stores complete minutes. Call it a few times a minute. An error concerns
// only the file of the counts.
func (w *Window) Tick(now time.Time) error {
	w.checkDisk()
	w.watch(now)
	w.counted(w.due.count(now, w.o.Now))
	if err := w.survey.renew(); err != nil {
		w.o.Log.Error().Err(err).Msg("could not survey the URIs: the dashboard shows an older survey")
	}
	gauges := w.sample(now)
	w.recordConfig(now)
	for _, added := range w.o.Extensions {
		if added.Tick != nil {
			added.Tick(now)
		}
	}
	minute := now.Truncate(time.Minute)
	sites := w.o.Config().Config
	w.mu.Lock()
	w.sites = sites
	over := minute.After(w.closed)
	w.mu.Unlock()
	if !over {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	p := seriesPoint{Start: minute.Add(-time.Minute), Counts: w.current, Gauges: gauges}
	w.closed, w.current = minute, api.Counts{}
	return w.series.Add(p)
}

// Close stores the current minute for the next run, and ends the making of packages.
func (w *Window) Close(now time.Time) error {
	gauges := w.gauges(now)
	var err error
	for _, added := range slices.Backward(w.o.Extensions) {
		if added.Close != nil {
			err = errors.Join(err, added.Close(now))
		}
	}
	if err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := saveJSON(w.o.Dir, activityFile, w.activities); err != nil {
		return err
	}
	if w.current == (api.Counts{}) {
		return nil
	}
	p := seriesPoint{Start: now.Truncate(time.Minute), Counts: w.current, Gauges: gauges}
	w.current = api.Counts{}
	return w.series.Add(p)
}

// Options returns the parts that the window shows.
func (w *Window) Options() Options { return w.o }

// BelowTarget returns the hosts whose pace cannot meet their capture targets, most lost versions first.
func (w *Window) BelowTarget() ([]api.HostPace, error) {
	return w.Pace("", config.Filter{})
}

// Pace returns what hosts would need whose pace cannot meet their capture targets, most lost versions first: a host,
// or, if it is empty, the hosts that a filter selects.
func (w *Window) Pace(host uri.Host, f config.Filter) ([]api.HostPace, error) {
	return w.survey.belowTarget(host, f)
}

// KnownShort returns what [Window.BelowTarget] returns of the hosts that a filter selects, without a new survey: as of
// the time that it returns.
func (w *Window) KnownShort(f config.Filter) ([]api.HostPace, time.Time) {
	return w.survey.knownShort(f)
}

// WritingFiles is held while a request reads and writes files of the configuration, so that no request overwrites what
// another one has written.
func (w *Window) WritingFiles() *sync.Mutex { return &w.writing }

// ReadingVersions is held while a request reads whole versions from the archive, because each needs memory for several
// pages.
func (w *Window) ReadingVersions() *sync.Mutex { return &w.comparing }

// checkDisk reads the free disk space.
func (w *Window) checkDisk() {
	free := int64(-1)
	if bytes, err := w.o.FreeSpace(); err == nil {
		free = bytes
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.free = free
}

// gauges returns the current gauges.
func (w *Window) gauges(now time.Time) gauges {
	n := w.o.Frontier.Counts(now)
	g := gauges{
		URIs: n.URIs, Hosts: n.Hosts, Queued: n.Queued, InProgress: n.InProgress, Due: w.counted(w.due.latest(now, w.o.Now)),
		HostsDown: n.Down, Store: w.storeSize(),
	}
	w.mu.Lock()
	g.DiskFree = w.free
	w.mu.Unlock()
	if !n.Oldest.IsZero() {
		g.Overdue = int64(max(0, now.Sub(n.Oldest)) / time.Second)
	}
	return g
}

// sample stores the current gauges in the live series, and returns them.
func (w *Window) sample(now time.Time) gauges {
	g := w.gauges(now)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.live.Sample(now, g)
	return g
}

// counted returns a count of due URIs, or -1 if it failed.
func (w *Window) counted(n int64, err error) int64 {
	if err != nil {
		w.o.Log.Error().Err(err).Msg("could not count the due URIs")
		return -1
	}
	return n
}

func (w *Window) storeSize() int64 {
	size, err := w.o.Frontier.Size()
	if err != nil {
		return -1
	}
	return size
}

// loadActivities reads the file of an earlier run. An unreadable file is ignored.
func loadActivities(dir string) alarm.Activities {
	p := alarm.Activities{}
	if !loadJSON(dir, activityFile, &p) || p == nil {
		return alarm.Activities{}
	}
	return p
}

// loadJSON reads a file of the folder into v. It reports false if there is none, or if it cannot be read.
func loadJSON(dir, name string, v any) bool {
	if dir == "" {
		return false
	}
	text, err := os.ReadFile(filepath.Join(dir, name))
	return err == nil && json.Unmarshal(text, v) == nil
}

// saveJSON replaces a file of the folder atomically.
func saveJSON(dir, name string, v any) error {
	if dir == "" {
		return nil
	}
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return fileio.Write(filepath.Join(dir, name), text, 0o640)
}
