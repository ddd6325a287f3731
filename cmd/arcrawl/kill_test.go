package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/arcrawl/arcrawl/archive/index"
	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/internal/archivetest"
	"github.com/arcrawl/arcrawl/internal/daemontest"
	"github.com/arcrawl/arcrawl/internal/slow"
	"github.com/arcrawl/arcrawl/internal/testcrawl"
	"github.com/arcrawl/arcrawl/uri"
	"github.com/arcrawl/arcrawl/warcout"
)

const (
	killRounds = 50
	killHosts  = 8  // each an address of the loopback
	killPages  = 40 // of each host
)

// TestFiftyKills kills the real binary at random moments under load, fifty times, and then checks what is left: no
// torn WARC, no URI lost, no capture missing that the log claims, and at most one repeated capture for each slot and
// kill.
func TestFiftyKills(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	dir := t.TempDir()
	binary := built.In(t, dir)
	site := startKillSite(t)
	path := filepath.Join(dir, "arcrawl.toml")
	main := strings.Replace(site.toml(), "[warc]\n", "[warc]\nseries_names = [\"contract\", \"embargo\"]\n", 1)
	daemontest.WriteFile(t, path, main+"[dedup]\nmin_size = \"0B\"\n")
	series := map[string]string{site.hosts[0]: "contract", site.hosts[1]: "embargo"}
	if err := os.Mkdir(filepath.Join(dir, "hosts.d"), 0o700); err != nil {
		t.Fatal(err)
	}
	for host, name := range series {
		file := filepath.Join(dir, "hosts.d", name+".toml")
		daemontest.WriteFile(t, file, fmt.Sprintf("host = %q\n[warc]\nseries = %q\n", host, name))
	}

	seed := uint64(time.Now().UnixNano())
	t.Logf("random seed: %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	for round := range killRounds {
		d := daemontest.StartProcess(t, binary, path)
		asked := site.asked.Load()
		site.waitFor(t, d, asked+1+random.Int64N(200))
		d.Kill(t)
		if t.Failed() {
			t.Fatalf("stopped in round %d", round)
		}
	}
	d := daemontest.StartProcess(t, binary, path)
	asked := site.asked.Load()
	site.waitFor(t, d, asked+2*killHosts*killPages)
	d.Terminate(t)
	examine(t, dir, site, killRounds)
	examineIndex(t, filepath.Join(dir, "warc"))
	examineSeries(t, filepath.Join(dir, "warc"), series)
}

// examineSeries checks that the records of each host are in the files of its series, and that no record refers to one
// in another series.
func examineSeries(t *testing.T, dir string, series map[string]string) {
	t.Helper()
	of, records := warcout.SeriesIn("arcrawl"), map[string][]archivetest.CheckedRecord{}
	for _, r := range archivetest.CheckDir(t, dir) {
		in := of(r.File)
		records[in] = append(records[in], r)
		if u, err := uri.Parse(r.Target()); err == nil && series[u.Authority()] != in {
			t.Errorf("%s is in %s", r.Target(), r.File)
		}
	}
	for in, all := range records {
		if err := archivetest.CheckRecords(all); err != nil {
			t.Errorf("the series %q alone: %v", in, err)
		}
	}
	if len(records) != len(series)+1 {
		t.Errorf("there are %d series, want %d", len(records), len(series)+1)
	}
}

// examineIndex compares the live index with an index that is built from the files. Both must have the same lines.
func examineIndex(t *testing.T, dir string) {
	t.Helper()
	places := func(text string) map[string]int {
		found := map[string]int{}
		for line := range strings.Lines(text) {
			e, err := index.ParseEntry(line)
			if err != nil {
				t.Fatal(err)
			}
			found[fmt.Sprintf("%s@%d %s %s", e.Filename, e.Offset, e.Timestamp, e.URL)]++
		}
		return found
	}
	var made bytes.Buffer
	if _, err := index.Build(t.Context(), []string{dir}, index.Options{}, &made,
		func(f warc.Finding) error { return &f }); err != nil {
		t.Fatal(err)
	}
	kept := ""
	for _, name := range []string{"index.cdxj", "recent.cdxj", "live.cdxj"} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		kept += string(text)
	}
	if diff := cmp.Diff(places(made.String()), places(kept)); diff != "" {
		t.Errorf("the live index differs from one built from the files (-built +live):\n%s", diff)
	}
}

// examine checks what a number of kills have left in dir.
func examine(t *testing.T, dir string, site *killSite, kills int) {
	t.Helper()
	captures := make(map[uri.Host]int) // response and revisit records in the archive
	claimed := make(map[uri.Host]int)  // lines that claim one
	lines := make(map[string]int)      // lines of each URI

	at := make(map[string]archivetest.CheckedRecord)
	for _, r := range archivetest.CheckDir(t, filepath.Join(dir, "warc")) {
		at[fmt.Sprintf("%s@%d", r.File, r.Offset)] = r
		if r.Main() {
			captures[uri.FromCanonical(r.Target()).Host()]++
		}
	}
	for _, e := range testcrawl.ReadLog(t, filepath.Join(dir, "crawl.log")) {
		lines[e.URI]++
		if e.Extra == nil || e.Extra.WARCFile == "" {
			continue
		}
		claimed[uri.FromCanonical(e.URI).Host()]++
		if r, ok := at[fmt.Sprintf("%s@%d", e.Extra.WARCFile, e.Extra.WARCOffset)]; !ok || r.Target() != e.URI {
			t.Errorf("crawl.log names a record of %s at %d of %s that does not exist", e.URI, e.Extra.WARCOffset, e.Extra.WARCFile)
		}
	}
	f, err := frontier.Open(frontier.Options{Dir: filepath.Join(dir, "state"), Now: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := f.Check(); err != nil {
		t.Error(err)
	}
	repeated, visits := make(map[uri.Host]int), 0
	for _, u := range site.uris() {
		r, known, err := f.Get(u)
		if err != nil || !known || r.Visits == 0 {
			t.Errorf("%s is lost: known %t, %d visits, %v", u, known, r.Visits, err)
		}
		visits += r.Visits
		repeated[u.Host()] += lines[u.String()] - r.Visits
	}
	for host, n := range captures {
		// Each host has one slot: a kill can leave one record without its line, and one line that is not in the store.
		if more := n - claimed[host]; more < 0 || more > kills {
			t.Errorf("%s: %d captures, %d of them in the log; want at most one more per kill (%d kills)", host, n, claimed[host], kills)
		}
		if repeated[host] < 0 || repeated[host] > kills {
			t.Errorf("%s: %d lines more than visits in the store, want 0 to %d", host, repeated[host], kills)
		}
	}
	t.Logf("%d visits in the store after %d kills", visits, kills)
}

// killSite is a set of hosts whose pages change all the time and link to each other.
type killSite struct {
	hosts []string // addresses with their ports
	asked atomic.Int64
}

func startKillSite(t *testing.T) *killSite {
	t.Helper()
	s := &killSite{}
	s.hosts = daemontest.ServeHosts(t, killHosts, s)
	return s
}

func (s *killSite) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	n := s.asked.Add(1)
	if r.URL.Path == "/robots.txt" {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "text/html")
	fmt.Fprintf(w, "<title>%s</title><p>%d</p>", r.URL.Path, n/500) // the pages change with the load
	for p := range killPages {
		fmt.Fprintf(w, "<a href=/%d>%d</a>", p, p)
	}
}

func (s *killSite) uris() []uri.URI {
	var out []uri.URI
	for _, host := range s.hosts {
		for p := range killPages {
			out = append(out, uri.FromCanonical(fmt.Sprintf("http://%s/%d", host, p)))
		}
	}
	return out
}

func (s *killSite) toml() string {
	var seeds strings.Builder
	for _, host := range s.hosts {
		fmt.Fprintf(&seeds, "\"http://%s/0\", ", host)
	}
	return fmt.Sprintf(`
[operator]
name = "Kill Test"
contact = "https://library.example/crawler"
[storage]
min_free = "1MB"
[log]
extra_info = true
[fetch]
allow_networks = ["127.0.0.0/8"]
[politeness]
delay_factor = 0.0
min_delay = "0s"
max_delay = "0s"
[warc]
max_size = "256KiB"
[[wait]]
mime = ".*"
initial = "100ms"
min = "50ms"
max = "500ms"
[seeds]
uris = [%s]
`, seeds.String())
}

// waitFor waits until the site has received a number of requests.
func (s *killSite) waitFor(t *testing.T, d *daemontest.Process, asked int64) {
	t.Helper()
	d.WaitFor(t, fmt.Sprintf("%d requests", asked), func() bool { return s.asked.Load() >= asked })
}
