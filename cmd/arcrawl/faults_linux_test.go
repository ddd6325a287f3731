package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
	"github.com/arcrawl/arcrawl/daemon"
	"github.com/arcrawl/arcrawl/internal/daemontest"
	"github.com/arcrawl/arcrawl/internal/slow"
)

// openingKills is the number of kills while the store is being opened.
const openingKills = 30

// A process that is killed again and again while it opens what the one before has left loses nothing.
func TestKillsWhileTheDaemonOpens(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	dir := t.TempDir()
	binary := built.In(t, dir)
	site := startKillSite(t)
	conf := filepath.Join(dir, "arcrawl.toml")
	daemontest.WriteFile(t, conf, site.toml())
	d := daemontest.StartProcess(t, binary, conf)
	site.waitFor(t, d, 500)
	d.Kill(t)
	began := time.Now()
	d = daemontest.StartProcess(t, binary, conf)
	site.waitFor(t, d, site.asked.Load()+1)
	opening := time.Since(began) // up to its first request
	d.Kill(t)
	for range openingKills - 2 {
		d = daemontest.StartProcess(t, binary, conf)
		time.Sleep(rand.N(opening))
		d.Kill(t)
	}
	d = daemontest.StartProcess(t, binary, conf)
	site.waitFor(t, d, site.asked.Load()+2*killHosts*killPages)
	d.Terminate(t)
	examine(t, dir, site, openingKills)
}

// The file system returns EIO for a time, and then works again. If writes fail, the crawl pauses, and resumes by itself
// within the minute after which it would be given up. If a sync fails, the daemon ends with 74 at once, because the
// kernel may have dropped what it could not write, and a later sync would not say so; systemd starts it again. Nothing
// is lost.
func TestADiskThatFailsAndRecoversLosesNothing(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	const writes, syncs = "pwrite64,fallocate,ftruncate", "fsync,fdatasync,msync"
	for name, calls := range map[string]string{"writes": writes, "writes and syncs": writes + "," + syncs} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			site := startKillSite(t)
			conf := filepath.Join(dir, "arcrawl.toml")
			daemontest.WriteFile(t, conf, site.toml())
			binary := built.In(t, dir)
			d := daemontest.StartProcess(t, binary, conf)
			site.waitFor(t, d, 500)
			wellAgain := failCalls(t, d, calls, filepath.Join(dir, "calls"))
			if calls == writes {
				d.WaitFor(t, "the pause", func() bool { return strings.Contains(d.Output(), "pausing crawl") })
				time.Sleep(15 * time.Second)
				wellAgain()
				d.WaitFor(t, "the crawl to resume", func() bool { return strings.Contains(d.Output(), "resuming crawl") })
			} else {
				<-d.Gone
				if exit := (*exec.ExitError)(nil); !errors.As(d.Err, &exit) || exit.ExitCode() != cli.ExitDisk {
					t.Errorf("the daemon ended with %v, want %d\n%s", d.Err, cli.ExitDisk, d.Output())
				}
				wellAgain()
				d = daemontest.StartProcess(t, binary, conf)
			}
			site.waitFor(t, d, site.asked.Load()+2*killHosts*killPages)
			d.Terminate(t)
			d = daemontest.StartProcess(t, binary, conf) // repairs the file that was abandoned at a failed write
			site.waitFor(t, d, site.asked.Load()+1)
			d.Terminate(t)
			examine(t, dir, site, 10) // each trial may leave a capture
			failed, _ := os.ReadFile(filepath.Join(dir, "calls"))
			if n := strings.Count(string(failed), "(INJECTED)"); n == 0 {
				t.Error("no call failed")
			} else {
				t.Logf("%d calls failed", n)
			}
		})
	}
}

// failCalls has system calls of a process fail with EIO until the function that it returns is called. It skips the test
// where that is not allowed.
func failCalls(t *testing.T, d *daemontest.Process, calls, log string) (wellAgain func()) {
	t.Helper()
	faults := exec.Command(tool(t, "strace", "strace"), "-f", "-o", log, "-p", strconv.Itoa(d.Cmd.Process.Pid),
		"-e", "trace="+calls, "-e", "inject="+calls+":error=EIO")
	said, err := faults.StderrPipe()
	if err == nil {
		err = faults.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = faults.Process.Kill() }) // fails if it has ended
	line, _ := bufio.NewReader(said).ReadString('\n')
	if !strings.Contains(line, "attached") {
		_ = faults.Wait() // the line says more
		t.Skipf("strace cannot watch the daemon: %s; run this test as root", line)
	}
	return func() {
		_ = faults.Process.Signal(os.Interrupt) // it detaches; fails if the daemon has ended, and strace with it
		_, _ = io.Copy(io.Discard, said)
		_ = faults.Wait() // its exit code is the one of the daemon
	}
}

// These environment variables turn the test into a daemon with another time of day.
const (
	pausedEnv = "ARCRAWL_TEST_PAUSED_CONF"
	clockEnv  = "ARCRAWL_TEST_PAUSED_CLOCK" // a file with what its clock is off by
)

const (
	pauses     = 6
	pausedRest = 300 * time.Millisecond
)

// A hypervisor pauses the process for an hour, again and again. It resumes in the middle of whatever it did, with a
// clock that has moved. No host is asked twice within its rest, and nothing is lost.
func TestAnHourInWhichTheProcessIsPaused(t *testing.T) {
	if conf := os.Getenv(pausedEnv); conf != "" {
		runWithClock(t, conf, os.Getenv(clockEnv))
		return
	}
	t.Parallel()
	slow.Test(t)
	dir := t.TempDir()
	site := &killSite{}
	arrivals := &arrivals{next: site, last: map[string]time.Time{}}
	site.hosts = daemontest.ServeHosts(t, killHosts, arrivals)
	conf, clock := filepath.Join(dir, "arcrawl.toml"), filepath.Join(dir, "clock")
	rest := fmt.Sprintf("min_delay = %q\nmax_delay = %q\n", pausedRest, pausedRest)
	daemontest.WriteFile(t, conf, strings.Replace(site.toml(), "min_delay = \"0s\"\nmax_delay = \"0s\"\n", rest, 1))
	daemontest.WriteFile(t, clock, "0s")
	program := filepath.Join(dir, "paused.sh") // the configuration is its third argument
	text := fmt.Sprintf("#!/bin/sh\nexport %s=\"$3\" %s=%q\nexec %q -test.run='^%s$'\n",
		pausedEnv, clockEnv, clock, os.Args[0], t.Name())
	if err := os.WriteFile(program, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	d := daemontest.StartProcess(t, program, conf)
	site.waitFor(t, d, 50)
	for n := range pauses {
		time.Sleep(rand.N(time.Second))
		if err := d.Cmd.Process.Signal(syscall.SIGSTOP); err != nil {
			t.Fatal(err)
		}
		time.Sleep(pausedRest + rand.N(time.Second)) // stands for the hour
		daemontest.WriteFile(t, clock, (time.Duration(n+1) * time.Hour).String())
		if err := d.Cmd.Process.Signal(syscall.SIGCONT); err != nil {
			t.Fatal(err)
		}
		site.waitFor(t, d, site.asked.Load()+50)
	}
	site.waitFor(t, d, site.asked.Load()+2*killHosts*killPages)
	d.Terminate(t)
	examine(t, dir, site, 0)
	arrivals.mu.Lock()
	defer arrivals.mu.Unlock()
	t.Logf("%d requests, the shortest gap of a host is %s", site.asked.Load(), arrivals.shortest)
	if arrivals.shortest < pausedRest-time.Millisecond {
		t.Errorf("a host was asked twice within %s, its rest is %s", arrivals.shortest, pausedRest)
	}
}

// runWithClock runs a daemon until SIGTERM. Its time of day is off by what a file says.
func runWithClock(t *testing.T, conf, clock string) {
	t.Helper()
	c, err := daemon.LoadConfig(conf, zerolog.Nop())
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	d, err := daemon.Open(c, daemon.Options{Version: "test", Log: zerolog.New(os.Stderr), Now: func() time.Time {
		text, _ := os.ReadFile(clock)
		off, _ := time.ParseDuration(string(text)) // 0 while the file is being written
		return time.Now().Round(0).Add(off)
	}})
	if err == nil {
		err = errors.Join(d.Run(ctx), d.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
}

// arrivals measures the gaps between the requests to each host.
type arrivals struct {
	next http.Handler

	mu       sync.Mutex // guards the fields below
	last     map[string]time.Time
	shortest time.Duration // 0 = none yet
}

func (a *arrivals) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	now := time.Now()
	if last, ok := a.last[r.Host]; ok {
		if gap := now.Sub(last); a.shortest == 0 || gap < a.shortest {
			a.shortest = gap
		}
	}
	a.last[r.Host] = now
	a.mu.Unlock()
	a.next.ServeHTTP(w, r)
}
