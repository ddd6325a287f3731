package stats_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/crawllog"
	"github.com/arcrawl/arcrawl/crawllog/stats"
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
	if err != nil {
		t.Fatal(err)
	}
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
		visits, complete, err := stats.Find(t.Context(), path, "http://news.example/", c.most, c.bytes)
		if err != nil {
			t.Fatal(err)
		}
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
	visits, _, err := stats.Find(t.Context(), path, "http://news.example/", 10, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, v := range visits {
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
	if err != nil {
		t.Fatal(err)
	}
	for most := range stat.Size() {
		visits, complete, err := stats.Find(t.Context(), path, "http://news.example/", 10, most)
		if err != nil || complete || len(visits) > 3 || len(visits) > 0 && visits[len(visits)-1].Size != 9 {
			t.Fatalf("the last %d of %d bytes: %v, complete %v, %v", most, stat.Size(), visits, complete, err)
		}
	}
}
