package dedup_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/dedup"
	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/frontier"
)

var now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// newIndex returns a dedup index, and a function that opens it again as a restart does.
func newIndex(t *testing.T) (*dedup.Index, func() *dedup.Index) {
	t.Helper()
	f, err := frontier.Open(frontier.Options{Dir: t.TempDir(), Now: now, Compactors: -1})
	must(t, err)
	t.Cleanup(func() { _ = f.Close() })
	open := func() *dedup.Index {
		i, err := dedup.Open(f.DB(), dedup.Options{})
		must(t, err)
		return i
	}
	return open(), open
}

func in(file string, offset int64) digest.Origin {
	return digest.Origin{RecordID: "urn:uuid:1", URI: "http://a.example/", File: file, Offset: offset, Length: 10}
}

func TestFilesAreComparedWithTheJournal(t *testing.T) {
	t.Parallel()
	index, reopen := newIndex(t)
	dir := t.TempDir()
	must(t, os.MkdirAll(filepath.Join(dir, "2026"), 0o750))
	must(t, os.WriteFile(filepath.Join(dir, "2026", "below.warc.gz"), []byte("x"), 0o600))
	compare := func(absent ...string) (string, dedup.Comparison) {
		t.Helper()
		c, err := index.Compare(dir, map[string]int64{"cut.warc.gz": 100}, absent,
			func(f string) bool { return f == "elsewhere.warc.gz" })
		must(t, err)
		var lost []string
		for _, l := range c.Lost {
			lost = append(lost, l.File)
		}
		slices.Sort(lost)
		return strings.Join(lost, " "), c
	}
	all := []string{"gone.warc.gz", "below.warc.gz", "elsewhere.warc.gz", "moved.warc.gz"}
	if n, err := index.Declare(dir, []string{"/old/moved.warc.gz"}, dedup.AreMoved); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	if lost, c := compare(all...); lost != "cut.warc.gz gone.warc.gz" || c.Away != 2 {
		t.Errorf("lost %s, %+v", lost, c)
	}
	index = reopen()
	if lost, c := compare(all...); lost != "" || c.Absent != 1 {
		t.Errorf("the second start finds %s again, %+v", lost, c)
	}
	for o, want := range map[digest.Origin]bool{
		in("gone.warc.gz", 0): true, in("cut.warc.gz", 100): true, in("cut.warc.gz", 91): true, in("cut.warc.gz", 90): false,
		in("below.warc.gz", 0): false, in("moved.warc.gz", 0): false, in("elsewhere.warc.gz", 0): false,
	} {
		if got := index.Lost(o); got != want {
			t.Errorf("the record at %s:%d is lost: %t, want %t", o.File, o.Offset, got, want)
		}
	}
	if _, c := compare(all[1:]...); !slices.Equal(c.Back, []string{"gone.warc.gz"}) || index.Lost(in("gone.warc.gz", 0)) {
		t.Errorf("a file that is back: %+v", c)
	}
}

func TestAnOperatorDeclaresFiles(t *testing.T) {
	t.Parallel()
	index, _ := newIndex(t)
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "now.warc.gz.open"), []byte("x"), 0o600))
	for _, c := range []struct {
		are, file string
		changed   int
		lost      bool
		fault     string
	}{
		{dedup.AreMoved, "a.warc.gz", 1, false, ""},
		{dedup.AreMoved, "a.warc.gz", 0, false, ""},
		{dedup.AreLost, "a.warc.gz", 1, true, ""},
		{dedup.AreLost, "a.warc.gz", 0, true, ""},
		{dedup.AreMoved, "a.warc.gz", 1, false, ""},
		{dedup.AreLost, "some/where/a.warc.gz", 1, true, ""},
		{dedup.AreFound, "a.warc.gz", 1, false, ""},
		{dedup.AreFound, "a.warc.gz", 0, false, ""},
		{dedup.AreLost, "now.warc.gz", 0, false, "still being written"},
		{dedup.AreLost, "now.warc.gz.open", 0, false, "not the name of a finished WARC file"},
		{dedup.AreLost, "notes.txt", 0, false, "not the name of a finished WARC file"},
		{"burnt", "a.warc.gz", 0, false, "valid states"},
	} {
		n, err := index.Declare(dir, []string{c.file}, c.are)
		if n != c.changed || index.Lost(in(filepath.Base(c.file), 5)) != c.lost || (err == nil) != (c.fault == "") ||
			err != nil && !strings.Contains(err.Error(), c.fault) {
			t.Errorf("%s is %s: %d changed, lost: %t, %v", c.file, c.are, n, index.Lost(in(c.file, 5)), err)
		}
	}
}
