package main

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/internal/daemontest"
)

// A SIGHUP and an edit that come while the daemon starts have an effect once it runs. A pipe instead of the live index
// delays the start.
func TestEventsDuringTheStartAreNotLost(t *testing.T) {
	t.Parallel()
	binary := built.In(t, t.TempDir())
	for _, c := range []struct {
		name string
		do   func(t *testing.T, dir string, d *daemontest.Process)
		says string
	}{
		{"a rotation of the log", func(t *testing.T, _ string, d *daemontest.Process) {
			if err := d.Cmd.Process.Signal(syscall.SIGHUP); err != nil {
				t.Fatal(err)
			}
		}, "crawl.log reopened"},
		{"an edit", func(t *testing.T, dir string, _ *daemontest.Process) {
			daemontest.WriteFile(t, filepath.Join(dir, "hosts.d", "a.example.toml"), "[scope]\nmax_hops = 5\n")
		}, `"keys":1`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			pipe := slowToOpen(t, dir)
			d := daemontest.StartProcess(t, binary, filepath.Join(dir, "arcrawl.toml"))
			d.WaitFor(t, "a log", func() bool { // it is opened before the index
				_, err := os.Stat(filepath.Join(dir, "crawl.log"))
				return err == nil
			})
			c.do(t, dir, d)
			w, err := os.OpenFile(pipe, os.O_WRONLY, 0) // waits until it is read
			if err == nil {
				err = w.Close()
			}
			if err != nil {
				t.Fatal(err)
			}
			d.WaitToSay(t, c.says)
			d.Terminate(t)
		})
	}
}

// slowToOpen configures a crawl whose start waits until something is written to the pipe.
func slowToOpen(t *testing.T, dir string) (pipe string) {
	t.Helper()
	past := time.Now().Add(-time.Hour)
	pipe = filepath.Join(dir, "warc", "live.cdxj")
	hosts, config := filepath.Join(dir, "hosts.d"), filepath.Join(dir, "arcrawl.toml")
	for _, folder := range []string{hosts, filepath.Dir(pipe)} {
		if err := os.Mkdir(folder, 0o750); err != nil {
			t.Fatal(err)
		}
	}
	daemontest.WriteFile(t, config, "operator.name = \"Library\"\noperator.contact = \"a@library.example\"\nstorage.min_free = \"0B\"\n")
	for _, name := range []string{config, hosts} {
		if err := os.Chtimes(name, past, past); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	return pipe
}
