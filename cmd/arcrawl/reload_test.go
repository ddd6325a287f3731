package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/uri"
)

func TestLastGoodCopiesFollowWhatIsInForce(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "arcrawl.toml")
	hosts := filepath.Join(dir, "hosts.d")
	if err := os.Mkdir(hosts, 0o750); err != nil {
		t.Fatal(err)
	}
	writeFile(t, path, "operator.name = \"Library\"\noperator.contact = \"a@library.example\"\n")
	a, b := filepath.Join(hosts, "a.example.toml"), filepath.Join(hosts, "b.example.toml")
	writeFile(t, a, "scope.max_hops = 3\n")
	writeFile(t, b, "scope.max_hops = 4\n")
	start := func() *config.Config {
		t.Helper()
		c, err := config.LoadKept(path, lastGood)
		if err == nil {
			err = keepGood(c)
		}
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	hops := func(c *config.Config, h uri.Host) int { return c.ForHost(h, time.Time{}).Scope.MaxHops }
	start()
	writeFile(t, a, "scope.max_hops = broken\n")
	if err := os.Remove(b); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the copy outlives several starts
		if c := start(); hops(c, "a.example") != 3 || hops(c, "b.example") != 20 || len(c.Broken) != 1 {
			t.Errorf("a.example has %d hops, b.example %d, broken %v; want the copy, the default, one fault", hops(c, "a.example"), hops(c, "b.example"), c.Broken)
		}
	}
	writeFile(t, b, "scope.max_hops = broken\n")
	if c := start(); len(c.HeldHosts()) != 1 {
		t.Errorf("held: %v; want the host whose file went away before it was broken", c.HeldHosts())
	}
}

// TestTheDaemonTakesWhatCuratorsSave edits the files of a running daemon as editors do.
func TestTheDaemonTakesWhatCuratorsSave(t *testing.T) {
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
	if err := os.Rename(file+"~", file); err != nil { // by another file of its name
		t.Fatal(err)
	}
	d.waitToSay(t, `"keys":1`)
	writeFile(t, file, "[scope]\nmax_hops = \"x\"\n")
	d.waitToSay(t, "not a whole number")
	if err := d.cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	d.waitToSay(t, "crawl.log reopened")
	site.waitFor(t, d, site.asked.Load()+20) // and goes on
	d.terminate(t)
	if copied := readText(t, filepath.Join(dir, "state", "last-good", "a.example.toml")); !strings.Contains(copied, "max_hops = 5") {
		t.Errorf("the copy says %q, want what was in force last", copied)
	}
}

// waitToSay waits until the daemon has logged a text.
func (d *daemon) waitToSay(t *testing.T, text string) {
	t.Helper()
	giveUp := time.Now().Add(30 * time.Second)
	for !strings.Contains(d.output(), text) {
		if time.Now().After(giveUp) {
			t.Fatalf("the daemon does not say %q:\n%s", text, d.output())
		}
		select {
		case <-d.gone:
			t.Fatalf("the daemon has ended:\n%s", d.output())
		case <-time.After(20 * time.Millisecond):
		}
	}
}
