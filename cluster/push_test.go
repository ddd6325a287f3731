package cluster

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
	"github.com/arcrawl/arcrawl/internal/daemontest"
	"github.com/arcrawl/arcrawl/internal/postgres"
	"github.com/arcrawl/arcrawl/internal/slow"
)

// TestAPushReachesAllNodes pushes a configuration from a machine that is no node. The nodes use it at once, and one
// that was away when it starts. An edit on one node alone is refused.
func TestAPushReachesAllNodes(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	db, site := postgres.New(t), newSharedSite(t)
	f := newProcesses(t, db.URL(db.Address()), site, "a", "b")
	a := f.config["a"]
	first := f.start("a")
	f.waitFor("a", 20)
	second := f.start("b")
	f.awaitStatus("b", "crawls 50 %")

	editor := filepath.Join(f.dir, "editor")
	if err := os.MkdirAll(editor, 0o750); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(a)
	if err != nil {
		t.Fatal(err)
	}
	before, pushed := string(text), filepath.Join(editor, "arcrawl.toml")
	daemontest.WriteFile(t, pushed, strings.Replace(string(text), "example/node-a", "example/node-p", 1))
	out, err := exec.Command(f.binary, "reload", "--cluster", "--config", pushed).CombinedOutput()
	if err != nil || !strings.Contains(string(out), "revision 1 is in force on a, b\n") {
		t.Fatalf("%v: %s\nnode a:\n%s\nnode b:\n%s", err, out, first.Output(), second.Output())
	}
	site.waitFor(t, first, "p", 20)
	status := func(want string, ends int) {
		t.Helper()
		for giveUp := time.Now().Add(daemontest.Patience); ; time.Sleep(time.Second) { // a node reports every 15 s
			out, err := f.status(pushed)
			code := 0
			if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
				code = exit.ExitCode()
			}
			if code == ends && strings.Contains(out, want) {
				return
			}
			if time.Now().After(giveUp) {
				t.Fatalf("the status of the cluster ends with %d, want %d and %q:\n%s", code, ends, want, out)
			}
		}
	}
	first.WaitFor(t, "a report with all hosts", func() bool { // the first one is of the start, the next 15 s later
		out, err := f.status(pushed)
		return err == nil && strings.Contains(out, "\na         crawling  ") && strings.Contains(out, "\nb         crawling  ")
	})
	f.signal("a", syscall.SIGHUP)
	text, err = os.ReadFile(a)
	if err != nil || !strings.Contains(string(text), `node = "a"`) {
		t.Fatalf("node a has lost its own keys: %v\n%s", err, text)
	}
	daemontest.WriteFile(t, a, strings.Replace(string(text), "example/node-p", "example/node-x", 1))
	first.WaitToSay(t, "differs from the configuration of the cluster")
	first.Terminate(t)
	site.waitFor(t, second, "p", 20)
	if n := site.of("x"); n > 0 {
		t.Errorf("%d requests were made with a configuration that is not the cluster's", n)
	}
	daemontest.WriteFile(t, a, before) // as on a node that was away
	if err := os.Remove(filepath.Join(f.dir, "a", "state", "revision.json")); err != nil {
		t.Fatal(err)
	}
	first = f.start("a")
	first.WaitToSay(t, "started")
	first.WaitFor(t, "the configuration of the cluster on a node that starts", func() bool {
		text, err := os.ReadFile(a)
		return err == nil && strings.Contains(string(text), "example/node-p")
	})
	second.Terminate(t)
	first.Terminate(t)
	status("no arcrawl answers for 2 of 2 instances: a, b; no node crawls any hosts now", cli.ExitBusy)
}
