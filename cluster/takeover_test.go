package cluster

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/internal/archivetest"
	"github.com/arcrawl/arcrawl/internal/daemontest"
	"github.com/arcrawl/arcrawl/internal/postgres"
	"github.com/arcrawl/arcrawl/internal/slow"
	"github.com/arcrawl/arcrawl/internal/testcrawl"
	"github.com/arcrawl/arcrawl/uri"
)

const (
	sharedHosts = 12
	sharedPages = 15
	sharedRest  = 200 * time.Millisecond
	sharedWait  = 300 * time.Millisecond
)

// sharedSite is a set of hosts that note which node asks them, and when.
type sharedSite struct {
	hosts []string
	pages int           // of each host
	rest  time.Duration // between two requests to a host
	wait  time.Duration // until a page is visited again
	links bool          // pages link to the next host, and not to their own; some are the same on all hosts

	linked int // number of pages to which each page links

	mu    sync.Mutex
	seen  map[string]bool       // pages that were asked for
	asked map[string][]askedFor // by host
}

type askedFor struct {
	node string
	at   time.Time
}

// newSharedSite starts a small site that is visited often.
func newSharedSite(t *testing.T) *sharedSite {
	t.Helper()
	return newSite(t, sharedHosts, sharedPages, sharedRest, sharedWait)
}

func newSite(t *testing.T, hosts, pages int, rest, wait time.Duration) *sharedSite {
	t.Helper()
	s := &sharedSite{
		pages: pages, linked: pages, rest: rest, wait: wait, seen: map[string]bool{}, asked: map[string][]askedFor{},
	}
	s.hosts = daemontest.ServeHosts(t, hosts, s)
	return s
}

func (s *sharedSite) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_, node, _ := strings.Cut(r.UserAgent(), "node-")
	s.mu.Lock()
	s.asked[r.Host] = append(s.asked[r.Host], askedFor{node[:1], time.Now()})
	n := len(s.asked[r.Host])
	if _, err := strconv.Atoi(r.URL.Path[1:]); err == nil {
		s.seen[r.Host+r.URL.Path] = true
	}
	s.mu.Unlock()
	w.Header().Set("Content-Type", "text/html")
	if s.links && r.URL.Path == fmt.Sprint("/", s.pages-1) {
		fmt.Fprint(w, "<p>Nothing is here, on any host")
		return
	}
	fmt.Fprintf(w, "<title>%s</title><p>%d</p>", r.URL.Path, n/50)
	to := ""
	if s.links {
		to = "http://" + s.hosts[(slices.Index(s.hosts, r.Host)+1)%len(s.hosts)]
	}
	for p := range s.linked {
		fmt.Fprintf(w, "<a href=%s/%d>%d</a>", to, p, p)
	}
}

// of returns the number of requests of a node.
func (s *sharedSite) of(node string) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, list := range s.asked {
		for _, r := range list {
			n += countOf(r.node == node)
		}
	}
	return n
}

func countOf(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

// node writes the configuration of a node, whose archive is its own, and returns its path.
func (s *sharedSite) node(t *testing.T, dir, database, name string, others ...string) string {
	t.Helper()
	folder := filepath.Join(dir, name)
	if err := os.MkdirAll(folder, 0o750); err != nil {
		t.Fatal(err)
	}
	elsewhere := []string{}
	for _, other := range others {
		elsewhere = append(elsewhere, strconv.Quote(filepath.Join(dir, other, "warc")))
	}
	seeds := ""
	for _, host := range s.hosts {
		seeds += fmt.Sprintf("\"http://%s/0\", ", host)
	}
	path := filepath.Join(folder, "arcrawl.toml")
	daemontest.WriteFile(t, path, fmt.Sprintf(`
[operator]
name = "Test"
contact = "https://library.example/node-%s"
[storage]
min_free = "1MB"
elsewhere = [%s]
[log]
extra_info = true
[cluster]
database = %q
node = %q
listen = "127.0.0.1:0"
[fetch]
allow_networks = ["127.0.0.0/8"]
[dedup]
min_size = "1B"
[politeness]
delay_factor = 0.0
min_delay = %q
max_delay = %q
[[wait]]
mime = ".*"
rule = "classic"
initial = %q
min = %q
max = %q
[seeds]
uris = [%s]
`, name, strings.Join(elsewhere, ", "), database, name, s.rest, s.rest, s.wait, s.wait, 3*s.wait, seeds))
	return path
}

func (s *sharedSite) waitFor(t *testing.T, d *daemontest.Process, node string, more int) {
	t.Helper()
	want := s.of(node) + more
	d.WaitFor(t, fmt.Sprintf("%d requests of node %s", want, node), func() bool { return s.of(node) >= want })
}

// TestAnotherNodeTakesHostsOver runs two nodes with a database. One is killed, and the other crawls everything. It
// comes back, and is frozen: the other one crawls everything again. Thawed, it asks nobody anything. A store that was
// damaged on the disk is made again from the database.
func TestAnotherNodeTakesHostsOver(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	db, site := postgres.New(t), newSharedSite(t)
	f := newProcesses(t, db.URL(db.Address()), site, "a", "b")
	first := f.start("a")
	f.waitFor("a", 200)
	second := f.start("b")
	f.awaitStatus("b", "crawls 50 %")
	f.signal("b", syscall.SIGHUP) // as logrotate sends it each day
	f.waitFor("a", 50)
	f.waitFor("b", 50)
	first.Kill(t)
	f.awaitStatus("b", "crawls all hosts")
	f.waitFor("b", 100)

	first = f.start("a")
	f.awaitStatus("a", "crawls 50 %")
	f.waitFor("a", 50)
	f.signal("a", syscall.SIGSTOP)
	frozen := site.of("a")
	f.awaitStatus("b", "crawls all hosts")
	f.waitFor("b", 100)
	f.signal("a", syscall.SIGCONT)
	select {
	case <-first.Gone:
	case <-time.After(3 * time.Minute):
		t.Error("the node that was fenced still runs")
	}
	if code := first.Cmd.ProcessState.ExitCode(); code != cli.ExitBusy || !strings.Contains(first.Output(), "no longer owns") {
		t.Errorf("the fenced node ended with %d, want %d:\n%s", code, cli.ExitBusy, first.Output())
	}
	f.waitFor("b", 100)
	// A request that was on its way when the node was frozen may arrive.
	if n := site.of("a") - frozen; n > sharedHosts {
		t.Errorf("the fenced node made %d more requests", n)
	}
	second.Terminate(t)
	daemontest.WriteFile(t, filepath.Join(f.dir, "b", "state", "MANIFEST"), "damaged")
	second = f.start("b")
	second.WaitToSay(t, "loading it again from the database")
	f.waitFor("b", 50)
	second.Terminate(t)
	f.examineRests()
	t.Logf("%d visits were made again", f.examine())
}

// silentProxy passes connections on to a server, or holds everything back.
type silentProxy struct {
	address string
	to      atomic.Pointer[string] // the server's address, for new connections
	gate    sync.RWMutex           // held for writing while nothing gets to the server
	back    sync.RWMutex           // held for writing while nothing gets back
}

func startProxy(t *testing.T, to string) *silentProxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	p := &silentProxy{address: l.Addr().String()}
	p.to.Store(&to)
	go func() {
		for {
			from, err := l.Accept()
			if err != nil {
				return
			}
			go p.pass(from)
		}
	}()
	return p
}

func (p *silentProxy) pass(from net.Conn) {
	server, err := net.Dial("tcp", *p.to.Load())
	if err != nil {
		_ = from.Close()
		return
	}
	way := func(gate *sync.RWMutex, dst, src net.Conn) {
		defer func() { _ = dst.Close() }()
		buffer := make([]byte, 32<<10)
		for {
			n, err := src.Read(buffer)
			gate.RLock()
			_, failed := dst.Write(buffer[:n])
			gate.RUnlock()
			if err != nil || failed != nil {
				return
			}
		}
	}
	go way(&p.gate, server, from)
	way(&p.back, from, server)
}

// TestAnOutageOfTheDatabasePausesTheCrawl cuts a node from its database for 17 s. It visits nothing after 10 s, blames
// no site for that, and continues by itself.
func TestAnOutageOfTheDatabasePausesTheCrawl(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	db, site := postgres.New(t), newSharedSite(t)
	proxy := startProxy(t, db.Address())
	f := newProcesses(t, db.URL(proxy.address), site, "a")
	d := f.start("a")
	f.waitFor("a", 100)

	proxy.gate.Lock()
	proxy.back.Lock()
	time.Sleep(13 * time.Second) // the lease is over after 10 s at the latest
	before := site.of("a")
	time.Sleep(4 * time.Second)
	after := site.of("a")
	proxy.gate.Unlock()
	proxy.back.Unlock()
	if after != before {
		t.Errorf("%d requests were made without a lease", after-before)
	}
	f.waitFor("a", 100)
	d.Terminate(t)
	if !strings.Contains(d.Output(), "the database of the cluster does not answer") || !strings.Contains(d.Output(), "answers again") {
		t.Errorf("the log does not mention the outage:\n%s", d.Output())
	}
	store, err := frontier.Open(frontier.Options{Dir: filepath.Join(f.dir, "a", "state"), Now: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	err = store.Each(func(r frontier.Record) error {
		if r.Failures > 0 && r.URI.Path() != "/robots.txt" {
			t.Errorf("%s has %d failures: %s", r.URI, r.Failures, r.LastError)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	for _, h := range store.Hosts(time.Now()) {
		if h.Failures > 0 {
			t.Errorf("%s was blamed: %s", h.Host, h.Reason)
		}
	}
}

// examineLogs makes sure that each log line names its record in an archive, and returns how many lines each URI has,
// and how many revisits refer to a record of another host in the archive of another node.
func examineLogs(t *testing.T, dir string, nodes []string) (lines map[string]int, foreign int) {
	t.Helper()
	lines = map[string]int{}
	at, node, byID := map[string]string{}, map[string]string{}, map[string]archivetest.CheckedRecord{}
	all := filepath.Join(dir, "all")
	if err := os.Mkdir(all, 0o750); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "?", "warc", "*.warc.gz"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if err := os.Link(f, filepath.Join(all, filepath.Base(f))); err != nil {
			t.Fatal(err)
		}
		node[filepath.Base(f)] = filepath.Dir(f)
	}
	records := archivetest.CheckDir(t, all) // follows revisits to the records of the other node
	for _, r := range records {
		at[fmt.Sprintf("%s@%d", r.File, r.Offset)], byID[r.ID()] = r.Target(), r
	}
	host := func(r archivetest.CheckedRecord) uri.Host { return uri.FromCanonical(r.Target()).Host() }
	for _, r := range records {
		if to, is := byID[r.Header.Get("WARC-Refers-To")]; is && r.Type() == "revisit" {
			foreign += countOf(node[to.File] != node[r.File] && host(to) != host(r))
		}
	}
	for _, node := range nodes {
		if _, err := os.Stat(filepath.Join(dir, node, "crawl.log")); err != nil {
			continue // it has never crawled
		}
		for _, e := range testcrawl.ReadLog(t, filepath.Join(dir, node, "crawl.log")) {
			lines[e.URI]++
			if e.Extra == nil || e.Extra.WARCFile == "" {
				continue
			}
			if target := at[fmt.Sprintf("%s@%d", e.Extra.WARCFile, e.Extra.WARCOffset)]; target != e.URI {
				t.Errorf("the log of node %s names a record of %s that is of %q", node, e.URI, target)
			}
		}
	}
	return lines, foreign
}
