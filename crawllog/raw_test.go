package crawllog_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/crawllog"
)

// FuzzRawEntry checks that RawEntry.Parse and Parse agree about each line that Parse accepts.
func FuzzRawEntry(f *testing.F) {
	logs, err := filepath.Glob("testdata/*.log")
	if err != nil || len(logs) == 0 {
		f.Fatal("no logs to start from", err)
	}
	for _, name := range logs {
		content, err := os.ReadFile(name)
		must(f, err)
		for line := range bytes.Lines(content) {
			f.Add(string(bytes.TrimRight(line, "\n")))
		}
	}
	f.Fuzz(func(t *testing.T, line string) {
		var g crawllog.RawEntry
		accepted := g.Parse([]byte(line))
		e, err := crawllog.Parse(line)
		if err != nil || e.Logged.Year() < 1 || e.Size > 1e17 {
			return
		}
		if !accepted {
			t.Fatalf("RawEntry.Parse rejects %q", line)
		}
		if got := time.UnixMilli(g.Logged); !got.Equal(e.Logged.Truncate(time.Millisecond)) {
			t.Errorf("logged %v, want %v", got.UTC(), e.Logged)
		}
		if g.Status != e.Status || g.Size != e.Size || string(g.URI) != e.URI && e.URI != "" || string(g.MIME) != e.MIME || string(g.Seed) != e.Seed {
			t.Errorf("got %+v, want %+v", g, e)
		}
		if r := e.Schedule; r != nil && r.Overdue < 1e6*time.Hour && r.Wait < 1e6*time.Hour {
			if !g.Scheduled {
				t.Fatalf("RawEntry.Parse does not find the schedule of %q", line)
			}
			// Further annotations of the same form may come before the last four.
			if strings.Count(line, "wt:") == 1 && strings.Count(line, "ov:") == 1 && (g.Wait != r.Wait || g.Overdue != r.Overdue) {
				t.Errorf("wait %v and overdue %v, want %v and %v", g.Wait, g.Overdue, r.Wait, r.Overdue)
			}
		}
		unchanged := slices.Contains(e.Annotations, crawllog.Unchanged)
		stopped := slices.Contains(e.Annotations, crawllog.MidFetchAbort)
		if g.Unchanged != unchanged || g.Stopped != stopped {
			t.Errorf("unchanged %v, stopped %v, want %v, %v", g.Unchanged, g.Stopped, unchanged, stopped)
		}
	})
}

// TestRawEntryAllocatesNothing makes sure that large logs are read at the speed of the disk.
func TestRawEntryAllocatesNothing(t *testing.T) {
	line := aMorning()[3].AppendTo(nil, true)
	var g crawllog.RawEntry
	if n := testing.AllocsPerRun(100, func() {
		if !g.Parse(line) {
			t.Fatalf("RawEntry.Parse rejects %s", line)
		}
	}); n != 0 {
		t.Errorf("%v allocations for a line", n)
	}
}

func TestRawEntryReadsSparedBytesAndSchedule(t *testing.T) {
	e := crawllog.Entry{
		Logged: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Status: 304, Size: 0, URI: "http://news.example/", Worker: -1,
		Annotations: []string{crawllog.Spared + "12345", crawllog.Unchanged},
		Schedule:    &crawllog.Schedule{Wait: 36 * time.Hour, Visits: 7, Versions: 2, Overdue: 90 * time.Second},
		Extra:       &crawllog.Extra{ContentState: "unchanged"},
	}
	var g crawllog.RawEntry
	if !g.Parse(e.AppendTo(nil, true)) {
		t.Fatal("RawEntry.Parse rejects the line")
	}
	if g.Spared != 12345 || !g.Unchanged || !g.Scheduled || g.Visits != 7 || g.Versions != 2 || g.Wait != 36*time.Hour || g.Overdue != 90*time.Second || string(g.State) != "unchanged" {
		t.Errorf("got %+v", g)
	}
}
