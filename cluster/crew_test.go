package cluster

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/internal/daemontest"
	"github.com/arcrawl/arcrawl/internal/postgres"
	"github.com/arcrawl/arcrawl/internal/slow"
	"github.com/arcrawl/arcrawl/uri"
	"github.com/arcrawl/arcrawl/warcout"
)

// processes is a set of nodes that crawl one site.
type processes struct {
	*testing.T
	dir     string
	site    *sharedSite
	binary  string
	names   []string
	config  map[string]string
	running map[string]*daemontest.Process
	proxies map[string]*silentProxy // between each node and the database

	mu      sync.Mutex // guards the fields below, and running while several goroutines use it
	freezes []freeze
	counts  map[string]int // of faults
}

// newProcesses writes the configurations of nodes of a site, which have a database.
func newProcesses(t *testing.T, database string, site *sharedSite, names ...string) *processes {
	t.Helper()
	dir := t.TempDir()
	f := &processes{
		T: t, dir: dir, site: site, binary: built.In(t, dir), names: names,
		config: map[string]string{}, running: map[string]*daemontest.Process{}, proxies: map[string]*silentProxy{},
	}
	for _, name := range names {
		f.configure(name, database)
	}
	return f
}

// configure writes the configuration of a node that reaches the database at an address.
func (f *processes) configure(name, database string) {
	f.Helper()
	others := slices.DeleteFunc(slices.Clone(f.names), func(other string) bool { return other == name })
	f.config[name] = f.site.node(f.T, f.dir, database, name, others...)
}

func (f *processes) start(name string) *daemontest.Process {
	d := daemontest.StartProcess(f.T, f.binary, f.config[name])
	f.mu.Lock()
	defer f.mu.Unlock()
	f.running[name] = d
	return d
}

// waitFor waits until a node has made more requests.
func (f *processes) waitFor(name string, more int) {
	f.Helper()
	f.site.waitFor(f.T, f.daemon(name), name, more)
}

// begin lets the first node begin the crawl with some requests.
func (f *processes) begin(requests int) {
	f.Helper()
	first := f.start("a")
	f.waitFor("a", requests)
	first.Terminate(f.T)
}

// status returns the status of the cluster, which is asked for with a configuration.
func (f *processes) status(config string) (string, error) {
	out, err := exec.Command(f.binary, "status", "--cluster", "--config", config).CombinedOutput()
	return string(out), err
}

// daemon returns the process of a node.
func (f *processes) daemon(name string) *daemontest.Process {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.running[name]
}

// signal sends a signal to a node that may have ended.
func (f *processes) signal(name string, s syscall.Signal) {
	if err := f.daemon(name).Cmd.Process.Signal(s); err != nil && !strings.Contains(err.Error(), "finished") {
		f.Fatal(err)
	}
}

// TestANodeIsAddedDrainedAndRemoved lets a node crawl. Another one is added, gets its part, is drained, stopped and
// removed, all while visits are made. Nothing is captured twice, and no host is asked within its rest. While both nodes
// crawl, each is asked about all hosts.
func TestANodeIsAddedDrainedAndRemoved(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	db := postgres.New(t)
	f := newProcesses(t, db.URL(db.Address()), newSharedSite(t), "a", "b")
	f.site.links = true
	f.start("a")
	f.waitFor("a", 120)

	f.start("b")
	f.awaitStatus("b", "crawls 50 %")
	f.waitFor("b", 60)
	f.waitFor("a", 60)
	f.command("runs: stop it first", "drain", "--remove", "b")
	f.askFrom("a")
	f.askFrom("b")

	f.command("node b hands", "drain", "b")
	f.awaitStatus("b", "drained")
	drained := f.site.of("b")
	f.waitFor("a", 120)
	if n := f.site.of("b") - drained; n > 0 {
		t.Errorf("node b made %d requests after it was drained", n)
	}
	f.running["b"].Terminate(t)
	f.command("removed node b", "drain", "--remove", "b")
	f.command("no node with this name", "drain", "b")
	f.awaitAll("a")
	f.running["a"].Terminate(t)
	f.examineRests()
	if again := f.examine(); again > 0 {
		t.Errorf("%d visits are in the logs, and no store remembers them", again)
	}
}

// command runs a command of the cluster on node a, which answers with some words.
func (f *processes) command(want string, args ...string) {
	f.Helper()
	args = append(append([]string{"cluster"}, args...), "--config", f.config["a"])
	if out, err := exec.Command(f.binary, args...).CombinedOutput(); !strings.Contains(string(out), want) {
		f.Fatalf("%v: %s, %v, want %q", args, out, err, want)
	}
}

// awaitStatus waits until the line of a node in the status of the cluster has some words.
func (f *processes) awaitStatus(node string, words ...string) {
	f.Helper()
	f.running[node].WaitFor(f.T, fmt.Sprintf("node %s with the status %q", node, words), func() bool {
		time.Sleep(200 * time.Millisecond) // each question is a process
		out, _ := f.status(f.config["a"])  // the code of a node that is dead
		for line := range strings.Lines(out) {
			missing := func(word string) bool { return !strings.Contains(line, word) }
			if strings.HasPrefix(line, node+" ") && !slices.ContainsFunc(words, missing) {
				return true
			}
		}
		return false
	})
}

// awaitAll waits until each page was asked for, and each host is visited again after the last fault.
func (f *processes) awaitAll(names ...string) {
	f.Helper()
	giveUp := time.Now().Add(3*time.Minute + 30*f.site.wait)
	before := f.site.requests()
	again := func() bool {
		for host, n := range f.site.requests() {
			if n < before[host]+5 {
				return false
			}
		}
		return true
	}
	for f.site.pagesAsked() < len(f.site.hosts)*f.site.pages || !again() {
		if time.Now().After(giveUp) {
			logs := ""
			for _, name := range names {
				logs += "\n" + name + ":\n" + f.running[name].Output()
			}
			f.Fatalf("%d of %d pages were visited%s", f.site.pagesAsked(), len(f.site.hosts)*f.site.pages, logs)
		}
		f.restart(names)
		time.Sleep(100 * time.Millisecond)
	}
}

// examine writes the crawl of all nodes, which were stopped properly, as one store, and compares it with the logs and
// archives of all nodes. Each visit that it remembers has a line in a log, and its record in an archive. It returns how
// many visits it does not remember.
func (f *processes) examine() (again int) {
	f.Helper()
	for _, name := range f.names { // a node that was killed and waits now seals its files when it crawls again
		w, _, err := warcout.Open(warcout.Options{Dir: filepath.Join(f.dir, name, "warc")}, time.Now())
		if err != nil || w.Close(time.Now()) != nil {
			f.Fatal(err)
		}
	}
	lines, foreign := examineLogs(f.T, f.dir, f.names)
	f.Logf("%d revisits refer to a record of another host and node", foreign)
	if f.site.links && foreign == 0 {
		f.Error("no node has found what another one has archived")
	}
	if out, err := exec.Command(f.binary, "verify", filepath.Join(f.dir, "all")).CombinedOutput(); err != nil {
		f.Errorf("the archives of all nodes have faults: %v\n%s", err, out)
	}
	f.examineDependencies(filepath.Join(f.dir, "all"))
	f.command("wrote ", "leave", "--to", filepath.Join(f.dir, "left"))
	store, err := frontier.Open(frontier.Options{Dir: filepath.Join(f.dir, "left"), Now: time.Now()})
	if err != nil {
		f.Fatal(err)
	}
	if err := store.Check(); err != nil {
		f.Error(err)
	}
	known := map[string]bool{}
	err = store.Each(func(r frontier.Record) error {
		u := r.URI.String()
		known[u] = true
		if r.Visits > lines[u] {
			f.Errorf("%s: %d visits are remembered, %d are in the logs", u, r.Visits, lines[u])
		}
		again += lines[u] - r.Visits
		return nil
	})
	if err != nil || store.Close() != nil {
		f.Error(err)
	}
	for _, host := range f.site.hosts {
		for p := range f.site.pages {
			if u := uri.FromCanonical(fmt.Sprintf("http://%s/%d", host, p)); !known[u.String()] {
				f.Errorf("%s is lost", u)
			}
		}
	}
	return again
}

// requests returns how many requests each host got.
func (s *sharedSite) requests() map[string]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := map[string]int{}
	for _, host := range s.hosts {
		n[host] = len(s.asked[host])
	}
	return n
}

// pagesAsked returns how many pages were asked for.
func (s *sharedSite) pagesAsked() (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.seen)
}
