package main

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
	"github.com/arcrawl/arcrawl/internal/daemontest"
	"github.com/arcrawl/arcrawl/internal/faultdisk"
	"github.com/arcrawl/arcrawl/internal/fileio"
)

// life is a daemon from its start to its stop, and what happens on its disk.
type life struct {
	sweep   *diskSweep
	dir     string
	program string // the program on the disk that fails
	conf    string
	site    *killSite
	said    int // bytes of output of earlier daemons

	mu     sync.Mutex // guards the fields below
	count  map[string]int
	faults []fault // the next one first
	failed []faultdisk.Call
	well   bool
}

func (s *diskSweep) newLife(t *testing.T, scenario string, faults ...fault) *life {
	t.Helper()
	l := &life{sweep: s, dir: t.TempDir(), site: &killSite{pages: 3}, count: map[string]int{}, faults: faults}
	l.site.hosts = daemontest.ServeHosts(t, 2, largeToo{l.site})
	l.conf = filepath.Join(l.dir, "arcrawl.toml")
	daemontest.WriteFile(t, l.conf, l.site.toml())
	if err := os.Mkdir(filepath.Join(l.dir, "hosts.d"), 0o700); err != nil {
		t.Fatal(err)
	}
	daemontest.WriteFile(t, filepath.Join(l.dir, "hosts.d", "b.example.toml"), "[scope]\nmax_hops = 5\n")
	l.program = faultdisk.Watch(t, s.binary, l.dir, l.decide)
	if scenario == leftBehind {
		l.leaveBehind(t)
	}
	l.said = len(l.output())
	return l
}

// leaveBehind makes what a kill leaves, and what a power failure may leave: torn lines, a torn WARC file with a whole
// record after the damage, a log of the store without a byte. A rotated log is compressed.
func (l *life) leaveBehind(t *testing.T) {
	t.Helper()
	d := daemontest.StartProcess(t, l.sweep.binary, l.conf)
	l.site.waitFor(t, d, 20)
	d.Terminate(t)
	packLog(t, filepath.Join(l.dir, "crawl.log"), filepath.Join(l.dir, "crawl.log.0.gz"))
	d = daemontest.StartProcess(t, l.sweep.binary, l.conf)
	l.site.waitFor(t, d, l.site.asked.Load()+20)
	d.Kill(t)
	open, err := filepath.Glob(filepath.Join(l.dir, "warc", "*.open"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range append(open, filepath.Join(l.dir, "crawl.log"), filepath.Join(l.dir, "state", "warc.journal")) {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		more := "2026-"
		if strings.HasSuffix(name, ".open") {
			end := strings.LastIndex(string(text), "\x1f\x8b\x08")
			if end <= 0 {
				continue // the kill came before the second record
			}
			first := string(text[:1+strings.Index(string(text[1:]), "\x1f\x8b\x08")])
			more = "torn" + first
			daemontest.WriteFile(t, serial.ReplaceAllString(name, "-09999-"), first) // a file without a visit
		}
		daemontest.WriteFile(t, name, string(text)+more)
	}
	daemontest.WriteFile(t, filepath.Join(l.dir, "state", "00099.mem"), "")
	l.addUnlisted(t)
}

// addUnlisted makes what an error of the sync of a manifest leaves: it names a table that does not exist, and there is
// a note about it.
func (l *life) addUnlisted(t *testing.T) {
	t.Helper()
	name := filepath.Join(l.dir, "state", "MANIFEST")
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	message := []byte{1<<3 | 2, 4, 1 << 3, 99, 2 << 3, 0} // table 99 is new
	text = binary.BigEndian.AppendUint32(text, uint32(len(message)))
	text = binary.BigEndian.AppendUint32(text, crc32.Checksum(message, crc32.MakeTable(crc32.Castagnoli)))
	daemontest.WriteFile(t, name, string(append(text, message...)))
	daemontest.WriteFile(t, name+"-FAILED", "")
}

var serial = regexp.MustCompile(`-[0-9]{5}-`)

// packLog compresses a log, as after a rotation.
func packLog(t *testing.T, log, packed string) {
	t.Helper()
	text, err := os.ReadFile(log)
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if err == nil {
		_, err = z.Write(text)
	}
	if err = errors.Join(err, z.Close(), os.Remove(log)); err != nil {
		t.Fatal(err)
	}
	daemontest.WriteFile(t, packed, b.String())
}

var digits = regexp.MustCompile(`[0-9]+`)

// placeOf returns the name of the place of a call, which is the same in each life.
func (s *diskSweep) placeOf(c faultdisk.Call) string {
	at := func(line string) string {
		only := c
		only.Stack = []string{line}
		if i := slices.IndexFunc(s.sites, func(site faultdisk.Site) bool { return site.Makes(only) }); i >= 0 {
			return s.sites[i].String()
		}
		return line
	}
	where := "badger"
	if len(c.Stack) > 0 {
		where = at(c.Stack[0])
	}
	if i := slices.IndexFunc(c.Stack, func(line string) bool { return !strings.HasPrefix(line, "internal/fileio/") }); i > 0 {
		where += " < " + at(c.Stack[i])
	}
	name := c.Name
	if c.Write {
		name = "create"
	}
	return fmt.Sprintf("%s %s %s", name, digits.ReplaceAllString(c.Path, "#"), where)
}

// decide answers the call of the daemon.
func (l *life) decide(c faultdisk.Call) unix.Errno {
	if strings.HasSuffix(c.Path, ".out") {
		return 0
	}
	place := l.sweep.placeOf(c)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.count[place]++
	if l.well || len(l.faults) == 0 || l.faults[0].place != place {
		return 0
	}
	f := l.faults[0]
	l.failed = append(l.failed, c)
	if !f.lasting {
		l.faults = l.faults[1:]
	}
	return f.errno
}

// reached reports whether the last error has happened. The caller holds the lock.
func (l *life) reached() bool {
	return len(l.failed) > 0 && (len(l.faults) == 0 || l.faults[len(l.faults)-1].lasting)
}

// heal makes the disk well.
func (l *life) heal() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.well = true
}

// errors returns the calls that have failed.
func (l *life) errors() []faultdisk.Call {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.failed)
}

// output returns what the daemon has said.
func (l *life) output() string {
	text, _ := os.ReadFile(l.conf + ".out")
	return string(text[min(l.said, len(text)):])
}

// run lets the daemon crawl, rotate its log, read its configuration again, and stop. It may stop before that after a
// fault.
func (l *life) run(t *testing.T) {
	t.Helper()
	planned := slices.Clone(l.faults)
	d := daemontest.StartProcess(t, l.program, l.conf)
	stopped := false
	if l.wait(t, d, "20 requests", l.asked(20)) {
		if err := os.Rename(filepath.Join(l.dir, "crawl.log"), filepath.Join(l.dir, "crawl.log.1")); err != nil {
			t.Error(err)
		}
		if err := os.Rename(filepath.Join(l.dir, "hosts.d", "b.example.toml"), filepath.Join(l.dir, "hosts.d", "a.example.toml")); err != nil {
			t.Error(err)
		}
		_ = d.Cmd.Process.Signal(syscall.SIGHUP) // it may have ended
		reloaded := func() bool { return strings.Contains(l.output(), "new configuration is in force") }
		if l.wait(t, d, "the reload", reloaded) && l.wait(t, d, "20 more requests", l.asked(20)) {
			stopped = d.Cmd.Process.Signal(syscall.SIGTERM) == nil
			l.wait(t, d, "the end", func() bool { return false })
		}
	}
	<-d.Gone
	l.heal()
	l.judge(t, planned, stopped, d.Err)
	if t.Failed() {
		t.Log(l.output())
	}
}

// asked returns a function that reports whether n more pages were asked for.
func (l *life) asked(n int64) func() bool {
	n += l.site.asked.Load()
	return func() bool { return l.site.asked.Load() >= n }
}

// wait waits until something is so, or returns false when the daemon has ended. It makes the disk well when the crawl
// pauses because of it.
func (l *life) wait(t *testing.T, d *daemontest.Process, wish string, so func() bool) bool {
	t.Helper()
	began := time.Now()
	for !so() {
		select {
		case <-d.Gone:
			return false
		case <-time.After(5 * time.Millisecond):
		}
		if out := l.output(); strings.Count(out, "pausing crawl") > strings.Count(out, "resuming crawl") {
			l.heal()
		}
		if time.Since(began) > 5*time.Minute {
			t.Errorf("the daemon hangs before %s", wish)
			_ = d.Cmd.Process.Signal(syscall.SIGQUIT) // it says where, unless it waits for the answer to a call
			select {
			case <-d.Gone:
			case <-time.After(time.Minute):
				_ = d.Cmd.Process.Kill()
				<-d.Gone
			}
			return false
		}
	}
	return true
}

// silentErrors are errors that need no word in the log, each with the reason.
var silentErrors = map[string]string{
	`^close `:                "what was written was synced before",
	`warcout (seal|place): `: "sealing is tried again; until then the file is complete under its first name",
	`^(ftruncate|unlinkat) state/#.mem badger`:                        "the table of the log is written; a log that is left is read once more",
	`crawllog (IsCompressed|isReadable): os.Open`:                     "the log is not compared with the store; nothing else depends on it",
	`^openat state daemon/limits.go`:                                  "the number of tables only decides whether the limit of files is warned of",
	`frontier Size: os.ReadDir`:                                       "the size of the store is only shown",
	`^openat state/(last-good|spool) frontier openStore: badger.Open`: "Badger looks at all folders below its own, and needs none",
	`daemon saveLastGood: os.ReadFile`:                                "the copy is written again",
	`^unlinkat state/admin.sock`:                                      "a socket that is left is replaced at the next start",
}

// otherCodes are places whose errors end the daemon with another code than 74.
var otherCodes = map[string]int{
	`admin\.sock`:                       cli.ExitFolder,  // another path may be named
	`^(create|ftruncate) state/DISCARD`: cli.ExitFailure, // Badger ends the process; systemd starts it again
}

// judge checks what the daemon has said of its faults, and how it has ended.
func (l *life) judge(t *testing.T, planned []fault, stopped bool, end error) {
	t.Helper()
	failed, code := l.errors(), 0
	if exit := (*exec.ExitError)(nil); errors.As(end, &exit) {
		code = exit.ExitCode()
	}
	if code == faultdisk.Unsupported {
		t.Skipf("the program cannot be watched: %s", l.output())
	}
	if len(planned) == 0 {
		if code != 0 {
			t.Errorf("exit code %d without a fault", code)
		}
		return
	}
	if len(failed) == 0 {
		t.Skip("not reached in this life; another one tries it")
	}
	t.Logf("%d calls failed, the first one: %s; exit code %d, asked to stop: %t", len(failed), failed[0], code, stopped)
	want := cli.ExitDisk
	for place, other := range otherCodes {
		if regexp.MustCompile(place).MatchString(planned[0].place) {
			want = other
		}
	}
	if code != want && (code != 0 || !stopped) {
		t.Errorf("exit code %d, want %d", code, want)
	}
	if matchesAny(silentErrors, planned[0].place) {
		return
	}
	out := l.output()
	named := slices.ContainsFunc(failed, func(c faultdisk.Call) bool {
		return strings.Contains(out, strings.TrimSuffix(filepath.Base(c.Path), ".1"))
	})
	if !named || !strings.Contains(out, planned[0].errno.Error()) {
		t.Errorf("the log has no %q with the name of the file", planned[0].errno)
	}
}

// examine starts the daemon again, with a disk that is well, and checks what is there when it has ended.
func (l *life) examine(t *testing.T) {
	t.Helper()
	d := daemontest.StartProcess(t, l.sweep.binary, l.conf)
	l.site.waitFor(t, d, l.site.asked.Load()+24)
	d.Terminate(t)
	tails, err := filepath.Glob(filepath.Join(l.dir, "warc", "*.tail.*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range tails {
		if err := os.Remove(name); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(l.dir, "crawl.log")
	var all []byte
	for _, name := range []string{path + ".0.gz", path + ".1", path} { // not all scenarios have all of them
		if log, err := fileio.OpenText(name); err == nil {
			text, err := io.ReadAll(log)
			if err = errors.Join(err, log.Close()); err != nil {
				t.Fatal(err)
			}
			all = append(all, text...)
		}
	}
	daemontest.WriteFile(t, path, string(all))
	examine(&trial{T: t}, l.dir, l.site, 6)
	examineIndex(t, filepath.Join(l.dir, "warc"))
}

// largeToo serves pages of a site. One of each host is too large to be kept in memory.
type largeToo struct{ *killSite }

func (s largeToo) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/1" {
		n := s.asked.Add(1)
		w.Header().Set("Content-Type", "application/octet-stream")
		_, _ = io.CopyN(w, rand.NewChaCha8([32]byte{byte(n), byte(n >> 8)}), 2<<20)
		return
	}
	s.killSite.ServeHTTP(w, r)
}
