package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
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
	killWhileOpening(&trial{T: t}, startKillSite(t), openingKills)
}

// killWhileOpening kills a daemon a number of times: twice under load, and then while it opens.
func killWhileOpening(t *trial, site *killSite, kills int) {
	dir := t.TempDir()
	binary := built.In(t.T, dir)
	conf := filepath.Join(dir, "arcrawl.toml")
	daemontest.WriteFile(t.T, conf, site.toml())
	d := site.start(t.T, binary, conf)
	site.waitFor(t.T, d, 500)
	d.Kill(t.T)
	began := time.Now()
	d = site.start(t.T, binary, conf)
	site.waitFor(t.T, d, site.asked.Load()+1)
	opening := time.Since(began) // up to its first request
	d.Kill(t.T)
	for t.faults = 2; t.faults < kills; t.faults++ {
		d = site.start(t.T, binary, conf)
		time.Sleep(rand.N(opening))
		d.Kill(t.T)
	}
	d = site.start(t.T, binary, conf)
	site.waitFor(t.T, d, site.asked.Load()+2*site.uriCount())
	d.Terminate(t.T)
	examine(t, dir, site, kills)
}

// The system calls that fail.
const (
	writeCalls = "pwrite64,fallocate,ftruncate"
	syncCalls  = "fsync,fdatasync,msync"
)

// The file system returns EIO for a time, and then works again. If writes fail, the crawl pauses, and resumes by itself
// within the minute after which it would be given up. If a sync fails, the daemon ends with 74 at once, because the
// kernel may have dropped what it could not write, and a later sync would not say so; systemd starts it again. Nothing
// is lost.
func TestADiskThatFailsAndRecoversLosesNothing(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	t.Run("writes", func(t *testing.T) {
		t.Parallel()
		failWrites(&trial{T: t}, startKillSite(t), 1)
	})
	t.Run("writes and syncs", func(t *testing.T) {
		t.Parallel()
		failSyncs(&trial{T: t}, startKillSite(t), 1)
	})
}

// failWrites has the writes of a daemon fail a number of times, for up to 15 seconds.
func failWrites(t *trial, site *killSite, times int) {
	dir := t.TempDir()
	conf, binary := filepath.Join(dir, "arcrawl.toml"), built.In(t.T, dir)
	daemontest.WriteFile(t.T, conf, site.toml())
	d := site.start(t.T, binary, conf)
	site.waitFor(t.T, d, 500)
	for fails := 15 * time.Second; t.faults < times; fails = rand.N(15 * time.Second) {
		calls := filepath.Join(dir, "calls")
		wellAgain := failCalls(t, d, writeCalls, calls)
		said(t.T, d, "pausing crawl", t.faults+1)
		time.Sleep(fails)
		wellAgain()
		t.faults++
		said(t.T, d, "resuming crawl", t.faults)
		failed(t, calls)
		site.waitFor(t.T, d, site.asked.Load()+2*site.uriCount())
	}
	d.Terminate(t.T)
	d = site.start(t.T, binary, conf) // repairs the file that was abandoned at a failed write
	site.waitFor(t.T, d, site.asked.Load()+1)
	d.Terminate(t.T)
	examine(t, dir, site, 10*times) // each trial may leave a capture
}

// failSyncs has the syncs of a daemon fail a number of times, and each other time its writes too.
func failSyncs(t *trial, site *killSite, times int) {
	dir := t.TempDir()
	conf, binary := filepath.Join(dir, "arcrawl.toml"), built.In(t.T, dir)
	daemontest.WriteFile(t.T, conf, site.toml())
	d := site.start(t.T, binary, conf)
	site.waitFor(t.T, d, 500)
	for calls := writeCalls + "," + syncCalls; t.faults < times; t.faults++ {
		if t.faults%2 == 1 {
			calls = syncCalls
		}
		log := filepath.Join(dir, "calls")
		wellAgain := failCalls(t, d, calls, log)
		select {
		case <-d.Gone:
			t.left.ended++
		case <-time.After(time.Minute):
			t.Fatalf("the daemon is still there:\n%s", d.Output())
		}
		if exit := (*exec.ExitError)(nil); !errors.As(d.Err, &exit) || exit.ExitCode() != cli.ExitDisk {
			t.Errorf("the daemon ended with %v, want %d\n%s", d.Err, cli.ExitDisk, d.Output())
		}
		wellAgain()
		failed(t, log)
		d = site.start(t.T, binary, conf)
		site.waitFor(t.T, d, site.asked.Load()+2*site.uriCount())
	}
	d.Terminate(t.T)
	d = site.start(t.T, binary, conf)
	site.waitFor(t.T, d, site.asked.Load()+1)
	d.Terminate(t.T)
	examine(t, dir, site, 10*times) // each trial may leave a capture
}

// failed checks that system calls have failed.
func failed(t *trial, log string) {
	t.Helper()
	calls, _ := os.ReadFile(log)
	n := strings.Count(string(calls), "(INJECTED)")
	if n == 0 {
		t.Error("no call failed")
	}
	t.Logf("%d calls failed", n)
}

// failCalls has system calls of a process fail with EIO until the function that it returns is called. It skips the test
// where that is not allowed.
func failCalls(t *trial, d *daemontest.Process, calls, log string) (wellAgain func()) {
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
	pauses     = 3
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
	site := startKillSite(t)
	site.rest = pausedRest
	pause(&trial{T: t}, site, pauses)
}

// pause pauses a daemon for an hour, a number of times.
func pause(t *trial, site *killSite, times int) {
	dir := t.TempDir()
	conf := filepath.Join(dir, "arcrawl.toml")
	daemontest.WriteFile(t.T, conf, site.toml())
	program, setClock := clocked(t, dir)
	d := site.start(t.T, program, conf)
	site.waitFor(t.T, d, 50)
	for t.faults < times {
		time.Sleep(rand.N(time.Second))
		if err := d.Cmd.Process.Signal(syscall.SIGSTOP); err != nil {
			t.Fatal(err)
		}
		time.Sleep(site.rest + rand.N(time.Second)) // stands for the hour
		t.faults++
		setClock(time.Duration(t.faults) * time.Hour)
		if err := d.Cmd.Process.Signal(syscall.SIGCONT); err != nil {
			t.Fatal(err)
		}
		site.waitFor(t.T, d, site.asked.Load()+50)
	}
	site.waitFor(t.T, d, site.asked.Load()+2*site.uriCount())
	d.Terminate(t.T)
	examine(t, dir, site, 0)
}

// clocked returns a program that is a daemon with its own clock, and a function that sets what the clock is off by.
func clocked(t *trial, dir string) (program string, setClock func(time.Duration)) {
	t.Helper()
	clock := filepath.Join(dir, "clock")
	program = filepath.Join(dir, "clocked.sh") // the configuration is its third argument
	text := fmt.Sprintf("#!/bin/sh\nexport %s=\"$3\" %s=%q\nexec %q -test.run='^TestAnHourInWhichTheProcessIsPaused$'\n",
		pausedEnv, clockEnv, clock, os.Args[0])
	if err := os.WriteFile(program, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	setClock = func(off time.Duration) { // in one step: the daemon reads it all the time
		daemontest.WriteFile(t.T, clock+".new", off.String())
		if err := os.Rename(clock+".new", clock); err != nil {
			t.Fatal(err)
		}
	}
	setClock(0)
	return program, setClock
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
	now := func() time.Time { return timeBy(clock) }
	d, err := daemon.Open(c, daemon.Options{Version: "test", Log: zerolog.New(os.Stderr), Now: now})
	if err == nil {
		err = errors.Join(d.Run(ctx), d.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
}

// timeBy returns the time of day by a clock that is off by what a file says. It looks again if the process was paused
// meanwhile: the clock of a machine shows no time after a pause that is off by what it was before.
func timeBy(clock string) time.Time {
	for {
		began := time.Now()
		text, err := os.ReadFile(clock)
		off, err2 := time.ParseDuration(string(text))
		if err := errors.Join(err, err2); err != nil {
			panic(err)
		}
		if now := time.Now(); now.Sub(began) < faultRest/2 {
			return now.Round(0).Add(off)
		}
	}
}

// jumpTheClock moves the clock of a daemon by ten or twenty years a number of times, while it runs and while it is
// stopped. Each time it must continue within a minute. It has another one if it starts with a clock that is behind: it
// cannot know how long the hosts have rested.
func jumpTheClock(t *trial, site *killSite, times int) {
	const years = 10 * 365 * 24 * time.Hour
	dir := t.TempDir()
	conf := filepath.Join(dir, "arcrawl.toml")
	daemontest.WriteFile(t.T, conf, site.toml())
	program, setClock := clocked(t, dir)
	d := site.start(t.T, program, conf)
	site.waitFor(t.T, d, 2*site.uriCount())
	for was := time.Duration(0); t.faults < times; t.faults++ {
		off, stopped := []time.Duration{years, -years, 0}[t.faults%3], t.faults/3%2 == 1
		t.Logf("the clock is off by %s from now on; the daemon is stopped: %t", off, stopped)
		if stopped {
			d.Terminate(t.T)
		}
		setClock(off)
		if stopped {
			d = site.start(t.T, program, conf)
		}
		if stopped && off < was {
			time.Sleep(time.Minute)
		}
		site.waitFor(t.T, d, site.asked.Load()+site.uriCount())
		was = off
	}
	d.Terminate(t.T)
	examine(t, dir, site, 0)
}
