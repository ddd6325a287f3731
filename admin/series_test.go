package admin

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/admin/recent"
	"github.com/arcrawl/arcrawl/crawler"
	"github.com/arcrawl/arcrawl/internal/town"
	"github.com/arcrawl/arcrawl/uri"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func visits(n int64) Point { return Point{Counts: api.Counts{Visits: n}} }

// TestTheSeriesIsBoundedAndOutlivesARestart counts one visit in each minute of a hundred days.
func TestTheSeriesIsBoundedAndOutlivesARestart(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "series.jsonl")
	s, err := openSeries(file, noon)
	if err != nil {
		t.Fatal(err)
	}
	now := noon
	for range 100 * 24 * 60 {
		p := visits(1)
		p.Start = now
		now = now.Add(time.Minute)
		if s.file = ""; now.Sub(noon) > 90*24*time.Hour { // write the file only in the last days
			s.file = file
		}
		if err := s.add(p); err != nil {
			t.Fatal(err)
		}
	}
	check := func(s *series) {
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
		if n := s.sum(now.Add(-time.Hour), now).Counts.Visits; n != 60 {
			t.Errorf("%d visits in the last hour, want 60", n)
		}
	}
	check(s)
	again, err := openSeries(file, now)
	if err != nil {
		t.Fatal(err)
	}
	check(again) // the file was rewritten within the ten days, with all hours
	if info, err := os.Stat(file); err != nil || info.Size() > 8<<20 {
		t.Errorf("the file is %v, %v; want it below 8 MB", info.Size(), err)
	}
}

func TestATornLineCostsOneMinute(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "series.jsonl")
	s, err := openSeries(file, noon)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		p := visits(int64(i))
		p.Start = noon.Add(time.Duration(i) * time.Minute)
		if err := s.add(p); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, text[:len(text)-20], 0o600); err != nil {
		t.Fatal(err)
	}
	if s, err = openSeries(file, noon.Add(time.Hour)); err != nil || len(s.minutes) != 2 {
		t.Errorf("%d minutes are read from a file with a torn line, %v; want the 2 before it", len(s.minutes), err)
	}
}

func TestAMinuteWithARestartIsJoined(t *testing.T) {
	t.Parallel()
	s := &series{}
	for range 2 {
		p := visits(5)
		p.Start = noon
		s.put(p)
	}
	older := visits(1)
	older.Start = noon.Add(-time.Hour) // the clock was set back
	s.put(older)
	if len(s.minutes) != 1 || s.minutes[0].Counts.Visits != 10 {
		t.Errorf("%+v; want one minute with 10 visits", s.minutes)
	}
}

// TestTheLastMinuteRolls counts one visit each second for three minutes, and no visits after that.
func TestTheLastMinuteRolls(t *testing.T) {
	t.Parallel()
	var m recent.Minute
	now := noon
	for range 180 {
		m.Add(now, now, api.Counts{Visits: 1})
		now = now.Add(time.Second)
	}
	now = now.Add(-time.Second)
	for _, c := range []struct {
		after time.Duration
		want  int64
	}{{0, 60}, {20 * time.Second, 40}, {59 * time.Second, 1}, {60 * time.Second, 0}, {24 * time.Hour, 0}} {
		if n := m.Sum(now.Add(c.after)).Visits; n != c.want {
			t.Errorf("%d visits in the minute that ends %s after the last one, want %d", n, c.after, c.want)
		}
	}
}

// TestLastMinuteCountsVisitsInAnyOrder reports 1,200 visits of a minute in random order, one that ended too long ago,
// and some after the clock was set back by an hour.
func TestLastMinuteCountsVisitsInAnyOrder(t *testing.T) {
	t.Parallel()
	var m recent.Minute
	order := rand.New(rand.NewPCG(1, 2)).Perm(1200)
	for _, i := range order {
		m.Add(noon, noon.Add(-time.Duration(i)*50*time.Millisecond+time.Second-time.Nanosecond), api.Counts{Visits: 1})
	}
	m.Add(noon, noon.Add(-time.Minute), api.Counts{Visits: 1})
	if n := m.Sum(noon).Visits; n != 1200 {
		t.Errorf("%d visits in the last minute, want 1,200", n)
	}
	back := noon.Add(-time.Hour)
	m.Add(back, back, api.Counts{Visits: 3})
	if n := m.Sum(back).Visits; n != 3 {
		t.Errorf("%d visits after the clock was set back, want 3", n)
	}
}

// TestStatusCountsVisitsInAnyOrder reports visits to a window in the order in which slow ones end.
func TestStatusCountsVisitsInAnyOrder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, dir, everyHour)
		defer w.close()
		for i := range 30 {
			for _, ago := range []time.Duration{0, 7 * time.Second, time.Second} {
				u := uri.FromCanonical(fmt.Sprintf("http://news.example/%d/%s", i, ago))
				w.window.Observe(crawler.Report{URI: u, Status: 200, Finished: time.Now().Add(-ago)})
			}
			time.Sleep(time.Second)
		}
		if n := get[api.Status](w, "/api/v1/status").LastMinute.Visits; n != 90 {
			t.Errorf("the status reports %d visits in the last minute, want 90", n)
		}
	})
}

// TestTheDiskIsProjected writes 1 MB to a disk each minute.
func TestTheDiskIsProjected(t *testing.T) {
	t.Parallel()
	s := &series{}
	free := int64(1 << 30)
	for i := range 60 {
		p := Point{Start: noon.Add(time.Duration(i) * time.Minute), Gauges: Gauges{DiskFree: free}}
		free -= 1 << 20
		s.put(p)
	}
	in := s.fullIn(api.Disk{Free: 600 << 20, MinFree: 500 << 20})
	if in == nil || time.Duration(*in).Round(time.Second) != 100*time.Minute {
		t.Errorf("full in %v; want 100 minutes for 100 MB", in)
	}
	if in := (&series{minutes: s.minutes[:5]}).fullIn(api.Disk{Free: 600 << 20}); in != nil {
		t.Errorf("full in %v after five minutes; want no estimate yet", in)
	}
}

// TestLiveSeriesMovesFromTheFirstSecond asks for the charts of a crawl that started a second ago, and twelve minutes
// ago.
func TestLiveSeriesMovesFromTheFirstSecond(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, dir, everyHour)
		defer w.close()
		w.set("http://news.example/", town.Page{})
		w.run(time.Second)
		s := get[api.Series](w, "/api/v1/series?span=10m")
		if len(s.Times) != 1 || s.Step != api.Seconds(5*time.Second) || s.Values["visits"][0] != 1 || s.Values["uris"][0] != 2 ||
			s.Values["hosts"][0] != 1 {
			t.Errorf("after a second the series is %+v", s)
		}
		w.run(12 * time.Minute)
		s = get[api.Series](w, "/api/v1/series?span=10m")
		last := len(s.Times) - 1
		if len(s.Times) != liveSteps || s.Times[last]-s.Times[0] != 595 || s.Values["uris"][last] != 2 || s.Values["disk_free"][last] != 1<<40 {
			t.Errorf("after twelve minutes the series has %d steps from %d to %d", len(s.Times), s.Times[0], s.Times[last])
		}
		if day := get[api.Series](w, "/api/v1/series?span=1h"); len(day.Times) != 12 {
			t.Errorf("the last hour has %d minutes, want 12", len(day.Times))
		}
	})
}
