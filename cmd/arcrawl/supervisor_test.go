package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"github.com/arcrawl/arcrawl/frontier"
)

// told is what a supervisor said, and what the crawl tells it.
type told struct {
	mu     sync.Mutex // guards the fields below
	said   []string
	lives  int
	counts frontier.Counts
	held   string
}

func (w *told) set(n frontier.Counts, held string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.counts, w.held = n, held
}

func (w *told) now(time.Time) frontier.Counts {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.counts
}

func (w *told) why() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.held
}

func (w *told) tell(state string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.said = append(w.said, state)
	if strings.Contains(state, "WATCHDOG=1") {
		w.lives++
	}
}

// since takes what was said since the last time: how many signs of life, and the last state.
func (w *told) since() (lives int, last string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	lives = w.lives
	if len(w.said) > 0 {
		last = w.said[len(w.said)-1]
	}
	w.lives, w.said = 0, nil
	return lives, last
}

// TestTheWatchdogHearsOfWorkOnly plays a crawl of two workers that stop claiming.
func TestTheWatchdogHearsOfWorkOnly(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var w told
		w.set(frontier.Counts{URIs: 7, Hosts: 2}, "")
		s := &supervisor{
			tell: w.tell, every: statusEvery, counts: w.now, workers: 2,
			longest: 20 * time.Minute, began: time.Now(), first: make(chan struct{}, 1),
		}
		ctx, cancel := context.WithCancel(t.Context())
		stop := s.watch(ctx, 30*time.Second, w.why)
		expect := func(what string, lives int, status string) {
			t.Helper()
			synctest.Wait()
			n, last := w.since()
			if n != lives || !strings.Contains(last, status) {
				t.Errorf("%s: %d signs of life and at last %q; want %d and %q", what, n, last, lives, status)
			}
		}
		time.Sleep(time.Hour)
		expect("before the first round", 0, "")
		s.wentRound()
		expect("the first round", 0, "READY=1\nSTATUS=crawling: 7 URIs of 2 hosts, 0 visits in progress, 0 since the start")
		time.Sleep(time.Minute + time.Second)
		expect("a worker that naps for a minute", 6, "WATCHDOG=1\nSTATUS=crawling")
		time.Sleep(maxQuiet)
		w.since()
		time.Sleep(time.Hour)
		expect("workers that hang", 0, "STATUS=stuck: nothing was handed out for 1h")

		s.wentRound()
		w.set(frontier.Counts{InProgress: 2}, "")
		time.Sleep(s.longest)
		expect("every worker at a long visit", 120, "WATCHDOG=1")
		time.Sleep(maxQuiet + time.Second)
		w.since()
		time.Sleep(time.Minute)
		expect("visits that are longer than they may be", 0, "STATUS=stuck")

		s.wentRound()
		w.set(frontier.Counts{}, "the disk is full\nand failing")
		time.Sleep(statusEvery)
		expect("a pause", 1, "STATUS=paused: the disk is full; and failing")
		w.set(frontier.Counts{Oldest: time.Now().Add(-2 * time.Hour)}, "")
		time.Sleep(statusEvery)
		expect("a lag", 1, "the latest is 2h0m")
		cancel()
		expect("the stop", 0, "STOPPING=1\nSTATUS=stopping: 0 visits in progress have 30s to end\nEXTEND_TIMEOUT_USEC=150000000")
		stop()
		s.closing()
		expect("the end", 0, "STOPPING=1\nSTATUS=closing the archive and the store\nEXTEND_TIMEOUT_USEC=120000000")
	})
}

// manager is what a service manager hears on its socket.
type manager struct {
	*net.UnixConn
	path string
}

func listenAsManager(t *testing.T) manager {
	t.Helper()
	dir, err := os.MkdirTemp("", "notify") // short, for the name of a socket has 108 bytes
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

// until waits for a message with all of these words, and returns it.
func (m manager) until(t *testing.T, words ...string) string {
	t.Helper()
	if err := m.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	buf, heard := make([]byte, 4096), ""
	for {
		n, err := m.Read(buf)
		if err != nil {
			t.Fatalf("heard nothing with %q: %v; heard:\n%s", words, err, heard)
		}
		message := string(buf[:n])
		missing := false
		for _, word := range words {
			missing = missing || !strings.Contains(message, word)
		}
		if !missing {
			return message
		}
		heard += message + "\n"
	}
}

// TestSystemdHearsTheDaemon runs the real binary as systemd does: with a socket to tell its state to, a watchdog, and its
// standard error in the journal, for which a file stands here.
func TestSystemdHearsTheDaemon(t *testing.T) {
	site := startSlowSite(t)
	path, dir := configure(t, site.toml("1m"))
	binary, m := build(t, dir), listenAsManager(t)
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
	m.until(t, "READY=1", "STATUS=crawling: 1 URIs of 1 hosts")
	<-site.asked
	m.until(t, "WATCHDOG=1", "1 visits in progress")
	if err := cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	m.until(t, "WATCHDOG=1")
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	m.until(t, "STOPPING=1", "1 visits in progress have 1m0s to end", "EXTEND_TIMEOUT_USEC=180000000")
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
			t.Errorf("a line that the journal does not like: %q", line)
		}
	}
	if !strings.HasPrefix(string(lines), "<6>started config=") || !strings.Contains(string(lines), "<6>stopped ") {
		t.Errorf("the journal does not tell of start and stop:\n%s", lines)
	}
}

func TestTheJournalMarksFaultsAsErrors(t *testing.T) {
	path, dir := configure(t, settled+"[politeness]\nmin_delay = 5\nvalence = 0\n")
	stderr, err := os.Create(filepath.Join(dir, "journal"))
	if err != nil {
		t.Fatal(err)
	}
	defer stderr.Close()
	var stat syscall.Stat_t
	if err := syscall.Fstat(int(stderr.Fd()), &stat); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(build(t, dir), "run", "--config", path)
	cmd.Env = append(os.Environ(), fmt.Sprintf("JOURNAL_STREAM=%d:%d", stat.Dev, stat.Ino))
	cmd.Stderr = stderr
	var exit *exec.ExitError
	if err := cmd.Run(); !errors.As(err, &exit) || exit.ExitCode() != exitConfig {
		t.Errorf("%v, want exit code %d", err, exitConfig)
	}
	lines, err := os.ReadFile(stderr.Name())
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(lines), "<3>"); n != 2 || n != strings.Count(string(lines), "\n") {
		t.Errorf("want two lines, each marked with <3>:\n%s", lines)
	}
}

func TestTheLevelsOfTheLogArePriorities(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	log := zerolog.New(journalWriter{&out})
	log.Debug().Msg("a")
	log.Info().Str("file", "x y").Msg("b")
	log.Warn().Msg("c")
	log.Error().Err(errors.New("one\ntwo")).Msg("d")
	log.Log().Msg("e")
	want := "<7>a\n<6>b file=\"x y\"\n<4>c\n<3>d error=\"one\\ntwo\"\n<6>e\n"
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
}
