package daemon_test

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"go.uber.org/goleak"

	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/daemon"
	"github.com/arcrawl/arcrawl/internal/archivetest"
	"github.com/arcrawl/arcrawl/internal/daemontest"
)

// TestMain checks that no goroutine is left after a daemon has stopped.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestADaemonVisitsAndArchives(t *testing.T) {
	t.Parallel()
	l := daemontest.Start(t)
	l.Visited(t)
	l.WaitFor(t, "READY=1\nSTATUS=crawling", "serving the admin API")
	status, err := api.NewClient(filepath.Join(l.Dir, "state", "admin.sock")).Status(t.Context())
	if err != nil || status.Version != "test" {
		t.Errorf("the socket answers %+v, %v", status, err)
	}
	if err := l.End(); err != nil {
		t.Errorf("Run returned %v, want nil after a stop", err)
	}
	l.WaitFor(t, `"message":"stopped"`, "STATUS=stopping", "STATUS=closing the archive and the store")
	if n := len(archivetest.CheckDir(t, filepath.Join(l.Dir, "warc"))); n != 9 {
		t.Errorf("the archive has %d records, want warcinfo, two of the configuration, three each of robots.txt and the page", n)
	}
	if left, _ := filepath.Glob(filepath.Join(l.Dir, "warc", "*.open")); len(left) > 0 {
		t.Errorf("WARC files are still open: %v", left)
	}
}

func TestAHangupReopensTheLogAndReadsTheConfiguration(t *testing.T) {
	t.Parallel()
	l := daemontest.Start(t)
	l.Visited(t)
	crawlLog := filepath.Join(l.Dir, "crawl.log")
	archivetest.Must(t, os.Rename(crawlLog, crawlLog+".1"))
	text, err := os.ReadFile(l.Path)
	archivetest.Must(t, err)
	daemontest.Write(t, l.Path, strings.Replace(string(text), `max_delay = "0s"`, `max_delay = "1s"`, 1))
	l.Hangup <- syscall.SIGHUP
	l.WaitFor(t, "crawl.log reopened", `"keys":1`)
	if _, err := os.Stat(crawlLog); err != nil {
		t.Errorf("after the hangup: %v", err)
	}
}

// A changed host file is read again, and copied. The status then counts the warnings that check prints, also about
// hosts that the crawl does not know.
func TestAChangedHostFileIsReadAgain(t *testing.T) {
	t.Parallel()
	l := daemontest.Start(t)
	l.Visited(t)
	daemontest.Write(t, filepath.Join(l.Dir, "hosts.d", "www.typo.example.toml"), "[politeness]\nmin_delay = \"0s\"\ndelay_factor = 0\n")
	l.WaitFor(t, `"keys":1`)
	c, err := config.Load(l.Path)
	archivetest.Must(t, err)
	var want []string
	for _, w := range c.Doubts(time.Now(), nil) {
		want = append(want, w.String())
	}
	status, err := api.NewClient(filepath.Join(l.Dir, "state", "admin.sock")).Status(t.Context())
	archivetest.Must(t, err)
	var got []string
	for _, w := range status.Config.Warnings {
		got = append(got, config.Fault(w).String())
	}
	if len(want) != 2 || !slices.Equal(got, want) {
		t.Errorf("the status has the warnings\n%s\nand check\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	archivetest.Must(t, l.End())
	copied, err := os.ReadFile(filepath.Join(l.Dir, "state", "last-good", "www.typo.example.toml"))
	if err != nil || !strings.Contains(string(copied), "delay_factor = 0") {
		t.Errorf("the last good copy is %q, %v", copied, err)
	}
}

// A second daemon finds the store locked. It closes what it has opened, so the first one is not disturbed.
func TestASecondDaemonIsRefused(t *testing.T) {
	t.Parallel()
	l := daemontest.Start(t)
	l.Visited(t)
	c, err := config.Load(l.Path)
	archivetest.Must(t, err)
	o := daemon.Options{Log: zerolog.Nop(), Hangup: l.Hangup, Notify: l.Notify, SharedProcess: true}
	err = daemon.Run(t.Context(), c, o)
	if err == nil || !strings.Contains(err.Error(), "another") {
		t.Errorf("a second daemon: %v, want an error that the store is in use", err)
	}
	if _, err := api.NewClient(filepath.Join(l.Dir, "state", "admin.sock")).Status(t.Context()); err != nil {
		t.Errorf("the first daemon does not answer any more: %v", err)
	}
}

// The admin API is opened last. When its address is in use, everything that was opened before is closed.
func TestAFailedStartClosesWhatItHasOpened(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	archivetest.Must(t, err)
	defer taken.Close()
	path := filepath.Join(t.TempDir(), "arcrawl.toml")
	text := fmt.Sprintf(daemontest.MainFile, "http://www.news.example/")
	daemontest.Write(t, path, strings.Replace(text, "127.0.0.1:0", taken.Addr().String(), 1))
	c, err := config.Load(path)
	archivetest.Must(t, err)
	hangup := make(chan os.Signal)
	o := daemon.Options{Log: zerolog.Nop(), Hangup: hangup, Notify: func(string) {}, SharedProcess: true}
	err = daemon.Run(t.Context(), c, o)
	if folder := (daemon.FolderError{}); !errors.As(err, &folder) || !strings.Contains(err.Error(), "admin.listen") {
		t.Errorf("an address that is in use: %v, want a FolderError for admin.listen", err)
	}
	f, err := daemon.OpenStopped(t.Context(), c, time.Now())
	if err != nil {
		t.Fatalf("the store is still in use: %v", err)
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(c.Admin.Socket); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the socket is still there: %v", err)
	}
}
