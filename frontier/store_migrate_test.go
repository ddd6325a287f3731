package frontier_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/dgraph-io/badger/v4"

	"github.com/arcrawl/arcrawl/frontier"
)

func TestAnOlderStoreIsCopiedBeforeItIsMigrated(t *testing.T) {
	t.Parallel()
	dir := unpackStore(t, "testdata/format-1-killed.tar.gz")
	writeTo(t, filepath.Join(dir, "warc.journal"), "of another room")
	w := newWorld(t, func(o *frontier.Options) { o.Dir, o.Now = dir, at(time.Hour) })
	if got := w.values('m')["mversion"]; string(got) != "\x02" {
		t.Errorf("format % x, want 2", got)
	}
	// Later changes of the store do not affect the copy. That includes removed tables, which Badger truncates first.
	w.steerAt(at(time.Hour), frontier.Selection{}, frontier.Action{Verb: frontier.Forget})
	w.close()
	db, err := badger.Open(badger.DefaultOptions(dir).WithLogger(nil))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(db.DropAll(), db.Close()); err != nil {
		t.Fatal(err)
	}
	kept := filepath.Join(dir, "backup-format-1")
	if _, err := os.Stat(filepath.Join(kept, "warc.journal")); err == nil {
		t.Error("a file of another package was copied")
	}
	old, err := frontier.Open(frontier.Options{Dir: kept, Now: at(time.Hour), Compactors: -1, Inspect: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := old.Check(); err != nil {
		t.Error(err)
	}
	for _, want := range fixtureRecords(t) {
		if got, ok, err := old.Get(want.URI); err != nil || !ok {
			t.Fatal(ok, err)
		} else {
			same(t, got, want)
		}
	}
	if err := old.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(kept, "backup-format-1")); err == nil {
		t.Error("inspecting the copy migrated it")
	}
}

// If a store cannot be copied, it is not changed.
func TestAStoreThatCannotBeCopiedIsNotMigrated(t *testing.T) {
	t.Parallel()
	dir := unpackStore(t, "testdata/format-1-closed.tar.gz")
	inTheWay := filepath.Join(dir, "backup-format-1")
	writeTo(t, inTheWay, "no folder")
	before := contents(t, dir)
	if f, err := frontier.Open(frontier.Options{Dir: dir, Now: day, Compactors: -1}); err == nil {
		t.Error("a store that cannot be copied was opened", f.Close())
	}
	after := contents(t, dir)
	delete(after, "000002.vlog") // opening creates a new, empty log
	same(t, after, before)
	if err := os.Remove(inTheWay); err != nil {
		t.Fatal(err)
	}
	newWorld(t, func(o *frontier.Options) { o.Dir = dir }).check()
}

func writeTo(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestInspectChangesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.add(day, pages("a.example", 50)...)
	w.Frontier.Close()
	before := contents(t, w.o.Dir)
	f, err := frontier.Open(frontier.Options{Dir: w.o.Dir, Now: day, Compactors: -1, Inspect: true})
	if err != nil {
		t.Fatal(err)
	}
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
	names, err := filepath.Glob("testdata/format-*-killed.tar.gz")
	if err != nil {
		t.Fatal(err)
	}
	f, err := frontier.Open(frontier.Options{
		Dir: unpackStore(t, names[len(names)-1]), Now: at(time.Hour),
		Compactors: -1, Inspect: true,
	})
	if err != nil {
		t.Fatal(err)
	}
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
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, file := range files {
		if file.Name() == "LOCK" || file.IsDir() {
			continue
		}
		b, err := os.ReadFile(filepath.Join(dir, file.Name()))
		if err != nil {
			t.Fatal(err)
		}
		all[file.Name()] = string(b)
	}
	return all
}
