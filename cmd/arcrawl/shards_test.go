package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/internal/postgres"
	"github.com/arcrawl/arcrawl/internal/slow"
	"github.com/arcrawl/arcrawl/uri"
	"github.com/arcrawl/arcrawl/warcout"
)

// crew is a set of nodes that crawl the shards of one site.
type crew struct {
	*testing.T
	site    *sharedSite
	binary  string
	names   []string
	config  map[string]string
	running map[string]*process
	shards  int
	frozen  int // how often a node was stopped with requests on their way
}

func (f *crew) start(name string) { f.running[name] = startDaemon(f.T, f.binary, f.config[name]) }

// signal sends a signal to a node that may have ended.
func (f *crew) signal(name string, s syscall.Signal) {
	if err := f.running[name].cmd.Process.Signal(s); err != nil && !strings.Contains(err.Error(), "finished") {
		f.Fatal(err)
	}
}

// fault hurts a node, and starts it again if it has ended.
func (f *crew) fault(r *rand.Rand, proxy *silentProxy) {
	name := f.names[r.IntN(len(f.names))]
	switch kind := r.IntN(10); {
	case kind < 4:
		f.Logf("kill node %s", name)
		f.running[name].kill(f.T)
		time.Sleep(time.Duration(r.IntN(25_000)) * time.Millisecond)
		f.start(name)
	case kind < 8:
		for_ := time.Duration(500+r.IntN(30_000)) * time.Millisecond
		f.Logf("freeze node %s for %s", name, for_)
		f.frozen++
		f.signal(name, syscall.SIGSTOP)
		time.Sleep(for_)
		f.signal(name, syscall.SIGCONT)
	case kind < 9:
		f.Logf("stop node %s properly", name)
		f.signal(name, syscall.SIGTERM)
		<-f.running[name].gone
		f.start(name)
	default:
		silent := time.Duration(r.IntN(20_000)) * time.Millisecond
		f.Logf("cut node %s from the database for %s", f.names[0], silent)
		proxy.gate.Lock()
		time.Sleep(silent)
		proxy.gate.Unlock()
	}
	for _, name := range f.names {
		select {
		case <-f.running[name].gone: // it was fenced; systemd would start it again
			f.start(name)
		case <-time.After(time.Second):
		}
	}
}

// number returns the number in a variable of the environment, or another one without it.
func number(t *testing.T, variable string, without int) int {
	t.Helper()
	text := os.Getenv(variable)
	if text == "" {
		return without
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestANodeIsAddedDrainedAndRemoved crawls four shards. A node is added, gets its part, is drained, stopped and
// removed, all while visits are made. Nothing is captured twice, and no host is asked within its rest. While both nodes
// crawl, each is asked about all hosts.
func TestANodeIsAddedDrainedAndRemoved(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	db, dir := postgres.New(t), t.TempDir()
	f := &crew{
		T: t, site: startSharedSite(t), binary: build(t, dir), names: []string{"a", "b"}, shards: 4,
		config: map[string]string{}, running: map[string]*process{},
	}
	f.site.links = true
	for i, name := range f.names {
		f.config[name] = f.site.node(t, dir, db.URL(db.Address()), name, f.names[1-i])
	}
	f.start("a")
	f.site.waitFor(t, f.running["a"], "a", 60)
	f.running["a"].terminate(t)
	f.command("divided 1 shard into 4", "split", "4")
	f.start("a")
	f.site.waitFor(t, f.running["a"], "a", 60)

	f.start("b")
	f.awaitStatus("b", "crawls shard ", ", ") // two of them
	f.site.waitFor(t, f.running["b"], "b", 60)
	f.site.waitFor(t, f.running["a"], "a", 60)
	f.command("runs: stop it first", "remove", "b")
	f.askFrom("a")
	f.askFrom("b")

	f.command("hands its shards over", "drain", "b")
	f.awaitStatus("b", "drained")
	drained := f.site.of("b")
	f.site.waitFor(t, f.running["a"], "a", 120)
	if n := f.site.of("b") - drained; n > 0 {
		t.Errorf("node b made %d requests after it was drained", n)
	}
	f.running["b"].terminate(t)
	f.command("removed node b", "remove", "b")
	f.command("no node with this name", "drain", "b")
	f.awaitAll("a")
	f.running["a"].terminate(t)
	f.site.examineRests(t, 0)
	if again := f.examine(dir); again > 0 {
		t.Errorf("%d visits are in the logs, and no store remembers them", again)
	}
}

// command runs a command of the cluster on node a, which answers with some words.
func (f *crew) command(want string, args ...string) {
	f.Helper()
	args = append(append([]string{"cluster"}, args...), "--config", f.config["a"])
	if out, err := exec.Command(f.binary, args...).CombinedOutput(); !strings.Contains(string(out), want) {
		f.Fatalf("%v: %s, %v, want %q", args, out, err, want)
	}
}

// awaitStatus waits until the line of a node in the status of the cluster has some words.
func (f *crew) awaitStatus(node string, words ...string) {
	f.Helper()
	f.running[node].waitFor(f.T, fmt.Sprintf("node %s with the status %q", node, words), func() bool {
		out, err := exec.Command(f.binary, "cluster", "status", "--config", f.config["a"]).CombinedOutput()
		for line := range strings.Lines(string(out)) {
			missing := func(word string) bool { return !strings.Contains(line, word) }
			if err == nil && strings.HasPrefix(line, node+" ") && !slices.ContainsFunc(words, missing) {
				return true
			}
		}
		return false
	})
}

// TestCluster lets three nodes crawl four shards of hosts that link to each other, while nodes are killed, frozen,
// stopped and cut from the database. No host gets two requests within its rest, whichever nodes made them. Each
// remembered visit is in a log and an archive, and each URI is known, by one shard. The archives have no fault.
// ARCRAWL_FAULTS is the number of random faults; without it there is one, always the same. ARCRAWL_NODES is the number
// of nodes, ARCRAWL_SHARDS of shards, and ARCRAWL_HOSTS of hosts.
func TestCluster(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	faults, seed := 1, uint64(29) // a node that crawls is killed, and starts again after three seconds
	if os.Getenv("ARCRAWL_FAULTS") != "" {
		faults, seed = number(t, "ARCRAWL_FAULTS", 1), uint64(time.Now().UnixNano())
	}
	t.Logf("%d faults of seed %d", faults, seed)
	r := rand.New(rand.NewPCG(seed, 1))
	db, dir := postgres.New(t), t.TempDir()
	f := &crew{
		T: t, site: startSharedSite(t), binary: build(t, dir), config: map[string]string{}, running: map[string]*process{},
	}
	if n := number(t, "ARCRAWL_HOSTS", 0); n > 0 {
		f.site = startLargeSite(t, n)
	}
	for i := range number(t, "ARCRAWL_NODES", 3) {
		f.names = append(f.names, string(rune('a'+i)))
	}
	f.shards = number(t, "ARCRAWL_SHARDS", 2*(len(f.names)-1))
	f.site.links = true
	proxy := startProxy(t, db.Address())
	for i, name := range f.names {
		address := db.Address()
		if i == 0 {
			address = proxy.address
		}
		f.config[name] = f.site.node(t, dir, db.URL(address), name, slices.Concat(f.names[:i], f.names[i+1:])...)
	}
	f.start("a")
	f.site.waitFor(t, f.running["a"], "a", 60)
	f.running["a"].terminate(t)
	time.Sleep(time.Second)
	out, err := exec.Command(f.binary, "cluster", "split", strconv.Itoa(f.shards), "--config", f.config["b"]).CombinedOutput()
	if err != nil || !strings.Contains(string(out), fmt.Sprintf("divided 1 shard into %d", f.shards)) {
		t.Fatalf("%s: %v", out, err)
	}
	for _, name := range f.names {
		f.start(name)
	}
	for _, name := range f.names {
		f.site.waitFor(t, f.running[name], name, 10)
	}
	out, err = exec.Command(f.binary, "cluster", "split", strconv.Itoa(2*f.shards), "--config", f.config["b"]).CombinedOutput()
	if err == nil || !strings.Contains(string(out), "stop all nodes") {
		t.Errorf("a crawl was divided while nodes ran: %s", out)
	}
	for i := range faults {
		t.Logf("fault %d of %d", i+1, faults)
		f.fault(r, proxy)
		time.Sleep(time.Duration(r.IntN(3_000)) * time.Millisecond)
	}
	f.awaitAll(f.names...)
	for _, name := range f.names {
		f.running[name].terminate(t)
	}
	f.site.examineRests(t, f.frozen)
	f.examine(dir)
}

// awaitAll waits until each page was asked for, and each host is visited again after the last fault.
func (f *crew) awaitAll(names ...string) {
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
				logs += "\n" + name + ":\n" + f.running[name].output()
			}
			f.Fatalf("%d of %d pages were visited%s", f.site.pagesAsked(), len(f.site.hosts)*f.site.pages, logs)
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// examine looks into the stores of all shards, which the nodes have left properly, and compares them with the logs and
// archives of all nodes. It returns how many visits the stores do not remember.
func (f *crew) examine(dir string) (again int) {
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
			if known[u] = shard; frontier.ShardOf(r.URI.Host(), "", f.shards) != shard {
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

// examineRests makes sure that no host got two requests within its rest. Requests that were on their way when a node
// was frozen may arrive later.
func (s *sharedSite) examineRests(t *testing.T, frozen int) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	requests, changes, early := 0, 0, 0
	for host, list := range s.asked {
		for i := 1; i < len(list); i++ {
			requests++
			changes += countOf(list[i].node != list[i-1].node)
			if gap := list[i].at.Sub(list[i-1].at); gap < s.rest {
				early++
				t.Logf("%s: node %s asked %v after node %s", host, list[i].node, gap, list[i-1].node)
			}
		}
	}
	if early > frozen*len(s.hosts) {
		t.Errorf("%d requests came within the rest of their host, and %d may have been on their way", early, frozen*len(s.hosts))
	}
	t.Logf("%d requests, %d changes of the node of a host, %d requests of before a freeze", requests, changes, early)
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
