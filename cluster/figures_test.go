package cluster

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

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

// measureVisits compares the processor time of a visit by one node, and by four, with the one of a daemon on its own,
// which visits the same pages as often.
func measureVisits(t *testing.T) {
	const warm, measured = 30 * time.Second, 30 * time.Second
	costs := map[string][]float64{}
	for round := range 3 {
		for _, names := range []string{"", "a", "abcd"} {
			db := postgres.New(t)
			db.Sync()
			site := newSite(t, 60, 30, 50*time.Millisecond, 2*time.Second)
			f := newProcesses(t, db.URL(db.Address()), site, strings.Split(cmp.Or(names, "a"), "")...)
			if names == "" {
				withoutCluster(t, f.config["a"])
			}
			for _, name := range f.names {
				f.start(name)
				time.Sleep(5 * time.Second)
			}
			time.Sleep(warm) // each page was visited by then, and the parts were spread
			all := func() (visits int, used time.Duration) {
				for _, name := range f.names {
					visits, used = visits+site.of(name), used+cpu(t, f.daemon(name))
				}
				return visits, used
			}
			before, began := all()
			server := db.CPU()
			time.Sleep(measured)
			visits, used := all()
			visits, used, server = visits-before, used-began, db.CPU()-server
			for _, name := range f.names {
				f.daemon(name).Terminate(t)
			}
			perVisit := func(d time.Duration) float64 { return float64(d.Microseconds()) / float64(visits) }
			costs[names] = append(costs[names], perVisit(used))
			t.Logf("round %d, nodes %q: %.0f visits/s, %.0f µs of the daemons and %.1f µs of the database for each",
				round, names, float64(visits)/measured.Seconds(), perVisit(used), perVisit(server))
		}
	}
	median := func(names string) float64 { slices.Sort(costs[names]); return costs[names][1] }
	t.Logf("one node needs %.2f × the processor time of a daemon on its own, four nodes %.2f × (medians)",
		median("a")/median(""), median("abcd")/median(""))
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
// ARCRAWL_TAKEOVER is another number of URIs; of more than a million, what is captured again is not counted.
func measureTakeover(t *testing.T) {
	hosts, rest, uris := 400, time.Second, number(t, "ARCRAWL_TAKEOVER", 200_000)
	if uris > 1_000_000 { // the nodes have time to load rows
		hosts, rest = 2000, 20*time.Second
	}
	db := postgres.New(t)
	db.Sync()
	site := newSite(t, hosts, uris/hosts, rest, time.Hour)
	site.linked = 5
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
	t.Logf("the database has %d rows, %d MB", count(t, db, `SELECT count(*) FROM arcrawl.row`),
		count(t, db, `SELECT pg_database_size(current_database()) >> 20`))
	mine := site.lastOf("a")
	var after []time.Duration
	second.WaitFor(t, "a visit of each host", func() bool { after = site.firstOf("b", death, mine); return len(after) == len(mine) })
	t.Logf("the memory of the node that took over: %s", peak(t, second))
	second.Terminate(t)
	slices.Sort(after)
	t.Logf("first visits of %d hosts after the death: the first host after %.1f s, the median %.1f s, the last one %.1f s",
		len(mine), after[0].Seconds(), after[len(mine)/2].Seconds(), after[len(mine)-1].Seconds())
	for line := range strings.Lines(second.Output()) {
		if strings.Contains(line, "loaded hosts") {
			t.Log(strings.TrimSpace(line))
		}
	}
	if uris <= 1_000_000 {
		f.tellRepeated(rate)
	}
}

// tellRepeated logs how many visits were captured again after node a was killed, and its visits in a second.
func (f *processes) tellRepeated(rate float64) {
	t := f.T
	t.Helper()
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
	for _, h := range s.hosts {
		var entries []frontier.Entry
		for p := range s.pages {
			e := frontier.Entry{}
			e.URI, e.Due, e.Hops = uri.FromCanonical(fmt.Sprintf("http://%s/%d", h, p)), now, "L"
			entries = append(entries, e)
		}
		if _, err := f.Import(now, false, entries...); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// peak returns the most memory that a process has had, as Linux says it.
func peak(t *testing.T, d *daemontest.Process) string {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", d.Cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(text), "VmHWM:")
	line, _, _ := strings.Cut(after, "\n")
	return strings.TrimSpace(line)
}

// count returns a number that the database answers.
func count(t *testing.T, db *postgres.Server, sql string) (n int64) {
	t.Helper()
	c, err := pgx.Connect(t.Context(), db.URL(db.Address()))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close(context.Background()) }()
	if err := c.QueryRow(t.Context(), sql).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}
