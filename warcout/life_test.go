package warcout

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func mustWrite(t testing.TB, w *Writer, now time.Time, v Visit) Written {
	t.Helper()
	out, err := w.Write(now, v)
	must(t, err)
	return out
}

func put(t testing.TB, dir, name, content string) {
	t.Helper()
	must(t, os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644))
}

func TestFilesAreOpenWhileTheyGrow(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w, _ := opened(t, Options{Dir: dir, Prefix: "news", Host: "c1"})
	if names := namesIn(t, dir); len(names) != 0 {
		t.Errorf("before the first visit the folder has %q", names)
	}
	mustWrite(t, w, start, visit(address(1), page("x")))
	want := []string{"news-20261121090000123-00001-c1.warc.gz.open"}
	if diff := cmp.Diff(want, namesIn(t, dir)); diff != "" {
		t.Errorf("files while the first one grows (-want +got):\n%s", diff)
	}
	if g := w.Growing(); len(g) != 1 || g[0].Name+openSuffix != want[0] || g[0].Size < 500 || !g[0].Opened.Equal(start) {
		t.Errorf("the growing file is %+v", g)
	}
	must(t, w.Close(start))
	want[0] = strings.TrimSuffix(want[0], openSuffix)
	if diff := cmp.Diff(want, namesIn(t, dir)); diff != "" {
		t.Errorf("after Close (-want +got):\n%s", diff)
	}
	if _, err := w.Write(start, visit(address(2), page("x"))); !errors.Is(err, ErrClosed) {
		t.Errorf("Write after Close: %v", err)
	}
	if err := w.Close(start); err != nil {
		t.Errorf("a second Close: %v", err)
	}
}

func TestWriteBeginsANewFile(t *testing.T) {
	t.Parallel()
	later := func(d time.Duration) time.Time { return start.Add(d) }
	tests := []struct {
		name    string
		options Options
		between func(w *Writer) error
		second  time.Time
		files   int
	}{
		{"not when neither size nor age is reached", Options{MaxAge: time.Hour}, nil, later(time.Hour - 1), 1},
		{"when the size is reached", Options{MaxSize: 1000}, nil, start, 2},
		{"when the age is reached", Options{MaxAge: time.Hour}, nil, later(time.Hour), 2},
		{"not at Rotate before the age is reached", Options{MaxAge: time.Hour}, func(w *Writer) error { return w.Rotate(later(time.Minute)) }, later(time.Minute), 1},
		{"at Rotate when the age is reached", Options{MaxAge: time.Hour}, func(w *Writer) error { return w.Rotate(later(time.Hour)) }, start, 2},
		{"never by age when there is no limit", Options{}, func(w *Writer) error { return w.Rotate(later(1e6 * time.Hour)) }, later(1e6 * time.Hour), 1},
		{"at Seal", Options{}, func(w *Writer) error { return w.Seal(start) }, start, 2},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			tt.options.Dir = dir
			w, _ := opened(t, tt.options)
			mustWrite(t, w, start, visit(address(1), noise(1, 2000)))
			if tt.between != nil {
				must(t, tt.between(w))
			}
			mustWrite(t, w, tt.second, visit(address(2), noise(2, 2000)))
			checkKept(t, w, dir, map[string]bool{address(1): true, address(2): true})
			if files := sealedFiles(t, dir); len(files) != tt.files {
				t.Errorf("files %q, want %d", files, tt.files)
			}
		})
	}
}

func TestFileWithoutVisitsIsRemoved(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	journal := filepath.Join(t.TempDir(), "warc.journal")
	w, _ := opened(t, Options{Dir: dir, Journal: journal})
	bad := visit(address(1), page("x"))
	bad.Response.BlockDigest[0]++
	if _, err := w.Write(start, bad); err == nil {
		t.Fatal("a wrong digest was accepted")
	}
	if names := namesIn(t, dir); len(names) != 1 {
		t.Fatalf("files %q, want one with only its warcinfo", names)
	}
	must(t, w.Close(start))
	if names := namesIn(t, dir); len(names) != 0 {
		t.Errorf("left behind: %q", names)
	}
	_, repairs := opened(t, Options{Dir: dir, Journal: journal})
	if len(repairs) != 0 {
		t.Errorf("the next start finds %v", repairs)
	}
}

func TestNoExistingFileIsOverwritten(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	taken := []string{
		"arcrawl-20261121090000123-00001-localhost.warc.gz",
		"arcrawl-20261121090000123-00003-localhost.warc.gz",
	}
	for _, name := range taken {
		put(t, dir, name, "mine")
	}
	one, _ := opened(t, Options{Dir: dir})
	two, _ := opened(t, Options{Dir: dir})
	first := mustWrite(t, one, start, visit(address(1), page("x")))
	second := mustWrite(t, two, start, visit(address(2), page("x")))
	must(t, errors.Join(one.Close(start), two.Close(start)))
	got := []string{first.Origin.File, second.Origin.File}
	want := []string{"arcrawl-20261121090000123-00002-localhost.warc.gz", "arcrawl-20261121090000123-00004-localhost.warc.gz"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	for _, name := range taken {
		if b, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(b) != "mine" {
			t.Errorf("%s holds %q now, %v", name, b, err)
		}
	}
}

func TestFailedSealingIsRetried(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w, _ := opened(t, Options{Dir: dir, MaxAge: time.Hour})
	out := mustWrite(t, w, start, visit(address(1), page("x")))
	open := filepath.Join(dir, out.Origin.File+openSuffix)
	must(t, os.Rename(open, open+".hidden"))
	if err := w.Rotate(start.Add(time.Hour)); !errors.Is(err, os.ErrNotExist) {
		t.Fatalf("Rotate: %v, want why the file cannot be renamed", err)
	}
	must(t, os.Rename(open+".hidden", open))
	must(t, w.Rotate(start.Add(time.Hour)))
	if files := sealedFiles(t, dir); len(files) != 1 || filepath.Base(files[0]) != out.Origin.File {
		t.Errorf("sealed: %q", files)
	}
}

func TestOpenRefusesInvalidOptions(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	put(t, filepath.Dir(file), "file", "")
	tests := []struct {
		name    string
		options Options
		want    string
	}{
		{"no folder", Options{}, "no folder"},
		{"a file for a folder", Options{Dir: file}, "not a directory"},
		{"a prefix with a slash", Options{Dir: t.TempDir(), Prefix: "../x"}, `prefix "../x"`},
		{"a host with a blank", Options{Dir: t.TempDir(), Host: "a b"}, `host "a b"`},
		{"a negative size", Options{Dir: t.TempDir(), MaxSize: -1}, "maximum size"},
		{"a negative age", Options{Dir: t.TempDir(), MaxAge: -1}, "maximum age"},
		{"a level that gzip has not", Options{Dir: t.TempDir(), Level: 10}, "gzip level"},
		{"an info field without name", Options{Dir: t.TempDir(), Info: []Field{{"", "x"}}}, "not a token"},
		{"a journal in a missing folder", Options{Dir: t.TempDir(), Journal: file + "/j"}, "WARC journal"},
	}
	for _, tt := range tests {
		if w, _, err := Open(tt.options, start); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: Open() = %v, %v; want an error with %q", tt.name, w, err, tt.want)
		}
	}
}
