package admin

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/arcrawl/arcrawl/admin/access"
	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/crawler"
	"github.com/arcrawl/arcrawl/internal/testcrawl"
	"github.com/arcrawl/arcrawl/uri"
)

// TestADayOfVisitsIsCounted crawls a page that changes every other hour for a day, and asks for the status, the series
// and the metrics.
func TestADayOfVisitsIsCounted(t *testing.T) {
	about := `about = [{ uri = "http://news.example/", labels = ["newspapers"] }]` + "\n"
	inWorld(t, everyHour+about, func(w *world) {
		w.Set("http://news.example/", testcrawl.Page{Every: 2 * time.Hour})
		w.Run(24*time.Hour - time.Minute)

		s := get[api.Status](w, "/api/v1/status")
		if s.Condition.State != api.Crawling || s.Hosts.Known != 1 || s.URIs.Known != 2 ||
			time.Duration(s.Uptime) != 24*time.Hour-time.Minute {
			w.Errorf("the status is %+v", s)
		}
		if s.Archive.Store < 1000 {
			w.Errorf("the store has %d bytes", s.Archive.Store)
		}
		if c := s.LastDay; c.Visits != 25 || c.Versions != 13 || c.Unchanged != 12 || c.Received == 0 || c.Written == 0 {
			w.Errorf("the last day had %+v; want 24 visits of the page, of which 12 found a version, and one of robots.txt", c)
		}
		if c := s.LastHour; c.Visits == 0 || c.Visits > 2 {
			w.Errorf("the last hour had %+v; want one visit", c)
		}
		day := get[api.Series](w, "/api/v1/series?span=1d")
		var visits int64
		for _, n := range day.Values["visits"] {
			visits += n
		}
		if len(day.Times) != 24*60-1 || visits < 25 {
			w.Errorf("%d minutes with %d visits; want all visits of the day", len(day.Times), visits)
		}
		if long := get[api.Series](w, "/api/v1/series?span=90d"); len(long.Times) != 23 || long.Values["uris"][22] != 2 {
			w.Errorf("%d hours, URIs %v; want 23 whole hours", len(long.Times), long.Values["uris"])
		}
		text := w.scrape()
		for _, line := range []string{
			`arcrawl_visits_total{outcome="version"} 13`,
			`arcrawl_visits_total{outcome="unchanged"} 12`,
			`arcrawl_label_versions_total{label="newspapers"} 13`,
			`arcrawl_state{state="crawling"} 1`,
			`arcrawl_state{state="paused"} 0`,
			`arcrawl_hosts{state="snoozed"} 1`,
			`arcrawl_uris 2`,
			`arcrawl_uris_due 0`,
			`arcrawl_disk_free_bytes 1.099511627776e+12`,
			`arcrawl_build_info{version="test"} 1`,
			`arcrawl_folder_free_bytes{folder="/disk"} 7`,
			`arcrawl_visit_seconds_count `,
			`go_goroutines `,
		} {
			if !strings.Contains(text, "\n"+line) {
				w.Errorf("no line %q in:\n%s", line, text)
			}
		}
		for _, m := range allMetrics() {
			if !strings.Contains(text, "# TYPE "+m.Name+" "+m.Type+"\n") {
				w.Errorf("%s is not a %s, or is missing", m.Name, m.Type)
			}
		}
	}, func(o *Options) {
		o.Stored = func(a *api.Archive) { a.Offload.Folders = []api.Folder{{Path: "/disk", Free: 7}} }
	})
}

// TestAPauseOutlivesARestart pauses the crawl through the API and opens the window again.
func TestAPauseOutlivesARestart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, dir, everyHour)
		post[api.Condition](w, "/api/v1/pause", api.Reason{Reason: "works on the network"})
		since := time.Now()
		w.Close()
		time.Sleep(time.Hour)

		w = newWorld(t, dir, everyHour)
		w.Set("http://news.example/", testcrawl.Page{})
		w.Run(3 * time.Hour)
		s := get[api.Status](w, "/api/v1/status")
		if s.Condition.State != api.Paused || s.Condition.Why != "works on the network" || s.Condition.Since == nil || !s.Condition.Since.Equal(since) || s.LastDay.Visits != 0 {
			t.Errorf("after a restart the crawl is %+v with %d visits; want it paused since %s", s.Condition, s.LastDay.Visits, since)
		}
		if at := post[api.Condition](w, "/api/v1/resume", nil); at.State != api.Crawling {
			t.Errorf("after a resume the crawl is %+v", at)
		}
		w.Close()

		w = newWorld(t, dir, everyHour)
		if at := get[api.Status](w, "/api/v1/status").Condition; at.State != api.Crawling {
			t.Errorf("after a resume and a restart the crawl is %+v", at)
		}
		post[api.Condition](w, "/api/v1/pause", api.Reason{For: api.Seconds(time.Hour)})
		w.Close()
		time.Sleep(2 * time.Hour)
		w = newWorld(t, dir, everyHour)
		if at := get[api.Status](w, "/api/v1/status").Condition; at.State != api.Crawling {
			t.Errorf("after a pause whose time was over at the restart the crawl is %+v", at)
		}
		w.Close()
	})
}

// TestOrdersReachTheFrontier adds, holds and releases URIs, and forces a visit to one.
func TestOrdersReachTheFrontier(t *testing.T) {
	inWorld(t, everyHour, func(w *world) {
		for _, u := range []string{"/", "/a", "/b"} {
			w.Set("http://news.example"+u, testcrawl.Page{})
		}
		added := post[api.Added](w, "/api/v1/seeds", api.Seeds{URIs: []string{
			"http://news.example/a", "HTTP://NEWS.example/b#top", "http://news.example/", "http://other.example/", "mailto:x",
		}})
		if added.New != 2 || added.Known != 1 || !slices.Equal(added.Outside, []string{"http://other.example/"}) || len(added.Faults) != 1 {
			w.Errorf("added %+v; want 2 new, 1 known, 1 outside, 1 fault", added)
		}
		held := post[api.Ordered](w, "/api/v1/frontier/steer", api.Order{Verb: "hold", Select: api.Select{URIs: []string{"http://news.example/a"}}})
		if held.Changed != 1 {
			w.Errorf("the hold returns %+v, want one URI", held)
		}
		w.Run(30 * time.Minute)
		if a, b := get[api.URI](w, "/api/v1/uri?uri=http://news.example/a"), get[api.URI](w, "/api/v1/uri?uri=http://news.example/b"); a.Visits != 0 || b.Visits != 1 {
			w.Errorf("%d visits of the held URI and %d of the other; want 0 and 1", a.Visits, b.Visits)
		}
		post[api.Ordered](w, "/api/v1/frontier/steer", api.Order{Verb: "release", Select: api.Select{States: []string{"held"}}})
		post[api.Ordered](w, "/api/v1/frontier/steer", api.Order{Verb: "force", Select: api.Select{URIs: []string{"http://news.example/b"}}})
		paused := post[api.HostsOrdered](w, "/api/v1/frontier/hosts", api.HostOrder{Pattern: "*.example", Verb: "pause"})
		w.Run(time.Minute)
		if h := get[api.Host](w, "/api/v1/hosts/news.example"); paused.Changed != 1 || h.State != "paused" || h.Paused == nil {
			w.Errorf("the host is %+v after %+v; want it paused", h, paused)
		}
		post[api.HostsOrdered](w, "/api/v1/frontier/hosts", api.HostOrder{Pattern: "news.example", Verb: "resume"})
		w.Run(time.Minute)
		if a, b := get[api.URI](w, "/api/v1/uri?uri=http://news.example/a"), get[api.URI](w, "/api/v1/uri?uri=http://news.example/b"); a.Visits != 1 || b.Visits != 2 {
			w.Errorf("%d and %d visits after the release and a forced visit; want 1 and 2", a.Visits, b.Visits)
		}
		list := post[api.List](w, "/api/v1/frontier/list", api.Select{Prefix: "http://news.example/", States: []string{"waiting"}})
		if len(list.Entries) != 3 || list.Next != "" {
			w.Errorf("%d URIs wait, next %q; want 3 and no more", len(list.Entries), list.Next)
		}
	})
}

// TestBadRequestsAreExplained sends requests with different mistakes.
func TestBadRequestsAreExplained(t *testing.T) {
	inWorld(t, everyHour, func(w *world) {
		for _, c := range []struct {
			method, path string
			body         any
			status       int
			word         string
		}{
			{"GET", "/api/v1/nothing", nil, 404, "openapi.json"},
			{"POST", "/api/v1/status", nil, 404, "POST /api/v1/status"},
			{"GET", "/api/v1/uri?uri=mailto:x", nil, 400, "mailto"},
			{"GET", "/api/v1/uri?uri=http://news.example/never", nil, 404, "http://news.example/never"},
			{"GET", "/api/v1/hosts/never.example", nil, 404, "never.example"},
			{"GET", "/api/v1/hosts?limit=0", nil, 400, "1 to 1000"},
			{"GET", "/api/v1/hosts?state=asleep", nil, 400, "snoozed"},
			{"GET", "/api/v1/series?span=1y", nil, 400, "90d"},
			{"POST", "/api/v1/pause", map[string]any{"reson": "x"}, 400, "reson"},
			{"POST", "/api/v1/pause", api.Reason{For: -1}, 400, "negative"},
			{"POST", "/api/v1/frontier/steer", api.Order{Verb: "hold"}, 400, "all"},
			{"POST", "/api/v1/frontier/steer", api.Order{Verb: "holt", All: true}, 400, "holt"},
			{"POST", "/api/v1/frontier/list", api.Select{Match: "("}, 400, "match"},
			{"POST", "/api/v1/frontier/hosts", api.HostOrder{Verb: "pause"}, 400, "pattern"},
			{"GET", "/api/v1/hosts/news.example/queue?q=" + strings.Repeat("x", maxPart+1), nil, 400, "shorter part"},
			{"POST", "/api/v1/frontier/list", api.Select{Cursor: "zz"}, 400, "cursor"},
			{"POST", "/api/v1/frontier/count", api.Select{States: []string{"asleep"}}, 400, "asleep"},
			{"POST", "/api/v1/frontier/steer", api.Order{Verb: "hold", All: true, Select: api.Select{Cursor: "zz"}}, 400, "cursor"},
			{"POST", "/api/v1/frontier/hosts", api.HostOrder{Verb: "fly", Pattern: "*"}, 400, "fly"},
		} {
			var p api.Problem
			if status := w.Ask(c.method, c.path, c.body, &p); status != c.status || !strings.Contains(p.Error, c.word) {
				w.Errorf("%s %s: status %d, %q; want %d and an error that contains %q", c.method, c.path, status, p.Error, c.status, c.word)
			}
		}
		if s := get[api.Status](w, "/api/v1/status"); s.Condition.State != api.Crawling {
			w.Errorf("bad requests have changed the condition of the crawl to %+v", s.Condition)
		}
	})
}

// TestOrdersOfABrokenStoreAreErrorsOfOurOwn sends valid orders when the store is closed. They are logged, and not the
// fault of the caller.
func TestOrdersOfABrokenStoreAreErrorsOfOurOwn(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, dir, everyHour)
		w.Close()
		for path, body := range map[string]any{
			"frontier/steer": api.Order{Verb: "hold", All: true}, "frontier/hosts": api.HostOrder{Verb: "wake", Pattern: "*"},
		} {
			if status := w.Ask(http.MethodPost, "/api/v1/"+path, body, nil); status != 500 {
				t.Errorf("%s: status %d, want 500", path, status)
			}
		}
	})
}

// TestStatusCountsVisitsInAnyOrder reports visits to a window in the order in which slow ones end.
func TestStatusCountsVisitsInAnyOrder(t *testing.T) {
	inWorld(t, everyHour, func(w *world) {
		for i := range 30 {
			for _, ago := range []time.Duration{0, 7 * time.Second, time.Second} {
				u := uri.FromCanonical(fmt.Sprintf("http://news.example/%d/%s", i, ago))
				w.window.Observe(crawler.Report{URI: u, Status: 200, Finished: time.Now().Add(-ago)})
			}
			time.Sleep(time.Second)
		}
		if n := get[api.Status](w, "/api/v1/status").LastMinute.Visits; n != 90 {
			w.Errorf("the status reports %d visits in the last minute, want 90", n)
		}
	})
}

// TestLiveSeriesMovesFromTheFirstSecond asks for the charts of a crawl that started a second ago, and twelve minutes
// ago.
func TestLiveSeriesMovesFromTheFirstSecond(t *testing.T) {
	inWorld(t, everyHour, func(w *world) {
		w.Set("http://news.example/", testcrawl.Page{})
		w.Run(time.Second)
		s := get[api.Series](w, "/api/v1/series?span=10m")
		if len(s.Times) != 1 || s.Step != api.Seconds(5*time.Second) || s.Values["visits"][0] != 1 || s.Values["uris"][0] != 2 ||
			s.Values["hosts"][0] != 1 {
			w.Errorf("after a second the series is %+v", s)
		}
		w.Run(12 * time.Minute)
		s = get[api.Series](w, "/api/v1/series?span=10m")
		last := len(s.Times) - 1
		if len(s.Times) != 120 || s.Times[last]-s.Times[0] != 595 || s.Values["uris"][last] != 2 || s.Values["disk_free"][last] != 1<<40 {
			w.Errorf("after twelve minutes the series has %d steps from %d to %d", len(s.Times), s.Times[0], s.Times[last])
		}
		if day := get[api.Series](w, "/api/v1/series?span=1h"); len(day.Times) != 12 {
			w.Errorf("the last hour has %d minutes, want 12", len(day.Times))
		}
	})
}

// A staged configuration is compared with the one in force. Nothing comes into force, and no file is read.
func TestStagedConfigurationsArePlanned(t *testing.T) {
	inWorld(t, everyHour, func(w *world) {
		w.Set("http://news.example/", testcrawl.Page{})
		w.Run(time.Minute)
		inForce := w.Parts.Config.Current()
		plan := func(s api.Staged) api.Reloaded {
			r := post[api.Reloaded](w, "/api/v1/reload", api.ReloadOrder{Staged: &s})
			if r.Taken || !r.DryRun || w.Parts.Config.Current() != inForce {
				w.Errorf("staged %+v: %+v; it came into force", s, r)
			}
			return r
		}
		host := func(text string) []api.StagedHost { return []api.StagedHost{{Name: "more.example.toml", Text: text}} }
		one := plan(api.Staged{Only: true, Hosts: host("[seeds]\nuris = [\"http://more.example/\"]\n")})
		if p := one.Plan; len(p.SeedsAdded) != 1 || len(p.SeedsRemoved) != 0 || p.DueNow != 1 {
			w.Errorf("one more host file: %+v", p)
		}
		w.Must(os.WriteFile(w.Path("arcrawl.toml"), []byte("[politeness]\nmin_delay = 5\n"), 0o600)) // being edited
		all := plan(api.Staged{Main: strings.Replace(everyHour, "http://news.example/", "http://other.example/", 1)})
		if p := all.Plan; len(p.SeedsAdded) != 1 || len(p.SeedsRemoved) != 1 || p.SeedsRemoved[0] != "http://news.example/" {
			w.Errorf("another main file: %+v, %v", p, all.Faults)
		}
		bad := plan(api.Staged{Only: true, Hosts: host("[politeness]\nmin_delay = 5\n")})
		if len(bad.Faults) != 1 || bad.Faults[0].Key != "politeness.min_delay" || !strings.Contains(bad.Faults[0].File, "more.example.toml") {
			w.Errorf("a faulty host file: %+v", bad)
		}
	})
}

// TestNoProgramIsChosenOverTheNetwork stages a main file that names programs. Whoever has a token is refused.
// Who may open the socket is not, because a dry run through it is of files on this machine.
func TestNoProgramIsChosenOverTheNetwork(t *testing.T) {
	inWorld(t, everyHour, func(w *world) {
		tokens := []access.Token{{Name: "maria", Role: access.Operate, Secret: "m"}}
		h := w.window.Handler(access.Options{Tokens: func() []access.Token { return tokens }})
		for _, keys := range []string{"[warc]\nsealed_command = \"/bin/true\"\n", "[render]\nbrowser = \"/bin/true\"\n"} {
			o := api.ReloadOrder{Staged: &api.Staged{Main: everyHour + keys}}
			body, err := json.Marshal(o)
			w.Must(err)
			r := httptest.NewRequest(http.MethodPost, "/api/v1/reload", bytes.NewReader(body))
			r.Host = "localhost"
			r.Header.Set("Authorization", "Bearer m")
			to := httptest.NewRecorder()
			h.ServeHTTP(to, r)
			var got api.Reloaded
			if err := json.Unmarshal(to.Body.Bytes(), &got); err != nil || len(got.Faults) != 1 ||
				!strings.Contains(got.Faults[0].Problem, "names a program") {
				w.Errorf("%s with a token: %v, %s", keys, err, to.Body)
			}
			if here := post[api.Reloaded](w, "/api/v1/reload", o); len(here.Faults) != 0 || len(here.Plan.AtRestart) != 1 {
				w.Errorf("%s through the socket: %+v", keys, here)
			}
		}
	})
}

// TestReloadReportsItsChanges checks a configuration, reloads it, and then tries a faulty one.
func TestReloadReportsItsChanges(t *testing.T) {
	inWorld(t, everyHour, func(w *world) {
		w.Set("http://news.example/", testcrawl.Page{})
		w.Run(time.Minute)
		write := func(toml string) { w.Must(os.WriteFile(w.Path("arcrawl.toml"), []byte(toml), 0o600)) }
		write(strings.Replace(everyHour, "/\"]", "/\", \"http://more.example/\"]", 1) + "[politeness]\nmin_delay = \"9s\"\n")
		dry := post[api.Reloaded](w, "/api/v1/reload", api.ReloadOrder{DryRun: true})
		if dry.Taken || dry.Plan.DueNow != 1 || len(dry.Plan.SeedsAdded) != 1 || len(dry.Plan.Changes) == 0 {
			w.Errorf("a dry run returns %+v; want one new seed, due now, and a changed key", dry)
		}
		if w.Parts.Config.Current().SeedHost("more.example") {
			w.Error("a dry run has put the configuration in force")
		}
		if done := post[api.Reloaded](w, "/api/v1/reload", nil); !done.Taken || !w.Parts.Config.Current().SeedHost("more.example") {
			w.Errorf("a reload returns %+v; want the configuration in force", done)
		}
		write(everyHour + "[politeness]\nmin_delay = 5\n")
		if bad := post[api.Reloaded](w, "/api/v1/reload", nil); bad.Taken || len(bad.Faults) != 1 || bad.Faults[0].Key != "politeness.min_delay" {
			w.Errorf("a faulty configuration returns %+v; want its fault, and the previous one in force", bad)
		}
		write(everyHour + "[fetch]\nallow_networks = [\"10.0.0.0/8\"]\n")
		_ = post[api.Reloaded](w, "/api/v1/reload", nil)
		if wait := get[api.Status](w, "/api/v1/status").Config.AtRestart; !slices.Equal(wait, []string{"fetch.allow_networks"}) {
			w.Errorf("the status says that %q wait for a restart; want fetch.allow_networks", wait)
		}
	})
}

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// TestTheLastMinuteRolls counts one visit each second for three minutes, and no visits after that.
func TestTheLastMinuteRolls(t *testing.T) {
	t.Parallel()
	var m minuteCounts
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
	var m minuteCounts
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

// TestHeavyQuestionsAreBounded asks heavy questions while as many as may are in progress and wait.
func TestHeavyQuestionsAreBounded(t *testing.T) {
	inWorld(t, everyHour, func(w *world) {
		ctx, end := context.WithCancel(w.Context())
		defer end()
		for range heavyAtOnce {
			leave, ok := w.window.heavy.Enter(ctx)
			if !ok {
				w.Fatal("the gate is shut")
			}
			defer leave()
		}
		for range heavyWaiting {
			go w.window.heavy.Enter(ctx) // waits until ctx ends
		}
		synctest.Wait()
		h := w.window.Handler(access.Options{})
		for _, c := range []struct {
			path, body string
			want       int
		}{
			{"/api/v1/hosts/news.example/queue", "", http.StatusServiceUnavailable},
			{"/api/v1/hosts?limit=1", "", http.StatusOK},
			{"/api/v1/frontier/count", `{}`, http.StatusOK},
		} {
			to := httptest.NewRecorder()
			method := http.MethodPost
			if c.body == "" {
				method = http.MethodGet
			}
			h.ServeHTTP(to, httptest.NewRequest(method, c.path, strings.NewReader(c.body)))
			if to.Code != c.want || (to.Header().Get("Retry-After") != "") != (c.want == http.StatusServiceUnavailable) {
				w.Errorf("%s: status %d, want %d: %s", c.path, to.Code, c.want, to.Body)
			}
		}
	})
}

// TestTheDashboardLoadsNothingFromElsewhere reads all embedded files.
func TestTheDashboardLoadsNothingFromElsewhere(t *testing.T) {
	t.Parallel()
	testcrawl.LoadsNothing(t, files, "dashboard")
}
