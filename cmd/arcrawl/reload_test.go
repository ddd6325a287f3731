package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/arcrawl/arcrawl/internal/daemontest"
	"github.com/arcrawl/arcrawl/internal/slow"
)

// TestTheDaemonReadsWhatCuratorsSave edits the files of a running daemon as editors do.
func TestTheDaemonReadsWhatCuratorsSave(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	dir := t.TempDir()
	site := startKillSite(t)
	path := filepath.Join(dir, "arcrawl.toml")
	daemontest.WriteFile(t, path, site.toml())
	hosts := filepath.Join(dir, "hosts.d")
	if err := os.Mkdir(hosts, 0o750); err != nil {
		t.Fatal(err)
	}
	d := daemontest.StartProcess(t, built.In(t, dir), path)
	site.waitFor(t, d, site.asked.Load()+20)
	file := filepath.Join(hosts, "a.example.toml")

	daemontest.WriteFile(t, file, "[scope]\nmax_hopes = 5\n") // in place
	d.WaitToSay(t, "max_hopes")
	daemontest.WriteFile(t, file+"~", "[scope]\nmax_hops = 5\n")
	if err := os.Rename(file+"~", file); err != nil { // replace it by another file
		t.Fatal(err)
	}
	d.WaitToSay(t, `"keys":1`)
	daemontest.WriteFile(t, file, "[scope]\nmax_hops = \"x\"\n")
	d.WaitToSay(t, "not a whole number")
	if err := d.Cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	d.WaitToSay(t, "crawl.log reopened")
	site.waitFor(t, d, site.asked.Load()+20) // the crawl continues
	d.Terminate(t)
	if copied := readText(t, filepath.Join(dir, "state", "last-good", "a.example.toml")); !strings.Contains(copied, "max_hops = 5") {
		t.Errorf("the copy is %q, want the file that was in force last", copied)
	}
}
