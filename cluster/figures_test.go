package cluster

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/internal/daemontest"
	"github.com/arcrawl/arcrawl/internal/postgres"
	"github.com/arcrawl/arcrawl/uri"
	"github.com/arcrawl/arcrawl/warcout"
)

// TestClusterFigures measures what docs/benchmarks.md says of a cluster of real daemons. It checks no times. It needs
// ten minutes and a quiet machine, so it runs only with ARCRAWL_FIGURES=1; see make cluster-figures.
func TestClusterFigures(t *testing.T) {
	if os.Getenv("ARCRAWL_FIGURES") == "" {
		t.Skip("run make cluster-figures to measure a cluster")
	}
	t.Run("visit", measureVisits)
	t.Run("idle", measureIdleNodes)
	t.Run("takeover", measureTakeover)
}

// cpu returns the processor time of a process.
func cpu(t *testing.T, d *daemontest.Process) time.Duration {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", d.Cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(text), ") ")
	ticks := 0
	for _, field := range strings.Fields(after)[11:13] { // user and system time
		n, err := strconv.Atoi(field)
		if err != nil {
			t.Fatal(err)
		}
		ticks += n
	}
	return time.Duration(ticks) * time.Second / 100 // a tick is 10 ms on every Linux
}

// measureVisits compares the processor time of a visit by a node with the one of a daemon on its own, which visits the
// same pages as often.
func measureVisits(t *testing.T) {
	const warm, measured = 12 * time.Second, 30 * time.Second
	dir := t.TempDir()
	binary := built.In(t, dir)
	var costs [2][]float64
	for round := range 3 {
		for kind, name := range []string{"alone", "node"} {
			db := postgres.New(t)
			db.Sync()
			site := newSite(t, 60, 30, 50*time.Millisecond, 2*time.Second)
			config := site.node(t, filepath.Join(dir, fmt.Sprint(name, round)), db.URL(db.Address()), "a")
			if kind == 0 {
				withoutCluster(t, config)
			}
			d := daemontest.StartProcess(t, binary, config)
			time.Sleep(warm) // each page was visited by then
			visits, used, server := site.of("a"), cpu(t, d), db.CPU()
			time.Sleep(measured)
			visits, used, server = site.of("a")-visits, cpu(t, d)-used, db.CPU()-server
			d.Terminate(t)
			perVisit := func(d time.Duration) float64 { return float64(d.Microseconds()) / float64(visits) }
			costs[kind] = append(costs[kind], perVisit(used))
			t.Logf("%s: %.0f visits/s, %.0f µs of the daemon and %.1f µs of the database for each",
				name, float64(visits)/measured.Seconds(), perVisit(used), perVisit(server))
		}
	}
	for _, list := range costs {
		slices.Sort(list)
	}
	t.Logf("the node needs %.2f × the processor time of a daemon on its own (medians)", costs[1][1]/costs[0][1])
}

// withoutCluster removes [cluster] from a configuration.
func withoutCluster(t *testing.T, path string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(text), "[cluster]")
	_, after, more := strings.Cut(rest, "[fetch]")
	if !found || !more {
		t.Fatalf("%s has no [cluster] before [fetch]", path)
	}
	daemontest.WriteFile(t, path, before+"[fetch]"+after)
}

// measureIdleNodes measures what three nodes with nothing to visit cost the database.
func measureIdleNodes(t *testing.T) {
	const measured = time.Minute
	db := postgres.New(t)
	db.Sync()
	site := newSite(t, sharedHosts, sharedPages, sharedRest, time.Hour)
	f := newProcesses(t, db.URL(db.Address()), site, "a", "b", "c")
	f.begin(6)
	for _, name := range f.names {
		f.start(name)
	}
	for _, name := range f.names {
		f.awaitStatus(name, "crawls 33 %")
	}
	time.Sleep(time.Minute) // every page was visited, and no hosts move any more
	requests, used := f.site.of("a")+f.site.of("b")+f.site.of("c"), db.CPU()
	time.Sleep(measured)
	used = db.CPU() - used
	if n := f.site.of("a") + f.site.of("b") + f.site.of("c") - requests; n > 0 {
		t.Errorf("%d requests were made", n)
	}
	t.Logf("three idle nodes cost the database %s a minute: %.2f %% of a core for each",
		used, 100*used.Seconds()/measured.Seconds()/3)
}

// measureTakeover lets two nodes share a crawl of 200,000 URIs of 400 hosts, all due, and kills one of them.
func measureTakeover(t *testing.T) {
	const hosts, uris = 400, 200_000
	db := postgres.New(t)
	db.Sync()
	site := newSite(t, hosts, uris/hosts, time.Second, time.Hour)
	f := newProcesses(t, db.URL(db.Address()), site, "a", "b")
	for _, path := range f.config { // how long hosts rest after a crash, as it is without settings
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		daemontest.WriteFile(t, path, strings.Replace(string(text), "max_delay = \"1s\"", "max_delay = \"30s\"", 1))
	}
	fillStore(t, filepath.Join(f.dir, "a", "state"), site)
	first := f.start("a")
	f.waitFor("a", 2000)
	second := f.start("b")
	f.awaitStatus("b", "crawls 50 %")
	f.waitFor("a", 2000)
	visits, since := site.of("a"), time.Now()
	f.waitFor("a", 2000)
	rate := float64(site.of("a")-visits) / time.Since(since).Seconds()
	first.Kill(t)
	death := time.Now()
	mine := site.lastOf("a")
	var after []time.Duration
	second.WaitFor(t, "a visit of each host", func() bool { after = site.firstOf("b", death, mine); return len(after) == len(mine) })
	second.Terminate(t)
	slices.Sort(after)
	t.Logf("first visits of %d hosts after the death: the first host after %.1f s, the median %.1f s, the last one %.1f s",
		len(mine), after[0].Seconds(), after[len(mine)/2].Seconds(), after[len(mine)-1].Seconds())
	for line := range strings.Lines(second.Output()) {
		if strings.Contains(line, "loaded hosts") {
			t.Log(strings.TrimSpace(line))
		}
	}
	w, _, err := warcout.Open(warcout.Options{Dir: filepath.Join(f.dir, "a", "warc")}, time.Now())
	if err != nil || w.Close(time.Now()) != nil { // the dead node has left an open file
		t.Fatal(err)
	}
	lines, _ := examineLogs(t, f.dir, f.names)
	f.command("wrote ", "leave", "--to", filepath.Join(f.dir, "left"))
	store, err := frontier.Open(frontier.Options{Dir: filepath.Join(f.dir, "left"), Now: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	logged, remembered := 0, 0
	err = store.Each(func(r frontier.Record) error {
		logged, remembered = logged+lines[r.URI.String()], remembered+r.Visits
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d visits at %.0f visits/s were captured again, or will be", logged-remembered, rate)
}

// lastOf returns the hosts that a node was the last one to ask.
func (s *sharedSite) lastOf(node string) (hosts []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for host, list := range s.asked {
		if list[len(list)-1].node == node {
			hosts = append(hosts, host)
		}
	}
	return hosts
}

// firstOf returns how long after a time a node asked some hosts first.
func (s *sharedSite) firstOf(node string, t time.Time, hosts []string) (after []time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, host := range hosts {
		list := s.asked[host]
		at := slices.IndexFunc(list, func(r askedFor) bool { return r.node == node && r.at.After(t) })
		if at >= 0 {
			after = append(after, list[at].at.Sub(t))
		}
	}
	return after
}

// fillStore makes a store with all pages of a site, which are due.
func fillStore(t *testing.T, state string, s *sharedSite) {
	t.Helper()
	if err := os.MkdirAll(state, 0o750); err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	f, err := frontier.Open(frontier.Options{Dir: state, Now: now})
	if err != nil {
		t.Fatal(err)
	}
	var entries []frontier.Entry
	for _, h := range s.hosts {
		for p := range s.pages {
			e := frontier.Entry{}
			e.URI, e.Due, e.Hops = uri.FromCanonical(fmt.Sprintf("http://%s/%d", h, p)), now, "L"
			entries = append(entries, e)
		}
	}
	if _, err := f.Import(now, false, entries...); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}
