package main

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
	"github.com/arcrawl/arcrawl/internal/daemontest"
	"github.com/arcrawl/arcrawl/internal/slow"
	"github.com/arcrawl/arcrawl/internal/smalldisk"
)

// bulky starts a site of large pages that cannot be compressed and are new each time.
func bulky(t *testing.T) *httptest.Server {
	t.Helper()
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" {
			http.NotFound(w, r)
			return
		}
		body := make([]byte, 200<<10) // larger bodies of one domain get a share of the disk only
		_, _ = rand.Read(body)
		w.Header().Set("Content-Type", "application/octet-stream")
		_, _ = w.Write(body)
	}))
	t.Cleanup(site.Close)
	return site
}

// bulkyCrawl writes the configuration of a crawl of a bulky site.
func bulkyCrawl(t *testing.T, dir, site, minFree string) (conf string) {
	t.Helper()
	text := (&killSite{hosts: []string{strings.TrimPrefix(site, "http://")}}).toml()
	conf = filepath.Join(dir, "arcrawl.toml")
	daemontest.WriteFile(t, conf, strings.NewReplacer(`min_free = "1MB"`, fmt.Sprintf("min_free = %q", minFree),
		"[fetch]", "[fetch]\nmax_per_day = \"1TB\"").Replace(text))
	return conf
}

// The disk fills up while the crawl runs. The crawl pauses before anything fails, and resumes when there is room.
func TestAFullDiskPausesTheCrawl(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	dir := smalldisk.Mount(t, "240m")
	binary := built.In(t, t.TempDir())
	conf := bulkyCrawl(t, dir, bulky(t).URL, "150MB")
	d := daemontest.StartProcess(t, binary, conf)
	d.WaitFor(t, "the pause", func() bool { return strings.Contains(d.Output(), "pausing crawl") })
	steer(t, conf, cli.ExitOK, "", "list") // the daemon still answers
	if left := free(t, dir); left < 30<<20 {
		t.Errorf("%d bytes are left when the crawl is paused, min_free is 150 MB", left)
	}
	if err := unix.Mount("", dir, "", unix.MS_REMOUNT, "size=700m"); err != nil {
		t.Fatal(err)
	}
	d.WaitFor(t, "the crawl to resume", func() bool { return strings.Contains(d.Output(), "resuming crawl") })
	d.Terminate(t)
	if code, out, errs := command("check", "--store", "--config", conf); code != cli.ExitOK {
		t.Errorf("check --store: %d\n%s%s", code, out, errs)
	}
	if code, out, errs := command("verify", filepath.Join(dir, "warc")); code != cli.ExitOK {
		t.Errorf("verify: %d\n%s%s", code, out, errs)
	}
}

// Another program fills the disk to the last byte between two checks of the free space. The daemon pauses, answers, and
// continues by itself when there is room again. Nothing is damaged.
func TestADaemonSurvivesADiskFilledByOthers(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	dir := smalldisk.Mount(t, "300m")
	conf := bulkyCrawl(t, dir, bulky(t).URL, "1MB")
	d := daemontest.StartProcess(t, built.In(t, t.TempDir()), conf)
	d.WaitFor(t, "some visits", func() bool { return logLines(dir) > 10 })
	filler := filepath.Join(dir, "filler")
	if err := fillDisk(t, filler); !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
	d.WaitFor(t, "the pause", func() bool { return strings.Contains(d.Output(), "pausing crawl") })
	steer(t, conf, cli.ExitOK, "", "list") // the daemon still answers
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mount("", dir, "", unix.MS_REMOUNT, "size=900m"); err != nil {
		t.Fatal(err)
	}
	resumesWithRoom(t, d, conf, dir)
}

// A quota, which the free space of the disk does not show, is nearly used up. The crawl pauses before a write fails: on
// btrfs, also a write to blocks that are reserved would, and end the process. Others may then take the last byte.
func TestADaemonSurvivesAQuota(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	dir := smalldisk.MountQuota(t, "900M")
	conf := bulkyCrawl(t, t.TempDir(), bulky(t).URL, "1MB") // with the output of the daemon
	moveFolders(t, conf, dir)
	d := daemontest.StartProcess(t, built.In(t, t.TempDir()), conf)
	d.WaitFor(t, "some visits", func() bool { return logLines(dir) > 10 })
	if err := smalldisk.SetQuota(dir, strconv.FormatInt(diskUse(t, dir)+100<<20, 10)); err != nil {
		t.Fatal(err)
	}
	d.WaitFor(t, "the pause", func() bool { return strings.Contains(d.Output(), "the quota of") })
	filler := filepath.Join(dir, "filler")
	if err := fillDisk(t, filler); !errors.Is(err, syscall.EDQUOT) {
		t.Fatalf("others cannot take the last byte: %v", err)
	}
	steer(t, conf, cli.ExitOK, "", "list") // the daemon still answers
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	if err := smalldisk.SetQuota(dir, "900M"); err != nil {
		t.Fatal(err)
	}
	resumesWithRoom(t, d, conf, dir)
}

// logLines returns the number of lines of the crawl.log in a folder.
func logLines(dir string) int {
	text, _ := os.ReadFile(filepath.Join(dir, "crawl.log"))
	return bytes.Count(text, []byte("\n"))
}

// resumesWithRoom has a crawl in a folder continue by itself. Nothing may be damaged.
func resumesWithRoom(t *testing.T, d *daemontest.Process, conf, dir string) {
	t.Helper()
	d.WaitFor(t, "the crawl to resume", func() bool { return strings.Contains(d.Output(), "resuming crawl") })
	had := logLines(dir)
	d.WaitFor(t, "more visits", func() bool { return logLines(dir) > had+10 })
	d.Terminate(t)
	if code, out, errs := command("check", "--store", "--config", conf); code != cli.ExitOK {
		t.Errorf("check --store: %d\n%s%s", code, out, errs)
	}
	if code, out, errs := command("verify", filepath.Join(dir, "warc")); code != cli.ExitOK {
		t.Errorf("verify: %d\n%s%s", code, out, errs)
	}
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
		t.Fatal(err)
	}
	defer f.Close()
	for block := make([]byte, 1<<20); ; {
		if _, err := f.Write(block); err != nil {
			return err
		}
	}
}
