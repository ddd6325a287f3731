package curator

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/crawler"
	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/internal/slow"
	"github.com/arcrawl/arcrawl/uri"
)

func open(t *testing.T, dir string) *captureStore {
	t.Helper()
	s, err := openCaptures(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func report(i int) crawler.Report {
	return crawler.Report{
		URI: uri.FromCanonical(fmt.Sprintf("http://h%d.example/%d", i%2, i)), Status: 200, Finished: time.Unix(int64(i), 0),
		Verdict: evaluators.Verdict{State: evaluators.Changed, First: i%3 == 0}, Versions: 2, Type: "text/html; charset=utf-8",
		Title: fmt.Sprintf("Überschrift \"%d\" <b>", i),
	}
}

// TestTheLatestCapturesAreKeptAndSelected adds more captures than are kept in memory, and opens the store again without
// closing it, as after a crash that cut the last line.
func TestTheLatestCapturesAreKeptAndSelected(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := open(t, dir)
	const extra = 7
	for i := range maxCaptures + extra {
		r.Add(report(i))
	}
	for _, change := range []func(*crawler.Report){
		func(v *crawler.Report) { v.Verdict.State = evaluators.Unchanged }, func(v *crawler.Report) { v.Failed = true },
		func(v *crawler.Report) { v.Status = 404 }, func(v *crawler.Report) { v.URI = v.URI.Robots() },
	} {
		v := report(1_000_000)
		change(&v)
		r.Add(v) // is not a capture
	}
	const newest = maxCaptures + extra - 1
	name := filepath.Join(dir, "captures.jsonl")
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, append(text, `{"at":"2026-11-`...), 0o600); err != nil {
		t.Fatal(err)
	}
	again := open(t, dir)
	for name, s := range map[string]*captureStore{"the store": r, "the store that was opened again": again} {
		list, more := s.Select(captureFilter{Limit: 10})
		if len(list) != 10 || more < maxCaptures-11 || list[0].At.Unix() != newest || list[9].At.Unix() != newest-9 {
			t.Errorf("%s has %d captures and %d more, beginning with %+v", name, len(list), more, list[0])
		}
	}
	again.Add(report(newest + 1))
	list, _ := open(t, dir).Select(captureFilter{Limit: 2})
	if len(list) != 2 || list[0].At.Unix() != newest+1 || list[1].At.Unix() != newest {
		t.Errorf("behind the line that was cut are %+v", list)
	}
	for want, f := range map[int]captureFilter{
		1: {Text: "überschrift \"5006"}, 2500: {Host: "h1.example"}, maxCaptures / 3: {Kind: api.CaptureFirst}, 0: {Type: "image/"},
		maxCaptures: {Type: "text/html"}, 2499: {Sites: func(h string) bool { return h == "h0.example" }, Kind: "", Text: "http"},
	} {
		f.Limit = maxCaptures
		list, _ := r.Select(f)
		if d := len(list) - want; d < -1 || d > 1 {
			t.Errorf("%+v selects %d captures, want about %d", f, len(list), want)
		}
	}
}

// TestTitlesAreFoundBeyondMemory searches titles of more captures than are in memory, and of more than the files hold.
func TestTitlesAreFoundBeyondMemory(t *testing.T) {
	t.Parallel()
	slow.Unraced(t, slow.OneGoroutine)
	dir := t.TempDir()
	s := open(t, dir)
	const n = 110_000 // more than two files
	for i := range n {
		s.Add(report(i))
	}
	clock := func() time.Time { return time.Unix(0, 0) } // time does not pass
	for text, want := range map[string]int{
		`ÜBERSCHRIFT "60123" <b>`: 1, "h1.example": 0, `"109999"`: 1, `"1"`: 0, `\`: 0, "": 20,
	} {
		list, since := s.Titled(captureFilter{Text: text, Limit: 20}, time.Second, clock)
		if len(list) != want {
			t.Errorf("%q is in %d titles, want %d: %+v", text, len(list), want, list)
		}
		if oldest := since.Unix(); want < 20 && (oldest != 50_000) {
			t.Errorf("the oldest title that was searched is the one of %d", oldest)
		}
	}
	late := func() time.Time { clock := time.Now(); return clock }
	if list, since := s.Titled(captureFilter{Text: "überschrift", Limit: 20}, -time.Second, late); len(list) > 0 || !since.IsZero() {
		t.Errorf("without time it found %d, since %v", len(list), since)
	}
	if h := s.Hours("h1.example"); h.Captures != 30_000 || h.Counts[4][0] > 0 || h.Counts[4][20] != 1800 {
		t.Errorf("the hours of a host are %+v", h)
	}
	if was, is := s.Hours("h1.example"), open(t, dir).Hours("h1.example"); was.Counts != is.Counts || !was.Since.Equal(*is.Since) {
		t.Errorf("the hours of a host are %+v, and %+v after a restart", was, is)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(files) != 2 {
		t.Errorf("the files are %q, %v", files, err)
	}
}

// TestTheCapturesOfAWeekAreRead reads what came after a time: from one file, and from files that are full.
func TestTheCapturesOfAWeekAreRead(t *testing.T) {
	t.Parallel()
	slow.Unraced(t, slow.OneGoroutine)
	s := open(t, t.TempDir())
	read := func(since int64) (n int, newest, oldest, from int64) {
		at := s.Each(time.Unix(since, 0), func(c api.Capture) {
			if n++; n == 1 {
				newest = c.At.Unix()
			}
			oldest = c.At.Unix()
		})
		if !at.IsZero() {
			from = at.Unix()
		}
		return n, newest, oldest, from
	}
	add := func(from, to int) {
		for i := from; i < to; i++ {
			s.Add(report(i))
		}
	}
	add(1, 20_000)
	for since, want := range map[int64]string{0: "19999 19999 1 0", 15_000: "4999 19999 15001 0", 30_000: "0 0 0 0"} {
		n, newest, oldest, from := read(since)
		if got := fmt.Sprint(n, newest, oldest, from); got != want {
			t.Errorf("since %d: %s, want %s", since, got, want)
		}
	}
	add(20_000, 110_001)
	for since, want := range map[int64]string{60_000: "50000 110000 60001 0", 5: "60000 110000 50001 50001"} {
		n, newest, oldest, from := read(since)
		if got := fmt.Sprint(n, newest, oldest, from); got != want {
			t.Errorf("since %d: %s, want %s", since, got, want)
		}
	}
}
