package index

import (
	"bytes"
	"hash/maphash"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/internal/archivetest"
	"github.com/arcrawl/arcrawl/uri"
)

// lived is an archive with a live index, to which each capture is added as the crawl does.
type lived struct {
	*archivetest.Archive
	live *Live
}

func newLived(t testing.TB) *lived {
	t.Helper()
	l := &lived{Archive: archivetest.New(t)}
	l.reopen()
	return l
}

// reopen opens the live index as a new process does. The previous one is not closed, as if its process had died.
func (l *lived) reopen() {
	l.T.Helper()
	live, err := OpenLive(l.T.Context(), l.Dir, nil, noFinding)
	if err != nil {
		l.T.Fatal(err)
	}
	l.live = live
}

func (l *lived) add(o digest.Origin, revisit bool) {
	l.T.Helper()
	e := Entry{
		Key: uri.ReplayKey(o.URI), Timestamp: o.Date.Format(DateLayout), URL: o.URI, MIME: "text/html", Status: "200", Digest: o.Payload.String(),
		Length: o.Length, Offset: o.Offset, Filename: o.File,
	}
	if revisit {
		e.MIME = RevisitMIME
	}
	if err := l.live.Add(e); err != nil {
		l.T.Fatal(err)
	}
}

// fill writes a file with three captures.
func (l *lived) fill(site string) {
	l.T.Helper()
	first := l.Page("http://"+site+"/", archivetest.HTMLHead, "<p>of "+site+"</p>")
	l.add(first, false)
	l.add(l.Page("http://"+site+"/two", archivetest.ChunkedHead, "<p>two of "+site+"</p>"), false)
	l.add(l.Revisit("http://"+site+"/copy", archivetest.HTMLHead, first), true)
	l.live.mu.Lock()
	defer l.live.mu.Unlock()
	if err := l.live.write(); err != nil {
		l.T.Fatal(err)
	}
}

// merge merges twice, because the first merge only detects which files are finished.
func (l *lived) merge() {
	l.T.Helper()
	for range 2 {
		if err := l.live.Merge(l.T.Context()); err != nil {
			l.T.Fatal(err)
		}
	}
}

func (l *lived) text(name string) string {
	l.T.Helper()
	text, err := os.ReadFile(filepath.Join(l.Dir, name))
	if err != nil && !os.IsNotExist(err) {
		l.T.Fatal(err)
	}
	return string(text)
}

// isWhole checks that the sorted indexes together equal an index of all files, and that a library reads no WARC file.
func (l *lived) isWhole() {
	l.T.Helper()
	var want bytes.Buffer
	if _, err := Build(l.T.Context(), []string{l.Dir}, Options{}, &want, noFinding); err != nil {
		l.T.Fatal(err)
	}
	s := newSorter(0, l.Dir)
	defer s.close()
	for _, name := range []string{FileName, recentName} {
		for line := range strings.Lines(l.text(name)) {
			if err := s.add([]string{line}); err != nil {
				l.T.Fatal(err)
			}
		}
	}
	var got bytes.Buffer
	if _, err := s.writeTo(&got); err != nil {
		l.T.Fatal(err)
	}
	if got.String() != want.String() {
		l.T.Errorf("the index is\n%swant\n%s", &got, &want)
	}
	lib, err := OpenLibrary(l.T.Context(), l.Dir, Options{}, noFinding)
	if err != nil {
		l.T.Fatal(err)
	}
	defer lib.Close() //nolint:errcheck // nothing was written
	if len(lib.read) > 0 {
		l.T.Errorf("the library had to read files for %v", lib.read)
	}
	for line := range strings.Lines(want.String()) {
		e, err := ParseEntry(line)
		if err != nil {
			l.T.Fatal(err)
		}
		if captures, err := lib.History(e.URL); err != nil || len(captures) != 1 {
			l.T.Errorf("%s has the history %v, %v", e.URL, captures, err)
		}
	}
}

func TestLiveMergesLinesOfFinishedFiles(t *testing.T) {
	t.Parallel()
	l := newLived(t)
	l.fill("b.example")
	if got := strings.Count(l.text(liveName), "\n"); got != 3 {
		t.Errorf("the live file has %d lines, want 3", got)
	}
	l.merge()
	if l.text(recentName) != "" {
		t.Error("lines of an open file were merged")
	}
	l.Seal()
	l.fill("a.example")
	l.merge()
	if got := l.text(liveName); strings.Count(got, "\n") != 3 || strings.Contains(got, "b.example") {
		t.Errorf("after the merge the live file is\n%s", got)
	}
	l.Seal()
	if err := l.live.Close(); err != nil {
		t.Fatal(err)
	}
	l.isWhole()
	l.reopen()
	if err := l.live.mergeRecent(); err != nil {
		t.Fatal(err)
	}
	if l.text(recentName) != "" || l.text(liveName) != "" {
		t.Error("the smaller indexes are not empty")
	}
	l.isWhole()
	l.fill("c.example")
	l.Seal()
	l.merge()
	l.isWhole() // with two sorted indexes
}

// TestLookUpsFollowMerges looks captures up before, between and after merges, which move lines and replace files. Two
// captures that are in two indexes, as after a crash, are found once.
func TestLookUpsFollowMerges(t *testing.T) {
	t.Parallel()
	l := newLived(t)
	reader := NewLiveReader(l.live)
	defer reader.Close() //nolint:errcheck // nothing was written
	isFound := func(step string, sites ...string) {
		t.Helper()
		lib, release, err := reader.Open(archivetest.Start)
		if err != nil {
			t.Fatal(err)
		}
		defer release()
		for _, site := range sites {
			for _, path := range []string{"/", "/two", "/copy"} {
				found, err := lib.Lookup("http://"+site+path, nil)
				if err != nil || len(found) != 1 || found[0].URL != "http://"+site+path {
					t.Errorf("%s: %s%s has %+v, %v; want one capture", step, site, path, found, err)
				}
			}
		}
		if found, err := lib.Lookup("http://unknown.example/", nil); err != nil || len(found) != 0 {
			t.Errorf("%s: an unknown URI has %+v, %v", step, found, err)
		}
	}
	l.fill("b.example")
	isFound("in the live file", "b.example")
	l.Seal()
	l.fill("a.example")
	l.merge()
	isFound("one file merged", "a.example", "b.example")
	l.add(l.Page("http://a.example/late", archivetest.HTMLHead, "<p>late</p>"), false) // not written yet
	lib, release, err := reader.Open(archivetest.Start)
	if err != nil {
		t.Fatal(err)
	}
	if found, err := lib.Lookup("http://a.example/late", nil); err != nil || len(found) != 1 {
		t.Errorf("the last capture: %+v, %v", found, err)
	}
	release()
	live := l.text(liveName)
	l.Seal()
	l.merge()
	isFound("both merged", "a.example", "b.example")
	if err := os.WriteFile(filepath.Join(l.Dir, liveName), []byte(live), 0o600); err != nil {
		t.Fatal(err)
	}
	l.live.size, l.live.places = int64(len(live)), nil
	for pos, line := int64(0), ""; pos < int64(len(live)); pos += int64(len(line)) {
		line, _, _ = strings.Cut(live[pos:], "\n")
		line += "\n"
		key, _, _ := strings.Cut(line, " ")
		l.live.places = append(l.live.places, place{maphash.String(l.live.seed, key), pos})
	}
	isFound("in two indexes", "a.example", "b.example")
}

// BenchmarkLookup looks up a page with very many captures, half of them in the live file.
func BenchmarkLookup(b *testing.B) {
	l := newLived(b)
	const captures = 200_000
	o := digest.Origin{URI: "http://a.example/", File: "a.warc.gz", Date: archivetest.Start, Length: 1000}
	for i := range captures {
		if i == captures/2 {
			archivetest.Must(b, os.WriteFile(filepath.Join(l.Dir, o.File), nil, 0o600))
			l.merge()
			o.File = "b.warc.gz"
		}
		o.Offset, o.Date = int64(i)*1000, o.Date.Add(time.Minute)
		l.add(o, i > 0)
	}
	reader := NewLiveReader(l.live)
	defer reader.Close() //nolint:errcheck // nothing was written
	lib, release, err := reader.Open(archivetest.Start)
	if err != nil {
		b.Fatal(err)
	}
	defer release()
	for _, c := range []struct {
		name, uri string
		want      int
	}{{"many", o.URI, captures}, {"none", "http://b.example/", 0}} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				if found, err := lib.Lookup(c.uri, nil); err != nil || len(found) != c.want {
					b.Fatalf("%d captures, %v; want %d", len(found), err, c.want)
				}
			}
		})
	}
}

// TestLiveIndexIsCompleteAfterACrash interrupts the index at each point where a process may die.
func TestLiveIndexIsCompleteAfterACrash(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name  string
		crash func(t *testing.T, l *lived)
	}{
		{"before lines reached the disk", func(t *testing.T, l *lived) {
			text := l.text(liveName)
			keep := strings.LastIndexByte(strings.TrimSuffix(text, "\n"), '\n') - 10 // one line lost and one torn
			archivetest.Must(t, os.WriteFile(filepath.Join(l.Dir, liveName), []byte(text[:keep]), 0o644))
		}},
		{"with a line whose record is gone", func(t *testing.T, l *lived) {
			e := Entry{Key: "z", Timestamp: "20260101000000", URL: "http://z.example/", Offset: 1 << 30, Filename: filepath.Base(l.Files()[0])}
			archivetest.Must(t, l.live.Add(e))
		}},
		{"between the sorted index and its list", func(t *testing.T, l *lived) {
			l.merge()
			archivetest.Must(t, os.Remove(filepath.Join(l.Dir, recentName+coveredSuffix)))
			archivetest.Must(t, os.WriteFile(filepath.Join(l.Dir, liveName), []byte(l.text(recentName)), 0o644))
		}},
		{"after the merge, before the lines were removed", func(t *testing.T, l *lived) {
			lines := l.text(liveName)
			l.merge()
			archivetest.Must(t, os.WriteFile(filepath.Join(l.Dir, liveName), []byte(lines), 0o644))
		}},
		{"in the middle of the larger merge", func(t *testing.T, l *lived) {
			l.merge()
			names, err := coveredNames(l.live.path(recentName))
			archivetest.Must(t, err)
			recent, err := os.Open(l.live.path(recentName))
			archivetest.Must(t, err)
			s := newSorter(0, l.Dir)
			defer s.close()
			s.runs = append(s.runs, recent)
			archivetest.Must(t, l.live.mergeInto(FileName, names, s))
		}},
		{"between the merge and the line of the file's last record", func(t *testing.T, l *lived) {
			text := l.text(liveName)
			end := strings.LastIndexByte(strings.TrimSuffix(text, "\n"), '\n') + 1
			e, err := ParseEntry(text[end:])
			archivetest.Must(t, err)
			archivetest.Must(t, os.WriteFile(filepath.Join(l.Dir, liveName), []byte(text[:end]), 0o644))
			l.live.size = int64(end)
			archivetest.Must(t, l.live.Merge(t.Context()))
			archivetest.Must(t, l.live.Add(e))
		}},
		{"after an empty live file was created", func(t *testing.T, l *lived) {
			archivetest.Must(t, os.WriteFile(filepath.Join(l.Dir, liveName), nil, 0o644))
		}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			l := newLived(t)
			l.fill("b.example")
			l.fill("a.example")
			l.Seal()
			row.crash(t, l)
			l.reopen()
			l.merge()
			l.isWhole()
		})
	}
}

func TestAnErrorBeforeAMergePostponesIt(t *testing.T) {
	t.Parallel()
	l := newLived(t)
	l.live.BeforeMerge(func() error { return os.ErrClosed })
	l.fill("a.example")
	l.Seal()
	if err := l.live.merge(t.Context(), true); err == nil || l.text(recentName) != "" {
		t.Errorf("the merge succeeded, %v:\n%s", err, l.text(recentName))
	}
	again := 0
	live, err := OpenLive(t.Context(), l.Dir, func([]byte) error { again++; return nil }, noFinding)
	if err != nil || again != 3 {
		t.Fatalf("%d lines are notified again, %v; want 3", again, err)
	}
	l.live = live
	l.merge()
	l.isWhole()
}
