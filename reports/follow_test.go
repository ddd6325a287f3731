package reports_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/reports"

	"github.com/arcrawl/arcrawl/crawllog"
)

// reader follows a log in processes that end after each poll.
type reader struct {
	t     *testing.T
	path  string
	saved []byte
	lines []string
}

func (r *reader) poll(wantErr error) {
	r.t.Helper()
	var from reports.Position
	if r.saved != nil {
		if err := json.Unmarshal(r.saved, &from); err != nil {
			r.t.Fatal(err)
		}
	}
	f := reports.Follow(r.path, from)
	err := f.Poll(r.t.Context(), func(g *crawllog.RawEntry) { r.lines = append(r.lines, string(g.URI)) })
	if !errors.Is(err, wantErr) {
		r.t.Fatalf("poll: %v, want %v", err, wantErr)
	}
	if r.saved, err = json.Marshal(f.Position()); err != nil {
		r.t.Fatal(err)
	}
}

// log is a log in which each URI ends in the number of its line.
type log struct {
	t    *testing.T
	path string
	n    int
}

func (l *log) write(lines int) {
	l.t.Helper()
	for range lines {
		l.n++
		write(l.t, l.path, visit(time.Duration(l.n)*time.Second, fmt.Sprint("http://news.example/", l.n), 200, 1))
	}
}

func (l *log) rename(to string) {
	l.t.Helper()
	if err := os.Rename(l.path, l.path+to); err != nil {
		l.t.Fatal(err)
	}
}

func follow(t *testing.T) (*log, *reader) {
	path := filepath.Join(t.TempDir(), "crawl.log")
	return &log{t: t, path: path}, &reader{t: t, path: path}
}

// checkAll fails unless each line was read once, in order.
func (r *reader) checkAll(l *log) {
	r.t.Helper()
	for i, line := range r.lines {
		if want := fmt.Sprint("http://news.example/", i+1); line != want {
			r.t.Fatalf("line %d is %s, want %s; read were %v", i+1, line, want, r.lines)
		}
	}
	if len(r.lines) != l.n {
		r.t.Fatalf("%d lines were read of %d", len(r.lines), l.n)
	}
}

func TestAFollowerContinuesWhereItStopped(t *testing.T) {
	t.Parallel()
	l, r := follow(t)
	r.poll(nil)
	l.write(3)
	r.poll(nil)
	r.poll(nil)
	l.write(2)
	r.poll(nil)
	r.checkAll(l)
}

// TestAFollowerLosesNothingByRotation rotates the log twice between two polls and compresses it. Lines go to the
// renamed file until the writer notices.
func TestAFollowerLosesNothingByRotation(t *testing.T) {
	t.Parallel()
	l, r := follow(t)
	l.write(3)
	r.poll(nil)
	l.write(1)
	l.rename(".1")
	r.poll(nil)
	l.n++
	write(t, l.path+".1", visit(time.Duration(l.n)*time.Second, fmt.Sprint("http://news.example/", l.n), 200, 1))
	l.write(2)
	if text, err := os.ReadFile(l.path + ".1"); err != nil {
		t.Fatal(err)
	} else if err := os.WriteFile(l.path+".2.gz", packed(t, text), 0o644); err != nil {
		t.Fatal(err)
	}
	must(t, os.Rename(l.path, l.path+".1"))
	l.write(1)
	r.poll(nil)
	r.checkAll(l)
}

// TestAFollowerBeginsAtTheEndOfACompressedLog follows a log whose only file has just been compressed.
func TestAFollowerBeginsAtTheEndOfACompressedLog(t *testing.T) {
	t.Parallel()
	l, r := follow(t)
	l.path += ".gz"
	l.write(100)
	l.path = r.path
	f := reports.Follow(r.path, reports.Position{})
	must(t, f.SkipToEnd())
	l.write(2)
	var lines []string
	must(t, f.Poll(t.Context(), func(g *crawllog.RawEntry) { lines = append(lines, string(g.URI)) }))
	if want := []string{"http://news.example/101", "http://news.example/102"}; !slices.Equal(lines, want) {
		t.Errorf("read %v, want %v", lines, want)
	}
}

func TestACopiedAndTruncatedLogIsReadOnce(t *testing.T) {
	t.Parallel()
	l, r := follow(t)
	l.write(3)
	r.poll(nil)
	l.write(1)
	text, err := os.ReadFile(l.path)
	must(t, err)
	must(t, os.WriteFile(l.path+".1", text, 0o644))
	r.poll(nil)
	must(t, os.Truncate(l.path, 0))
	r.poll(nil)
	l.write(2)
	r.poll(nil)
	r.checkAll(l)
}

// TestAGapIsReported deletes the file where reading stopped. No line is read twice.
func TestAGapIsReported(t *testing.T) {
	t.Parallel()
	l, r := follow(t)
	l.write(3)
	r.poll(nil)
	must(t, os.Remove(l.path))
	l.write(2)
	r.poll(reports.ErrGap)
	l.write(1)
	r.poll(nil)
	r.checkAll(l)
}

func TestSkippedLinesAreNotRead(t *testing.T) {
	t.Parallel()
	l, r := follow(t)
	l.write(3)
	f := reports.Follow(l.path, reports.Position{})
	must(t, f.SkipToEnd())
	l.write(1)
	must(t, f.Poll(t.Context(), func(g *crawllog.RawEntry) { r.lines = append(r.lines, string(g.URI)) }))
	if len(r.lines) != 1 || r.lines[0] != "http://news.example/4" {
		t.Errorf("read %v, want only the fourth line", r.lines)
	}
}
