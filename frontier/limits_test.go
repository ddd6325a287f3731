package frontier_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/uri"
)

// small limits news.example to two URIs in a folder, and every host to five.
func small(o *frontier.Options) {
	o.MaxURIsPerHost = 5
	o.Limits = func(h uri.Host) frontier.Limits {
		if h == "news.example" {
			return frontier.Limits{PerDirectory: 2}
		}
		return frontier.Limits{URIs: 1}
	}
}

var isNew, known, refused = frontier.Added{New: 1}, frontier.Added{Known: 1}, frontier.Added{Refused: 1}

// tryAdd adds a URI, and compares the result.
func (w *world) tryAdd(text string, want frontier.Added) {
	w.Helper()
	if got := w.addAll(candidates(w, text)...); got != want {
		w.Errorf("Add(%s) = %+v; want %+v", text, got, want)
	}
}

func TestLimits(t *testing.T) {
	t.Parallel()
	w := newWorld(t, small)
	w.tryAdd("http://news.example/a/1", isNew)
	w.tryAdd("https://news.example/a/2", isNew)
	w.tryAdd("http://news.example/a/3", refused)
	w.tryAdd("http://news.example/a/1", known)
	w.tryAdd("http://news.example/b/1", isNew)
	w.reopen(day)
	w.tryAdd("http://news.example/a/4?folders/are/of/the/path", refused)
	w.tryAdd("http://news.example/b/c/1", isNew)
	w.tryAdd("http://news.example/d", isNew)
	w.tryAdd("http://news.example/e", refused) // the host is full
	w.tryAdd("http://other.example/1", isNew)
	w.tryAdd("http://other.example/2", refused)

	got, err := w.Usage(parse(t, "https://news.example/a/3"))
	if want := (frontier.Usage{URIs: 5, InDirectory: 2, Limits: frontier.Limits{
		URIs:         5,
		PerDirectory: 2,
	}}); err != nil || got != want {
		t.Errorf("Usage = %+v, %v; want %+v", got, err, want)
	}

	w.steerAt(day, named(t, "http://news.example/a/1"), frontier.Action{Verb: frontier.Forget})
	w.tryAdd("http://news.example/a/5", isNew)
	w.tryAdd("http://news.example/a/6", refused)
}

// A limit on folders that is set later counts the URIs that were known before. It also counts URIs that were added
// during a time without limit.
func TestFolderLimitsCountURIsThatWereKnownBefore(t *testing.T) {
	t.Parallel()
	var most int64
	w := newWorld(t, func(o *frontier.Options) {
		o.Limits = func(uri.Host) frontier.Limits { return frontier.Limits{PerDirectory: most} }
	})
	for _, text := range []string{"http://news.example/a/1", "http://news.example/a/2", "https://news.example/a/3", "http://news.example/b/1", "http://other.example/a/1"} {
		w.tryAdd(text, isNew)
	}
	most = 3
	w.tryAdd("http://news.example/a/4", refused)
	w.tryAdd("http://news.example/b/2", isNew)
	most = 0
	w.tryAdd("http://news.example/b/3", isNew)
	w.reopen(day)
	most = 3
	w.tryAdd("http://news.example/b/4", refused)
	w.steerAt(day, named(t, "http://news.example/a/1"), frontier.Action{Verb: frontier.Forget})
	w.tryAdd("http://news.example/a/5", isNew)
	w.tryAdd("http://news.example/a/6", refused)
	w.tryAdd("http://news.example/c/1", isNew)
	w.tryAdd("http://other.example/a/2", isNew)
	if got, err := w.Usage(parse(t, "http://news.example/b/9")); err != nil || got.InDirectory != 3 {
		t.Errorf("%d URIs are in the folder, %v; want 3", got.InDirectory, err)
	}
}

// URIs that are added while the folders of a host are counted are counted too.
func TestFoldersAreCountedWhileTheyGrow(t *testing.T) {
	t.Parallel()
	limited := atomic.Bool{}
	w := newWorld(t, func(o *frontier.Options) {
		o.Limits = func(uri.Host) frontier.Limits {
			if limited.Load() {
				return frontier.Limits{PerDirectory: 1_000_000}
			}
			return frontier.Limits{}
		}
	})
	const before, workers, each = 6_000, 4, 300
	for i := range before {
		w.addAll(candidates(t, fmt.Sprintf("http://news.example/f%d/%d", i%2_000, i))...)
	}
	limited.Store(true)
	var adding sync.WaitGroup
	for n := range workers {
		adding.Go(func() {
			for i := range each {
				if _, err := w.Add(day, candidates(t, fmt.Sprintf("http://news.example/f%d/new-%d-%d", i%7, n, i))...); err != nil {
					t.Error(err)
				}
			}
		})
	}
	adding.Wait()
	total := int64(0)
	for i := range 2_000 {
		got, err := w.Usage(parse(t, fmt.Sprintf("http://news.example/f%d/", i)))
		must(t, err)
		total += got.InDirectory
	}
	if total != before+workers*each {
		t.Errorf("%d URIs were counted, want %d", total, before+workers*each)
	}
}
