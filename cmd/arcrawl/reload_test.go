package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/internal/slow"
)

// TestTheDaemonReadsWhatCuratorsSave edits the files of a running daemon as editors do.
func TestTheDaemonReadsWhatCuratorsSave(t *testing.T) {
	slow.Test(t)
	dir := t.TempDir()
	site := startKillSite(t)
	path := filepath.Join(dir, "arcrawl.toml")
	writeFile(t, path, site.toml())
	hosts := filepath.Join(dir, "hosts.d")
	if err := os.Mkdir(hosts, 0o750); err != nil {
		t.Fatal(err)
	}
	d := startDaemon(t, build(t, dir), path)
	site.waitFor(t, d, site.asked.Load()+20)
	file := filepath.Join(hosts, "a.example.toml")

	writeFile(t, file, "[scope]\nmax_hopes = 5\n") // in place
	d.waitToSay(t, "max_hopes")
	writeFile(t, file+"~", "[scope]\nmax_hops = 5\n")
	if err := os.Rename(file+"~", file); err != nil { // replace it by another file
		t.Fatal(err)
	}
	d.waitToSay(t, `"keys":1`)
	writeFile(t, file, "[scope]\nmax_hops = \"x\"\n")
	d.waitToSay(t, "not a whole number")
	if err := d.cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	d.waitToSay(t, "crawl.log reopened")
	site.waitFor(t, d, site.asked.Load()+20) // the crawl continues
	d.terminate(t)
	if copied := readText(t, filepath.Join(dir, "state", "last-good", "a.example.toml")); !strings.Contains(copied, "max_hops = 5") {
		t.Errorf("the copy is %q, want the file that was in force last", copied)
	}
}

// waitToSay waits until the daemon has logged a text.
func (d *process) waitToSay(t *testing.T, text string) {
	t.Helper()
	giveUp := time.Now().Add(30 * time.Second)
	for !strings.Contains(d.output(), text) {
		if time.Now().After(giveUp) {
			t.Fatalf("the daemon does not log %q:\n%s", text, d.output())
		}
		select {
		case <-d.gone:
			t.Fatalf("the daemon has ended:\n%s", d.output())
		case <-time.After(20 * time.Millisecond):
		}
	}
}
