package soak_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/arcrawl/arcrawl/internal/slow"
)

var (
	yearDays  = flag.Int("days", 1, "virtual days that TestAYear plays")
	yearHosts = flag.Int("hosts", 6, "number of hosts in the web of TestAYear")
	yearSeed  = flag.Uint64("seed", 1, "seed of TestAYear; 0 = by the clock")
	yearLimit = flag.Duration("within", 0, "real time after which TestAYear ends early; 0 = never")
	yearDir   = flag.String("dir", "", "folder of TestAYear, which keeps what it writes; empty = a temporary folder")
)

// TestAYear crawls a web whose hosts are born, move, die and turn hostile, with a daemon that is stopped, killed and
// left without disk space, and whose files are edited. Without flags it plays a day, to check itself.
//
// What happens follows from the seed, except the moments of kills. Each life of the daemon, from a start to a stop or a
// kill, is played by a process of its own, so that a kill is a real one.
//
// Virtual time stands still while anything works, so a year takes the processor time of its daemons. Most of that is
// for what they do each 15 s, and for hourly reads of all URIs; visits take a quarter.
func TestAYear(t *testing.T) {
	slow.Test(t)
	slow.Unraced(t, "it plays days of a crawl, and would take five times as long")
	y := newYear(t, *yearSeed, *yearHosts, time.Duration(*yearDays)*day, *yearDir)
	y.say("%d days, %d hosts, seed %d", *yearDays, *yearHosts, y.seed)
	y.prepare()
	for y.ends < y.plan.lasts && !y.late() {
		y.ends = y.live(y.plan.next(y.ends))
	}
	if y.ends > y.plan.lasts {
		y.ends = y.plan.lasts
	}
	y.judge()
	for i, fault := range y.faults {
		if i == 100 {
			t.Errorf("and %d more", len(y.faults)-i)
			break
		}
		t.Error(fault)
	}
}

// year is the state of the whole test.
type year struct {
	*testing.T
	seed   uint64
	dir    string
	web    *yearWeb
	plan   *plan
	began  time.Time
	quiet  bool // prints nothing
	small  bool // the folder of the crawl is a file system of its own
	down   []span
	lives  int
	kills  int
	ends   time.Duration // what was played
	faults []string

	samples []measured
	read    int64 // bytes of the results that were read
	visits  int64 // up to the last month
	months  [12]monthly
}

// newYear returns a year with a web and a plan that follow from a seed.
func newYear(t *testing.T, seed uint64, hosts int, lasts time.Duration, dir string) *year {
	y := &year{T: t, seed: seed, dir: dir, began: time.Now()}
	if seed == 0 {
		y.seed = uint64(time.Now().UnixNano() % 1_000_000)
	}
	if dir == "" {
		y.dir = t.TempDir()
	}
	y.web = newYearWeb(y.seed, hosts, lasts)
	y.plan = newPlan(y.seed, y.web)
	return y
}

// late reports whether the test has lasted for longer than it may.
func (y *year) late() bool { return *yearLimit > 0 && time.Since(y.began) > *yearLimit }

// say prints a line at once. The log of a test is printed at its end.
func (y *year) say(format string, args ...any) {
	if !y.quiet {
		fmt.Printf("%s %s\n", time.Since(y.began).Round(time.Second), fmt.Sprintf(format, args...))
	}
}

func (y *year) must(err error) {
	y.Helper()
	if err != nil {
		y.Fatal(err)
	}
}

// crawl returns the path of a file of the crawl.
func (y *year) crawl(name string) string { return filepath.Join(y.dir, "c", name) }

// prepare makes the folder of the crawl, as a file system of its own if that is allowed.
func (y *year) prepare() {
	y.must(os.MkdirAll(y.crawl("hosts.d"), 0o750))
	if err := unix.Mount("tmpfs", y.crawl(""), "tmpfs", 0, fmt.Sprintf("size=%d", int64(roomy))); err == nil {
		y.small = true
		if *yearDir == "" {
			y.Cleanup(func() { _ = unix.Unmount(y.crawl(""), unix.MNT_DETACH) })
		}
	} else {
		y.say("no disk will be full: a small file system cannot be mounted: %v", err)
	}
	y.must(os.MkdirAll(y.crawl("hosts.d"), 0o750))
	y.must(os.WriteFile(y.crawl("arcrawl.toml"), []byte(yearSettings), 0o600))
	y.must(y.web.hosts[0].writeFile(y.crawl(""), "")) // a crawl needs a seed
}

// live plays a life in a process and returns when the next one begins.
func (y *year) live(l life) time.Duration {
	l.Dir, l.Seed, l.Hosts, l.Small = y.dir, y.seed, len(y.web.hosts), y.small
	y.lives++
	if y.small {
		y.must(resize(y.crawl(""), roomy))
	}
	text, err := json.Marshal(l)
	y.must(err)
	path := filepath.Join(y.dir, "life.json")
	y.must(os.WriteFile(path, text, 0o600))
	var out bytes.Buffer
	child := exec.Command(os.Args[0], "-test.run=^TestYearLife$", "-test.timeout=0", "-test.v")
	child.Env = append(os.Environ(), lifeEnv+"="+path)
	child.Stdout, child.Stderr = &out, &out
	y.must(child.Start())
	ended := make(chan error, 1)
	go func() { ended <- child.Wait() }()
	err = y.watch(ended, func() { l.Kill = true; _ = child.Process.Kill() })
	var exit *exec.ExitError
	killed := errors.As(err, &exit) && exit.Sys().(syscall.WaitStatus).Signal() == syscall.SIGKILL
	switch {
	case killed && l.Kill:
		y.kills++
	case err != nil || l.Kill:
		text := out.String()
		y.fault("the daemon that began at %s and was to end at %s (kill: %t) ended with %v:\n%s", l.From, l.Until, l.Kill,
			err, text[max(0, len(text)-6000):])
	}
	last, err := os.ReadFile(filepath.Join(y.dir, "clock"))
	y.must(err)
	at := time.Duration(binary.LittleEndian.Uint64(last))
	next := max(at, l.From+time.Hour) + y.plan.rests()
	y.down = append(y.down, span{at, next})
	return next
}

// watch reads the results of a life until it has ended. If the test has lasted for too long, it kills the process.
func (y *year) watch(ended <-chan error, kill func()) error {
	look := time.NewTicker(2 * time.Second)
	defer look.Stop()
	for {
		select {
		case err := <-ended:
			y.progress()
			return err
		case <-look.C:
			y.progress()
			if y.late() {
				kill()
			}
		}
	}
}

// progress reads new results, and prints a line for each month.
func (y *year) progress() {
	text, err := os.ReadFile(filepath.Join(y.dir, "results"))
	if err != nil {
		return
	}
	for line := range strings.Lines(string(text[y.read:])) {
		var m measured
		if !strings.HasSuffix(line, "\n") || json.Unmarshal([]byte(line), &m) != nil {
			return
		}
		y.read += int64(len(line))
		y.samples = append(y.samples, m)
		if !m.Month {
			continue
		}
		visits := y.visitsSoFar()
		y.say("month %d: %d visits, heap %.1f MB, %d descriptors, %d goroutines, store %.1f MB, %d URIs (%.0f B each), "+
			"start %s, log %.1f MB, archive %.1f MB, %d overdue by at most %s, life %d, up for %s",
			(m.At+time.Hour)/y.plan.month, visits-y.visits, m.Heap/1e6, m.Descriptors, m.Goroutines, m.Store/1e6, m.URIs,
			m.Store/float64(max(1, m.URIs)), m.Start.Round(time.Millisecond), m.Log/1e6, m.Archive/1e6, m.Due,
			m.Longest.Round(time.Second), y.lives, m.Since.Round(time.Minute))
		y.visits = visits
	}
}

func (y *year) visitsSoFar() int64 {
	info, err := os.Stat(filepath.Join(y.dir, "visits"))
	if err != nil {
		return 0
	}
	return info.Size() / visitRow
}
