package admin

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/arcrawl/arcrawl/admin/alarm"
	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/aspects/feeds"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/crawler"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/internal/slow"
	"github.com/arcrawl/arcrawl/internal/town"
	"github.com/arcrawl/arcrawl/uri"
)

// raised returns the kinds of the raised alarms.
func (w *world) raised() string {
	w.Helper()
	var kinds []string
	for _, a := range get[api.Alarms](w, "/api/v1/alarms").Alarms {
		kinds = append(kinds, a.Kind)
	}
	return strings.Join(kinds, " ")
}

// TestSilentSiteRaisesAlarm crawls a page that changes every hour for five days, then not for two, then again.
func TestSilentSiteRaisesAlarm(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		var told []string
		w := newWorld(t, dir, everyHour, func(o *Options) {
			o.Notify = func(list []alarm.Notice) {
				for _, n := range list {
					told = append(told, fmt.Sprintf("%s %s %t", n.Kind, n.About, n.Raised))
				}
			}
		})
		defer w.Close()
		w.Every = 10 * time.Minute
		w.Set("http://news.example/", town.Page{Every: time.Hour})
		w.Set("http://news.example/", town.Page{From: 5 * 24 * time.Hour})
		w.Set("http://news.example/", town.Page{From: 7 * 24 * time.Hour, Every: time.Hour})
		w.Run(5*24*time.Hour + 12*time.Hour)
		if got := w.raised(); got != "" {
			t.Errorf("after half a day of silence: %q, want nothing", got)
		}
		w.Run(24 * time.Hour)
		if got := w.raised(); got != "front-page silence" {
			t.Errorf("after a day and a half of silence: %q, want both alarms", got)
		}
		w.Run(24 * time.Hour)
		want := "front-page http://news.example/ true, silence news.example true, front-page http://news.example/ false, silence news.example false"
		if got := strings.Join(told, ", "); got != want || w.raised() != "" {
			t.Errorf("the notices are %q, and %q is still raised; want %q, and nothing raised", got, w.raised(), want)
		}
		if p := loadActivities(dir); p["news.example"].Last.IsZero() {
			t.Errorf("the usual activity of the host is not stored: %v", p)
		}
	})
}

// TestEachTroubleRaisesItsAlarm causes one trouble after another and checks that each raises its alarm.
func TestEachTroubleRaisesItsAlarm(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		var faults []config.Fault
		w := newWorld(t, dir, everyHour, func(o *Options) {
			was := o.Config
			o.Config = func() Loaded { l := was(); l.Faults = faults; return l }
		})
		defer w.Close()
		w.Set("http://news.example/", town.Page{})
		w.Run(10 * time.Minute)
		check := func(what, want string) {
			t.Helper()
			if got := w.raised(); got != want {
				t.Errorf("%s: %q is raised, want %q", what, got, want)
			}
		}
		check("at the beginning", "")
		w.Free = 1500 << 20 // min_free is 1 GB
		w.Run(2 * time.Minute)
		check("when the disk is nearly full", "disk")
		w.Free = 1
		w.Run(3 * time.Minute)
		check("when it is full", "standstill disk")
		w.Free = 1 << 40
		w.Run(15 * time.Minute)
		check("when it was cleared", "")
		faults = []config.Fault{{File: "x.toml", Problem: "is wrong"}}
		w.Run(2 * time.Minute)
		check("with a broken configuration", "config")
		faults = nil
		w.window.Observe(crawler.Report{URI: uri.FromCanonical("http://news.example/feed"), Finished: time.Now(), Source: feeds.Result{Gap: true}})
		w.Run(time.Minute)
		check("after a feed turned over", "feed-gap")
		w.Run(49 * time.Hour)
		check("two days later", "")
		w.Set("http://news.example/", town.Page{From: time.Hour, Down: true})
		w.Run(8 * time.Hour)
		check("with a host that is down", "host")
	})
}

// TestGrowingBacklogRaisesAlarm records a growing backlog in the series, and then a shrinking one.
func TestGrowingBacklogRaisesAlarm(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, dir, everyHour)
		defer w.Close()
		for i := range 8 * 60 {
			gauges := gauges{Due: 1000 + int64(i)*10, Overdue: 3600 + int64(i)*30, DiskFree: -1}
			p := seriesPoint{Start: time.Now().Add(time.Duration(i-8*60) * time.Minute), Gauges: gauges}
			w.window.series.Put(p)
		}
		if list := w.window.troubles(time.Now()); len(list) != 1 || list[0].Kind != alarm.Backlog || !strings.Contains(list[0].Text, "5790 URIs are due") {
			t.Errorf("alarms while the backlog grows by 600 URIs an hour: %v", list)
		}
		w.window.series = &timeSeries{}
		for i := range 8 * 60 {
			gauges := gauges{Due: 6000 - int64(i)*10, Overdue: 36000, DiskFree: -1}
			w.window.series.Put(seriesPoint{Start: time.Now().Add(time.Duration(i-8*60) * time.Minute), Gauges: gauges})
		}
		if list := w.window.troubles(time.Now()); len(list) != 0 {
			t.Errorf("alarms while the backlog shrinks: %v", list)
		}
		w.window.series = &timeSeries{}
		for i := range 8 * 60 {
			gauges := gauges{Due: 6000, Overdue: 3600 + int64(i)*30, DiskFree: -1}
			if i < 2*60 {
				gauges.Due = -1 // was not counted yet
			}
			w.window.series.Put(seriesPoint{Start: time.Now().Add(time.Duration(i-8*60) * time.Minute), Gauges: gauges})
		}
		if list := w.window.troubles(time.Now()); len(list) != 0 {
			t.Errorf("alarms of a backlog that was not counted six hours ago: %v", list)
		}
	})
}

// TestDocumentThatCannotBeProcessedIsLoud puts a URI with a control character into the store, as a faulty import would.
func TestDocumentThatCannotBeProcessedIsLoud(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, dir, everyHour)
		defer w.Close()
		w.Set("http://news.example/", town.Page{Every: 2 * time.Hour})
		bad := frontier.Candidate{URI: uri.FromCanonical("http://news.example/a\x01b"), Seed: "http://news.example/"}
		_, err := w.Parts.Frontier.Add(time.Now(), bad)
		w.Must(err)
		w.Run(time.Hour + time.Minute)
		if got := w.raised(); got != "document" {
			t.Errorf("raised %q, want the alarm about a document alone", got)
		}
		if text := w.scrape(); strings.Contains(text, "arcrawl_document_faults_total{kind=\"error\"} 0\n") {
			t.Error("the metrics do not count the document")
		}
		if w.window.Status().Condition.State != api.Crawling {
			t.Error("one document has stopped the crawl")
		}
	})
}
