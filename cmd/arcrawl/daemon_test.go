package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/internal/archivetest"
	"github.com/arcrawl/arcrawl/internal/daemontest"
	"github.com/arcrawl/arcrawl/internal/slow"
	"github.com/arcrawl/arcrawl/internal/testcrawl"
	"github.com/arcrawl/arcrawl/uri"
)

// TestHangupReopensTheLog rotates crawl.log under load as logrotate does; no line is lost.
func TestHangupReopensTheLog(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	dir := t.TempDir()
	site := startKillSite(t)
	path := filepath.Join(dir, "arcrawl.toml")
	daemontest.WriteFile(t, path, site.toml())
	d := daemontest.StartProcess(t, built.In(t, dir), path)
	var logs []string
	for turn := range 3 {
		site.waitFor(t, d, site.asked.Load()+200)
		rotated := filepath.Join(dir, fmt.Sprintf("crawl.log.%d", turn))
		if err := os.Rename(filepath.Join(dir, "crawl.log"), rotated); err != nil {
			t.Fatal(err)
		}
		if err := d.Cmd.Process.Signal(syscall.SIGHUP); err != nil {
			t.Fatal(err)
		}
		waitForLog(t, d, filepath.Join(dir, "crawl.log"))
		logs = append(logs, rotated)
	}
	d.Terminate(t)
	lines := make(map[string]int)
	for _, log := range append(logs, filepath.Join(dir, "crawl.log")) {
		for _, e := range testcrawl.ReadLog(t, log) {
			lines[e.URI]++
		}
	}
	f, err := frontier.Open(frontier.Options{Dir: filepath.Join(dir, "state"), Now: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	err = f.Each(func(r frontier.Record) error {
		if lines[r.URI.String()] != r.Visits {
			t.Errorf("%s: %d lines in the logs, %d visits remembered", r.URI, lines[r.URI.String()], r.Visits)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// slowSite answers /slow when the test says so, and reports when it was asked.
type slowSite struct {
	*httptest.Server
	asked  chan struct{}
	answer chan struct{}
}

func startSlowSite(t *testing.T) slowSite {
	t.Helper()
	s := slowSite{asked: make(chan struct{}, 10), answer: make(chan struct{})}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/slow" {
			s.asked <- struct{}{}
			select {
			case <-s.answer:
			case <-r.Context().Done():
			}
			fmt.Fprint(w, "at last")
			return
		}
		http.NotFound(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

func (s slowSite) toml(grace string) string {
	return fmt.Sprintf(`[operator]
name = "Test Library"
contact = "https://library.example/crawler"
[storage]
min_free = "1MB"
[crawl]
grace = %q
[fetch]
allow_networks = ["127.0.0.0/8"]
[politeness]
min_delay = "0s"
max_delay = "0s"
[seeds]
uris = [%q]
`, grace, s.URL+"/slow")
}

func TestAStopWaitsForTheVisitInProgress(t *testing.T) {
	slow.Test(t)
	site := startSlowSite(t)
	path, dir := daemontest.Configure(t, site.toml("1m"))
	d := daemontest.StartProcess(t, built.In(t, dir), path)
	<-site.asked
	if err := d.Cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	close(site.answer)
	<-d.Gone
	if d.Err != nil {
		t.Fatalf("%v\n%s", d.Err, d.Output())
	}
	u := uri.FromCanonical(site.URL + "/slow")
	if r := remembered(t, dir, u); r.Visits != 1 || r.LastStatus != 200 {
		t.Errorf("%s: %d visits, status %d; want a finished visit", u, r.Visits, r.LastStatus)
	}
	if n := len(archivetest.CheckDir(t, filepath.Join(dir, "warc"))); n != 9 {
		t.Errorf("%d records, want warcinfo, two of the configuration, three each of robots.txt and the page", n)
	}
}

func TestAStopReleasesVisitsThatTakeLongerThanTheGrace(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	site := startSlowSite(t)
	path, dir := daemontest.Configure(t, site.toml("100ms"))
	d := daemontest.StartProcess(t, built.In(t, dir), path)
	<-site.asked
	if err := d.Cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	<-d.Gone
	if d.Err != nil {
		t.Fatalf("%v\n%s", d.Err, d.Output())
	}
	u := uri.FromCanonical(site.URL + "/slow")
	if r := remembered(t, dir, u); r.Visits != 0 || r.Due.After(time.Now()) {
		t.Errorf("%s: %d visits, due %s; want it due as before", u, r.Visits, r.Due)
	}
	// Started again, the daemon makes the visit.
	close(site.answer)
	d = daemontest.StartProcess(t, built.In(t, dir), path)
	var asked atomic.Bool
	go func() { <-site.asked; asked.Store(true) }()
	d.WaitFor(t, "a request for the page", asked.Load)
	d.Terminate(t)
	if r := remembered(t, dir, u); r.Visits != 1 {
		t.Errorf("%s: %d visits after the second start, want 1", u, r.Visits)
	}
}

func remembered(t *testing.T, dir string, u uri.URI) frontier.Record {
	t.Helper()
	f, err := frontier.Open(frontier.Options{Dir: filepath.Join(dir, "state"), Now: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := f.Check(); err != nil {
		t.Error(err)
	}
	r, known, err := f.Get(u)
	if err != nil || !known {
		t.Fatalf("%s is not known: %v", u, err)
	}
	return r
}
