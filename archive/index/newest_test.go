package index_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/archive/index"
	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/internal/archivetest"
)

// TestAPageWithVeryManyCapturesTakesNoMemory looks captures up in an index that has very many of one page, and a second
// page with the same key.
func TestAPageWithVeryManyCapturesTakesNoMemory(t *testing.T) {
	t.Parallel()
	const captures, limit = 3000, 100
	const pages = captures * 99 / 100 // without www
	lib, start := archivetest.New(t), time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	var lines strings.Builder
	for i := range captures {
		host := "a.example"
		if i%100 == 0 {
			host = "www.a.example"
		}
		fmt.Fprintf(&lines, `example,a)/ %s {"url":"http://%s/","mime":"text/html","status":"200","digest":"sha1:A",`+
			`"length":"9","offset":"%d","filename":"moved.warc.gz"}`+"\n", start.Add(time.Duration(i)*time.Minute).Format(index.DateLayout), host, i)
	}
	lib.Page("http://c.example/", archivetest.HTMLHead, "a folder without files is refused")
	lib.Seal()
	for name, text := range map[string]string{index.FileName: lines.String(), index.FileName + ".files": ""} {
		if err := os.WriteFile(filepath.Join(lib.Dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	l, err := index.OpenLibrary(t.Context(), lib.Dir, index.Options{}, func(f warc.Finding) error { return &f })
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close() //nolint:errcheck // nothing was written
	newest, count, err := l.Newest("http://a.example/", limit)
	if err != nil || count != pages || len(newest) != limit || cap(newest) > 4*limit {
		t.Fatalf("%d of %d captures in room for %d, %v; want %d of %d", len(newest), count, cap(newest), err, limit, pages)
	}
	if first, last := newest[0].Offset, newest[limit-1].Offset; first != captures-limit-1 || last != captures-1 {
		t.Errorf("the newest are at %d to %d, want %d to %d", first, last, captures-limit-1, captures-1)
	}
	for pos, want := range map[int64]index.Place{
		1:            {Number: 1, Count: pages, After: index.Entry{Offset: 2}},
		101:          {Number: 100, Count: pages, Before: index.Entry{Offset: 99}, After: index.Entry{Offset: 102}},
		captures - 1: {Number: pages, Count: pages, Before: index.Entry{Offset: captures - 2}},
		300:          {Number: 4, Count: captures / 100, Before: index.Entry{Offset: 200}, After: index.Entry{Offset: 400}},
	} {
		isThere := func(a, b index.Entry) bool { return a.Offset == pos && b.Offset != pos }
		found, ok, err := l.Nearest("http://a.example/", isThere)
		if err != nil || !ok || found.Offset != pos {
			t.Fatalf("the capture at %d: %+v, %v", pos, found, err)
		}
		p, err := l.PlaceOf(found)
		if err != nil || p.Number != want.Number || p.Count != want.Count || p.Before.Offset != want.Before.Offset ||
			p.After.Offset != want.After.Offset {
			t.Errorf("the place of the capture at %d is %+v, %v; want %+v", pos, p, err, want)
		}
	}
	if later, ok, err := l.Nearest("http://a.example/", func(_, _ index.Entry) bool { return false }); !ok || err != nil || later.Offset != captures-1 {
		t.Errorf("the last capture: %+v, %v", later, err)
	}
	if _, ok, err := l.Nearest("http://b.example/", func(_, _ index.Entry) bool { return false }); ok || err != nil {
		t.Errorf("a capture of an unknown URI: %v", err)
	}
}
