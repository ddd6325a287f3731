package clusterdemo

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
	"github.com/arcrawl/arcrawl/internal/daemontest"
	"github.com/arcrawl/arcrawl/internal/slow"
)

// shownCluster is a demo of a cluster that runs.
type shownCluster struct {
	*testing.T
	cmd    *exec.Cmd
	temp   string // everything of the demo is in here
	gone   chan struct{}
	binary string

	mu   sync.Mutex
	text bytes.Buffer
}

func (d *shownCluster) Write(b []byte) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.text.Write(b)
}

func (d *shownCluster) output() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.text.String()
}

// showCluster starts a demo with two nodes.
func showCluster(t *testing.T) *shownCluster {
	t.Helper()
	if _, _, err := findServer(); err != nil {
		if os.Getenv("ARCRAWL_REQUIRE_FOREIGN") != "" {
			t.Fatal(err)
		}
		t.Skip("the demo of a cluster is not tested: ", err)
	}
	temp, err := os.MkdirTemp("", "arcrawl-test-") // not t.TempDir: the user of the database may not enter that
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(temp) })
	if err := os.Chmod(temp, 0o711); err != nil {
		t.Fatal(err)
	}
	d := &shownCluster{T: t, temp: temp, gone: make(chan struct{}), binary: built.In(t, temp)}
	d.cmd = exec.Command(d.binary, "demo", "--nodes", "2", "--for", "5m", "--dir", filepath.Join(temp, "demo"))
	d.cmd.Env = append(os.Environ(), "TMPDIR="+temp)
	d.cmd.Stdout, d.cmd.Stderr, d.cmd.WaitDelay = d, d, time.Second
	if err := d.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = d.cmd.Wait() // the state of the process says how it ended
		close(d.gone)
	}()
	t.Cleanup(func() { _ = d.cmd.Process.Kill(); <-d.gone })
	return d
}

// waitFor waits until the demo has printed some words.
func (d *shownCluster) waitFor(words string) {
	d.Helper()
	giveUp := time.Now().Add(3 * time.Minute)
	for ; !strings.Contains(d.output(), words); time.Sleep(100 * time.Millisecond) {
		select {
		case <-d.gone:
			d.Fatalf("the demo ended before it printed %q:\n%s", words, d.output())
		default:
		}
		if time.Now().After(giveUp) {
			d.Fatalf("the demo does not print %q:\n%s", words, d.output())
		}
	}
}

// running returns the processes of the demo, by the words of their command lines.
func (d *shownCluster) running(words ...string) (pids []int) {
	d.Helper()
	all, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		d.Fatal(err)
	}
	for _, path := range all {
		text, err := os.ReadFile(path)
		line := strings.ReplaceAll(string(text), "\x00", " ")
		if err != nil || !strings.Contains(line, d.temp) { // the programs of PostgreSQL have it in -D
			continue
		}
		matches := true
		for _, word := range words {
			matches = matches && strings.Contains(line, word)
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		if matches && err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

// endsWith waits until the demo has ended, and nothing that it started runs any more.
func (d *shownCluster) endsWith(code int) {
	d.Helper()
	select {
	case <-d.gone:
	case <-time.After(3 * time.Minute):
		d.Fatalf("the demo does not end:\n%s", d.output())
	}
	if got := d.cmd.ProcessState.ExitCode(); got != code {
		d.Errorf("the demo ended with %s, want code %d:\n%s", d.cmd.ProcessState, code, d.output())
	}
	for giveUp := time.Now().Add(daemontest.Patience); len(d.running()) > 0; time.Sleep(100 * time.Millisecond) {
		if time.Now().After(giveUp) {
			d.Fatalf("processes %d still run:\n%s", d.running(), d.output())
		}
	}
}

// TestTheDemoOfAClusterShowsATakeover watches how a node is killed and its sites go to the other one, and then stops
// the demo with Ctrl-C. The archives have no fault, and no password or database is left.
func TestTheDemoOfAClusterShowsATakeover(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	d := showCluster(t)
	d.waitFor("each node crawls its part: a crawls ")
	d.waitFor("→ node b is killed (kill -9). Nobody crawls its ")
	if n := len(d.running(" run --config ")); n != 1 {
		t.Errorf("%d nodes run after one was killed, want 1", n)
	}
	d.waitFor("→ the other nodes have taken them over, ")
	d.waitFor(" of node b are visited again, ")
	if err := d.cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	d.endsWith(cli.ExitOK)
	for _, want := range []string{" by a, ", "nodes were killed once", "sites went to another node ", "a site must rest for 2 s"} {
		if !strings.Contains(d.output(), want) {
			t.Errorf("the demo does not print %q:\n%s", want, d.output())
		}
	}
	demo := filepath.Join(d.temp, "demo")
	out, err := exec.Command(d.binary, "verify", filepath.Join(demo, "a/warc"), filepath.Join(demo, "b/warc")).CombinedOutput()
	if err != nil {
		t.Errorf("the archives have faults: %v\n%s", err, out)
	}
	for _, pattern := range []string{"pgpass", "arcrawl-demo-database-*", "../arcrawl-demo-database-*"} {
		if left, _ := filepath.Glob(filepath.Join(demo, pattern)); len(left) > 0 {
			t.Errorf("the demo has left %s", left)
		}
	}
	again := exec.Command(d.binary, "demo", "--nodes", "2", "--dir", demo)
	out, err = again.CombinedOutput()
	if again.ProcessState.ExitCode() != cli.ExitFolder || !strings.Contains(string(out), "name a new folder with --dir") {
		t.Errorf("a second demo in the same folder: %v, %s", err, out)
	}
}

// TestTheDemoOfAClusterLeavesNothingRunning lets a node end as after a panic, and the database; and kills the demo.
func TestTheDemoOfAClusterLeavesNothingRunning(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	for _, c := range []struct {
		name, victim string
		signal       syscall.Signal
		code         int
		want         string
	}{
		{"a node ends as after a panic", " run --config ", syscall.SIGQUIT, cli.ExitFailure, "has ended by itself (exit status 2)"},
		{"the database ends", "/bin/postgres -D ", syscall.SIGKILL, cli.ExitFailure, "PostgreSQL has ended by itself"},
		{"the demo is killed", " demo --nodes ", syscall.SIGKILL, -1, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			d := showCluster(t)
			d.waitFor("each node crawls its part")
			victims := d.running(c.victim)
			if len(victims) == 0 {
				t.Fatalf("no process has %q in its command line", c.victim)
			}
			if err := syscall.Kill(victims[0], c.signal); err != nil {
				t.Fatal(err)
			}
			d.endsWith(c.code)
			if !strings.Contains(d.output(), c.want) {
				t.Errorf("the demo does not print %q:\n%s", c.want, d.output())
			}
		})
	}
}

// TestTheDemoOfAClusterRefusesWrongFlags calls the demo with faults.
func TestTheDemoOfAClusterRefusesWrongFlags(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--nodes", "1"}, "2 to 9 nodes"},
		{[]string{"--nodes", "10"}, "2 to 9 nodes"},
		{[]string{"--nodes", "3", "--replay-assets", "x"}, "--replay-assets does nothing"},
		{[]string{"--nodes", "3", "--for", "-1s"}, "is negative"},
	} {
		code, errs := exitCode(t, append([]string{"demo"}, c.args...)...)
		if code != cli.ExitUsage || !strings.Contains(errs, c.want) {
			t.Errorf("%q: code %d, %s", c.args, code, errs)
		}
	}
}
