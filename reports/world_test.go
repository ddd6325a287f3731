package reports

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/arcrawl/arcrawl/admin"
	"github.com/arcrawl/arcrawl/admin/access"
	"github.com/arcrawl/arcrawl/crawler"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/internal/testcrawl"
	"github.com/arcrawl/arcrawl/uri"
)

// world is a crawl of a scripted web, and the window that reports on it.
type world struct {
	*testcrawl.World
	window *admin.Window
}

// newWorld opens a crawl and a window with the requests of this package; change may alter the window's options.
func newWorld(t testing.TB, dir, toml string, change ...func(*admin.Options)) *world {
	t.Helper()
	w := &world{World: testcrawl.NewWorld(t, dir, toml)}
	r := w.Parts
	o := admin.Options{
		Crawler: w.Crawler, Frontier: r.Frontier, Trust: r.Reputation, Accounts: r.Daily,
		Traps: r.Traps, FreeSpace: r.FreeSpace, Dir: dir,
		Config: func() admin.Loaded { return admin.Loaded{Config: r.Config.Current(), At: w.Started} }, Now: time.Now,
		Version: "test", Workers: 50, Log: r.Log, Extensions: []admin.Extension{new(reporter).extension()},
	}
	for _, c := range change {
		c(&o)
	}
	var err error
	w.window, err = admin.New(o)
	w.Must(err)
	w.Window, w.Handler = w.window, w.window.Handler(access.Options{})
	w.AddSeeds()
	return w
}

// inWorld runs a test in a crawl with its seeds and virtual time; change may alter the window's options.
func inWorld(t *testing.T, toml string, test func(w *world), change ...func(*admin.Options)) {
	t.Helper()
	t.Parallel()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, dir, toml, change...)
		defer w.Close()
		test(w)
	})
}

// get sends a GET request that must succeed.
func get[A any](w *world, path string) A {
	w.Helper()
	return testcrawl.Get[A](w.World, path)
}

// known adds n URIs of a host to the frontier. Their wait is every, and they have been due for the time overdue.
func (w *world) known(host string, n int, every, overdue time.Duration) {
	w.Helper()
	now := time.Now()
	entries := make([]frontier.Entry, n)
	for i := range entries {
		r := frontier.Record{URI: uri.FromCanonical(fmt.Sprintf("http://%s/%d", host, i)), Seed: "http://" + host + "/"}
		r.Due = now.Add(-overdue)
		r.LastVisit, r.Wait, r.Visits, r.ContentType = r.Due.Add(-every), every, 1, "text/html; charset=utf-8"
		entries[i] = frontier.Entry{Record: r}
	}
	_, err := w.Parts.Frontier.Import(now, false, entries...)
	w.Must(err)
}

// visited notifies the window of a visit to a host. took includes the host's rest after the visit.
func (w *world) visited(host string, took time.Duration) {
	u := uri.FromCanonical("http://" + host + "/")
	w.window.Observe(crawler.Report{URI: u, Finished: time.Now(), Status: 200, Took: took / 10, Rest: took - took/10})
}
