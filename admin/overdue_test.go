package admin

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/crawler"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/uri"
)

// known adds n URIs of a host to the frontier. Their wait is every, and they have been due for the time overdue.
func (w *world) known(host string, n int, every, overdue time.Duration) {
	w.Helper()
	now := time.Now()
	entries := make([]frontier.Entry, n)
	for i := range entries {
		r := frontier.Record{URI: uri.FromCanonical(fmt.Sprintf("http://%s/%d", host, i)), Seed: "http://" + host + "/"}
		r.Due = now.Add(-overdue)
		r.LastVisit, r.Wait, r.Visits, r.ContentType = r.Due.Add(-every), every, 1, "text/html; charset=utf-8"
		entries[i] = frontier.Entry{Record: r}
	}
	_, err := w.Parts.Frontier.Import(now, false, entries...)
	w.Must(err)
}

// visited notifies the window of a visit to a host. took includes the host's rest after the visit.
func (w *world) visited(host string, took time.Duration) {
	u := uri.FromCanonical("http://" + host + "/")
	w.window.Observe(crawler.Report{URI: u, Finished: time.Now(), Status: 200, Took: took / 10, Rest: took - took/10})
}

// TestOverdueShowsWhenABacklogClears surveys hosts with and without a backlog, and a held one.
func TestOverdueShowsWhenABacklogClears(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, dir, everyHour)
		defer w.Close()
		w.known("swamped.example", 200, time.Hour, 30*time.Minute)
		w.visited("swamped.example", 30*time.Second) // 120 visits an hour are possible, 200 are needed
		w.known("slow.example", 100, 10*time.Hour, 2*time.Hour)
		w.visited("slow.example", time.Minute) // 60 visits an hour are possible, 10 are needed
		w.known("fine.example", 100, 10*time.Hour, -time.Hour)
		w.known("held.example", 10, time.Hour, 48*time.Hour)
		_, _, err := w.Parts.Frontier.SteerHosts(time.Now(), "held.example", frontier.HostAction{Verb: frontier.Pause})
		w.Must(err)

		o := get[api.Overdue](w, "/api/v1/overdue")
		if o.All.URIs != 411 || o.All.Due != 311 { // including the seed
			t.Errorf("%d of %d are due; want 311 of 411", o.All.Due, o.All.URIs)
		}
		rows := map[string]api.Backlog{}
		for _, b := range o.Rows {
			rows[b.Name] = b
		}
		for _, c := range []struct {
			host string
			due  int64
			most time.Duration
			ends string
		}{
			{"swamped.example", 200, 30 * time.Minute, "never: needs a delay of 18s, or 82 fewer URIs"},
			{"slow.example", 100, 2 * time.Hour, "in 2h"},
			{"fine.example", 0, 0, "nothing is due"},
			{"held.example", 10, 48 * time.Hour, "never: the host is held; arcrawl release held.example"},
		} {
			b := rows[c.host]
			if b.Due != c.due || time.Duration(b.Most) != c.most || b.Ends != c.ends {
				t.Errorf("%s: %d due for up to %s, ends %q; want %d, %s, %q", c.host, b.Due, time.Duration(b.Most), b.Ends, c.due, c.most, c.ends)
			}
			if p := time.Duration(b.P50); p < c.most*89/100 || p > c.most {
				t.Errorf("%s: the median is %s, but all URIs are overdue for %s", c.host, p, c.most)
			}
		}
		if o.Rows[0].Name != "held.example" {
			t.Errorf("the first row is %s, want the most overdue host", o.Rows[0].Name)
		}
		if s := rows["swamped.example"]; math.Abs(s.Demand-200) > 1 || math.Abs(s.Capacity-120) > 1 || !s.Observed {
			t.Errorf("swamped.example needs %.1f visits an hour and can have %.1f; want 200 and 120, observed", s.Demand, s.Capacity)
		}
		if f := rows["fine.example"]; f.Observed || math.Abs(f.Capacity-600) > 1 {
			t.Errorf("fine.example can have %.1f visits an hour, observed: %t; want 600, computed from 1 s per exchange and 5 s of rest", f.Capacity, f.Observed)
		}
		types := get[api.Overdue](w, "/api/v1/overdue?by=mime")
		if len(types.Rows) != 2 || types.Rows[0].Name != "text/html" || types.Rows[0].URIs != 410 || types.Rows[0].Ends != "" {
			t.Errorf("the backlog by type is %+v", types.Rows)
		}
		waits := get[api.Overdue](w, "/api/v1/overdue?by=wait&host=slow.example")
		if len(waits.Rows) != 1 || waits.Rows[0].Name != "6h to 1d" || waits.All.URIs != 100 {
			t.Errorf("the backlog of one host by wait is %+v", waits.Rows)
		}
	})
}

// TestSurveyIsReusedWhileFresh asks for a survey twice within its maximum age, and once later.
func TestSurveyIsReusedWhileFresh(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, dir, everyHour)
		defer w.Close()
		ask := func() api.Overdue { return get[api.Overdue](w, "/api/v1/overdue?max_age=30") }
		first := ask()
		w.known("late.example", 10, time.Hour, time.Minute)
		time.Sleep(20 * time.Second)
		if again := ask(); again.All.URIs != first.All.URIs || time.Duration(again.Age) != 20*time.Second {
			t.Errorf("after 20 s: %d URIs, %s old; want the first survey again", again.All.URIs, time.Duration(again.Age))
		}
		time.Sleep(20 * time.Second)
		if fresh := ask(); fresh.All.URIs != first.All.URIs+10 || fresh.Age != 0 {
			t.Errorf("after 40 s: %d URIs, %s old; want a new survey", fresh.All.URIs, time.Duration(fresh.Age))
		}
	})
}

func TestOverdueShowsTheDelayThatACaptureTargetNeeds(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, dir, strings.NewReplacer("initial = \"1h\"", "rule = \"learned\"\ncapture_target = 0.9", "min = \"1h\"\nmax = \"1h\"\n", "").Replace(everyHour))
		defer w.Close()
		w.known("swamped.example", 200, time.Hour, 30*time.Minute) // each URI is expected to change once an hour
		w.visited("swamped.example", 30*time.Second)
		w.known("fine.example", 10, time.Hour, 30*time.Minute)
		promises := map[string]string{}
		for _, b := range get[api.Overdue](w, "/api/v1/overdue").Rows {
			promises[b.Name] = b.Promise
		}
		if want := "a capture target of 90 % needs a delay of 2.8s instead of 30s, or 182 URIs fewer; at present 49 %"; promises["swamped.example"] != want {
			t.Errorf("the promise is %q, want %q", promises["swamped.example"], want)
		}
		if got := promises["fine.example"]; !strings.HasPrefix(got, "a capture target of 90 % can be kept") {
			t.Errorf("the promise of fine.example is %q, want that the target can be kept", got)
		}
	})
}

// TestOverdueByPathShowsWhichURIsAskForMostVisits groups the URIs of a host by path and names of parameters.
func TestOverdueByPathShowsWhichURIsAskForMostVisits(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, dir, everyHour)
		defer w.Close()
		w.known("swamped.example/article", 20, 10*time.Hour, 0)
		w.known("swamped.example/search?q=", 100, time.Hour, 0)
		o := get[api.Overdue](w, "/api/v1/overdue?by=path&host=swamped.example")
		if len(o.Rows) != 2 || o.Rows[0].Name != "/search?q" || o.Rows[0].URIs != 100 || o.Rows[1].Name != "/article/" {
			t.Errorf("rows %+v; want 100 URIs of /search?q, then 20 of /article/", o.Rows)
		}
		if status := w.Ask("GET", "/api/v1/overdue?by=path", nil, nil); status != 400 {
			t.Errorf("rows by path of all hosts: status %d, want 400", status)
		}
	})
}

// TestTheLastSurveyIsAnsweredAtOnce asks for the last survey before there is one, while another one is in progress, and
// after it was renewed in the background.
func TestTheLastSurveyIsAnsweredAtOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, dir, everyHour)
		defer w.Close()
		w.known("late.example", 10, time.Hour, time.Hour)
		latest := func() api.Overdue {
			t.Helper()
			return get[api.Overdue](w, "/api/v1/overdue?by=host&latest=true")
		}
		if o := latest(); !o.AsOf.IsZero() || len(o.Rows) > 0 {
			t.Errorf("before the first survey the answer is %+v", o)
		}
		w.Must(w.window.survey.Renew())
		if o := latest(); o.AsOf.IsZero() || o.All.Due != 11 {
			t.Errorf("after it the answer is %+v", o)
		}
		w.known("later.example", 10, time.Hour, time.Hour)
		w.Must(w.window.survey.Renew())
		if o := latest(); o.All.Due != 11 {
			t.Errorf("%d URIs are due, although the survey is new", o.All.Due)
		}
		time.Sleep(2 * time.Minute)
		w.Must(w.window.Tick(time.Now()))
		if o := latest(); o.All.Due != 21 {
			t.Errorf("%d URIs are due two minutes later, want 21", o.All.Due)
		}
		var p api.Problem
		if status := w.Ask("GET", "/api/v1/overdue?host=late.example&latest=true", nil, &p); status != 400 || p.Error == "" {
			t.Errorf("the latest survey of one host: %d %s", status, p.Error)
		}
	})
}
