package crawllog_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/crawllog"
	"github.com/arcrawl/arcrawl/uri"
)

func open(t *testing.T, path string) *crawllog.Writer {
	t.Helper()
	w, err := crawllog.Open(path, false)
	must(t, err)
	t.Cleanup(func() {
		if err := w.Close(); err != nil && !errors.Is(err, os.ErrClosed) {
			t.Error(err)
		}
	})
	return w
}

// numbered returns a visit to a URI with a number, logged some time after the test day began.
func numbered(n int, after time.Duration) crawllog.Entry {
	e := unchanged()
	e.URI = fmt.Sprintf("http://news.example/%d", n)
	e.Logged = at("00:00:00").Add(after)
	return e
}

func write(t *testing.T, w *crawllog.Writer, es ...crawllog.Entry) {
	t.Helper()
	for _, e := range es {
		must(t, w.Write(e))
	}
}

// numbersIn reads a log that must consist of whole lines, and returns the numbers of its URIs.
func numbersIn(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	must(t, err)
	var numbers []string
	for line := range strings.Lines(string(text)) {
		e, err := crawllog.Parse(line)
		if err != nil || !strings.HasSuffix(line, "\n") {
			t.Fatalf("%s has the line %q: %v", path, line, err)
		}
		numbers = append(numbers, strings.TrimPrefix(e.URI, "http://news.example/"))
	}
	return strings.Join(numbers, " ")
}

func rename(t *testing.T, from, to string) {
	t.Helper()
	must(t, os.Rename(from, to))
}

func TestWriterAppendsToAnExistingLog(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "crawl.log")
	for n := range 3 {
		w := open(t, path)
		write(t, w, numbered(n, 0))
		must(t, errors.Join(w.Sync(), w.Close()))
	}
	if got := numbersIn(t, path); got != "0 1 2" {
		t.Errorf("lines %s, want 0 1 2", got)
	}
}

// TestEachLineIsOneWrite has two writers on one file, as two processes would be. Only lines that are written with a
// single write stay whole.
func TestEachLineIsOneWrite(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "crawl.log")
	const each = 60
	var writers sync.WaitGroup
	for range 2 {
		w := open(t, path)
		for g := range 3 {
			writers.Add(1)
			go func() {
				defer writers.Done()
				e := largest(uri.MaxLength)
				for n := range each {
					e.Logged = at("00:00:00").Add(time.Duration(g*n) * time.Millisecond)
					if err := w.Write(e); err != nil {
						t.Error(err)
					}
				}
			}()
		}
	}
	writers.Wait()
	if got := strings.Count(numbersIn(t, path), "http"); got != 2*3*each {
		t.Errorf("%d lines, want %d", got, 2*3*each)
	}
}

func TestRenamedFileIsLeftWithinASecond(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "crawl.log")
	w := open(t, path)
	write(t, w, numbered(1, 0), numbered(2, 10*time.Second))
	rename(t, path, path+".1")
	write(t, w, numbered(3, 10*time.Second+999*time.Millisecond), numbered(4, 11*time.Second), numbered(5, 11*time.Second))
	if old, now := numbersIn(t, path+".1"), numbersIn(t, path); old != "1 2 3" || now != "4 5" {
		t.Errorf("renamed file has lines %s, new one %s; want 1 2 3 and 4 5", old, now)
	}
	rename(t, path, path+".2")
	if err := os.WriteFile(path, nil, 0o644); err != nil { // as logrotate's create does
		t.Fatal(err)
	}
	write(t, w, numbered(6, 12*time.Second))
	if old, now := numbersIn(t, path+".2"), numbersIn(t, path); old != "4 5" || now != "6" {
		t.Errorf("renamed file has lines %s, new one %s; want 4 5 and 6", old, now)
	}
}

func TestAFileThatIsGoneIsLeft(t *testing.T) {
	t.Parallel()
	moved := func(t *testing.T, _ *crawllog.Writer, path string) { rename(t, path, path+".1") }
	for _, c := range []struct {
		name          string
		first, second time.Duration // when the lines are logged
		between       func(t *testing.T, w *crawllog.Writer, path string)
	}{
		{"renamed, and the clock was set back", time.Hour, 0, moved},
		{"removed", 0, time.Second, func(t *testing.T, _ *crawllog.Writer, path string) { must(t, os.Remove(path)) }},
		{"renamed, at once with Reopen", 0, 0, func(t *testing.T, w *crawllog.Writer, path string) {
			moved(t, w, path)
			must(t, w.Reopen())
		}},
	} {
		path := filepath.Join(t.TempDir(), "crawl.log")
		w := open(t, path)
		write(t, w, numbered(1, c.first))
		c.between(t, w, path)
		write(t, w, numbered(2, c.second))
		if got := numbersIn(t, path); got != "2" {
			t.Errorf("%s: the new file has lines %s, want 2", c.name, got)
		}
	}
}

func TestRotationUnderLoadLosesNoLine(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "crawl.log")
	w := open(t, path)
	const writers, each, rotations = 4, 300, 20
	var done sync.WaitGroup
	for g := range writers {
		done.Add(1)
		go func() {
			defer done.Done()
			for n := range each {
				if err := w.Write(numbered(g*each+n, time.Duration(n)*50*time.Millisecond)); err != nil {
					t.Error(err)
				}
				if n%50 == 0 {
					if err := w.Sync(); err != nil {
						t.Error(err)
					}
				}
			}
		}()
	}
	for n := range rotations {
		rename(t, path, fmt.Sprintf("%s.%d", path, n))
		if n%2 == 0 || n == rotations-1 {
			must(t, w.Reopen())
		} else if err := os.WriteFile(path, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	done.Wait()
	files, err := filepath.Glob(path + "*")
	must(t, err)
	seen := map[string]int{}
	for _, file := range files {
		for _, n := range strings.Fields(numbersIn(t, file)) {
			seen[n]++
		}
	}
	for n := range writers * each {
		if seen[fmt.Sprint(n)] != 1 {
			t.Errorf("line %d was written %d times", n, seen[fmt.Sprint(n)])
		}
	}
}

func TestWriterContinuesAfterAFailedRotation(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "crawl.log")
	w := open(t, path)
	write(t, w, numbered(1, 0))
	rename(t, path, path+".1")
	must(t, os.Mkdir(path, 0o755))
	for range 2 {
		if err := w.Write(numbered(2, time.Second)); !errors.Is(err, syscall.EISDIR) {
			t.Errorf("Write with a folder at the path of the log: %v, want %v", err, syscall.EISDIR)
		}
	}
	if err := w.Reopen(); !errors.Is(err, syscall.EISDIR) {
		t.Errorf("Reopen: %v, want %v", err, syscall.EISDIR)
	}
	must(t, os.Remove(path))
	write(t, w, numbered(3, time.Second))
	if old, now := numbersIn(t, path+".1"), numbersIn(t, path); old != "1" || now != "3" {
		t.Errorf("renamed file has lines %s, new one %s; want 1 and 3", old, now)
	}
}

func TestOpenCutsOffAnUnfinishedLine(t *testing.T) {
	t.Parallel()
	whole := string(unchanged().AppendTo(nil, false)) + "\n"
	for _, c := range []struct {
		name, content, want string
	}{
		{"whole lines", whole + whole, whole + whole},
		{"an empty file", "", ""},
		{"half a line", whole + whole[:50], whole},
		{"one byte of a line", whole + "2", whole},
		{"a line without its end", whole + whole[:len(whole)-1], whole},
		{"zeros after a power failure", whole + whole[:9] + strings.Repeat("\x00", 3*crawllog.MaxLine), whole},
		{"half of the first line", whole[:10], ""},
		{"a file of zeros", strings.Repeat("\x00", 5000), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "crawl.log")
			must(t, os.WriteFile(path, []byte(c.content), 0o644))
			w := open(t, path)
			write(t, w, unchanged())
			got, err := os.ReadFile(path)
			if err != nil || string(got) != c.want+whole {
				t.Errorf("after one more line the log is %.300q (%v), want %.300q", got, err, c.want+whole)
			}
		})
	}
}

func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := func(name, content string) string {
		path := filepath.Join(dir, name)
		must(t, os.WriteFile(path, []byte(content), 0o644))
		return path
	}
	fifo := filepath.Join(dir, "fifo")
	must(t, syscall.Mkfifo(fifo, 0o644))
	for _, c := range []struct{ name, path, want string }{
		{"a text of another kind", file("notes.txt", "remember the milk\nand the bread"), "does not begin like a crawl log"},
		{"a short text", file("short.txt", "hi"), "does not begin like a crawl log"},
		{"a WARC", file("a.warc.gz", "\x1f\x8b\x08"), "does not begin like a crawl log"},
		{"a folder", dir, "is a directory"},
		{"a pipe", fifo, "not a regular file"},
		{"a folder that does not exist", filepath.Join(dir, "no", "crawl.log"), "no such file or directory"},
	} {
		t.Run(c.name, func(t *testing.T) {
			before, _ := os.Stat(c.path)
			w, err := crawllog.Open(c.path, false)
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), c.path) {
				t.Errorf("Open(%s): %v, %v; want an error with %q and the path", c.path, w, err, c.want)
			}
			if after, _ := os.Stat(c.path); before != nil && (after == nil || after.Size() != before.Size()) {
				t.Errorf("%s was %v and is %v", c.path, before, after)
			}
		})
	}
}

func TestMethodsOfAClosedWriterFail(t *testing.T) {
	t.Parallel()
	w := open(t, filepath.Join(t.TempDir(), "crawl.log"))
	must(t, w.Close())
	for name, err := range map[string]error{"Write": w.Write(unchanged()), "Sync": w.Sync(), "Reopen": w.Reopen(), "Close": w.Close()} {
		if !errors.Is(err, os.ErrClosed) {
			t.Errorf("%s after Close: %v, want %v", name, err, os.ErrClosed)
		}
	}
}

// TestSyncDuringRotation closes the file while Sync uses it. That is not an error, because writing and rotation do not
// wait for Sync.
func TestSyncDuringRotation(t *testing.T) {
	t.Parallel()
	w := open(t, filepath.Join(t.TempDir(), "crawl.log"))
	stop := make(chan struct{})
	var syncing sync.WaitGroup
	for range 4 {
		syncing.Add(1)
		go func() {
			defer syncing.Done()
			for {
				select {
				case <-stop:
					return
				default:
				}
				if err := w.Sync(); err != nil {
					t.Error(err)
					return
				}
			}
		}()
	}
	for range 300 {
		write(t, w, unchanged())
		must(t, w.Reopen())
	}
	close(stop)
	syncing.Wait()
}

// must ends the test if there is an error.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
