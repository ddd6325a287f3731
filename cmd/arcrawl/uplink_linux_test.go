package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/arcrawl/arcrawl/internal/daemontest"
	"github.com/arcrawl/arcrawl/internal/slow"
)

// The uplink is cut in the middle of requests, which the kernel holds. When their exchanges are over, because their
// time is over, the daemon stops or is killed, the kernel must not send them as soon as the uplink is there again.
func TestRequestsAreNotSentAfterTheUplinkWasCut(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	cutTheUplink(&trial{T: t}, 0, len(endings))
}

// endings are the ways in which an exchange ends while the uplink is cut. After them no request is under way, and the
// daemon makes none.
var endings = []struct {
	name string
	end  func(t *trial, d *daemontest.Process)
}{
	{"the daemon is killed", func(t *trial, d *daemontest.Process) { d.Kill(t.T) }},
	{"the daemon stops", func(t *trial, d *daemontest.Process) { d.Terminate(t.T) }},
	{"the time of the requests is over", func(t *trial, d *daemontest.Process) {
		d.WaitFor(t.T, "the end of all exchanges", func() bool { return held(t, d) == 0 })
		if err := d.Cmd.Process.Signal(syscall.SIGSTOP); err != nil {
			t.Fatal(err)
		}
	}},
}

// cutTheUplink cuts the uplink of a daemon a number of times. The daemon and a new site are in a network of their own,
// whose loopback device is the uplink.
func cutTheUplink(t *trial, rest time.Duration, times int) {
	runtime.LockOSThread() // never unlocked: the thread ends with the goroutine, and its network with its last process
	if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
		t.Skipf("a network cannot be made: %v; run this test as root, outside of a container", err)
	}
	link(t, true)
	site := startKillSite(t.T)
	site.rest = rest
	dir := t.TempDir()
	conf, binary := filepath.Join(dir, "arcrawl.toml"), built.In(t.T, dir)
	daemontest.WriteFile(t.T, conf, strings.Replace(site.toml(), "[fetch]\n", "[fetch]\nheader_timeout = \"1s\"\n", 1))
	d := site.start(t.T, binary, conf)
	for t.faults < times {
		site.waitFor(t.T, d, site.asked.Load()+100)
		link(t, false)
		cut := time.Now()
		if !holds(t, d) {
			link(t, true)
			continue
		}
		how := endings[t.faults%len(endings)]
		how.end(t, d)
		asked := site.asked.Load()
		time.Sleep(time.Second)
		link(t, true)
		time.Sleep(2 * time.Since(cut)) // the kernel sends again after up to twice the time that has passed
		if n := site.asked.Load() - asked; n > 0 {
			t.Errorf("%s while the uplink is cut: %d requests arrived later", how.name, n)
		}
		t.faults++
		if _, err := os.Stat(fmt.Sprint("/proc/", d.Cmd.Process.Pid)); err != nil {
			d = site.start(t.T, binary, conf)
		} else if err := d.Cmd.Process.Signal(syscall.SIGCONT); err != nil {
			t.Fatal(err)
		}
	}
	site.waitFor(t.T, d, site.asked.Load()+2*site.uriCount())
	d.Terminate(t.T)
	examine(t, dir, site, times)
}

// link brings the loopback device of the network of this thread up or down.
func link(t *trial, up bool) {
	t.Helper()
	s, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(s)
	lo, err := unix.NewIfreq("lo")
	if err == nil {
		err = unix.IoctlIfreq(s, unix.SIOCGIFFLAGS, lo)
	}
	if err != nil {
		t.Fatal(err)
	}
	flags := lo.Uint16() &^ unix.IFF_UP
	if up {
		flags |= unix.IFF_UP
	}
	lo.SetUint16(flags)
	if err := unix.IoctlIfreq(s, unix.SIOCSIFFLAGS, lo); err != nil {
		t.Fatal(err)
	}
}

// holds waits until the kernel holds requests of a daemon whose uplink was just cut. On a busy machine this can look
// too late, when the exchanges have ended.
func holds(t *trial, d *daemontest.Process) bool {
	t.Helper()
	for end := time.Now().Add(2 * time.Second); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if held(t, d) >= killHosts/2 {
			return true
		}
	}
	return false
}

// held returns how many connections to the site hold bytes that are not delivered.
func held(t *trial, d *daemontest.Process) (n int) {
	t.Helper()
	table, err := os.ReadFile(fmt.Sprintf("/proc/%d/net/tcp", d.Cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(table)) {
		// 0: 0100007F:DBBA 0203007F:A5BB 01 00000005:00000000 …, where 01 is a connection that is established.
		f := strings.Fields(line)
		if len(f) < 5 || f[3] != "01" || !strings.HasPrefix(f[1], "0100007F:") {
			continue
		}
		queue, _, _ := strings.Cut(f[4], ":")
		if bytes, err := strconv.ParseUint(queue, 16, 32); err == nil && bytes > 0 {
			n++
		}
	}
	return n
}
