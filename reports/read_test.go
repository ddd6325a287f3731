package reports_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/reports"

	"github.com/arcrawl/arcrawl/crawllog"
)

var morning = time.Date(2026, 1, 2, 6, 0, 0, 0, time.UTC)

// visit returns a line of the log.
func visit(at time.Duration, uri string, status int, size int64, annotations ...string) crawllog.Entry {
	return crawllog.Entry{
		Logged: morning.Add(at), Status: status, Size: size, URI: uri, MIME: "text/html; charset=utf-8", Worker: 1, Seed: "http://news.example/",
		Annotations: annotations,
		Schedule:    &crawllog.Schedule{Wait: time.Hour, Visits: 2, Versions: 1, Overdue: at / 10},
	}
}

// aDay returns one visit of each kind.
func aDay() []crawllog.Entry {
	down := visit(5*time.Minute, "http://down.example/", -2, -1, "err=connect: refused")
	forbidden := visit(6*time.Minute, "http://news.example/no", -9998, -1, "robotExcluded")
	return []crawllog.Entry{
		visit(0, "http://news.example/", 200, 1000),
		visit(1*time.Minute, "http://news.example/a", 200, 2000, crawllog.Unchanged, crawllog.DuplicateDigest),
		visit(2*time.Minute, "http://news.example/b", 304, 0, crawllog.Unchanged, crawllog.DuplicateNotModified, crawllog.Spared+"5000"),
		visit(3*time.Minute, "http://news.example/c", 200, 100, crawllog.Unchanged, crawllog.MidFetchAbort, crawllog.Spared+"7000"),
		visit(4*time.Minute, "http://user@other.example:8080/?x", 503, 50),
		down, forbidden,
		visit(7*time.Minute, "http://news.example/wall", 200, 300, "consent:usercentrics"),
		visit(8*time.Minute, "http://news.example/gone", 404, 10),
	}
}

func write(t *testing.T, name string, entries ...crawllog.Entry) string {
	t.Helper()
	var text []byte
	for _, e := range entries {
		text = append(e.AppendTo(text, false), '\n')
	}
	if strings.HasSuffix(name, ".gz") {
		text = packed(t, text)
	}
	f, err := os.OpenFile(name, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	must(t, err)
	if _, err := f.Write(text); err != nil {
		t.Fatal(err)
	}
	must(t, f.Close())
	return name
}

func packed(t *testing.T, text []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if _, err := w.Write(text); err != nil {
		t.Fatal(err)
	}
	must(t, w.Close())
	return out.Bytes()
}

func read(t *testing.T, o reports.Options, files ...string) *reports.Outcome {
	t.Helper()
	out, err := reports.Read(t.Context(), files, o)
	must(t, err)
	return out
}

func TestEachKindOfVisitIsCounted(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"crawl.log", "crawl.log.2.gz"} {
		file := write(t, filepath.Join(t.TempDir(), name), aDay()...)
		out := read(t, reports.Options{By: []reports.Dimension{reports.ByHost}}, file)
		all := out.Summaries[0].All
		got := fmt.Sprint(all.Visits, all.Answered, all.Failed, all.NotTried, all.Versions, all.Unchanged, all.NotModified,
			all.BrokenOff, all.Duplicates, all.Received, all.Spared, all.Deduped)
		if want := fmt.Sprint(9, 5, 3, 1, 1, 3, 1, 1, 1, 3460, 12000, 2000); got != want {
			t.Errorf("%s: got  %s\nwant %s (visits, answered, failed, not tried, versions, unchanged, 304, broken off, duplicates, received, spared, deduplicated)", name, got, want)
		}
		if rate, ok := all.ChangeRate(); !ok || rate != 0.25 {
			t.Errorf("%s: change rate %v, want one version in four judged visits", name, rate)
		}
		var hosts []string
		for _, r := range out.Summaries[0].Rows(reports.ByHost) {
			hosts = append(hosts, fmt.Sprint(r.Key, " ", r.Visits))
		}
		if want := []string{"news.example 7", "down.example 1", "other.example:8080 1"}; !slices.Equal(hosts, want) {
			t.Errorf("%s: hosts %v, want %v", name, hosts, want)
		}
		if out.Skipped != 0 || len(out.Faults) != 0 {
			t.Errorf("%s: %d lines skipped, faults %v", name, out.Skipped, out.Faults)
		}
	}
}

// TestTheContentStateDecidesIfItIsLogged has a visit after a change of the scrubbing rules. With the thirteenth column
// it is not a version.
func TestTheContentStateDecidesIfItIsLogged(t *testing.T) {
	t.Parallel()
	e := visit(0, "http://news.example/", 200, 1000)
	e.Extra = &crawllog.Extra{ContentState: "unknown"}
	name := filepath.Join(t.TempDir(), "crawl.log")
	must(t, os.WriteFile(name, append(e.AppendTo(nil, true), '\n'), 0o644))
	if all := read(t, reports.Options{}, name).Summaries[0].All; all.Versions != 0 || all.Answered != 1 {
		t.Errorf("got %d versions in %d responses, want 0 in 1", all.Versions, all.Answered)
	}
}

func TestPeriodsAreSummedUpInOneReading(t *testing.T) {
	t.Parallel()
	name := write(t, filepath.Join(t.TempDir(), "crawl.log"), aDay()...)
	at := morning.Add(4 * time.Minute)
	out := read(t, reports.Options{Periods: []reports.Period{{To: at}, {From: at}, {}}}, name)
	var visits []int64
	for _, s := range out.Summaries {
		visits = append(visits, s.All.Visits)
	}
	if want := []int64{4, 5, 9}; !slices.Equal(visits, want) {
		t.Errorf("visits before, after and in all: %v, want %v", visits, want)
	}
}

// TestEachLineOfALargeLogIsCountedOnce reads a log of more parts than processors, with lines across the cuts.
func TestEachLineOfALargeLogIsCountedOnce(t *testing.T) {
	t.Parallel()
	const lines = 150_000
	var text []byte
	random := rand.New(rand.NewPCG(1, 2))
	want := int64(0)
	for i := range lines {
		e := visit(time.Duration(i)*time.Second, "http://news.example/"+strings.Repeat("x", random.IntN(300)), 200, int64(i))
		text = append(e.AppendTo(text, false), '\n')
		want += int64(i)
	}
	name := filepath.Join(t.TempDir(), "crawl.log")
	must(t, os.WriteFile(name, text, 0o644))
	out := read(t, reports.Options{}, name)
	if got := out.Summaries[0].All; got.Visits != lines || got.Received != want || out.Skipped != 0 {
		t.Errorf("%d lines with %d bytes received and %d skipped, want %d, %d and 0; the log has %d bytes", got.Visits, got.Received, out.Skipped, lines, want, len(text))
	}
}

func TestOtherLinesAreSkippedAndCounted(t *testing.T) {
	t.Parallel()
	good := string(aDay()[0].AppendTo(nil, false))
	name := filepath.Join(t.TempDir(), "crawl.log")
	text := "hello\n" + good + "\n\n" + strings.Repeat("z", 3_000_000) + "\n" + good + "\n" + good[:40]
	must(t, os.WriteFile(name, []byte(text), 0o644))
	out := read(t, reports.Options{}, name)
	if got := out.Summaries[0].All.Visits; got != 2 || out.Skipped != 3 {
		t.Errorf("%d visits and %d lines skipped, want 2 and 3; the line without an end is still being written", got, out.Skipped)
	}
}

func TestADamagedFileIsReportedAndTheOthersAreRead(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	whole := write(t, filepath.Join(dir, "crawl.log"), aDay()...)
	cut := write(t, filepath.Join(dir, "crawl.log.1.gz"), aDay()...)
	must(t, os.Truncate(cut, 200))
	out := read(t, reports.Options{}, whole, cut, filepath.Join(dir, "none.log"), dir)
	if len(out.Faults) != 3 || out.Summaries[0].All.Visits < 9 {
		t.Errorf("%d visits, faults %v; want the visits of the whole file, and three faults", out.Summaries[0].All.Visits, out.Faults)
	}
	if _, err := reports.Read(t.Context(), []string{filepath.Join(dir, "none.log")}, reports.Options{}); err == nil {
		t.Error("reading a missing log is not an error")
	}
}

// must ends the test if there is an error.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
