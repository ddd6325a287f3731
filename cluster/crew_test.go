package cluster

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/cluster/node"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/internal/daemontest"
	"github.com/arcrawl/arcrawl/internal/postgres"
	"github.com/arcrawl/arcrawl/internal/slow"
	"github.com/arcrawl/arcrawl/uri"
	"github.com/arcrawl/arcrawl/warcout"
)

// processes is a set of nodes that crawl the shards of one site.
type processes struct {
	*testing.T
	site    *sharedSite
	binary  string
	names   []string
	config  map[string]string
	running map[string]*daemontest.Process
	shards  int
	proxies map[string]*silentProxy // between each node and the database

	mu      sync.Mutex // guards freezes, and running while several goroutines use it
	freezes []freeze
}

func (f *processes) start(name string) {
	d := daemontest.StartProcess(f.T, f.binary, f.config[name])
	f.mu.Lock()
	defer f.mu.Unlock()
	f.running[name] = d
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

// TestANodeIsAddedDrainedAndRemoved crawls four shards. A node is added, gets its part, is drained, stopped and
// removed, all while visits are made. Nothing is captured twice, and no host is asked within its rest. While both nodes
// crawl, each is asked about all hosts.
func TestANodeIsAddedDrainedAndRemoved(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	db, dir := postgres.New(t), t.TempDir()
	f := &processes{
		T: t, site: startSharedSite(t), binary: built.In(t, dir), names: []string{"a", "b"}, shards: 4,
		config: map[string]string{}, running: map[string]*daemontest.Process{},
	}
	f.site.links = true
	for i, name := range f.names {
		f.config[name] = f.site.node(t, dir, db.URL(db.Address()), name, f.names[1-i])
	}
	f.start("a")
	f.site.waitFor(t, f.running["a"], "a", 60)
	f.running["a"].Terminate(t)
	f.command("divided 1 shard into 4", "split", "4")
	f.start("a")
	f.site.waitFor(t, f.running["a"], "a", 60)

	f.start("b")
	f.awaitStatus("b", "crawls shard ", ", ") // two of them
	f.site.waitFor(t, f.running["b"], "b", 60)
	f.site.waitFor(t, f.running["a"], "a", 60)
	f.command("runs: stop it first", "drain", "--remove", "b")
	f.askFrom("a")
	f.askFrom("b")

	f.command("hands its shards over", "drain", "b")
	f.awaitStatus("b", "drained")
	drained := f.site.of("b")
	f.site.waitFor(t, f.running["a"], "a", 120)
	if n := f.site.of("b") - drained; n > 0 {
		t.Errorf("node b made %d requests after it was drained", n)
	}
	f.running["b"].Terminate(t)
	f.command("removed node b", "drain", "--remove", "b")
	f.command("no node with this name", "drain", "b")
	f.awaitAll("a")
	f.running["a"].Terminate(t)
	f.examineRests()
	if again := f.examine(dir); again > 0 {
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
		out, err := exec.Command(f.binary, "status", "--cluster", "--config", f.config["a"]).CombinedOutput()
		for line := range strings.Lines(string(out)) {
			missing := func(word string) bool { return !strings.Contains(line, word) }
			if err == nil && strings.HasPrefix(line, node+" ") && !slices.ContainsFunc(words, missing) {
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

// examine looks into the stores of all shards, which the nodes have left properly, and compares them with the logs and
// archives of all nodes. It returns how many visits the stores do not remember.
func (f *processes) examine(dir string) (again int) {
	f.Helper()
	for _, name := range f.names { // a node that was killed and waits now seals its files when it crawls again
		w, _, err := warcout.Open(warcout.Options{Dir: filepath.Join(dir, name, "warc")}, time.Now())
		if err != nil || w.Close(time.Now()) != nil {
			f.Fatal(err)
		}
	}
	lines := examineLogs(f.T, dir, f.names)
	if out, err := exec.Command(f.binary, "verify", filepath.Join(dir, "all")).CombinedOutput(); err != nil {
		f.Errorf("the archives of all nodes have faults: %v\n%s", err, out)
	}
	f.examineDependencies(filepath.Join(dir, "all"))
	newest := map[int]string{} // state folders by shard
	epochs := map[int]int64{}
	states, err := filepath.Glob(filepath.Join(dir, "?", "state", "shard-*"))
	if err != nil {
		f.Fatal(err)
	}
	for _, state := range states {
		var m struct {
			Shard int
			Epoch int64
			Clean bool
		}
		text, err := os.ReadFile(filepath.Join(state, "cluster.json"))
		if err == nil {
			err = json.Unmarshal(text, &m)
		}
		if err != nil {
			f.Logf("%s has no store: %v", state, err)
			continue
		}
		if m.Clean && m.Epoch > epochs[m.Shard] {
			newest[m.Shard], epochs[m.Shard] = state, m.Epoch
		}
	}
	if len(newest) != f.shards {
		f.Fatalf("the stores of the shards are %v", newest)
	}
	known := map[string]int{}
	for shard, state := range newest {
		store, err := frontier.Open(frontier.Options{Dir: state, Now: time.Now()})
		if err != nil {
			f.Fatal(err)
		}
		if err := store.Check(); err != nil {
			f.Error(err)
		}
		err = store.Each(func(r frontier.Record) error {
			u := r.URI.String()
			if other := known[u]; other != 0 {
				f.Errorf("shards %d and %d have %s", other, shard, u)
			}
			if known[u] = shard; node.ShardOf(r.URI.Host(), "", f.shards) != shard {
				f.Errorf("shard %d has %s", shard, u)
			}
			if r.Visits > lines[u] {
				f.Errorf("%s: %d visits are remembered, %d are in the logs", u, r.Visits, lines[u])
			}
			again += lines[u] - r.Visits
			return nil
		})
		if err != nil || store.Close() != nil {
			f.Error(err)
		}
	}
	for _, host := range f.site.hosts {
		for p := range f.site.pages {
			if u := uri.FromCanonical(fmt.Sprintf("http://%s/%d", host, p)); known[u.String()] == 0 {
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
