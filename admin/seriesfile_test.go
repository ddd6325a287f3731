package admin

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/internal/archivetest"
)

func visits(n int64) seriesPoint { return seriesPoint{Counts: api.Counts{Visits: n}} }

// TestTheSeriesIsBoundedAndOutlivesARestart counts one visit in each minute of a hundred days.
func TestTheSeriesIsBoundedAndOutlivesARestart(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "series.jsonl")
	s, err := openSeries(file, noon)
	archivetest.Must(t, err)
	now := noon
	for range 100 * 24 * 60 {
		p := visits(1)
		p.Start = now
		now = now.Add(time.Minute)
		if s.file = ""; now.Sub(noon) > 90*24*time.Hour { // write the file only in the last days
			s.file = file
		}
		archivetest.Must(t, s.Add(p))
	}
	check := func(s *timeSeries) {
		t.Helper()
		for _, kept := range [][2]int{{len(s.minutes), minutesKept}, {len(s.hours), hoursKept}} {
			if kept[0] < kept[1] || kept[0] > kept[1]+kept[1]/8 {
				t.Errorf("%d points are kept; want at least %d, and at most an eighth more", kept[0], kept[1])
			}
		}
		for _, h := range s.hours {
			if h.Counts.Visits != 60 || !h.Start.Equal(h.Start.Truncate(time.Hour)) {
				t.Fatalf("the hour from %s has %d visits, want 60", h.Start, h.Counts.Visits)
			}
		}
		if n := s.Sum(now.Add(-time.Hour), now).Counts.Visits; n != 60 {
			t.Errorf("%d visits in the last hour, want 60", n)
		}
	}
	check(s)
	again, err := openSeries(file, now)
	archivetest.Must(t, err)
	check(again) // the file was rewritten within the ten days, with all hours
	if info, err := os.Stat(file); err != nil || info.Size() > 8<<20 {
		t.Errorf("the file is %v, %v; want it below 8 MB", info.Size(), err)
	}
}

func TestATornLineCostsOneMinute(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "series.jsonl")
	s, err := openSeries(file, noon)
	archivetest.Must(t, err)
	for i := range 3 {
		p := visits(int64(i))
		p.Start = noon.Add(time.Duration(i) * time.Minute)
		archivetest.Must(t, s.Add(p))
	}
	text, err := os.ReadFile(file)
	archivetest.Must(t, err)
	archivetest.Must(t, os.WriteFile(file, text[:len(text)-20], 0o600))
	if s, err = openSeries(file, noon.Add(time.Hour)); err != nil || len(s.minutes) != 2 {
		t.Errorf("%d minutes are read from a file with a torn line, %v; want the 2 before it", len(s.minutes), err)
	}
}

func TestAMinuteWithARestartIsJoined(t *testing.T) {
	t.Parallel()
	s := &timeSeries{}
	for range 2 {
		p := visits(5)
		p.Start = noon
		s.Put(p)
	}
	older := visits(1)
	older.Start = noon.Add(-time.Hour) // the clock was set back
	s.Put(older)
	if len(s.minutes) != 1 || s.minutes[0].Counts.Visits != 10 {
		t.Errorf("%+v; want one minute with 10 visits", s.minutes)
	}
}

// TestTheDiskIsProjected writes 1 MB to a disk each minute for a day.
func TestTheDiskIsProjected(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name            string
		minutes         int
		written, others int64 // bytes in a minute
		want            time.Duration
	}{
		{"by the crawl", 24 * 60, 1 << 20, 0, 100 * time.Minute},
		{"by the crawl, of ten hours", 600, 1 << 20, 0, 0},
		{"by another program", 24 * 60, 0, 1 << 20, 0},
		{"more by another program", 24 * 60, 1 << 20, 9 << 20, 100 * time.Minute},
		{"of which half is freed", 24 * 60, 2 << 20, -1 << 20, 100 * time.Minute},
	} {
		s := &timeSeries{}
		free := int64(1 << 40)
		for i := range c.minutes {
			p := seriesPoint{Start: noon.Add(time.Duration(i) * time.Minute), Gauges: gauges{DiskFree: free}}
			p.Counts.Written = c.written
			free -= c.written + c.others
			s.Put(p)
		}
		got := time.Duration(0)
		if in := s.FullIn(api.Disk{Free: 600 << 20, MinFree: 500 << 20}); in != nil {
			got = time.Duration(*in).Round(time.Minute)
		}
		if got != c.want {
			t.Errorf("%s: full in %v; want %v for 100 MB", c.name, got, c.want)
		}
	}
}
