package admin

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/crawler"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/internal/testcrawl"
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
	inWorld(t, everyHour, func(w *world) {
		w.known("swamped.example", 200, time.Hour, 30*time.Minute)
		w.visited("swamped.example", 30*time.Second) // 120 visits an hour are possible, 200 are needed
		w.known("slow.example", 100, 10*time.Hour, 2*time.Hour)
		w.visited("slow.example", time.Minute) // 60 visits an hour are possible, 10 are needed
		w.known("quick.example", 1, time.Hour, time.Minute)
		w.visited("quick.example", 300*time.Millisecond)
		w.known("fine.example", 100, 10*time.Hour, -time.Hour)
		w.known("held.example", 10, time.Hour, 48*time.Hour)
		_, _, err := w.Parts.Frontier.SteerHosts(time.Now(), "held.example", frontier.HostAction{Verb: frontier.Pause})
		w.Must(err)

		o := get[api.Overdue](w, "/api/v1/overdue")
		if o.All.URIs != 412 || o.All.Due != 312 { // including the seed
			w.Errorf("%d of %d are due; want 312 of 412", o.All.Due, o.All.URIs)
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
			{"quick.example", 1, time.Minute, "in less than 1s"},
			{"fine.example", 0, 0, "nothing is due"},
			{"held.example", 10, 48 * time.Hour, "never: the host is held; arcrawl release held.example"},
		} {
			b := rows[c.host]
			if b.Due != c.due || time.Duration(b.Most) != c.most || b.Ends != c.ends {
				w.Errorf("%s: %d due for up to %s, ends %q; want %d, %s, %q", c.host, b.Due, time.Duration(b.Most), b.Ends, c.due, c.most, c.ends)
			}
			if p := time.Duration(b.P50); p < c.most*89/100 || p > c.most {
				w.Errorf("%s: the median is %s, but all URIs are overdue for %s", c.host, p, c.most)
			}
		}
		if o.Rows[0].Name != "held.example" {
			w.Errorf("the first row is %s, want the most overdue host", o.Rows[0].Name)
		}
		if s := rows["swamped.example"]; math.Abs(s.Demand-200) > 1 || math.Abs(s.Capacity-120) > 1 || !s.Observed {
			w.Errorf("swamped.example needs %.1f visits an hour and can have %.1f; want 200 and 120, observed", s.Demand, s.Capacity)
		}
		if f := rows["fine.example"]; f.Observed || math.Abs(f.Capacity-600) > 1 {
			w.Errorf("fine.example can have %.1f visits an hour, observed: %t; want 600, computed from 1 s per exchange and 5 s of rest", f.Capacity, f.Observed)
		}
		types := get[api.Overdue](w, "/api/v1/overdue?by=mime")
		if len(types.Rows) != 2 || types.Rows[0].Name != "text/html" || types.Rows[0].URIs != 411 || types.Rows[0].Ends != "" {
			w.Errorf("the backlog by type is %+v", types.Rows)
		}
		waits := get[api.Overdue](w, "/api/v1/overdue?by=wait&host=slow.example")
		if len(waits.Rows) != 1 || waits.Rows[0].Name != "6h to 1d" || waits.All.URIs != 100 {
			w.Errorf("the backlog of one host by wait is %+v", waits.Rows)
		}
	})
}

// TestOverdueSaysOfADeadHostThatItsEndIsUnknown surveys a host whose pages are due for a day because it is unreachable.
// Its pace alone would promise that they are visited within minutes.
func TestOverdueSaysOfADeadHostThatItsEndIsUnknown(t *testing.T) {
	var seeds strings.Builder
	for i := range 40 { // each visit tries one of them
		fmt.Fprintf(&seeds, `"http://news.example/%d", `, i)
	}
	inWorld(t, strings.Replace(everyHour, `"http://news.example/"`, seeds.String(), 1), func(w *world) {
		w.Every = time.Hour
		w.Set("http://news.example/0", testcrawl.Page{Down: true})
		w.Run(27 * time.Hour)
		row := get[api.Overdue](w, "/api/v1/overdue").Rows[0]
		if row.Due == 0 || row.GoneIn != nil || !strings.HasPrefix(row.Ends, "unknown: the host was unreachable ") {
			w.Errorf("%d URIs of a dead host are due, and it ends %q, in %v; want that this is unknown", row.Due, row.Ends, row.GoneIn)
		}
	})
}

// TestSurveyIsReusedWhileFresh asks for a survey twice within its maximum age, and once later.
func TestSurveyIsReusedWhileFresh(t *testing.T) {
	inWorld(t, everyHour, func(w *world) {
		ask := func() api.Overdue { return get[api.Overdue](w, "/api/v1/overdue?max_age=30") }
		first := ask()
		w.known("late.example", 10, time.Hour, time.Minute)
		time.Sleep(20 * time.Second)
		if again := ask(); again.All.URIs != first.All.URIs || time.Duration(again.Age) != 20*time.Second {
			w.Errorf("after 20 s: %d URIs, %s old; want the first survey again", again.All.URIs, time.Duration(again.Age))
		}
		time.Sleep(20 * time.Second)
		if fresh := ask(); fresh.All.URIs != first.All.URIs+10 || fresh.Age != 0 {
			w.Errorf("after 40 s: %d URIs, %s old; want a new survey", fresh.All.URIs, time.Duration(fresh.Age))
		}
	})
}

// TestOverdueByPathShowsWhichURIsAskForMostVisits groups the URIs of a host by path and names of parameters.
func TestOverdueByPathShowsWhichURIsAskForMostVisits(t *testing.T) {
	inWorld(t, everyHour, func(w *world) {
		w.known("swamped.example/article", 20, 10*time.Hour, 0)
		w.known("swamped.example/search?q=", 100, time.Hour, 0)
		o := get[api.Overdue](w, "/api/v1/overdue?by=path&host=swamped.example")
		if len(o.Rows) != 2 || o.Rows[0].Name != "/search?q" || o.Rows[0].URIs != 100 || o.Rows[1].Name != "/article/" {
			w.Errorf("rows %+v; want 100 URIs of /search?q, then 20 of /article/", o.Rows)
		}
		if status := w.Ask("GET", "/api/v1/overdue?by=path", nil, nil); status != 400 {
			w.Errorf("rows by path of all hosts: status %d, want 400", status)
		}
	})
}

// TestTheLastSurveyIsAnsweredAtOnce asks for the last survey before there is one, while another one is in progress, and
// after it was renewed in the background.
func TestTheLastSurveyIsAnsweredAtOnce(t *testing.T) {
	inWorld(t, everyHour, func(w *world) {
		w.known("late.example", 10, time.Hour, time.Hour)
		latest := func() api.Overdue {
			w.Helper()
			return get[api.Overdue](w, "/api/v1/overdue?by=host&latest=true")
		}
		if o := latest(); !o.AsOf.IsZero() || len(o.Rows) > 0 {
			w.Errorf("before the first survey the answer is %+v", o)
		}
		w.Must(w.window.survey.renew())
		if o := latest(); o.AsOf.IsZero() || o.All.Due != 11 {
			w.Errorf("after it the answer is %+v", o)
		}
		w.known("later.example", 10, time.Hour, time.Hour)
		w.Must(w.window.survey.renew())
		if o := latest(); o.All.Due != 11 {
			w.Errorf("%d URIs are due, although the survey is new", o.All.Due)
		}
		time.Sleep(2 * time.Minute)
		w.Must(w.window.Tick(time.Now()))
		if o := latest(); o.All.Due != 21 {
			w.Errorf("%d URIs are due two minutes later, want 21", o.All.Due)
		}
		var p api.Problem
		if status := w.Ask("GET", "/api/v1/overdue?host=late.example&latest=true", nil, &p); status != 400 || p.Error == "" {
			w.Errorf("the latest survey of one host: %d %s", status, p.Error)
		}
	})
}

// severalTargets has a capture target for pages, a lower one for data and for pages below /old/, and none for pictures.
const severalTargets = `[operator]
name = "Test Library"
contact = "https://library.example/crawler"
[[wait]]
mime = "^text/html.*"
rule = "learned"
capture_target = 0.9
[[wait]]
mime = "^application/json.*"
rule = "learned"
capture_target = 0.5
[[when]]
uri = "/old/"
wait = [{ mime = "^text/html.*", capture_target = 0.5 }]
[seeds]
uris = ["http://news.example/"]
`

// holds adds n URIs of a media type to the frontier. They are visited each hour and expected to change once between
// visits.
func (w *world) holds(host, path, mime, source string, n int) {
	w.Helper()
	w.holdsSuch(host, path, mime, source, n, false)
}

// holdsSuch adds URIs that are restless or not.
func (w *world) holdsSuch(host, path, mime, source string, n int, restless bool) {
	w.Helper()
	now := time.Now()
	entries := make([]frontier.Entry, n)
	for i := range entries {
		r := frontier.Record{URI: uri.FromCanonical(fmt.Sprintf("http://%s%s%d", host, path, i)), Seed: "http://" + host + "/"}
		r.Due, r.LastVisit, r.Wait = now.Add(time.Minute), now.Add(-time.Hour), time.Hour
		r.Visits, r.ContentType, r.Source, r.Restless = 1, mime, source, restless
		entries[i] = frontier.Entry{Record: r}
	}
	_, err := w.Parts.Frontier.Import(now, false, entries...)
	w.Must(err)
}

func TestPromiseNamesAllCaptureTargetsOfAHost(t *testing.T) {
	inWorld(t, severalTargets, func(w *world) {
		w.holds("two.example", "/", "text/html; charset=utf-8", "", 100)
		w.holds("two.example", "/data/", "application/json", "", 100)
		w.visited("two.example", 30*time.Second)
		w.holds("refined.example", "/", "text/html", "", 100)
		w.holds("refined.example", "/old/", "text/html", "", 100)
		w.visited("refined.example", 30*time.Second)
		w.holds("data.example", "/", "application/json", "", 100)
		w.holdsSuch("data.example", "/clock/", "application/json", "", 3, true)
		w.visited("data.example", 2*time.Minute)
		w.holds("pictures.example", "/", "image/png", "", 100)
		w.holds("mixed.example", "/", "text/html", "", 10)
		w.holds("mixed.example", "/", "image/png", "", 200) // the type has no capture target
		w.holds("mixed.example", "/p/", "image/png", "", 100)
		w.visited("mixed.example", 30*time.Second)
		w.holds("feeds.example", "/", "application/json", string([]byte{1}), 100)
		rows := map[string]api.Backlog{}
		for _, b := range get[api.Overdue](w, "/api/v1/overdue").Rows {
			rows[b.Name] = b
		}
		for host, want := range map[string]string{
			"two.example":      "capture targets of 90 % (text/html) and 50 % (application/json) need a delay of ",
			"refined.example":  `capture targets of 90 % (text/html) and 50 % (text/html where uri = "/old/") need a delay of `,
			"data.example":     "a capture target of 50 % needs a delay of ",
			"pictures.example": "",
			"mixed.example":    "a capture target of 90 % needs a delay of ",
			"feeds.example":    "", // feeds have a wait of their own
		} {
			if got := rows[host].Promise; !strings.HasPrefix(got, want) || (got == "") != (want == "") {
				w.Errorf("%s: %q, want %q…", host, got, want)
			}
		}
		two, data := rows["two.example"].Promise, rows["data.example"].Promise
		w.Logf("%s\n%s\n%s\n%s", two, rows["refined.example"].Promise, data, rows["mixed.example"].Promise)
		if !strings.Contains(two, "instead of 30s, or ") || strings.Count(two[strings.Index(two, "at present"):], " %") != 2 {
			w.Errorf("the promise is %q, want the present delay and two present shares", two)
		}
		if want := "; 3 restless pages are not counted"; !strings.HasSuffix(data, want) || strings.Contains(two, "restless") {
			w.Errorf("the promise is %q, want it to end in %q", data, want)
		}
		pace, err := w.window.BelowTarget()
		if err != nil || len(pace) != 4 || pace[0].Promise != rows[pace[0].Host].Promise {
			w.Errorf("below their targets are %+v, %v; want 4 hosts with the promises of the backlog", pace, err)
		}
	})
}

// A host has a seed and two sections among many pages. The sentence about its capture target names what they keep.
func TestPromiseTellsFrontPagesApart(t *testing.T) {
	inWorld(t, severalTargets, func(w *world) {
		now := time.Now()
		add := func(path string, hops uri.HopPath) {
			r := frontier.Record{URI: uri.FromCanonical("http://news.example" + path), Hops: hops, Seed: "http://news.example/"}
			r.Due, r.LastVisit, r.Wait, r.Visits, r.ContentType = now.Add(time.Minute), now.Add(-time.Hour), time.Hour, 1, "text/html"
			_, err := w.Parts.Frontier.Import(now, false, frontier.Entry{Record: r})
			w.Must(err)
		}
		add("/", "")
		add("/politics", "L")
		add("/local-news/", "L")
		for i := range 200 {
			add(fmt.Sprintf("/articles/%d", i), "LL")
		}
		w.visited("news.example", 30*time.Second)
		want := "a capture target of 90 % needs a delay of 2.8s instead of 30s, or 184 URIs fewer; at present 46 % " +
			"(92 % of seeds, front pages, sections and feeds)"
		if got := get[api.Overdue](w, "/api/v1/overdue").Rows[0].Promise; got != want {
			w.Errorf("the promise is %q, want %q", got, want)
		}
	})
}
