package main

import (
	"bytes"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/arcrawl/arcrawl/archive/index"
	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/internal/archivetest"
	"github.com/arcrawl/arcrawl/internal/daemontest"
	"github.com/arcrawl/arcrawl/internal/slow"
)

// A crawl is killed and started again while the server is down, answers nonsense and comes back. In the end the server
// has the same lines as an index of the archive.
func TestEachCaptureIsSentToOutbackCDX(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	dir := t.TempDir()
	server, site := archivetest.StartCDXServer(t), startKillSite(t)
	conf := filepath.Join(dir, "arcrawl.toml")
	daemontest.WriteFile(t, conf, site.toml()+"[dedup]\nmin_size = \"0B\"\n[index]\noutbackcdx = \""+server.URL+"/crawl\"\n")
	binary := built.In(t, dir)
	d := daemontest.StartProcess(t, binary, conf)
	site.waitFor(t, d, 300)
	d.WaitFor(t, "lines at the server", func() bool { lines, _ := server.Seen(); return len(lines) > 0 })
	_, before := server.Seen()
	nonsense := []int{http.StatusInternalServerError, http.StatusBadRequest, http.StatusOK, http.StatusFound}
	turn := 0
	server.Behave(func([]string) (int, string) { turn++; return nonsense[turn%4], "<html>" })
	d.WaitFor(t, "posts without success", func() bool { _, n := server.Seen(); return n > before+1 })
	d.Kill(t)
	d = daemontest.StartProcess(t, binary, conf)
	site.waitFor(t, d, site.asked.Load()+300)
	server.Behave(nil)
	d.Terminate(t)
	left, _ := server.Seen()
	d = daemontest.StartProcess(t, binary, conf) // it sends the lines that the stop has left
	site.waitFor(t, d, site.asked.Load()+50)
	d.WaitFor(t, "the remaining lines at the server", func() bool { lines, _ := server.Seen(); return len(lines) > len(left) })
	d.Terminate(t)

	var made bytes.Buffer
	if _, err := index.Build(t.Context(), []string{filepath.Join(dir, "warc")}, index.Options{}, &made, func(f warc.Finding) error { return &f }); err != nil {
		t.Fatal(err)
	}
	var want []string
	revisits := 0
	for line := range strings.Lines(made.String()) {
		e, err := index.ParseEntry(line)
		if err != nil {
			t.Fatal(err)
		}
		if e.MIME == index.RevisitMIME {
			revisits++
		}
		want = append(want, strings.TrimSuffix(string(e.AppendCDX(nil)), "\n"))
	}
	slices.Sort(want)
	got, posts := server.Seen()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-archive +server:\n%s\n%s", diff, d.Output())
	}
	t.Logf("%d lines in %d posts, %d revisits", len(got), posts, revisits)
	if revisits == 0 {
		t.Error("there was no revisit")
	}
	if n := strings.Count(d.Output(), "could not send index lines"); n < 1 || n > 3 {
		t.Errorf("three processes logged %d failures:\n%s", n, d.Output())
	}
}
