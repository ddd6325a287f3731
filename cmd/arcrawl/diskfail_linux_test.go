package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
	"github.com/arcrawl/arcrawl/internal/daemontest"
	"github.com/arcrawl/arcrawl/internal/slow"
	"github.com/arcrawl/arcrawl/internal/smalldisk"
)

// failingDisk mounts an ext4 file system on a sparse image. The disk fails with EIO when what the image is on is full.
// It skips the test where that is not allowed.
func failingDisk(t *trial) (dir, image, under string) {
	t.Helper()
	under = smalldisk.Mount(t, "260m")
	image, dir = filepath.Join(under, "image"), t.TempDir()
	daemontest.WriteFile(t.T, image, "")
	if err := os.Truncate(image, 1<<30); err != nil {
		t.Fatal(err)
	}
	mkfs := tool(t, "mkfs.ext4", "e2fsprogs")
	if out, err := exec.Command(mkfs, "-q", "-E", "lazy_itable_init=1", image).CombinedOutput(); err != nil {
		t.Fatalf("mkfs.ext4: %v %s", err, out)
	}
	mount(t, image, dir)
	t.Cleanup(func() { _ = unix.Unmount(dir, unix.MNT_DETACH) })
	return dir, image, under
}

func mount(t *trial, image, dir string) {
	t.Helper()
	if out, err := exec.Command("mount", "-o", "loop,errors=remount-ro", image, dir).CombinedOutput(); err != nil {
		t.Skipf("an image cannot be mounted: %v %s; run this test as root, outside of a container", err, out)
	}
}

// moveFolders has a configuration keep the store, the archive and crawl.log in another folder.
func moveFolders(t *testing.T, conf, dir string) {
	t.Helper()
	text, err := os.ReadFile(conf)
	if err != nil {
		t.Fatal(err)
	}
	folders := fmt.Sprintf("[storage]\nstate = %q\nwarc = %q\nlog = %q\n", dir+"/state", dir+"/warc", dir+"/crawl.log")
	daemontest.WriteFile(t, conf, strings.Replace(string(text), "[storage]\n", folders, 1))
}

// The disk fails while the crawl runs. The crawl pauses, and the daemon ends with a code after which systemd starts it
// again. When the disk is well, it starts and crawls, and nothing is damaged.
func TestTheDaemonEndsOnAFailingDiskAndStartsWhenItIsWell(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	failTheDisk(&trial{T: t}, startBulkySite(t, 1), 1)
}

// failTheDisk has the disk of a crawl fail a number of times.
func failTheDisk(t *trial, site *killSite, times int) {
	dir, image, under := failingDisk(t)
	binary := built.In(t.T, t.TempDir())
	conf := bulkyCrawl(t.T, t.TempDir(), site, "1MB")
	moveFolders(t.T, conf, dir)
	d := site.start(t.T, binary, conf)
	d.WaitFor(t.T, "some visits", func() bool { return logLines(dir) > 5 })
	for ; t.faults < times; t.faults++ {
		filler := filepath.Join(under, "filler")
		if err := fillDisk(t.T, filler); !errors.Is(err, unix.ENOSPC) {
			t.Fatal(err)
		}
		select {
		case <-d.Gone:
			t.left.ended++
		case <-time.After(5 * time.Minute):
			t.Fatalf("the daemon is still there:\n%s", d.Output())
		}
		var exit *exec.ExitError
		if !errors.As(d.Err, &exit) || exit.ExitCode() != cli.ExitDisk && exit.ExitCode() != 2 {
			t.Errorf("the daemon ended with %v; want %d, or 2 for a fault in mapped memory\n%s", d.Err, cli.ExitDisk, d.Output())
		}
		if err := os.Remove(filler); err != nil {
			t.Fatal(err)
		}
		if err := unix.Mount("", under, "", unix.MS_REMOUNT, "size=1500m"); err != nil {
			t.Fatal(err)
		}
		if err := unix.Unmount(dir, 0); err != nil { // a process that has a file open would prevent it
			t.Fatal(err)
		}
		_ = exec.Command("e2fsck", "-fy", image).Run() // its exit code says that it repaired something
		mount(t, image, dir)
		had := logLines(dir)
		d = site.start(t.T, binary, conf)
		d.WaitFor(t.T, "more visits", func() bool { return logLines(dir) > had+5 })
	}
	d.Terminate(t.T)
	intact(t, conf, dir, site, 10*times) // each trial may leave a capture
}
