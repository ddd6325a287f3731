package daemon_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"github.com/arcrawl/arcrawl/crawler"
	"github.com/arcrawl/arcrawl/daemon"
	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/internal/archivetest"
	"github.com/arcrawl/arcrawl/internal/daemontest"
	"github.com/arcrawl/arcrawl/internal/testcrawl"
	"github.com/arcrawl/arcrawl/uri"
	"github.com/arcrawl/arcrawl/warcout"
)

// stuck is a wing that does not end: what it runs in the background waits until the test lets it go, and so does what
// it calls when the daemon closes.
type stuck struct {
	d       *daemon.Daemon
	begin   chan struct{} // closed when it may read in the store
	reading chan struct{} // closed when it reads in the store
	free    chan struct{} // closed when it may continue
	closed  []string      // what was called, and found nothing to wait for
	late    []error       // of what it does after the daemon has closed
}

func (w *stuck) wing() daemon.Wing {
	return daemon.Wing{Name: "stuck", Open: func(d *daemon.Daemon) error {
		w.d = d
		d.OnClose(func() error { w.closed = append(w.closed, "opened first"); return nil })
		d.Background(w.read)
		d.OnClose(func() error { <-w.free; return nil })
		d.OnClose(func() error { w.closed = append(w.closed, "opened last"); return nil })
		return nil
	}}
}

// read reads in the store until the daemon has closed, and then does what wings do.
func (w *stuck) read(context.Context) {
	<-w.begin
	p, now := w.d.Parts(), time.Now()
	read := 0
	err := p.Frontier.Each(func(frontier.Record) error {
		if read++; read == 1 {
			close(w.reading)
			<-w.free
		}
		return nil
	})
	_, archived := p.Archive.WriteResource(now, warcout.Resource{
		URI: "urn:text:late", ContentType: "text/plain", Date: now, Content: []byte("late"),
	})
	indexed := p.IndexCapture(crawler.Captured{
		Record: digest.Origin{URI: "http://a.example/late", File: "x.warc.gz", Date: now},
	})
	_, added := p.Frontier.Add(now, frontier.Candidate{URI: uri.FromCanonical("http://a.example/late"), Due: now})
	w.late = []error{archived, indexed, added}
	if err != nil || read < 2 {
		w.late = append(w.late, fmt.Errorf("%d records of a store that is left open: %w", read, err))
	}
}

const stopSettings = `[operator]
name = "Test Library"
contact = "https://library.example/crawler"
[storage]
min_free = "0B"
[crawl]
grace = "10s"
[admin]
socket = "off"
[reload]
watch = false
[seeds]
uris = ["http://a.example/", "http://slow.example/"]
`

// TestAStopEndsWhateverAWingDoes stops a daemon with a wing that never ends, also after visits that take all of
// crawl.grace. The daemon ends in time, names the wing, and has closed the archive and the store: a copy of its files,
// as they are when the process ends, needs no repair. What the wing does afterwards harms nothing.
func TestAStopEndsWhateverAWingDoes(t *testing.T) {
	t.Parallel()
	for name, slow := range map[string]bool{"nothing is visited": false, "a visit takes all of crawl.grace": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, copied := t.TempDir(), t.TempDir()
			synctest.Test(t, func(t *testing.T) { stopStuck(t, dir, copied, slow) })
		})
	}
}

func stopStuck(t *testing.T, dir, copied string, slow bool) {
	t.Helper()
	web := testcrawl.NewTown(time.Now())
	defer web.Close()
	archivetest.Must(t, web.Set("http://a.example/", testcrawl.Page{}))
	asked := make(chan struct{}, 100)
	dial := func(ctx context.Context, network, address string) (net.Conn, error) {
		if !slow || !strings.HasPrefix(address, "slow.example") {
			return web.Dial(ctx, network, address)
		}
		asked <- struct{}{}
		<-ctx.Done()
		return nil, ctx.Err()
	}
	w := &stuck{begin: make(chan struct{}), reading: make(chan struct{}), free: make(chan struct{})}
	daemontest.Write(t, filepath.Join(dir, "arcrawl.toml"), stopSettings)
	var log bytes.Buffer
	ctx, stop := context.WithCancel(t.Context())
	d := openIn(t, dir, &log, daemon.Options{Dial: dial, Wings: []func() daemon.Wing{w.wing}})
	done := make(chan error, 1)
	go func() { done <- errors.Join(d.Run(ctx), d.Close()) }()
	time.Sleep(5 * time.Second) // some visits
	if slow {
		<-asked
	}
	close(w.begin)
	<-w.reading
	began := time.Now()
	stop()
	if err := <-done; err != nil {
		t.Errorf("the daemon ended with %v", err)
	}
	if took := time.Since(began); took > 15*time.Second || slow && took < 10*time.Second {
		t.Errorf("the stop took %s, want at most crawl.grace and five seconds", took)
	}
	if n := strings.Count(log.String(), `"part":"stuck"`); n != 2 {
		t.Errorf("the log names the wing %d times, want twice:\n%s", n, &log)
	}
	if want := []string{"opened last", "opened first"}; !slices.Equal(w.closed, want) {
		t.Errorf("of the rest of the wing %q was closed, want %q", w.closed, want)
	}
	archivetest.Must(t, os.CopyFS(copied, os.DirFS(dir)))
	checkClosed(t, copied)

	close(w.free)
	synctest.Wait()
	for i, err := range w.late {
		if err == nil || i > 2 || !errors.Is(err, []error{warcout.ErrClosed, os.ErrClosed, frontier.ErrClosed}[i]) {
			t.Errorf("what the wing did later, step %d: %v", i, err)
		}
	}
	checkClosed(t, dir)
}

// openIn opens a daemon with the configuration of a folder.
func openIn(t *testing.T, dir string, log *bytes.Buffer, o daemon.Options) *daemon.Daemon {
	t.Helper()
	c, err := daemon.LoadConfig(filepath.Join(dir, "arcrawl.toml"), zerolog.Nop())
	archivetest.Must(t, err)
	o.Version, o.Log, o.SharedProcess = "test", zerolog.New(log), true
	o.Hangup, o.Notify = make(chan os.Signal), func(string) {}
	d, err := daemon.Open(c, o)
	archivetest.Must(t, err)
	testcrawl.UntickAndMerging(t, d.Store())
	return d
}

// checkClosed opens the store and the archive of a folder. They have been closed properly: nothing is repaired, and no
// host rests because of requests that may have been in flight.
func checkClosed(t *testing.T, dir string) {
	t.Helper()
	if open, _ := filepath.Glob(filepath.Join(dir, "warc", "*.open")); len(open) > 0 {
		t.Errorf("WARC files are open: %q", open)
	}
	files, _ := filepath.Glob(filepath.Join(dir, "warc", "*.warc.gz"))
	if len(files) == 0 {
		t.Error("there are no WARC files")
	}
	archivetest.CheckDir(t, filepath.Join(dir, "warc"))
	var log bytes.Buffer
	d := openIn(t, dir, &log, daemon.Options{})
	for _, h := range d.Parts().Frontier.Hosts(time.Now()) {
		if h.Host == "a.example" && h.Rest.After(time.Now()) {
			t.Errorf("%s rests until %s; it is %s", h.Host, h.Rest, time.Now())
		}
	}
	archivetest.Must(t, d.Close())
	if regexp.MustCompile(`"level":"(warn|error)"|repair`).Match(log.Bytes()) {
		t.Errorf("the next start says:\n%s", &log)
	}
}
