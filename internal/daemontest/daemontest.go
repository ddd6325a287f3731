// Package daemontest runs a daemon in a test: it crawls a site of one page, and the test looks at its log, its archive
// and its API.
package daemontest

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/crawler"
	"github.com/arcrawl/arcrawl/daemon"
)

// Life is a daemon that runs in a test and crawls a site of one page.
type Life struct {
	Dir    string // of its files
	Path   string // of the main configuration file
	Hangup chan os.Signal
	Visits chan crawler.Report
	End    func() error // stops the daemon and returns the error of Run

	mu     sync.Mutex // guards the fields below
	log    bytes.Buffer
	states []string // states that systemd would receive
}

// Write takes lines of the log.
func (l *Life) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.log.Write(b)
}

// Notify takes a state that systemd would receive.
func (l *Life) Notify(state string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.states = append(l.states, state)
}

// Text returns the log and the states.
func (l *Life) Text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.log.String() + strings.Join(l.states, "\n")
}

// WaitFor waits until the log or a state contains all words.
func (l *Life) WaitFor(t *testing.T, words ...string) {
	t.Helper()
	deadline := time.Now().Add(Patience)
	for _, word := range words {
		for !strings.Contains(l.Text(), word) {
			if time.Now().After(deadline) {
				t.Fatalf("%q is not in the log:\n%s", word, l.Text())
			}
			time.Sleep(5 * time.Millisecond)
		}
	}
}

// Patience is the time that a test waits for something that a daemon normally does within a second. On a machine with a
// load of 30 that takes a minute at times.
const Patience = 2 * time.Minute

// MainFile is the configuration of a daemon in a test. It wants the seed. The site has one page: a slow machine would
// visit /sitemap.xml before a test looks, and a fast one after it.
const MainFile = `[operator]
name = "Test Library"
contact = "https://library.example/crawler"
[storage]
min_free = "1MB"
[fetch]
allow_networks = ["127.0.0.0/8"]
[politeness]
min_delay = "0s"
max_delay = "0s"
[feeds]
usual_sitemap = false
[admin]
listen = "127.0.0.1:0"
token_file = "admin.token"
[seeds]
uris = [%q]
`

// Start starts a daemon. It is stopped at the end of the test. Each change gets the folder and the main file, and
// returns another main file.
func Start(t *testing.T, changes ...func(dir, main string) string) *Life {
	t.Helper()
	return StartIn(t, t.TempDir(), nil, changes...)
}

// StartIn starts a daemon with wings as Start does, in a folder that may hold a store and an archive.
func StartIn(
	t *testing.T, dir string, wings []func() daemon.Wing, changes ...func(dir, main string) string,
) *Life {
	t.Helper()
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, "<title>one page</title>")
	}))
	t.Cleanup(site.Close)
	l := &Life{
		Dir: dir, Path: filepath.Join(dir, "arcrawl.toml"),
		Hangup: make(chan os.Signal, 1), Visits: make(chan crawler.Report, 100),
	}
	if err := os.Mkdir(filepath.Join(dir, "hosts.d"), 0o750); err != nil {
		t.Fatal(err)
	}
	main := fmt.Sprintf(MainFile, site.URL+"/")
	for _, change := range changes {
		main = change(dir, main)
	}
	Write(t, l.Path, main)
	l.run(t, wings)
	return l
}

// Again starts another daemon in the folder of one that has ended, with the same main file but no host files. The site
// of the first one is still there.
func (l *Life) Again(t *testing.T, wings []func() daemon.Wing, changes ...func(dir, main string) string) *Life {
	t.Helper()
	text, err := os.ReadFile(l.Path)
	if err == nil {
		err = os.RemoveAll(filepath.Join(l.Dir, "hosts.d"))
	}
	if err != nil {
		t.Fatal(err)
	}
	same := func(string, string) string { return string(text) }
	return StartIn(t, l.Dir, wings, append([]func(dir, main string) string{same}, changes...)...)
}

// Files returns the finished WARC files.
func (l *Life) Files(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(l.Dir, "warc", "*.warc.gz"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%q, %v", files, err)
	}
	return files
}

// run starts the daemon with the configuration that is there.
func (l *Life) run(t *testing.T, wings []func() daemon.Wing) {
	t.Helper()
	log := zerolog.New(l)
	c, err := daemon.LoadConfig(l.Path, log)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		err := daemon.Run(ctx, c, daemon.Options{
			Version: "test", Log: log, Hangup: l.Hangup, Notify: l.Notify, SharedProcess: true, Wings: wings,
			Observe: l.observe,
		})
		l.Notify(fmt.Sprint("Run returned ", err))
		done <- err
	}()
	l.End = sync.OnceValue(func() error { stop(); return <-done })
	t.Cleanup(func() { _ = l.End() })
}

// observe passes a visit on. If nobody asks for visits, the oldest is forgotten: the crawl does not wait for the test.
func (l *Life) observe(r crawler.Report) {
	for {
		select {
		case l.Visits <- r:
			return
		default:
		}
		select {
		case <-l.Visits:
		default:
		}
	}
}

// Write writes a file.
func Write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o640); err != nil {
		t.Fatal(err)
	}
}

// Visited waits for the visit of the page.
func (l *Life) Visited(t *testing.T) {
	t.Helper()
	for {
		select {
		case r := <-l.Visits:
			if r.URI.Path() == "/" {
				if r.Status != http.StatusOK || !r.Verdict.First {
					t.Errorf("the visit has status %d and verdict %+v, want the first capture", r.Status, r.Verdict)
				}
				return
			}
		case <-time.After(Patience):
			t.Fatalf("the page was not visited:\n%s", l.Text())
		}
	}
}

// Archived lists the URIs of the records in the archive, each on a line.
func (l *Life) Archived(t *testing.T) string { return l.ArchivedIn(t, "*") }

// ArchivedIn does the same for some files.
func (l *Life) ArchivedIn(t *testing.T, names string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(l.Dir, "warc", names+".warc.gz*"))
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, file := range files {
		r, err := warc.OpenAt(file, 0)
		if err != nil {
			continue
		}
		for {
			rec, err := r.Next()
			if err != nil {
				break
			}
			if kind := rec.Header.Type(); kind == "response" || kind == "resource" {
				b.WriteString(rec.Header.Target() + "\n")
			}
		}
		_ = r.Close()
	}
	return b.String()
}
