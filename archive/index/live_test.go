package index

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/archive/warc"
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
	archivetest.Must(l.T, err)
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
	archivetest.Must(l.T, l.live.Add(e))
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
	archivetest.Must(l.T, l.live.write())
}

// merge merges twice, because the first merge only detects which files are finished.
func (l *lived) merge() {
	l.T.Helper()
	for range 2 {
		archivetest.Must(l.T, l.live.Merge(l.T.Context()))
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

// isWhole checks that the sorted indexes together equal an index of all files, and cover them.
func (l *lived) isWhole() {
	l.T.Helper()
	var want bytes.Buffer
	if _, err := Build(l.T.Context(), []string{l.Dir}, Options{}, &want, noFinding); err != nil {
		l.T.Fatal(err)
	}
	s := newSorter(0, l.Dir)
	defer s.close()
	for _, name := range []string{FileName, RecentName} {
		for line := range strings.Lines(l.text(name)) {
			archivetest.Must(l.T, s.add([]string{line}))
		}
	}
	var got bytes.Buffer
	if _, err := s.writeTo(&got); err != nil {
		l.T.Fatal(err)
	}
	if got.String() != want.String() {
		l.T.Errorf("the index is\n%swant\n%s", &got, &want)
	}
	files, _ := warc.Files([]string{l.Dir})
	for _, f := range files {
		main, errMain := Covered(l.live.path(FileName), files)
		recent, errRecent := Covered(l.live.path(RecentName), files)
		archivetest.Must(l.T, errors.Join(errMain, errRecent))
		if !main[f.Name] && !recent[f.Name] {
			l.T.Errorf("no index covers %s", f.Name)
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
	if l.text(RecentName) != "" {
		t.Error("lines of an open file were merged")
	}
	l.Seal()
	l.fill("a.example")
	l.merge()
	if got := l.text(liveName); strings.Count(got, "\n") != 3 || strings.Contains(got, "b.example") {
		t.Errorf("after the merge the live file is\n%s", got)
	}
	l.Seal()
	archivetest.Must(t, l.live.Close())
	l.isWhole()
	l.reopen()
	archivetest.Must(t, l.live.mergeRecent())
	if l.text(RecentName) != "" || l.text(liveName) != "" {
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
			archivetest.Must(t, os.Remove(filepath.Join(l.Dir, RecentName+coveredSuffix)))
			archivetest.Must(t, os.WriteFile(filepath.Join(l.Dir, liveName), []byte(l.text(RecentName)), 0o644))
		}},
		{"after the merge, before the lines were removed", func(t *testing.T, l *lived) {
			lines := l.text(liveName)
			l.merge()
			archivetest.Must(t, os.WriteFile(filepath.Join(l.Dir, liveName), []byte(lines), 0o644))
		}},
		{"in the middle of the larger merge", func(t *testing.T, l *lived) {
			l.merge()
			names, err := coveredNames(l.live.path(RecentName))
			archivetest.Must(t, err)
			recent, err := os.Open(l.live.path(RecentName))
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
	if err := l.live.merge(t.Context(), true); err == nil || l.text(RecentName) != "" {
		t.Errorf("the merge succeeded, %v:\n%s", err, l.text(RecentName))
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

func TestLongMediaTypesAreCut(t *testing.T) {
	t.Parallel()
	for _, mime := range []string{strings.Repeat("x", 1_100_000), "text/" + strings.Repeat("é", 100_000), strings.Repeat("\xff", 1000)} {
		e := Entry{Key: "example,a)/", Timestamp: "20261122120000", URL: "http://a.example/", MIME: mime, Filename: "a.warc.gz"}
		line := string(e.AppendTo(nil))
		back, err := ParseEntry(line)
		if err != nil || len(line) > 1000 || len(back.MIME) > 3*MaxMIME {
			t.Errorf("a type of %d bytes makes a line of %d: %v", len(mime), len(line), err)
		}
		if got := e.AppendCDX(nil); len(got) > 1000 {
			t.Errorf("a type of %d bytes makes a CDX line of %d", len(mime), len(got))
		}
	}
	if got := cutMIME("text/html"); got != "text/html" {
		t.Errorf("an ordinary type became %q", got)
	}
}

func TestLinesSkipsLongLines(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("y", 3*MaxLine) + `"filename":"b.warc.gz"}`
	var tails []string
	lines := newLines(strings.NewReader("one\n"+long+"\ntwo\r\n\n"+long+"\nthree"), func(tail []byte) {
		tails = append(tails, string(tail))
	})
	var got []string
	for lines.Scan() {
		got = append(got, lines.Text())
	}
	if lines.Err() != nil || strings.Join(got, ",") != "one,two,,three" {
		t.Errorf("read %q, %v", got, lines.Err())
	}
	if len(tails) != 2 || !strings.HasSuffix(tails[1], `"filename":"b.warc.gz"}`) || len(tails[1]) > 2*MaxLine {
		t.Errorf("%d lines were skipped", len(tails))
	}
}

// A line of the live index that is longer than any reader accepts is left out when it is merged.
func TestLongLineInTheLiveIndexIsLeftOut(t *testing.T) {
	t.Parallel()
	l := newLived(t)
	l.fill("a.example")
	path := filepath.Join(l.Dir, liveName)
	var text strings.Builder
	for line := range strings.Lines(l.text(liveName)) {
		long := `"mime":"` + strings.Repeat("z", MaxLine+MaxLine/10) + `"`
		text.WriteString(strings.Replace(line, `"mime":"text/html"`, long, 1))
	}
	archivetest.Must(t, os.WriteFile(path, []byte(text.String()), 0o644))
	l.Seal()
	l.reopen()
	l.merge()
	l.isWhole()
}

// BenchmarkFindOfManyVersions looks up a page with 3,000 versions, whose lines are among twice as many others.
func BenchmarkFindOfManyVersions(b *testing.B) {
	l := newLived(b)
	at := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	for i := range 9000 {
		u := "http://news.example/"
		if i%3 > 0 {
			u = fmt.Sprintf("http://news.example/%d", i)
		}
		archivetest.Must(b, l.live.Add(Entry{
			Key: uri.ReplayKey(u), Timestamp: at.Add(time.Duration(i) * time.Minute).Format(DateLayout), URL: u, MIME: "text/html",
			Status: "200", Digest: "sha256:" + strings.Repeat("a", 60) + strconv.Itoa(i), Length: 1234, Offset: int64(i), Filename: "test-20261101000000000-00001-crawler.example.warc.gz",
		}))
	}
	key := uri.ReplayKey("http://news.example/")
	b.ReportAllocs()
	for b.Loop() {
		n := 0
		archivetest.Must(b, l.live.Find(key, "", func(Entry) { n++ }))
		if n != 3000 {
			b.Fatalf("%d lines", n)
		}
	}
}
