package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
	"github.com/arcrawl/arcrawl/internal/daemontest"
	"github.com/arcrawl/arcrawl/internal/slow"
	"github.com/arcrawl/arcrawl/internal/smalldisk"
)

// bulkyCrawl writes the configuration of a crawl of a bulky site.
func bulkyCrawl(t *testing.T, dir string, site *killSite, minFree string) (conf string) {
	t.Helper()
	conf = filepath.Join(dir, "arcrawl.toml")
	daemontest.WriteFile(t, conf, strings.NewReplacer(`min_free = "1MB"`, fmt.Sprintf("min_free = %q", minFree),
		"[fetch]", "[fetch]\nmax_per_day = \"1TB\"").Replace(site.toml()))
	return conf
}

// The disk fills up while the crawl runs. The crawl pauses before anything fails, and resumes when there is room.
func TestAFullDiskPausesTheCrawl(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	fillTheDisk(&trial{T: t}, startBulkySite(t, 1), 1)
}

// fillTheDisk has a crawl fill its disk a number of times. Each time the disk grows afterwards.
func fillTheDisk(t *trial, site *killSite, times int) {
	const first, more, minFree = 240, 100, 150 // MB
	dir := smalldisk.Mount(t, fmt.Sprint(first, "m"))
	conf := bulkyCrawl(t.T, dir, site, fmt.Sprint(minFree, "MB"))
	d := site.start(t.T, built.In(t.T, t.TempDir()), conf)
	for size := first; t.faults < times; t.faults++ {
		said(t.T, d, "pausing crawl", t.faults+1)
		steer(t.T, conf, cli.ExitOK, "", "list") // the daemon still answers
		if left := free(t.T, dir); left < 30<<20 {
			t.Errorf("%d bytes are left when the crawl is paused, min_free is %d MB", left, minFree)
		}
		size += minFree + more
		if err := unix.Mount("", dir, "", unix.MS_REMOUNT, fmt.Sprintf("size=%dm", size)); err != nil {
			t.Fatal(err)
		}
		said(t.T, d, "resuming crawl", t.faults+1)
	}
	site.waitFor(t.T, d, site.asked.Load()+10)
	d.Terminate(t.T)
	intact(t, conf, dir, site, 0)
}

// Another program fills the disk to the last byte between two checks of the free space. The daemon pauses, answers, and
// continues by itself when there is room again. Nothing is damaged.
func TestADaemonSurvivesADiskFilledByOthers(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	letOthersFillTheDisk(&trial{T: t}, startBulkySite(t, 1), 1)
}

// letOthersFillTheDisk fills the disk of a crawl a number of times.
func letOthersFillTheDisk(t *trial, site *killSite, times int) {
	dir := smalldisk.Mount(t, "300m")
	conf := bulkyCrawl(t.T, dir, site, "1MB")
	binary := built.In(t.T, t.TempDir())
	d := site.start(t.T, binary, conf)
	d.WaitFor(t.T, "some visits", func() bool { return logLines(dir) > 10 })
	for ; t.faults < times; t.faults++ {
		filler, paused, resumed := filepath.Join(dir, "filler"), more(d, "pausing crawl"), more(d, "resuming crawl")
		if err := fillDisk(t.T, filler); !errors.Is(err, syscall.ENOSPC) {
			t.Fatal(err)
		}
		alive := t.alive(d, paused)
		if alive {
			t.answers(d, conf)
		}
		if err := os.Remove(filler); err != nil {
			t.Fatal(err)
		}
		if err := unix.Mount("", dir, "", unix.MS_REMOUNT, fmt.Sprintf("size=%dm", 900+100*t.faults)); err != nil {
			t.Fatal(err)
		}
		if alive = alive && t.alive(d, resumed) && t.alive(d, visits(dir)); !alive {
			d = site.start(t.T, binary, conf)
			d.WaitFor(t.T, "more visits", visits(dir))
		}
	}
	d.Terminate(t.T)
	intact(t, conf, dir, site, times)
}

// A quota, which the free space of the disk does not show, is nearly used up. The crawl pauses before a write fails: on
// btrfs, also a write to blocks that are reserved would, and end the process. Others may then take the last byte.
func TestADaemonSurvivesAQuota(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	useUpTheQuota(&trial{T: t}, startBulkySite(t, 1), 1)
}

// useUpTheQuota lowers the quota of a crawl a number of times.
func useUpTheQuota(t *trial, site *killSite, times int) {
	dir := smalldisk.MountQuota(t, "900M")
	conf := bulkyCrawl(t.T, t.TempDir(), site, "1MB") // with the output of the daemon
	moveFolders(t.T, conf, dir)
	binary := built.In(t.T, t.TempDir())
	d := site.start(t.T, binary, conf)
	d.WaitFor(t.T, "some visits", func() bool { return logLines(dir) > 10 })
	for ; t.faults < times; t.faults++ {
		filler, paused, resumed := filepath.Join(dir, "filler"), more(d, "pausing crawl"), more(d, "resuming crawl")
		if err := smalldisk.SetQuota(dir, strconv.FormatInt(diskUse(t.T, dir)+100<<20, 10)); err != nil {
			t.Fatal(err)
		}
		alive := t.alive(d, paused)
		if err := fillDisk(t.T, filler); !errors.Is(err, syscall.EDQUOT) {
			t.Fatalf("others cannot take the last byte: %v", err)
		}
		if alive {
			t.answers(d, conf)
		}
		if err := os.Remove(filler); err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		if err := smalldisk.SetQuota(dir, "900M"); err != nil {
			t.Fatal(err)
		}
		if alive = alive && t.alive(d, resumed) && t.alive(d, visits(dir)); !alive {
			d = site.start(t.T, binary, conf)
			d.WaitFor(t.T, "more visits", visits(dir))
		}
	}
	if !strings.Contains(d.Output(), "the quota of") {
		t.Errorf("the daemon does not say that a quota is used up:\n%s", d.Output())
	}
	d.Terminate(t.T)
	intact(t, conf, dir, site, times)
}

// said waits until the daemon has said something a number of times.
func said(t *testing.T, d *daemontest.Process, text string, times int) {
	t.Helper()
	d.WaitFor(t, fmt.Sprintf("%q, %d times", text, times), func() bool { return strings.Count(d.Output(), text) >= times })
}

// logLines returns the number of lines of the crawl.log in a folder.
func logLines(dir string) int {
	text, _ := os.ReadFile(filepath.Join(dir, "crawl.log"))
	return bytes.Count(text, []byte("\n"))
}

// visits returns a function that reports whether a crawl in a folder has made more visits than by now.
func visits(dir string) func() bool {
	had := logLines(dir)
	return func() bool { return logLines(dir) > had+10 }
}

// more returns a function that reports whether a daemon has said something more often than by now.
func more(d *daemontest.Process, text string) func() bool {
	had := strings.Count(d.Output(), text)
	return func() bool { return strings.Count(d.Output(), text) > had }
}

// alive waits for what a daemon on a full disk is to do. It reports false if the daemon has ended at
// mapped memory without a block instead, which it may on a busy machine.
func (t *trial) alive(d *daemontest.Process, so func() bool) bool {
	t.Helper()
	for deadline := time.After(daemontest.Patience); !so(); {
		select {
		case <-d.Gone:
			if !t.mayEnd || !strings.Contains(d.Output(), "SIGBUS") {
				t.Fatalf("the daemon ended with %v\n%s", d.Err, d.Output())
			}
			t.left.ended++
			return false
		case <-deadline:
			t.Fatalf("the daemon does not continue\n%s", d.Output())
		case <-time.After(10 * time.Millisecond):
		}
	}
	return true
}

// answers checks that a daemon on a full disk still answers, unless it has ended.
func (t *trial) answers(d *daemontest.Process, conf string) {
	t.Helper()
	code, out, errs := command("frontier", "list", "--config", conf)
	if code == cli.ExitOK {
		return
	}
	select {
	case <-d.Gone: // alive says whether it may
	case <-time.After(time.Second):
		t.Fatalf("the daemon does not answer: %d\n%s%s", code, out, errs)
	}
}

// intact checks that nothing is damaged. Each fault may have left a capture that the store does not know.
func intact(t *trial, conf, dir string, site *killSite, faults int) {
	t.Helper()
	if code, out, errs := command("check", "--store", "--config", conf); code != cli.ExitOK {
		t.Errorf("check --store: %d\n%s%s", code, out, errs)
	}
	examine(t, dir, site, faults)
}

func free(t *testing.T, dir string) int64 {
	t.Helper()
	var s syscall.Statfs_t
	if err := syscall.Statfs(dir, &s); err != nil {
		t.Fatal(err)
	}
	return int64(s.Bavail) * s.Bsize
}

// diskUse returns how many bytes of disk the files below a folder take.
func diskUse(t *testing.T, dir string) (n int64) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		var s syscall.Stat_t
		if err == nil && syscall.Lstat(path, &s) == nil { // a file may be removed meanwhile
			n += s.Blocks * 512
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// fillDisk writes until nothing more fits, and returns the error of the last write.
func fillDisk(t *testing.T, name string) error {
	t.Helper()
	f, err := os.Create(name)
	if err != nil {
		return err // the last byte is taken already
	}
	defer f.Close()
	for block := make([]byte, 1<<20); ; {
		if _, err := f.Write(block); err != nil {
			return err
		}
	}
}
