package main

import (
	"cmp"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/arcrawl/arcrawl/internal/faultdisk"
	"github.com/arcrawl/arcrawl/internal/slow"
)

// These packages write what must not be lost.
var durable = []string{"frontier", "warcout", "dedup", "crawllog", "daemon", "internal/fileio"}

// The operations that fail in everyday tests. ARCRAWL_DISK_ERRORS is a regular expression of others: "." is all of
// them, for some twenty minutes.
const everydayErrors = `^once: (fsync state/MANIFEST badger|mkdirat state daemon|fsync crawl.log crawllog Sync|openat warc warcout)`

// Each operation on a file fails, once and until the disk is well again, with the real program. It says so, and stops
// with 74 or continues. Then it starts again, nothing is lost, and no record refers to one that is missing.
//
// Operations that follow only on a failed one, such as cutting off what was not written, fail too, after that one. An
// error that a life did not reach is tried in other lives, and the test fails if none has reached it.
func TestEachDiskErrorOnce(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	all := os.Getenv("ARCRAWL_DISK_ERRORS")
	s := &diskSweep{
		binary: built.In(t, t.TempDir()), sites: diskSites(t), listed: readListed(t, listedErrors),
		wanted: regexp.MustCompile(cmp.Or(all, everydayErrors)), complete: all == ".", second: all != "",
		seen: map[string]bool{}, errors: map[string]*diskError{},
	}
	for number := 1; number == 1 || number <= maxTries && len(s.open())+len(s.unreached()) > 0; number++ {
		if number == 1 || len(s.unreached()) > 0 {
			s.look(t)
		}
		s.round(t, number)
	}
	s.compare(t)
}

// The scenarios.
const (
	fresh      = "fresh"       // nothing is there
	leftBehind = "left behind" // what a kill has left
)

// maxTries is how many lives try an error. What depends on the order of goroutines is reached in some lives only.
const maxTries = 8

// fault is an error of the disk.
type fault struct {
	place   string
	errno   unix.Errno
	lasting bool // until the disk is well
}

// start is how a life begins that may reach a place.
type start struct {
	scenario string
	first    string // the place of an error that comes before; it may be ""
}

// diskError is an error that is tried until a life has had it.
type diskError struct {
	fault
	starts  []start // the likeliest one first
	tries   int
	reached bool
}

// name returns the name of the test of a life that begins like this.
func (e *diskError) name(begin start) string {
	kind := "once"
	if e.lasting {
		kind = "lasting"
	}
	if begin.first != "" {
		kind = "after " + begin.first
	}
	return kind + ": " + e.place
}

// add adds a way to reach the place.
func (e *diskError) add(begin start) {
	const enough = 4
	if len(e.starts) < enough && !slices.Contains(e.starts, begin) {
		e.starts = append(e.starts, begin)
	}
}

// diskSweep lets one operation after the other fail.
type diskSweep struct {
	binary   string
	sites    []faultdisk.Site
	listed   map[string]string
	wanted   *regexp.Regexp
	complete bool            // all operations fail
	second   bool            // those too that follow only on a failed one
	seen     map[string]bool // places that lives without an error have reached

	mu     sync.Mutex // guards the fields below
	errors map[string]*diskError
	failed []faultdisk.Call
	lives  int
}

// look finds the places that lives without an error reach.
func (s *diskSweep) look(t *testing.T) {
	t.Helper()
	for _, scenario := range []string{fresh, leftBehind} {
		l := s.newLife(t, scenario)
		l.run(t)
		l.examine(t)
		for place := range l.count {
			s.seen[place] = true
			s.expect("once", fault{place: place, errno: unix.EIO}, start{scenario: scenario})
			s.expect("lasting", fault{place: place, errno: unix.ENOSPC, lasting: true}, start{scenario: scenario})
		}
	}
}

// expect has an error be tried in a life with this beginning.
func (s *diskSweep) expect(kind string, f fault, begin start) {
	if !isDurable(f.place) {
		return
	}
	name := kind + ": " + f.place
	if s.errors[name] == nil {
		s.errors[name] = &diskError{fault: f}
	}
	s.errors[name].add(begin)
}

// open returns the names of the errors that no life has had yet.
func (s *diskSweep) open() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var names []string
	for name, e := range s.errors {
		wanted := func(begin start) bool { return s.wanted.MatchString(e.name(begin)) }
		if !e.reached && slices.ContainsFunc(e.starts, wanted) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// unreached returns the operations that should have failed in a complete sweep and have not.
func (s *diskSweep) unreached() (sites []faultdisk.Site) {
	for _, site := range s.sites {
		if s.complete && s.listed[site.String()] == "sweep" && !slices.ContainsFunc(s.failed, site.Makes) {
			sites = append(sites, site)
		}
	}
	return sites
}

// round tries each error that no life has had yet. In a second round, all scenarios are tried.
func (s *diskSweep) round(t *testing.T, number int) {
	t.Run(fmt.Sprintf("round %d", number), func(t *testing.T) {
		for _, name := range s.open() {
			e := s.errors[name]
			if e.tries > 0 {
				e.add(start{scenario: fresh})
				e.add(start{scenario: leftBehind})
			}
			begin := e.starts[e.tries%len(e.starts)]
			e.tries++
			t.Run(strings.ReplaceAll(e.name(begin), "/", "|"), func(t *testing.T) {
				t.Parallel()
				s.try(t, e, begin)
			})
		}
	})
}

// try lets a daemon live with an error.
func (s *diskSweep) try(t *testing.T, e *diskError, begin start) {
	faults := []fault{e.fault}
	if begin.first != "" {
		faults = []fault{{place: begin.first, errno: unix.EIO}, e.fault}
	}
	l := s.newLife(t, begin.scenario, faults...)
	defer func() { // also if the place was not reached
		l.mu.Lock()
		defer l.mu.Unlock()
		s.mu.Lock()
		defer s.mu.Unlock()
		s.lives++
		s.failed = append(s.failed, l.failed...)
		e.reached = e.reached || l.reached()
		if !s.second || len(faults) > 1 || len(l.failed) == 0 {
			return
		}
		for place := range l.count {
			if !s.seen[place] {
				s.expect("after", fault{place: place, errno: unix.EIO}, start{begin.scenario, e.place})
			}
		}
	}()
	l.run(t)
	l.examine(t)
}

// isDurable reports whether a place is in one of these packages, or in the store's own.
func isDurable(place string) bool {
	return strings.HasSuffix(place, " badger") || slices.ContainsFunc(durable, func(room string) bool {
		at := place[strings.LastIndex(place, " < ")+1:]
		return strings.Contains(at, " "+room+" ") || strings.Contains(at, " "+room+"/")
	})
}

// listedErrors lists each operation, and how it is made to fail: "sweep", the name of a test, or why no test does.
const listedErrors = "testdata/diskerrors.txt"

// diskSites lists the operations of these packages.
func diskSites(t *testing.T) []faultdisk.Site {
	t.Helper()
	sites, err := faultdisk.Sites("../..", durable...)
	if err != nil {
		t.Fatal(err)
	}
	return sites
}

// readListed reads a file of lines "what = how".
func readListed(t *testing.T, name string) map[string]string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]string{}
	for line := range strings.Lines(string(text)) {
		if what, how, ok := strings.Cut(strings.TrimSpace(line), " = "); ok {
			listed[what] = how
		}
	}
	return listed
}

// rareErrors are errors that may stay untried, each with the reason.
var rareErrors = map[string]string{
	`^(once|after): (close|fsync|write) crawl\.log\.# crawllog`:        "only if the log is rotated in the moment of a sync or a write",
	`^(once|after): unlinkat state/#\.mem frontier reserveFile: os\.R`: "only if a log that follows has no space, and the present one has",
}

// compare checks that each error and each operation has failed that should have.
func (s *diskSweep) compare(t *testing.T) {
	tried, names := 0, s.open()
	for _, e := range s.errors {
		tried += min(e.tries, 1)
	}
	t.Logf("%d errors tried in %d lives, in which %d calls failed; never reached: %d", tried, s.lives, len(s.failed), len(names))
	for _, name := range names {
		if !matchesAny(rareErrors, name) {
			t.Errorf("no life reached %q, though lives without that error do: run it with ARCRAWL_DISK_ERRORS='%s'. If that "+
				"does not reach it, change newLife or leaveBehind so that lives always reach it, or add it to rareErrors with "+
				"the reason", name, regexp.QuoteMeta(s.errors[name].place))
		}
	}
	for _, site := range s.unreached() {
		t.Errorf("%s:%d: no life reached %s: change newLife or leaveBehind so that lives reach it, or have a test of its own "+
			"let it fail, and write its name in %s", site.File, site.Line, site, listedErrors)
	}
	for _, site := range s.sites {
		how := s.listed[site.String()]
		if s.complete && how != "sweep" && slices.ContainsFunc(s.failed, site.Makes) {
			t.Errorf("%s failed: write \"sweep\" in %s, which says %q", site, listedErrors, how)
		}
	}
}

// matchesAny reports whether one of these expressions matches a text.
func matchesAny(expressions map[string]string, text string) bool {
	for e := range expressions {
		if regexp.MustCompile(e).MatchString(text) {
			return true
		}
	}
	return false
}

// Each operation of these packages that can fail is in a list, which says how a test makes it fail.
func TestEachDiskOperationIsListed(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	listed := readListed(t, listedErrors)
	is := map[string]bool{}
	for _, site := range diskSites(t) {
		is[site.String()] = true
		if listed[site.String()] == "" {
			t.Errorf("%s:%d: %s is new: have it fail in a test, and add it to %s", site.File, site.Line, site, listedErrors)
		}
	}
	for site := range listed {
		if !is[site] {
			t.Errorf("%s is gone: remove it from %s", site, listedErrors)
		}
	}
}
