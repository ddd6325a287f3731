package frontier_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/frontier"
)

func TestInspectChangesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.add(day, pages("a.example", 50)...)
	w.Frontier.Close()
	before := contents(t, w.o.Dir)
	f, err := frontier.Open(frontier.Options{Dir: w.o.Dir, Now: day, Compactors: -1, Inspect: true})
	must(t, err)
	if err := f.Check(); err != nil {
		t.Error(err)
	}
	if _, err := f.Add(day, candidates(t, "http://b.example/")...); err == nil {
		t.Error("a URI was added to a store that is opened for inspection")
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	same(t, contents(t, w.o.Dir), before)
	w.open(day)
	w.claimAny(day) // the store was properly closed, so no host rests
}

// A process that was killed leaves a log with an incomplete end.
func TestInspectReadsAKilledStore(t *testing.T) {
	t.Parallel()
	f, err := frontier.Open(frontier.Options{
		Dir: unpackStore(t, "testdata/format-1-killed.tar.gz"), Now: at(time.Hour),
		Compactors: -1, Inspect: true,
	})
	must(t, err)
	if n := f.Counts(at(time.Hour)); n.URIs != 41 {
		t.Errorf("Counts = %+v", n)
	}
	if err := errors.Join(f.Check(), f.Close()); err != nil {
		t.Error(err)
	}
}

// claimAny claims a URI, and fails the test if there is none.
func (w *world) claimAny(now time.Time) frontier.Claim {
	w.Helper()
	c, ok, err := w.Claim(now)
	if err != nil || !ok {
		w.Fatalf("Claim = %v, %v; want anything", ok, err)
	}
	return c
}

// contents returns the files of a folder, except the lock.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	files, err := os.ReadDir(dir)
	must(t, err)
	all := map[string]string{}
	for _, file := range files {
		if file.Name() == "LOCK" || file.IsDir() {
			continue
		}
		b, err := os.ReadFile(filepath.Join(dir, file.Name()))
		must(t, err)
		all[file.Name()] = string(b)
	}
	return all
}
