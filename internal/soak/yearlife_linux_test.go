package soak_test

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dgraph-io/badger/v4"
	"github.com/rs/zerolog"
	"golang.org/x/sys/unix"

	"github.com/arcrawl/arcrawl/admin/access"
	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/crawler"
	"github.com/arcrawl/arcrawl/daemon"
	"github.com/arcrawl/arcrawl/internal/testcrawl"
)

// lifeEnv names the file with the life of a daemon that the test binary plays.
const lifeEnv = "ARCRAWL_YEAR_LIFE"

// life is the time of one daemon between two starts.
type life struct {
	Dir         string
	Seed        uint64
	Hosts       int
	Lasts       time.Duration // of the whole year
	From, Until time.Duration
	Kill        bool // at Until
	Acts        []act
	Small       bool // the folder of the crawl is a file system that can be made smaller
}

// measured holds the measurements that a daemon makes of itself.
type measured struct {
	At, Since               time.Duration // since the epoch, and since the start of the daemon
	Month                   bool          // at the end of a month, with the fields from Rows on
	Heap                    float64
	Goroutines, Descriptors int     // descriptors that are not of tables
	Tables                  float64 // bytes of the tables of the store, each of which has a descriptor
	Store, Log, Archive     float64 // bytes of files
	URIs, Hosts             int64
	Visits                  int64         // since the start of the daemon
	Start                   time.Duration // processor time of the start

	Rows    map[string]float64 // bytes of keys and values in the store by kind; #kind = their number
	Due     int64              // overdue URIs
	Longest time.Duration      // how long the longest of them has been overdue
	Healthy time.Duration      // the same of hosts that have answered well for a while
	Never   []string           // these hosts, if their backlog never ends
}

// TestYearLife plays a life in a process of its own.
func TestYearLife(t *testing.T) {
	path := os.Getenv(lifeEnv)
	if path == "" {
		t.Skip("TestAYear runs it in processes of their own")
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	runtime.MemProfileRate = 32 << 10 // fine enough for a heap of some megabytes
	var p player
	if err := json.Unmarshal(text, &p.life); err != nil {
		t.Fatal(err)
	}
	p.web = newYearWeb(p.Seed, p.Hosts, p.Lasts)
	p.open(t)
	go p.killAfter(&p.dying) // outside of the bubble, so at any moment
	synctest.Test(t, p.play)
}

// player plays a life.
type player struct {
	life
	web *yearWeb

	clock   *os.File // has the time of the last event, so that the next life begins later
	visited *os.File // has a row for each visit
	results *os.File

	mu  sync.Mutex // guards the row below
	row []byte

	dying  atomic.Bool
	visits atomic.Int64
	begun  time.Duration
	start  time.Duration // processor time of the start
}

// crawl returns the path of a file of the crawl.
func (p *player) crawl(name string) string { return filepath.Join(p.Dir, "c", name) }

// open opens the files that outlive the process.
func (p *player) open(t *testing.T) {
	for name, f := range map[string]**os.File{"clock": &p.clock, "visits": &p.visited, "results": &p.results} {
		flags := os.O_CREATE | os.O_WRONLY
		if name != "clock" {
			flags |= os.O_APPEND
		}
		var err error
		if *f, err = os.OpenFile(filepath.Join(p.Dir, name), flags, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// killAfter kills the process at a random moment within 30 ms of real time after its end has come.
func (p *player) killAfter(due *atomic.Bool) {
	for !due.Load() {
		time.Sleep(time.Millisecond)
	}
	time.Sleep(time.Duration(rand.IntN(30_000)) * time.Microsecond)
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
}

// tick stores the time, and lets the process be killed if its time has come.
func (p *player) tick() {
	now := age()
	_, _ = p.clock.WriteAt(binary.LittleEndian.AppendUint64(nil, uint64(now)), 0)
	if p.Kill && now >= p.Until {
		p.dying.Store(true)
	}
}

// play runs the daemon in a bubble.
func (p *player) play(t *testing.T) {
	time.Sleep(p.From)
	p.begun = age()
	tw := testcrawl.NewTown(testcrawl.Epoch)
	defer time.Sleep(2 * time.Second) // an answer that sends a byte each second notices that its connection has ended
	defer tw.Close()
	for _, h := range p.web.hosts {
		tw.Serve(h.name, h)
	}
	file, err := os.OpenFile(filepath.Join(p.Dir, "daemon.log"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	log := zerolog.New(file).With().Timestamp().Logger()
	hangup := make(chan os.Signal, 1)
	started := p.profile(t, "start", p.From)
	before := processorTime()
	c, err := daemon.LoadConfig(p.crawl("arcrawl.toml"), log)
	if err != nil {
		t.Fatal(err)
	}
	d, err := daemon.Open(c, daemon.Options{
		Version: "test", Log: log, Hangup: hangup, Notify: func(string) { p.tick() }, SharedProcess: true,
		Dial: p.web.dial(tw), Observe: p.observe,
	})
	if err != nil {
		t.Fatal(err)
	}
	p.start = processorTime() - before
	started()
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	merge := testcrawl.Merger(t, d.Parts().Frontier.DB())
	go func() { done <- d.Run(ctx) }()
	p.act(t, d, hangup, done, merge)
	stop()
	if err := errors.Join(<-done, d.Close()); err != nil {
		t.Errorf("the daemon ended with: %v", err)
	}
	p.tick()
}

// profile begins a profile of the processor's time, and returns what ends it.
func (p *player) profile(t *testing.T, what string, at time.Duration) (end func()) {
	file := p.profileFile(t, what, at)
	if err := pprof.StartCPUProfile(file); err != nil {
		t.Error(err)
	}
	return func() {
		pprof.StopCPUProfile()
		_ = file.Close()
	}
}

// profileFile makes a file for a profile. The names of the files sort by time.
func (p *player) profileFile(t *testing.T, what string, at time.Duration) *os.File {
	file, err := os.Create(filepath.Join(p.Dir, fmt.Sprintf("%s-%05d.pprof", what, at/time.Hour)))
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// act lets everything happen until the end of the life. Each hour it lets the store merge tables.
func (p *player) act(t *testing.T, d *daemon.Daemon, hangup chan<- os.Signal, done <-chan error, merge func()) {
	merged := age()
	for _, a := range append(p.Acts, act{p.Until, "end"}) {
		for merged+time.Hour < a.At {
			merged += time.Hour
			time.Sleep(merged - age())
			merge()
		}
		time.Sleep(a.At - age())
		select {
		case err := <-done:
			t.Fatalf("at %s the daemon had ended by itself: %v", a.At, err)
		default:
		}
		p.do(t, a, d, hangup)
	}
	if p.Kill {
		time.Sleep(time.Hour) // the daemon notifies systemd each 10 s, and then it is killed
		t.Error("the daemon was not killed within an hour: it shows no sign of life")
	}
}

// do lets one thing happen.
func (p *player) do(t *testing.T, a act, d *daemon.Daemon, hangup chan<- os.Signal) {
	switch a.What {
	case "reload":
		hangup <- syscall.SIGHUP
	case "rotate":
		old := p.crawl("crawl.log")
		if err := os.Rename(old, fmt.Sprintf("%s.%05d", old, a.At/time.Hour)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Error(err)
		}
		hangup <- syscall.SIGHUP
	case "full", "room":
		size := int64(roomy)
		if a.What == "full" {
			size = used(t, p.crawl("")) + int64(a.At%(4<<20))
		}
		if p.Small {
			if err := resize(p.crawl(""), size); err != nil {
				t.Logf("%s: %v", a.What, err) // more was written meanwhile
			}
		}
	case "edit":
		p.web.edit(t, p.Seed, p.crawl(""), a.At)
		hangup <- syscall.SIGHUP
	case "sample", "month":
		p.sample(t, a, d)
	}
}

// roomy is the size of the file system while the disk is not full.
const roomy = 14 << 30

// resize changes the size of a file system.
func resize(dir string, bytes int64) error {
	return unix.Mount("tmpfs", dir, "tmpfs", unix.MS_REMOUNT, fmt.Sprintf("size=%dk", bytes>>10))
}

// used returns how many bytes of a file system are used.
func used(t *testing.T, dir string) int64 {
	var s syscall.Statfs_t
	if err := syscall.Statfs(dir, &s); err != nil {
		t.Error(err)
	}
	return int64(s.Blocks-s.Bfree) * s.Bsize
}

// visitRow is the size of the row of a visit: hash of the URI, time, wait, status.
const visitRow = 32

// observe writes a row for a visit.
func (p *player) observe(r crawler.Report) {
	p.visits.Add(1)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.row = p.row[:0]
	for _, word := range []uint64{
		hashOf(r.URI.String()), uint64(r.Finished.Sub(testcrawl.Epoch)), uint64(r.Due.Sub(r.Finished)), uint64(r.Status),
	} {
		p.row = binary.LittleEndian.AppendUint64(p.row, word)
	}
	_, _ = p.visited.Write(p.row)
	p.tick()
}

func hashOf(text string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(text))
	return h.Sum64()
}

// sample measures the daemon.
func (p *player) sample(t *testing.T, a act, d *daemon.Daemon) {
	counts := d.Parts().Frontier.Counts(time.Now())
	m := measured{
		At: a.At, Since: a.At - p.begun, Month: a.What == "month", URIs: counts.URIs, Hosts: counts.Hosts,
		Visits: p.visits.Load(), Start: p.start,
	}
	if m.Month {
		m.overdue(t, d, p.web)
		m.rows(d)
	}
	m.Store, m.Archive = folder(p.crawl("state")), folder(p.crawl("warc"))
	logs, _ := filepath.Glob(p.crawl("crawl.log*"))
	for _, l := range logs {
		m.Log += size(l)
	}
	m.Goroutines, m.Descriptors, m.Heap = int(fewest(runtime.NumGoroutine)), int(fewest(p.descriptors)), live()
	if m.Month {
		file := p.profileFile(t, "heap", a.At)
		_ = pprof.Lookup("heap").WriteTo(file, 0)
		_ = file.Close()
	}
	tables, _ := filepath.Glob(p.crawl("state/*" + tableSuffix))
	for _, table := range tables {
		m.Tables += size(table)
	}
	text, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = p.results.Write(append(text, '\n'))
}

// tableSuffix ends the names of tables of the store.
const tableSuffix = ".sst"

// descriptors counts the descriptors of this process, except for the tables of the store.
func (p *player) descriptors() (n int) {
	const open = "/proc/self/fd"
	list, _ := os.ReadDir(open)
	for _, e := range list {
		if to, err := os.Readlink(filepath.Join(open, e.Name())); err == nil && !strings.HasSuffix(to, tableSuffix) {
			n++
		}
	}
	return n
}

// The time for which a host has answered well when its URIs must not be overdue: an unreachable one rests for up to a
// day. And the same time of the daemon.
const (
	healthyHost   = 26 * time.Hour
	healthyDaemon = 6 * time.Hour
)

// overdue asks the API what is overdue, and which backlog never ends.
func (m *measured) overdue(t *testing.T, d *daemon.Daemon, w *yearWeb) {
	got := httptest.NewRecorder()
	ask := httptest.NewRequest(http.MethodGet, "/api/v1/overdue?by=host", nil)
	d.Window().Handler(access.Options{}).ServeHTTP(got, ask)
	var o api.Overdue
	if err := json.Unmarshal(got.Body.Bytes(), &o); err != nil || got.Code != http.StatusOK {
		t.Errorf("overdue: status %d, %v", got.Code, err)
	}
	m.Due, m.Longest = o.All.Due, time.Duration(o.All.Most)
	for _, r := range o.Rows {
		since, ok := w.names[r.Name].fineSince(m.At)
		if !ok || m.At-since <= healthyHost || m.Since <= healthyDaemon {
			continue
		}
		m.Healthy = max(m.Healthy, time.Duration(r.Most))
		if strings.HasPrefix(r.Ends, "never") {
			m.Never = append(m.Never, r.Name+": "+r.Ends)
		}
	}
}

// rows adds the bytes of keys and values of each kind in the store.
func (m *measured) rows(d *daemon.Daemon) {
	m.Rows = map[string]float64{}
	txn := d.Parts().Frontier.DB().NewTransaction(false)
	defer txn.Discard()
	it := txn.NewIterator(badger.IteratorOptions{})
	defer it.Close()
	for it.Rewind(); it.Valid(); it.Next() {
		item := it.Item()
		kind := string(item.Key()[:1])
		if kind == "p" && len(item.Key()) > 1 {
			kind = string(item.Key()[:2])
		}
		m.Rows[kind] += float64(int64(len(item.Key())) + item.ValueSize())
		m.Rows["#"+kind]++
	}
}

// processorTime returns the processor time of this process. The real time of a start depends on what else the machine
// does.
func processorTime() time.Duration {
	var used unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &used)
	return time.Duration(used.Nano())
}
