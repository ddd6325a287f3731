package daemontest

import (
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
)

// Program is the real program, which the tests of a package share: to link it takes some seconds of processor time.
type Program struct {
	once sync.Once
	dir  string
	err  error
}

// In returns the path of the program, without the race detector, in a folder. If the variable GOCOVERDIR is set, the
// program notes there which statements it has run.
func (p *Program) In(t *testing.T, dir string) string {
	t.Helper()
	const name = "arcrawl-under-test"
	p.once.Do(func() {
		if p.dir, p.err = os.MkdirTemp("", "arcrawl-test-"); p.err != nil {
			return
		}
		made := filepath.Join(p.dir, name)
		build := exec.Command("go", "build", "-o", made)
		if os.Getenv("GOCOVERDIR") != "" {
			build.Args = append(build.Args, "-cover")
		}
		build.Args = append(build.Args, "github.com/arcrawl/arcrawl/cmd/arcrawl")
		out, err := build.CombinedOutput()
		if err != nil {
			p.err = fmt.Errorf("go build: %w\n%s", err, out)
		}
	})
	if p.err != nil {
		t.Fatal(p.err)
	}
	binary := filepath.Join(dir, name)
	if err := os.Link(filepath.Join(p.dir, name), binary); err != nil { // another file system
		return filepath.Join(p.dir, name)
	}
	return binary
}

// Remove removes the program after all tests.
func (p *Program) Remove() {
	if p.dir != "" {
		_ = os.RemoveAll(p.dir)
	}
}

// Process is a running arcrawl.
type Process struct {
	Cmd  *exec.Cmd
	Gone chan struct{} // closed when the process has ended; Err is set then
	Err  error

	log string
}

// StartProcess starts a daemon with a configuration. It is killed at the end of the test.
func StartProcess(t *testing.T, binary, config string) *Process {
	t.Helper()
	p := &Process{Cmd: exec.Command(binary, "run", "--config", config), log: config + ".out", Gone: make(chan struct{})}
	out, err := os.OpenFile(p.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	p.Cmd.Stdout, p.Cmd.Stderr = out, out
	if err := p.Cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		p.Err = p.Cmd.Wait()
		out.Close()
		close(p.Gone)
	}()
	t.Cleanup(func() { _ = p.Cmd.Process.Kill(); <-p.Gone })
	return p
}

// Output returns what the process has printed, and those before it with the same configuration.
func (p *Process) Output() string {
	text, _ := os.ReadFile(p.log)
	return string(text)
}

// Kill kills the process.
func (p *Process) Kill(t *testing.T) {
	t.Helper()
	if err := p.Cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-p.Gone
}

// Terminate asks the process to end, which it must do without an error.
func (p *Process) Terminate(t *testing.T) {
	t.Helper()
	if err := p.Cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	<-p.Gone
	if p.Err != nil {
		t.Fatalf("SIGTERM: %v\n%s", p.Err, p.Output())
	}
}

// WaitFor waits until a condition holds, or the process has ended.
func (p *Process) WaitFor(t *testing.T, wish string, so func() bool) {
	t.Helper()
	p.wait(t, 2*Patience, time.Millisecond, wish, so)
}

// WaitToSay waits until the process has logged a text.
func (p *Process) WaitToSay(t *testing.T, text string) {
	t.Helper()
	p.wait(t, Patience, 20*time.Millisecond, fmt.Sprintf("the words %q in the log", text), func() bool {
		return strings.Contains(p.Output(), text)
	})
}

// wait asks every so often whether a condition holds, for some time.
func (p *Process) wait(t *testing.T, atMost, every time.Duration, wish string, so func() bool) {
	t.Helper()
	deadline := time.After(atMost)
	for !so() {
		select {
		case <-deadline:
			t.Fatalf("not in %s: %s\n%s", atMost, wish, p.Output())
		case <-p.Gone:
			t.Fatalf("the daemon ended by itself before there was %s: %v\n%s", wish, p.Err, p.Output())
		case <-time.After(every):
		}
	}
}

// ServeHosts serves n hosts, each with an address of its own, until the test ends. It returns their addresses.
func ServeHosts(t *testing.T, n int, handler http.Handler) (hosts []string) {
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

// WriteFile writes a file.
func WriteFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// Settled is a valid configuration. Tests of commands add one fault to it.
const Settled = `[operator]
name = "Test Library"
contact = "https://library.example/crawler"
[storage]
min_free = "1MB"
[seeds]
uris = ["http://127.0.0.1:9/"]
`

// Configure writes a configuration into a folder of the test.
func Configure(t *testing.T, text string) (path, dir string) {
	t.Helper()
	dir = t.TempDir()
	path = filepath.Join(dir, "arcrawl.toml")
	WriteFile(t, path, text)
	return path, dir
}
