package daemon_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"go.uber.org/goleak"

	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/crawler"
	"github.com/arcrawl/arcrawl/daemon"
	"github.com/arcrawl/arcrawl/internal/warccheck"
)

// TestMain checks that no goroutine is left after a daemon has stopped.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// life is a daemon that runs in a test and crawls a site of one page.
type life struct {
	dir    string
	path   string // of the main configuration file
	hangup chan os.Signal
	visits chan crawler.Report
	end    func() error // stops the daemon and returns the error of Run

	mu     sync.Mutex // guards the fields below
	log    bytes.Buffer
	states []string // states that systemd would receive
}

// Write takes lines of the log.
func (l *life) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.log.Write(b)
}

func (l *life) notify(state string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.states = append(l.states, state)
}

// text returns the log and the states.
func (l *life) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.log.String() + strings.Join(l.states, "\n")
}

// waitFor waits until the log or a state contains all words.
func (l *life) waitFor(t *testing.T, words ...string) {
	t.Helper()
	deadline := time.Now().Add(patience)
	for _, word := range words {
		for !strings.Contains(l.text(), word) {
			if time.Now().After(deadline) {
				t.Fatalf("%q is not in the log:\n%s", word, l.text())
			}
			time.Sleep(5 * time.Millisecond)
		}
	}
}

// patience is the time that a test waits for something that a daemon normally does within a second.
const patience = 30 * time.Second

const mainFile = `[operator]
name = "Test Library"
contact = "https://library.example/crawler"
[storage]
min_free = "1MB"
[fetch]
allow_networks = ["127.0.0.0/8"]
[politeness]
min_delay = "0s"
max_delay = "0s"
[admin]
listen = "127.0.0.1:0"
token_file = "admin.token"
[seeds]
uris = [%q]
`

// start starts a daemon. It is stopped at the end of the test. Each change gets the folder and the main file, and
// returns another main file.
func start(t *testing.T, changes ...func(dir, main string) string) *life {
	t.Helper()
	return startIn(t, t.TempDir(), changes...)
}

// startIn starts a daemon as start does, in a folder that may hold a store and an archive.
func startIn(t *testing.T, dir string, changes ...func(dir, main string) string) *life {
	t.Helper()
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, "<title>one page</title>")
	}))
	t.Cleanup(site.Close)
	l := &life{
		dir: dir, path: filepath.Join(dir, "arcrawl.toml"),
		hangup: make(chan os.Signal, 1), visits: make(chan crawler.Report, 100),
	}
	if err := os.Mkdir(filepath.Join(dir, "hosts.d"), 0o750); err != nil {
		t.Fatal(err)
	}
	main := fmt.Sprintf(mainFile, site.URL+"/")
	for _, change := range changes {
		main = change(dir, main)
	}
	write(t, l.path, main)
	log := zerolog.New(l)
	c, err := daemon.LoadConfig(l.path, log)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		err := daemon.Run(ctx, c, daemon.Options{
			Version: "test", Log: log, Hangup: l.hangup, Notify: l.notify, SharedProcess: true,
			Observe: func(r crawler.Report) { l.visits <- r },
		})
		l.notify(fmt.Sprint("Run returned ", err))
		done <- err
	}()
	l.end = sync.OnceValue(func() error { stop(); return <-done })
	t.Cleanup(func() { _ = l.end() })
	return l
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o640); err != nil {
		t.Fatal(err)
	}
}

// visited waits for the visit of the page.
func (l *life) visited(t *testing.T) {
	t.Helper()
	for {
		select {
		case r := <-l.visits:
			if r.URI.Path() == "/" {
				if r.Status != http.StatusOK || !r.Verdict.First {
					t.Errorf("the visit has status %d and verdict %+v, want the first capture", r.Status, r.Verdict)
				}
				return
			}
		case <-time.After(patience):
			t.Fatalf("the page was not visited:\n%s", l.text())
		}
	}
}

func TestADaemonVisitsAndArchives(t *testing.T) {
	t.Parallel()
	l := start(t)
	l.visited(t)
	l.waitFor(t, "READY=1\nSTATUS=crawling", "serving the admin API")
	status, err := api.NewClient(filepath.Join(l.dir, "state", "admin.sock")).Status(t.Context())
	if err != nil || status.Version != "test" {
		t.Errorf("the socket answers %+v, %v", status, err)
	}
	if err := l.end(); err != nil {
		t.Errorf("Run returned %v, want nil after a stop", err)
	}
	l.waitFor(t, `"message":"stopped"`, "STATUS=stopping", "STATUS=closing the archive and the store")
	if n := len(warccheck.Dir(t, filepath.Join(l.dir, "warc"))); n != 9 {
		t.Errorf("the archive has %d records, want warcinfo, two of the configuration, three each of robots.txt and the page", n)
	}
	if left, _ := filepath.Glob(filepath.Join(l.dir, "warc", "*.open")); len(left) > 0 {
		t.Errorf("WARC files are still open: %v", left)
	}
}

func TestAHangupReopensTheLogAndReadsTheConfiguration(t *testing.T) {
	t.Parallel()
	l := start(t)
	l.visited(t)
	crawlLog := filepath.Join(l.dir, "crawl.log")
	if err := os.Rename(crawlLog, crawlLog+".1"); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(l.path)
	if err != nil {
		t.Fatal(err)
	}
	write(t, l.path, strings.Replace(string(text), `max_delay = "0s"`, `max_delay = "1s"`, 1))
	l.hangup <- syscall.SIGHUP
	l.waitFor(t, "crawl.log reopened", `"keys":1`)
	if _, err := os.Stat(crawlLog); err != nil {
		t.Errorf("after the hangup: %v", err)
	}
}

func TestAChangedHostFileIsReadAgain(t *testing.T) {
	t.Parallel()
	l := start(t)
	l.visited(t)
	write(t, filepath.Join(l.dir, "hosts.d", "a.example.toml"), "[scope]\nmax_hops = 5\n")
	l.waitFor(t, `"keys":1`)
	if err := l.end(); err != nil {
		t.Fatal(err)
	}
	copied, err := os.ReadFile(filepath.Join(l.dir, "state", "last-good", "a.example.toml"))
	if err != nil || !strings.Contains(string(copied), "max_hops = 5") {
		t.Errorf("the last good copy is %q, %v", copied, err)
	}
}

// The status counts the warnings that check prints, those about hosts that the crawl does not know included.
func TestTheStatusHasTheWarningsOfCheck(t *testing.T) {
	t.Parallel()
	l := start(t)
	l.visited(t)
	write(t, filepath.Join(l.dir, "hosts.d", "www.typo.example.toml"), "[politeness]\nmin_delay = \"0s\"\ndelay_factor = 0\n")
	l.waitFor(t, `"keys":1`)
	c, err := config.Load(l.path)
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, w := range c.Doubts(time.Now(), nil) {
		want = append(want, w.String())
	}
	status, err := api.NewClient(filepath.Join(l.dir, "state", "admin.sock")).Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, w := range status.Config.Warnings {
		got = append(got, config.Fault(w).String())
	}
	if len(want) != 2 || !slices.Equal(got, want) {
		t.Errorf("the status has the warnings\n%s\nand check\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// A second daemon finds the store locked. It closes what it has opened, so the first one is not disturbed.
func TestASecondDaemonIsRefused(t *testing.T) {
	t.Parallel()
	l := start(t)
	l.visited(t)
	c, err := config.Load(l.path)
	if err != nil {
		t.Fatal(err)
	}
	o := daemon.Options{Log: zerolog.Nop(), Hangup: l.hangup, Notify: l.notify, SharedProcess: true}
	err = daemon.Run(t.Context(), c, o)
	if err == nil || !strings.Contains(err.Error(), "another") {
		t.Errorf("a second daemon: %v, want an error that the store is in use", err)
	}
	if _, err := api.NewClient(filepath.Join(l.dir, "state", "admin.sock")).Status(t.Context()); err != nil {
		t.Errorf("the first daemon does not answer any more: %v", err)
	}
}

// The admin API is opened last. When its address is in use, everything that was opened before is closed.
func TestAFailedStartClosesWhatItHasOpened(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	path := filepath.Join(t.TempDir(), "arcrawl.toml")
	text := fmt.Sprintf(mainFile, "http://www.news.example/")
	write(t, path, strings.Replace(text, "127.0.0.1:0", taken.Addr().String(), 1))
	c, err := config.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	hangup := make(chan os.Signal)
	o := daemon.Options{Log: zerolog.Nop(), Hangup: hangup, Notify: func(string) {}, SharedProcess: true}
	err = daemon.Run(t.Context(), c, o)
	if folder := (daemon.FolderError{}); !errors.As(err, &folder) || !strings.Contains(err.Error(), "admin.listen") {
		t.Errorf("an address that is in use: %v, want a FolderError for admin.listen", err)
	}
	f, err := daemon.OpenStopped(c, time.Now())
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
