package archive

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/arcrawl/arcrawl/digest"
)

// lived is a library with a live index, of which each capture is told as the crawl tells it.
type lived struct {
	*library
	live *Live
}

func newLived(t testing.TB) *lived {
	t.Helper()
	l := &lived{library: newLibrary(t)}
	l.reopen()
	return l
}

// reopen opens the live index as a new process does. The one before is not closed: it died.
func (l *lived) reopen() {
	l.t.Helper()
	live, err := OpenLive(l.t.Context(), l.dir, nil, func(f Finding) error { return &f })
	if err != nil {
		l.t.Fatal(err)
	}
	l.live = live
}

func (l *lived) tell(o digest.Origin, revisit bool) {
	l.t.Helper()
	e := Entry{
		Key: Key(o.URI), Timestamp: o.Date.Format(stampLayout), URL: o.URI, MIME: "text/html", Status: "200", Digest: o.Payload.String(),
		Length: o.Length, Offset: o.Offset, Filename: o.File,
	}
	if revisit {
		e.MIME = RevisitMIME
	}
	if err := l.live.Add(e); err != nil {
		l.t.Fatal(err)
	}
}

// fill writes a file of three captures.
func (l *lived) fill(site string) {
	l.t.Helper()
	first := l.page("http://"+site+"/", htmlHead, "<p>of "+site+"</p>")
	l.tell(first, false)
	l.tell(l.page("http://"+site+"/two", chunkedHead, "<p>two of "+site+"</p>"), false)
	l.tell(l.revisit("http://"+site+"/copy", htmlHead, first), true)
	l.live.mu.Lock()
	defer l.live.mu.Unlock()
	if err := l.live.write(); err != nil {
		l.t.Fatal(err)
	}
}

// merge merges twice: what has just been finished is only seen the first time.
func (l *lived) merge() {
	l.t.Helper()
	for range 2 {
		if err := l.live.Merge(l.t.Context()); err != nil {
			l.t.Fatal(err)
		}
	}
}

func (l *lived) text(name string) string {
	l.t.Helper()
	text, err := os.ReadFile(filepath.Join(l.dir, name))
	if err != nil && !os.IsNotExist(err) {
		l.t.Fatal(err)
	}
	return string(text)
}

// isWhole checks that the sorted indexes together are what reading all files gives, and that a library needs nothing else.
func (l *lived) isWhole() {
	l.t.Helper()
	var want bytes.Buffer
	if _, err := Index(l.t.Context(), []string{l.dir}, IndexOptions{}, &want, func(f Finding) error { return &f }); err != nil {
		l.t.Fatal(err)
	}
	s := newSorter(0, l.dir)
	defer s.close()
	for _, name := range []string{IndexName, recentName} {
		for line := range strings.Lines(l.text(name)) {
			if err := s.add([]string{line}); err != nil {
				l.t.Fatal(err)
			}
		}
	}
	var got bytes.Buffer
	if _, err := s.writeTo(&got); err != nil {
		l.t.Fatal(err)
	}
	if got.String() != want.String() {
		l.t.Errorf("the index is\n%swant\n%s", &got, &want)
	}
	lib, err := OpenLibrary(l.t.Context(), l.dir, IndexOptions{}, func(f Finding) error { return &f })
	if err != nil {
		l.t.Fatal(err)
	}
	defer lib.Close() //nolint:errcheck // nothing was written
	if len(lib.read) > 0 {
		l.t.Errorf("the library had to read files for %v", lib.read)
	}
	for line := range strings.Lines(want.String()) {
		e, err := ParseEntry(line)
		if err != nil {
			l.t.Fatal(err)
		}
		if captures, err := lib.History(e.URL); err != nil || len(captures) != 1 {
			l.t.Errorf("%s has the history %v, %v", e.URL, captures, err)
		}
	}
}

func TestLinesLandAndAreMergedWhenTheirFileIsFinished(t *testing.T) {
	t.Parallel()
	l := newLived(t)
	l.fill("b.example")
	if got := strings.Count(l.text(liveName), "\n"); got != 3 {
		t.Errorf("%d lines landed, want 3", got)
	}
	l.merge()
	if l.text(recentName) != "" {
		t.Error("lines of an open file were merged")
	}
	l.seal()
	l.fill("a.example")
	l.merge()
	if got := l.text(liveName); strings.Count(got, "\n") != 3 || strings.Contains(got, "b.example") {
		t.Errorf("after the merge there is left\n%s", got)
	}
	l.seal()
	if err := l.live.Close(); err != nil {
		t.Fatal(err)
	}
	l.isWhole()
	l.reopen()
	if err := l.live.mergeRecent(); err != nil {
		t.Fatal(err)
	}
	if l.text(recentName) != "" || l.text(liveName) != "" {
		t.Error("something is left of the smaller indexes")
	}
	l.isWhole()
	l.fill("c.example")
	l.seal()
	l.merge()
	l.isWhole() // with two sorted indexes
}

// TestACrashLeavesNoLineWithoutItsRecordAndNoRecordWithoutItsLine breaks off at each place where a process may die.
func TestACrashLeavesNoLineWithoutItsRecordAndNoRecordWithoutItsLine(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name  string
		crash func(t *testing.T, l *lived)
	}{
		{"before lines reached the disk", func(t *testing.T, l *lived) {
			text := l.text(liveName)
			keep := strings.LastIndexByte(strings.TrimSuffix(text, "\n"), '\n') - 10 // one line lost and one torn
			must(t, os.WriteFile(filepath.Join(l.dir, liveName), []byte(text[:keep]), 0o644))
		}},
		{"with a line whose record is gone", func(t *testing.T, l *lived) {
			e := Entry{Key: "z", Timestamp: "20260101000000", URL: "http://z.example/", Offset: 1 << 30, Filename: filepath.Base(l.files()[0])}
			must(t, l.live.Add(e))
		}},
		{"between the sorted index and its list", func(t *testing.T, l *lived) {
			l.merge()
			must(t, os.Remove(filepath.Join(l.dir, recentName+coveredSuffix)))
			must(t, os.WriteFile(filepath.Join(l.dir, liveName), []byte(l.text(recentName)), 0o644))
		}},
		{"after the merge, before the lines were taken away", func(t *testing.T, l *lived) {
			lines := l.text(liveName)
			l.merge()
			must(t, os.WriteFile(filepath.Join(l.dir, liveName), []byte(lines), 0o644))
		}},
		{"in the middle of the larger merge", func(t *testing.T, l *lived) {
			l.merge()
			names, err := coveredNames(l.live.path(recentName))
			must(t, err)
			recent, err := os.Open(l.live.path(recentName))
			must(t, err)
			s := newSorter(0, l.dir)
			defer s.close()
			s.runs = append(s.runs, recent)
			must(t, l.live.mergeInto(IndexName, names, s))
		}},
		{"between the merge and the line of the file's last record", func(t *testing.T, l *lived) {
			text := l.text(liveName)
			end := strings.LastIndexByte(strings.TrimSuffix(text, "\n"), '\n') + 1
			e, err := ParseEntry(text[end:])
			must(t, err)
			must(t, os.WriteFile(filepath.Join(l.dir, liveName), []byte(text[:end]), 0o644))
			l.live.size = int64(end)
			must(t, l.live.Merge(t.Context()))
			must(t, l.live.Add(e))
		}},
		{"all that was written is a first line", func(t *testing.T, l *lived) {
			must(t, os.WriteFile(filepath.Join(l.dir, liveName), nil, 0o644))
		}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			l := newLived(t)
			l.fill("b.example")
			l.fill("a.example")
			l.seal()
			row.crash(t, l)
			l.reopen()
			l.merge()
			l.isWhole()
		})
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
