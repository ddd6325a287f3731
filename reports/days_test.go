package reports

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"github.com/arcrawl/arcrawl/admin"
	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/internal/slow"
	"github.com/arcrawl/arcrawl/internal/testcrawl"
)

// learning uses the learned rule for HTML and the classic rule for other types.
const learning = `[operator]
name = "Test Library"
contact = "https://library.example/crawler"
[[wait]]
mime = "text/html.*"
rule = "learned"
capture_target = 0.9
[[wait]]
mime = ".*"
rule = "classic"
initial = "1h"
[seeds]
uris = ["http://news.example/", "http://data.example/"]
`

// TestDayReportAgreesWithTheLog crawls two days with a restart in the middle of the first, and compares the counts with
// crawl.log.
func TestDayReportAgreesWithTheLog(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	dir := t.TempDir()
	var log bytes.Buffer
	synctest.Test(t, func(t *testing.T) {
		for _, d := range []time.Duration{10 * time.Hour, 38*time.Hour + 10*time.Minute, time.Hour} {
			w := newWorld(t, dir, learning, func(o *admin.Options) { o.Log = zerolog.New(&log) })
			w.Every = 4 * time.Minute
			w.Set("http://news.example/", testcrawl.Page{Every: 20 * time.Minute, Type: "text/html"})
			w.Set("http://data.example/", testcrawl.Page{Every: 3 * time.Hour, Type: "application/json"})
			w.Run(d)
			report := get[api.DayReport](w, "/api/v1/reports/days?days=3")
			agrees(w, report)
			w.Close()
		}
	})
	logged := strings.Count(log.String(), "summary of a day: ")
	if want := `"day":"2000-01-01","hosts":2,`; logged != 2 || !strings.Contains(log.String(), want) {
		t.Errorf("the log has %d summaries, want 2, one of them %s:\n%s", logged, want, &log)
	}
}

// agrees compares a report with the log, and its number of versions with the real number.
func agrees(w *world, report api.DayReport) {
	w.Helper()
	log := w.Parts.Config.Current().Storage.Log
	read, err := Read(context.Background(), []string{log}, Options{By: []Dimension{ByHostDay}})
	w.Must(err)
	logged := map[string]api.DayRow{}
	for _, r := range read.Summaries[0].Rows(ByHostDay) {
		host, day, _ := strings.Cut(r.Key, " ")
		logged[r.Key] = admin.DayRow(day, host, r.Daily.Captured())
	}
	if len(report.Rows) != len(logged) || len(logged) == 0 {
		w.Fatalf("the report has %+v, the log has %+v", report.Rows, logged)
	}
	for _, counted := range report.Rows {
		l := logged[counted.Host+" "+counted.Day]
		off := math.Abs(l.Versions - counted.Versions)
		if l.Requests != counted.Requests || l.Seen != counted.Seen || off > 0.02*counted.Versions {
			w.Errorf("%s on %s: counted %s; logged %s", counted.Host, counted.Day, counted.Text, l.Text)
		}
		if counted.Host == "news.example" && counted.Day == "2000-01-02" && report.Days[len(report.Days)-1].Day > counted.Day {
			if counted.Versions < 60 || counted.Versions > 86 || float64(counted.Seen) > counted.Versions {
				w.Errorf("the count is %s, want about 72 versions", counted.Text)
			}
		}
	}
}

// TestMissedCaptureTargetsAreReportedAndLogged crawls a host that changes more often than its delay allows.
func TestMissedCaptureTargetsAreReportedAndLogged(t *testing.T) {
	var log bytes.Buffer
	inWorld(t, learning, func(w *world) {
		w.known("swamped.example", 200, time.Hour, 30*time.Minute)
		w.visited("swamped.example", 30*time.Second)
		w.known("fine.example", 10, time.Hour, 30*time.Minute)
		report := get[api.DayReport](w, "/api/v1/reports/days")
		want := "a capture target of 90 % needs a delay of 2.8s instead of 30s, or 182 URIs fewer; at present 49 %"
		if len(report.Pace) != 1 || report.Pace[0].Host != "swamped.example" || report.Pace[0].Promise != want {
			w.Errorf("the report has %+v, want one host and %q", report.Pace, want)
		}
		for _, b := range get[api.Overdue](w, "/api/v1/overdue").Rows {
			if b.Name == "fine.example" && !strings.HasPrefix(b.Promise, "a capture target of 90 % can be kept") ||
				b.Name == "swamped.example" && b.Promise != want {
				w.Errorf("%s: the promise of the backlog is %q", b.Name, b.Promise)
			}
		}
		if of := get[api.DayReport](w, "/api/v1/reports/days?host=fine.example"); len(of.Pace) != 0 {
			w.Errorf("the report of another host has %+v, want nothing", of.Pace)
		}
		w.Must(w.window.Tick(time.Now()))
		time.Sleep(24*time.Hour + 6*time.Minute)
		w.Must(w.window.Tick(time.Now()))
		w.Must(w.window.Tick(time.Now().Add(time.Minute)))
		if n := strings.Count(log.String(), fmt.Sprintf(`"host":"swamped.example","message":%q`, want)); n != 1 {
			w.Errorf("the log has the promise %d times, want once:\n%s", n, &log)
		}
	}, func(o *admin.Options) { o.Log = zerolog.New(&log) })
}
