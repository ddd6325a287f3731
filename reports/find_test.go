package reports_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/reports"

	"github.com/arcrawl/arcrawl/crawllog"
)

// threeLogs writes a log that was rotated: a compressed file, a renamed one, and the present one.
func threeLogs(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "crawl.log")
	n := 0
	for _, name := range []string{path + ".2.gz", path + ".1", path} {
		var list []crawllog.Entry
		for range 3 {
			n++
			list = append(list,
				visit(time.Duration(n)*time.Hour, "http://news.example/", 200, int64(n)),
				visit(time.Duration(n)*time.Hour, "http://news.example/a", 200, int64(n), crawllog.Unchanged),
				visit(time.Duration(n)*time.Hour, "http://other.example/?http://news.example/", 503, 0))
		}
		write(t, name, list...)
	}
	return path
}

func TestFindReturnsTheVisitsOfAllFilesInOrder(t *testing.T) {
	t.Parallel()
	path := threeLogs(t)
	stat, err := os.Stat(path)
	must(t, err)
	size := stat.Size()
	for _, c := range []struct {
		most     int
		bytes    int64
		want     []int64 // their sizes
		complete bool
	}{
		{100, 1 << 20, []int64{1, 2, 3, 4, 5, 6, 7, 8, 9}, true},
		{9, 1 << 20, []int64{1, 2, 3, 4, 5, 6, 7, 8, 9}, true},
		{4, 1 << 20, []int64{6, 7, 8, 9}, false},
		{100, size, []int64{7, 8, 9}, false},
	} {
		b := reports.Bounds{Visits: c.most, Bytes: c.bytes}
		found, err := reports.Find(t.Context(), path, "http://news.example/", b)
		visits, complete := found.Visits, found.Complete
		must(t, err)
		var got []int64
		for _, v := range visits {
			got = append(got, v.Size)
		}
		if !slices.Equal(got, c.want) || complete != c.complete {
			t.Errorf("at most %d visits in %d bytes: %v, complete %v; want %v, %v", c.most, c.bytes, got, complete, c.want, c.complete)
		}
	}
}

func TestFindReturnsTheStateOfEachVisit(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "crawl.log")
	write(t, path,
		visit(0, "http://news.example/", 200, 10),
		visit(time.Hour, "http://news.example/", 304, 0, crawllog.Unchanged, crawllog.DuplicateNotModified, crawllog.Spared+"10"),
		visit(2*time.Hour, "http://news.example/", 200, 10, "challenge:cloudflare"))
	found, err := reports.Find(t.Context(), path, "http://news.example/", reports.Bounds{Visits: 10, Bytes: 1 << 20})
	must(t, err)
	var got []string
	for _, v := range found.Visits {
		got = append(got, fmt.Sprint(v.At.Hour(), " ", v.Status, " ", v.State, " ", v.Notes))
	}
	if want := []string{"6 200 changed []", "7 304 unchanged [duplicate:server-not-modified]", "8 200 failed [challenge:cloudflare]"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestFindBeginsInTheMiddleOfALine makes sure that such a line is skipped and not misread.
func TestFindBeginsInTheMiddleOfALine(t *testing.T) {
	t.Parallel()
	path := threeLogs(t)
	stat, err := os.Stat(path)
	must(t, err)
	for most := int64(0); most < stat.Size(); most += 3 {
		found, err := reports.Find(t.Context(), path, "http://news.example/", reports.Bounds{Visits: 10, Bytes: most})
		visits, complete := found.Visits, found.Complete
		if err != nil || complete || len(visits) > 3 || len(visits) > 0 && visits[len(visits)-1].Size != 9 {
			t.Fatalf("the last %d of %d bytes: %v, complete %v, %v", most, stat.Size(), visits, complete, err)
		}
	}
}

// TestFindReadsBlocksBackwards searches a log of several blocks for URIs, also next to a line that is longer than a
// block. It compares with the lines themselves, and stops the search early.
func TestFindReadsBlocksBackwards(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "crawl.log")
	var list []crawllog.Entry
	for i := range 12_000 { // 2.4 MB
		list = append(list, visit(time.Duration(i)*time.Second, fmt.Sprintf("http://news.example/%d", i%4000), 200, int64(i)))
	}
	write(t, path, list...)
	text, err := os.ReadFile(path)
	must(t, err)
	middle := bytes.IndexByte(text[len(text)/2:], '\n') + len(text)/2 + 1
	long := append(bytes.Repeat([]byte("x http://news.example/77 "), 100_000), '\n')
	text = slices.Concat(text[:middle], long, text[middle:], []byte("2026-11-22T11:00:00.000Z   200 1 http://news.example/77 L"))
	must(t, os.WriteFile(path, text, 0o600))
	for _, n := range []int64{0, 77, 1999, 2000, 2001, 3999} {
		uri := fmt.Sprintf("http://news.example/%d", n)
		found, err := reports.Find(t.Context(), path, uri, reports.Bounds{Visits: 10, Bytes: 1 << 30})
		if err != nil || !found.Complete || len(found.Visits) != 3 {
			t.Fatalf("%s: %+v, %v", uri, found, err)
		}
		for i, v := range found.Visits {
			if v.Size != n+int64(i)*4000 {
				t.Errorf("%s: visit %d has size %d", uri, i, v.Size)
			}
		}
		if !found.Since.Equal(list[0].Logged.Truncate(time.Millisecond)) {
			t.Errorf("since %v, want %v", found.Since, list[0].Logged)
		}
	}
	asked := 0
	stop := func() bool { asked++; return asked > 2 }
	found, err := reports.Find(t.Context(), path, "http://news.example/3999", reports.Bounds{Visits: 10, Bytes: 1 << 30, Stop: stop})
	if err != nil || found.Complete || len(found.Visits) != 2 || found.Since.Before(list[5990].Logged) {
		t.Errorf("a search that was stopped found %+v, %v", found, err)
	}
}

// TestFindNeverLeavesAGap stops searches early. All visits since the time that Find returns must be in the result.
func TestFindNeverLeavesAGap(t *testing.T) {
	t.Parallel()
	path := threeLogs(t)
	all, err := reports.Find(t.Context(), path, "http://news.example/", reports.Bounds{Visits: 100, Bytes: 1 << 20})
	if err != nil || len(all.Visits) != 9 {
		t.Fatalf("%+v, %v", all, err)
	}
	for visits := range 10 {
		for size := int64(0); size < 3000; size += 50 {
			b := reports.Bounds{Visits: visits + 1, Bytes: size}
			found, err := reports.Find(t.Context(), path, "http://news.example/", b)
			must(t, err)
			want := 0
			for _, v := range all.Visits {
				if !found.Since.IsZero() && v.At.After(found.Since) {
					want++
				}
			}
			if len(found.Visits) < want || found.Complete && len(found.Visits) != 9 {
				t.Fatalf("at most %d visits in %d bytes: %d since %v, want at least %d; complete %v", visits+1, size, len(found.Visits),
					found.Since, want, found.Complete)
			}
		}
	}
}

// TestFindInALogThatShrinks truncates a log of some blocks while it is searched, as "copytruncate" of logrotate does.
func TestFindInALogThatShrinks(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "crawl.log")
	var list []crawllog.Entry
	for i := range 24_000 { // more than two blocks
		list = append(list, visit(time.Duration(i)*time.Second, fmt.Sprintf("http://news.example/%d", i), 200, int64(i)))
	}
	write(t, path, list...)
	asked := 0
	stop := func() bool {
		if asked++; asked == 3 { // one block was read
			if err := os.Truncate(path, 100_000); err != nil {
				t.Error(err)
			}
		}
		return false
	}
	found, err := reports.Find(t.Context(), path, "http://news.example/23999", reports.Bounds{Visits: 10, Bytes: 1 << 30, Stop: stop})
	if err != nil || len(found.Visits) != 1 {
		t.Errorf("found %d visits, want the one that was read before the file shrank: %v", len(found.Visits), err)
	}
}
