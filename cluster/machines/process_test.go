package machines

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/crawllog"
)

// TestMain runs the tests, and then removes the program that they share.
func TestMain(m *testing.M) {
	code := m.Run()
	if built.dir != "" {
		_ = os.RemoveAll(built.dir)
	}
	os.Exit(code)
}

// built is the program that the tests share. To link it takes some seconds of processor time.
var built struct {
	once sync.Once
	dir  string
	err  error
}

// build returns the real program, without the race detector, in a folder.
func build(t *testing.T, dir string) string {
	t.Helper()
	const name = "arcrawl-under-test"
	built.once.Do(func() {
		if built.dir, built.err = os.MkdirTemp("", "arcrawl-test-"); built.err != nil {
			return
		}
		out, err := exec.Command("go", "build", "-o", filepath.Join(built.dir, name), "../../cmd/arcrawl").CombinedOutput()
		if err != nil {
			built.err = fmt.Errorf("go build: %w\n%s", err, out)
		}
	})
	if built.err != nil {
		t.Fatal(built.err)
	}
	binary := filepath.Join(dir, name)
	if err := os.Link(filepath.Join(built.dir, name), binary); err != nil { // another file system
		return filepath.Join(built.dir, name)
	}
	return binary
}

func readLog(t *testing.T, path string) []crawllog.Entry {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var out []crawllog.Entry
	for line := range strings.Lines(string(text)) {
		e, err := crawllog.Parse(strings.TrimSuffix(line, "\n"))
		if err != nil {
			t.Errorf("%v in line %q", err, line)
		}
		out = append(out, e)
	}
	return out
}

// serveHosts serves n hosts, each with an address of its own, until the test ends. It returns their addresses.
func serveHosts(t *testing.T, n int, handler http.Handler) (hosts []string) {
	t.Helper()
	for h := range n {
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.%d.%d:0", h/250, h%250+2))
		if err != nil {
			t.Fatal(err)
		}
		hosts = append(hosts, l.Addr().String())
		server := &http.Server{Handler: handler}
		go func() { _ = server.Serve(l) }()
		t.Cleanup(func() { _ = server.Close() })
	}
	return hosts
}

// process is a running arcrawl.
type process struct {
	cmd  *exec.Cmd
	log  string
	gone chan struct{} // closed when the process has ended; err is set then
	err  error
}

func startDaemon(t *testing.T, binary, config string) *process {
	t.Helper()
	d := &process{cmd: exec.Command(binary, "run", "--config", config), log: config + ".out", gone: make(chan struct{})}
	out, err := os.OpenFile(d.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	d.cmd.Stdout, d.cmd.Stderr = out, out
	if err := d.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		d.err = d.cmd.Wait()
		out.Close()
		close(d.gone)
	}()
	t.Cleanup(func() { _ = d.cmd.Process.Kill(); <-d.gone })
	return d
}

func (d *process) output() string {
	text, _ := os.ReadFile(d.log)
	return string(text)
}

func (d *process) kill(t *testing.T) {
	t.Helper()
	if err := d.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-d.gone
}

func (d *process) terminate(t *testing.T) {
	t.Helper()
	if err := d.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	<-d.gone
	if d.err != nil {
		t.Fatalf("SIGTERM: %v\n%s", d.err, d.output())
	}
}

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// waitFor waits until a condition holds, or the daemon has ended.
func (d *process) waitFor(t *testing.T, wish string, so func() bool) {
	t.Helper()
	deadline := time.After(time.Minute)
	for !so() {
		select {
		case <-deadline:
			t.Fatalf("not in a minute: %s\n%s", wish, d.output())
		case <-d.gone:
			t.Fatalf("the daemon ended by itself before there was %s: %v\n%s", wish, d.err, d.output())
		case <-time.After(time.Millisecond):
		}
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

// exitCode runs the program, and returns its exit code and what it prints.
func exitCode(t *testing.T, args ...string) (code int, printed string) {
	t.Helper()
	text, err := exec.Command(build(t, t.TempDir()), args...).CombinedOutput()
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		return exit.ExitCode(), string(text)
	case err != nil:
		t.Fatal(err)
	}
	return 0, string(text)
}
