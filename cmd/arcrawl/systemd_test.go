package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
	"github.com/arcrawl/arcrawl/internal/daemontest"
	"github.com/arcrawl/arcrawl/internal/slow"
)

// manager is the socket on which systemd receives states.
type manager struct {
	*net.UnixConn
	path string
}

func listenAsManager(t *testing.T) manager {
	t.Helper()
	dir, err := os.MkdirTemp("", "notify") // short, because the name of a socket has at most 108 bytes
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	path := filepath.Join(dir, "s")
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return manager{conn, path}
}

// until waits for a message that contains all words, and returns it.
func (m manager) until(t *testing.T, words ...string) string {
	t.Helper()
	if err := m.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	buf, received := make([]byte, 4096), ""
	for {
		n, err := m.Read(buf)
		if err != nil {
			t.Fatalf("no message with %q: %v; received:\n%s", words, err, received)
		}
		message := string(buf[:n])
		missing := false
		for _, word := range words {
			missing = missing || !strings.Contains(message, word)
		}
		if !missing {
			return message
		}
		received += message + "\n"
	}
}

// TestTheDaemonReportsToSystemd runs the real binary as systemd does: with a socket for states, with a watchdog, and
// with its standard error in the journal. A file takes the place of the journal.
func TestTheDaemonReportsToSystemd(t *testing.T) {
	slow.Test(t)
	site := startSlowSite(t)
	path, dir := daemontest.Configure(t, site.toml("1m"))
	binary, m := built.In(t, dir), listenAsManager(t)
	stderr, err := os.Create(filepath.Join(dir, "journal"))
	if err != nil {
		t.Fatal(err)
	}
	defer stderr.Close()
	var stat syscall.Stat_t
	if err := syscall.Fstat(int(stderr.Fd()), &stat); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(binary, "run", "--config", path)
	cmd.Env = append(os.Environ(), "NOTIFY_SOCKET="+m.path, "WATCHDOG_USEC=400000", fmt.Sprintf("JOURNAL_STREAM=%d:%d", stat.Dev, stat.Ino))
	cmd.Stderr = stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	m.until(t, "STATUS=opening the store")
	m.until(t, "READY=1", "STATUS=crawling: 1 URI on 1 host")
	<-site.asked
	m.until(t, "WATCHDOG=1", "1 visit in progress")
	if err := cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	m.until(t, "WATCHDOG=1")
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	m.until(t, "STOPPING=1", "waiting up to 1m for 1 visit in progress", "EXTEND_TIMEOUT_USEC=180000000")
	close(site.answer)
	m.until(t, "STATUS=closing the archive and the store")
	if err := cmd.Wait(); err != nil {
		t.Errorf("SIGTERM: %v", err)
	}
	lines, err := os.ReadFile(stderr.Name())
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(lines)) {
		if !strings.HasPrefix(line, "<6>") && !strings.HasPrefix(line, "<4>") || strings.Contains(line, "\x1b") || strings.Contains(line, "INF") {
			t.Errorf("a line in the journal without its priority, or with time or colours: %q", line)
		}
	}
	if !strings.HasPrefix(string(lines), "<6>started config=") || !strings.Contains(string(lines), "<6>stopped ") {
		t.Errorf("start and stop are not in the journal:\n%s", lines)
	}
}

func TestTheJournalMarksFaultsAsErrors(t *testing.T) {
	slow.Test(t)
	path, dir := daemontest.Configure(t, daemontest.Settled+"[politeness]\nmin_delay = 5\nvalence = 0\n")
	stderr, err := os.Create(filepath.Join(dir, "journal"))
	if err != nil {
		t.Fatal(err)
	}
	defer stderr.Close()
	var stat syscall.Stat_t
	if err := syscall.Fstat(int(stderr.Fd()), &stat); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(built.In(t, dir), "run", "--config", path)
	cmd.Env = append(os.Environ(), fmt.Sprintf("JOURNAL_STREAM=%d:%d", stat.Dev, stat.Ino))
	cmd.Stderr = stderr
	var exit *exec.ExitError
	if err := cmd.Run(); !errors.As(err, &exit) || exit.ExitCode() != cli.ExitConfig {
		t.Errorf("%v, want exit code %d", err, cli.ExitConfig)
	}
	lines, err := os.ReadFile(stderr.Name())
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(lines), "<3>"); n != 2 || n != strings.Count(string(lines), "\n") {
		t.Errorf("want two lines, each marked with <3>:\n%s", lines)
	}
}
