package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/internal/archivetest"
	"github.com/arcrawl/arcrawl/uri"
	"github.com/arcrawl/arcrawl/warcout"
)

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	archivetest.Must(t, os.WriteFile(path, []byte(text), 0o640))
}

func TestLastGoodCopiesFollowWhatIsInForce(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "arcrawl.toml")
	hosts := filepath.Join(dir, "hosts.d")
	archivetest.Must(t, os.Mkdir(hosts, 0o750))
	writeFile(t, path, "operator.name = \"Library\"\noperator.contact = \"a@library.example\"\n")
	a, b := filepath.Join(hosts, "a.example.toml"), filepath.Join(hosts, "b.example.toml")
	writeFile(t, a, "scope.max_hops = 3\n")
	writeFile(t, b, "scope.max_hops = 4\n")
	start := func() *config.Config {
		t.Helper()
		c, err := config.LoadKept(path, lastGood)
		if err == nil {
			err = saveLastGood(c)
		}
		archivetest.Must(t, err)
		return c
	}
	hops := func(c *config.Config, h uri.Host) int { return c.ForHost(h, time.Time{}).Scope.MaxHops }
	start()
	writeFile(t, a, "scope.max_hops = broken\n")
	archivetest.Must(t, os.Remove(b))
	for range 2 { // the copy remains after several starts
		if c := start(); hops(c, "a.example") != 3 || hops(c, "b.example") != 20 || len(c.Broken) != 1 {
			t.Errorf("a.example has %d hops, b.example %d, broken %v; want the copy, the default, one fault", hops(c, "a.example"), hops(c, "b.example"), c.Broken)
		}
	}
	writeFile(t, b, "scope.max_hops = broken\n")
	if c := start(); len(c.HeldHosts()) != 1 {
		t.Errorf("held: %v; want the host whose file went away before it was broken", c.HeldHosts())
	}
}

// A socket in a folder with a long path works too. It is removed when it is closed.
func TestSocketsMayHaveLongPaths(t *testing.T) {
	t.Parallel()
	for _, deep := range []string{"s", strings.Repeat("s", 120)} {
		dir := filepath.Join(t.TempDir(), deep)
		archivetest.Must(t, os.Mkdir(dir, 0o755))
		path := filepath.Join(dir, "admin.sock")
		l, err := listenSocket(path)
		archivetest.Must(t, err)
		conn, err := api.DialSocket(t.Context(), path)
		if err != nil {
			t.Fatalf("a path of %d characters: %v", len(path), err)
		}
		_ = conn.Close()
		if _, err := listenSocket(path); err == nil || !strings.Contains(err.Error(), "another process answers") {
			t.Errorf("a second listener: %v", err)
		}
		_ = l.Close()
		removeSocket(path)
		if _, err := api.DialSocket(t.Context(), path); err == nil {
			t.Error("the socket accepts connections after it was closed")
		}
	}
}

// An operator names a file, a folder or a link as admin.socket. The daemon neither starts nor deletes it.
func TestASocketReplacesNothingButASocket(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	for _, err := range []error{
		os.WriteFile(path("seeds.txt"), []byte("years of work"), 0o600),
		os.Mkdir(path("folder"), 0o700),
		os.Symlink(path("seeds.txt"), path("link")),
	} {
		archivetest.Must(t, err)
	}
	for _, name := range []string{"seeds.txt", "folder", "link"} {
		if l, err := listenSocket(path(name)); err == nil || !strings.Contains(err.Error(), "not a socket") {
			t.Errorf("listen on %s: %v, %v, want an error that says why", name, l, err)
		}
		if err := removeSocket(path(name)); err == nil {
			t.Errorf("%s was removed", name)
		}
		if _, err := os.Lstat(path(name)); err != nil {
			t.Errorf("%s is gone: %v", name, err)
		}
	}
	if got, err := os.ReadFile(path("seeds.txt")); string(got) != "years of work" {
		t.Errorf("the file holds %q: %v", got, err)
	}
	left, err := net.ListenUnix("unix", &net.UnixAddr{Name: path("left"), Net: "unix"})
	archivetest.Must(t, err)
	left.SetUnlinkOnClose(false)
	left.Close() // as a crash leaves it
	l, err := listenSocket(path("left"))
	if err != nil {
		t.Fatalf("a socket that a crash has left is not replaced: %v", err)
	}
	l.Close()
}

// lastResource keeps the last resource that was written.
type lastResource struct{ last warcout.Resource }

func (a *lastResource) WriteResource(_ time.Time, r warcout.Resource) (warcout.Written, error) {
	a.last = r
	return warcout.Written{}, nil
}

// TestTheRecordSaysWhatHoldsOnlyAfterARestart changes a key that a reload does not change, and then restarts.
func TestTheRecordSaysWhatHoldsOnlyAfterARestart(t *testing.T) {
	t.Parallel()
	dir, written := t.TempDir(), &lastResource{}
	load := func(more string) *config.Config {
		path := filepath.Join(dir, "arcrawl.toml")
		writeFile(t, path, "[operator]\nname = \"Library\"\ncontact = \"https://library.example/\"\n"+more)
		c, err := config.Load(path)
		archivetest.Must(t, err)
		return c
	}
	r := &recorder{
		archive: written, index: func(digest.Origin, string) {}, state: filepath.Join(dir, "state"), version: "test",
	}
	now := time.Date(2026, 11, 23, 0, 0, 0, 0, time.UTC)
	began := load("")
	touched, _ := began.Succeed(load(""))
	next := load("[crawl]\nworkers = 7\n")
	reloaded, _ := began.Succeed(next)
	for _, c := range []struct {
		when    string
		inForce *config.Config
		records int
		want    []string
	}{
		{"start", began, 2, nil},
		{"reload without a change", touched, 0, nil},
		{"reload", reloaded, 2, []string{"crawl.workers"}},
		{"the same", reloaded, 0, []string{"crawl.workers"}},
		{"restart", next, 1, nil},
	} {
		n, err := r.record(t.Context(), c.inForce, now)
		if err != nil || n != c.records {
			t.Errorf("%s: %d records, %v; want %d", c.when, n, err, c.records)
		}
		var list struct {
			AtRestart []string `json:"at_restart"`
		}
		if err := json.Unmarshal(written.last.Content, &list); err != nil || !slices.Equal(list.AtRestart, c.want) {
			t.Errorf("%s: %v, at restart: %q, want %q", c.when, err, list.AtRestart, c.want)
		}
	}

	hosts := filepath.Join(dir, "hosts.d")
	archivetest.Must(t, os.Mkdir(hosts, 0o700))
	writeFile(t, filepath.Join(hosts, "empty.example.toml"), "# nothing yet\n")
	if n, err := r.record(t.Context(), load(""), now); err != nil || n != 2 {
		t.Fatalf("a host file that sets nothing: %d records, %v; want the main file and the list", n, err)
	}
	if s := string(written.last.Content); !strings.Contains(s, `{
      "uri": "urn:arcrawl:configuration:hosts:empty.example.toml"
    }`) {
		t.Errorf("the list has a digest of a record that is not there:\n%s", s)
	}
}

// bySeries keeps what is written to the files of each series.
type bySeries map[string]string

func (b bySeries) WriteResource(_ time.Time, r warcout.Resource) (warcout.Written, error) {
	b[r.Series] += r.URI + "\n" + string(r.Content) + "\n"
	return warcout.Written{}, nil
}

// TestHostsOfASeriesAreNamedInItsFilesAlone changes, adds and removes files of hosts with a series: of a host below it,
// of one with a [[when]], and of one that gets its series later.
func TestHostsOfASeriesAreNamedInItsFilesAlone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path, hosts := filepath.Join(dir, "arcrawl.toml"), filepath.Join(dir, "hosts.d")
	archivetest.Must(t, os.Mkdir(hosts, 0o700))
	writeFile(t, path, "[operator]\nname = \"Library\"\ncontact = \"https://library.example/\"\n"+
		"[warc]\nseries_names = [\"embargo\"]\n")
	written := bySeries{}
	r := &recorder{
		archive: written, index: func(digest.Origin, string) {}, state: filepath.Join(dir, "state"), version: "test",
	}
	record := func(want int) (open, apart string) {
		t.Helper()
		c, err := config.LoadKept(path, func(string, string) ([]byte, bool) { return nil, false })
		archivetest.Must(t, err)
		clear(written)
		if n, err := r.record(t.Context(), c, time.Now()); err != nil || n != want {
			t.Errorf("%d records, %v; want %d", n, err, want)
		}
		for _, f := range provenanceInfo(c, "test", "host", "") {
			written[""] += f.Value + "\n"
		}
		if strings.Contains(written[""], "veiled") {
			t.Errorf("a host with a series is named in the files of no series:\n%s", written[""])
		}
		return written[""], written["embargo"]
	}
	host := func(name, text string) { writeFile(t, filepath.Join(hosts, name+".toml"), text) }
	host("veiled.example", "[warc]\nseries = \"embargo\"\n[names]\ndrop = [\"sid\"]\n")
	host("a.veiled.example", "[scope]\nmax_hops = 5\n")
	host("veiled2.example", "[[when]]\nuntil = 2036-01-01\n[when.warc]\nseries = \"embargo\"\n")
	host("open.example", "[names]\ndrop = [\"s\"]\n")
	open, apart := record(7)
	if !strings.Contains(open, "hosts:open.example.toml") || !strings.Contains(open, "open.example: ") ||
		!strings.Contains(open, "and the rules of 2 more hosts") {
		t.Errorf("the files of no series have\n%s", open)
	}
	for _, want := range []string{"hosts:veiled.example.toml", "hosts:a.veiled.example.toml", "hosts:veiled2.example.toml", "sid", ":series:embargo"} {
		if !strings.Contains(apart, want) {
			t.Errorf("the files of the series lack %s:\n%s", want, apart)
		}
	}
	record(0)
	archivetest.Must(t, os.Remove(filepath.Join(hosts, "veiled2.example.toml")))
	host("veiled3.example", "[broken")
	if _, apart = record(1); !strings.Contains(apart, "\"removed\": [") {
		t.Errorf("the files of the series do not say what was removed:\n%s", apart)
	}
	host("open.example", "[warc]\nseries = \"embargo\"\n")
	if open, apart = record(2); strings.Contains(open, "open.example") || !strings.Contains(apart, "hosts:open.example.toml") {
		t.Errorf("a host that got a series is in\n%s\nand\n%s", open, apart)
	}
	if _, apart = record(0); apart != "" {
		t.Errorf("what did not change is written again:\n%s", apart)
	}
}

// fakeCrawl is a crawl that a supervisor watches, and the systemd that receives its states.
type fakeCrawl struct {
	mu     sync.Mutex // guards the fields below
	counts frontier.Counts
	held   string
	states []string // received since the last call of take
}

func (f *fakeCrawl) set(n frontier.Counts, held string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.counts, f.held = n, held
}

func (f *fakeCrawl) getCounts(time.Time) frontier.Counts {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.counts
}

func (f *fakeCrawl) getHeld() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.held
}

func (f *fakeCrawl) notify(state string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.states = append(f.states, state)
}

// take returns the last state and the number of signs of life since the previous call. It then clears both.
func (f *fakeCrawl) take() (signs int, last string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, state := range f.states {
		if last = state; strings.Contains(state, "WATCHDOG=1") {
			signs++
		}
	}
	f.states = nil
	return signs, last
}

// TestAStalledLoopStopsTheSignsOfLife plays a crawl of two workers that stop looking for something to claim.
func TestAStalledLoopStopsTheSignsOfLife(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var f fakeCrawl
		f.set(frontier.Counts{URIs: 7, Hosts: 2}, "")
		s := &supervisor{
			notify: f.notify, every: statusEvery, counts: f.getCounts, workers: 2,
			longestVisit: 20 * time.Minute, heart: newHeartbeat(time.Now()), now: time.Now,
		}
		beat := func() { s.heart.beat(time.Now()) }
		ctx, cancel := context.WithCancel(t.Context())
		stop := s.watch(ctx, 30*time.Second, f.getHeld)
		expect := func(when string, signs int, status string) {
			t.Helper()
			synctest.Wait()
			n, last := f.take()
			if n != signs || !strings.Contains(last, status) {
				t.Errorf("%s: %d signs of life, the last state is %q; want %d and %q", when, n, last, signs, status)
			}
		}
		time.Sleep(time.Hour)
		expect("before the first beat", 0, "")
		beat()
		expect("at the first beat", 0, "READY=1\nSTATUS=crawling: 7 URIs on 2 hosts, 0 visits in progress, 0 since the start")
		time.Sleep(time.Minute + time.Second)
		expect("while a worker waits for a minute", 6, "WATCHDOG=1\nSTATUS=crawling")
		time.Sleep(maxSilence)
		f.take()
		time.Sleep(time.Hour)
		expect("while the workers hang", 0, "STATUS=stuck: no worker has looked for a URI to visit for 1h")

		beat()
		f.set(frontier.Counts{InProgress: 2}, "")
		time.Sleep(s.longestVisit)
		expect("while every worker makes a long visit", 120, "WATCHDOG=1")
		time.Sleep(maxSilence + time.Second)
		f.take()
		time.Sleep(time.Minute)
		expect("when the visits take longer than they can", 0, "STATUS=stuck")

		beat()
		f.set(frontier.Counts{}, "the disk is full\nand failing")
		time.Sleep(statusEvery)
		expect("during a pause", 1, "STATUS=paused: the disk is full; and failing")
		f.set(frontier.Counts{Oldest: time.Now().Add(-2 * time.Hour)}, "")
		time.Sleep(statusEvery)
		expect("when a URI is overdue", 1, "overdue by up to 2h")
		cancel()
		expect("when the crawl stops", 0, "STOPPING=1\nSTATUS=stopping: waiting up to 30s for 0 visits in progress\nEXTEND_TIMEOUT_USEC=150000000")
		stop()
		s.closing()
		expect("at the end", 0, "STOPPING=1\nSTATUS=closing the archive and the store\nEXTEND_TIMEOUT_USEC=120000000")
	})
}

// A folder that cannot be made is a fault of the configuration or of the machine. The error says which setting names it
// and what to do, and is not taken for one of the disk.
func TestAFolderThatCannotBeMadeIsNamed(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	c := &config.Config{}
	c.Storage.State = filepath.Join(file, "state")
	err := PrepareFolders(c)
	if _, ok := errors.AsType[FolderError](err); !ok || !strings.Contains(err.Error(), "storage.state: the folder "+c.Storage.State) {
		t.Errorf("PrepareFolders = %v, want a FolderError that names the setting and the folder", err)
	}
}
