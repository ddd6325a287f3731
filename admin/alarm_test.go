package admin

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/crawler"
	"github.com/arcrawl/arcrawl/internal/town"
	"github.com/arcrawl/arcrawl/uri"
)

// TestAnAlarmIsRaisedAndClearedOnce has a row for each course that a trouble can take; each character is a minute, "x" with
// the trouble and "." without.
func TestAnAlarmIsRaisedAndClearedOnce(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ what, kind, course, want string }{
		{"a host is down for too short a time", alarmHost, strings.Repeat("x", 59) + "....................", ""},
		{"a host is down for two hours", alarmHost, strings.Repeat("x", 120) + "...................", "raised at 60, cleared at 129"},
		{"a host flickers after its alarm", alarmHost, strings.Repeat("x", 70) + ".....xxxx.....xxx.............", "raised at 60, cleared at 96"},
		{"a host flickers before its alarm", alarmHost, strings.Repeat("xxxxxxxxx.", 12), ""},
		{"the uplink is down", alarmUplink, "..xx...", "raised at 2, cleared at 4"},
		{"the disk is short for a moment", alarmDisk, "x......", ""},
		{"the disk is short", alarmDisk, "xxx............", "raised at 1, cleared at 12"},
		{"a gap in a feed", alarmFeedGap, "x.....", "raised at 0"},
	} {
		var a alarms
		var got []string
		for i, at := range c.course {
			var list []trouble
			if at == 'x' {
				list = []trouble{{c.kind, "a.example", "something"}}
			}
			for _, change := range a.see(noon.Add(time.Duration(i)*time.Minute), list) {
				word := "cleared"
				if change.Raised {
					word = "raised"
				}
				got = append(got, fmt.Sprintf("%s at %d", word, i))
			}
		}
		if got := strings.Join(got, ", "); got != c.want {
			t.Errorf("%s: %q, want %q", c.what, got, c.want)
		}
	}
}

func TestTheAlarmsOfAKindAreBounded(t *testing.T) {
	t.Parallel()
	var a alarms
	var list []trouble
	for i := range 10_000 {
		list = append(list, trouble{alarmFeedGap, fmt.Sprint(i), "turned over"})
	}
	a.see(noon, append(list, trouble{alarmUplink, "", "down"}))
	if n := len(a.raised()); n != maxOfKind+1 {
		t.Errorf("%d alarms of 10,001 troubles, want %d of one kind and one of the other", n, maxOfKind)
	}
	if changes := a.see(noon.Add(48*time.Hour), nil); len(changes) != maxOfKind+1 || len(a.known) != 0 {
		t.Errorf("%d are cleared and %d are left", len(changes), len(a.known))
	}
}

// TestASilenceIsMeasuredByWhatIsUsual has a row for each history.
func TestASilenceIsMeasuredByWhatIsUsual(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	for _, c := range []struct {
		what           string
		changes        int64
		history, since time.Duration
		longest        time.Duration // silence before
		quiet          int
		want           bool
	}{
		{"twenty a day, silent for a day", 600, 30 * day, day, 6 * time.Hour, 20, true},
		{"twenty a day, silent for an evening", 600, 30 * day, 12 * time.Hour, 6 * time.Hour, 20, false},
		{"twenty a day, silent over a weekend as usual", 600, 30 * day, 60 * time.Hour, 62 * time.Hour, 40, false},
		{"twenty a day, silent for twice a weekend", 600, 30 * day, 125 * time.Hour, 62 * time.Hour, 80, true},
		{"one a day, silent for three days", 30, 30 * day, 3 * day, 2 * day, 10, false},
		{"one a day, silent for two weeks", 30, 30 * day, 15 * day, 2 * day, 10, true},
		{"nobody looked", 600, 30 * day, 5 * day, 6 * time.Hour, 0, false},
		{"hardly known", 600, 2 * day, 5 * day, 6 * time.Hour, 20, false},
		{"hardly anything ever", 3, 300 * day, 300 * day, day, 20, false},
	} {
		l := life{c.changes, noon.Add(-c.history - c.since), noon.Add(-c.since)}
		if chance, got := l.silent(activity{Longest: Seconds(c.longest), Quiet: c.quiet}, noon); got != c.want {
			t.Errorf("%s: silent for too long: %t (chance %.0e), want %t", c.what, got, chance, c.want)
		}
	}
}

// raised lists what is raised, by kind.
func (w *world) raised() string {
	w.Helper()
	var kinds []string
	for _, a := range get[Alarms](w, "/api/v1/alarms").Alarms {
		kinds = append(kinds, a.Kind)
	}
	return strings.Join(kinds, " ")
}

// TestASiteThatFallsSilentIsTold crawls a page that changes every hour for ten days, and then not for two.
func TestASiteThatFallsSilentIsTold(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		var told []string
		w := newWorld(t, dir, everyHour, func(o *Options) {
			o.Notify = func(n Notice) { told = append(told, fmt.Sprintf("%s %s %t", n.Kind, n.About, n.Raised)) }
		})
		defer w.close()
		w.every = 10 * time.Minute
		w.set("http://news.example/", town.Page{Every: time.Hour})
		w.set("http://news.example/", town.Page{From: 5 * 24 * time.Hour})
		w.set("http://news.example/", town.Page{From: 7 * 24 * time.Hour, Every: time.Hour})
		w.run(5*24*time.Hour + 12*time.Hour)
		if got := w.raised(); got != "" {
			t.Errorf("after half a day of silence: %q, want nothing", got)
		}
		w.run(24 * time.Hour)
		if got := w.raised(); got != "front-page silence" {
			t.Errorf("after a day and a half of silence: %q, want both alarms", got)
		}
		w.run(24 * time.Hour)
		want := "front-page http://news.example/ true, silence news.example true, front-page http://news.example/ false, silence news.example false"
		if got := strings.Join(told, ", "); got != want || w.raised() != "" {
			t.Errorf("told were %q, and %q is left; want %q, and nothing left", got, w.raised(), want)
		}
		if p := loadActivities(dir); p["news.example"].Last.IsZero() {
			t.Errorf("what is usual for the host is not kept: %v", p)
		}
	})
}

// TestEachTroubleHasItsAlarm makes one thing wrong after the other.
func TestEachTroubleHasItsAlarm(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		var faults []config.Fault
		w := newWorld(t, dir, everyHour, func(o *Options) {
			was := o.Config
			o.Config = func() Loaded { l := was(); l.Faults = faults; return l }
		})
		defer w.close()
		w.set("http://news.example/", town.Page{})
		w.run(10 * time.Minute)
		check := func(what, want string) {
			t.Helper()
			if got := w.raised(); got != want {
				t.Errorf("%s: %q is raised, want %q", what, got, want)
			}
		}
		check("at the beginning", "")
		w.free = 1500 << 20 // min_free is 1 GB
		w.run(2 * time.Minute)
		check("when the disk is nearly full", "disk")
		w.free = 1
		w.run(3 * time.Minute)
		check("when it is full", "standstill disk")
		w.free = 1 << 40
		w.run(15 * time.Minute)
		check("when it was cleared", "")
		faults = []config.Fault{{File: "x.toml", Problem: "is wrong"}}
		w.run(2 * time.Minute)
		check("with a broken configuration", "config")
		faults = nil
		w.window.Observe(crawler.Report{URI: uri.FromCanonical("http://news.example/feed"), Finished: time.Now(), Source: crawler.Reading{Gap: true}})
		w.run(time.Minute)
		check("after a feed turned over", "feed-gap")
		w.run(49 * time.Hour)
		check("two days later", "")
		w.set("http://news.example/", town.Page{From: time.Hour, Down: true})
		w.run(8 * time.Hour)
		check("with a host that is down", "host")
	})
}

// TestABacklogThatGrowsIsTold swamps a host.
func TestABacklogThatGrowsIsTold(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, dir, everyHour)
		defer w.close()
		for i := range 8 * 60 {
			p := Point{Start: time.Now().Add(time.Duration(i-8*60) * time.Minute), Gauges: Gauges{Due: 1000 + int64(i)*10, Overdue: 3600 + int64(i)*30, DiskFree: -1}}
			w.window.series.put(p)
		}
		if list := w.window.troubles(time.Now()); len(list) != 1 || list[0].kind != alarmBacklog || !strings.Contains(list[0].text, "5790 URIs are due") {
			t.Errorf("a backlog that grows by 600 URIs an hour: %v", list)
		}
		w.window.series.minutes = nil
		for i := range 8 * 60 {
			w.window.series.put(Point{Start: time.Now().Add(time.Duration(i-8*60) * time.Minute), Gauges: Gauges{Due: 6000 - int64(i)*10, Overdue: 36000, DiskFree: -1}})
		}
		if list := w.window.troubles(time.Now()); len(list) != 0 {
			t.Errorf("a backlog that shrinks: %v", list)
		}
	})
}
