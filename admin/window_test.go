package admin

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/internal/town"
)

// TestStatusCountsVisitsAndVersions crawls a page that changes every other hour for a day.
func TestStatusCountsVisitsAndVersions(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, dir, everyHour)
		defer w.Close()
		w.Set("http://news.example/", town.Page{Every: 2 * time.Hour})
		w.Run(24*time.Hour - time.Minute)

		s := get[api.Status](w, "/api/v1/status")
		if s.Condition.State != api.Crawling || s.Hosts.Known != 1 || s.URIs.Known != 2 ||
			time.Duration(s.Uptime) != 24*time.Hour-time.Minute {
			t.Errorf("the status is %+v", s)
		}
		if a := s.Archive; len(a.Files) != 1 || a.Files[0].Size < 1000 || !strings.HasPrefix(a.Files[0].Name, "test-") || a.Store < 1000 {
			t.Errorf("the archive is %+v; want the file that is being written", a)
		}
		if c := s.LastDay; c.Visits != 25 || c.Versions != 13 || c.Unchanged != 12 || c.Received == 0 || c.Written == 0 {
			t.Errorf("the last day had %+v; want 24 visits of the page, of which 12 found a version, and one of robots.txt", c)
		}
		if c := s.LastHour; c.Visits == 0 || c.Visits > 2 {
			t.Errorf("the last hour had %+v; want one visit", c)
		}
		day := get[api.Series](w, "/api/v1/series?span=1d")
		var visits int64
		for _, n := range day.Values["visits"] {
			visits += n
		}
		if len(day.Times) != 24*60-1 || visits < 25 {
			t.Errorf("%d minutes with %d visits; want all visits of the day", len(day.Times), visits)
		}
		if long := get[api.Series](w, "/api/v1/series?span=90d"); len(long.Times) != 23 || long.Values["uris"][22] != 2 {
			t.Errorf("%d hours, URIs %v; want 23 whole hours", len(long.Times), long.Values["uris"])
		}
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
		w.Set("http://news.example/", town.Page{})
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
	t.Parallel()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, dir, everyHour)
		defer w.Close()
		for _, u := range []string{"/", "/a", "/b"} {
			w.Set("http://news.example"+u, town.Page{})
		}
		added := post[api.Added](w, "/api/v1/seeds", api.Seeds{URIs: []string{
			"http://news.example/a", "HTTP://NEWS.example/b#top", "http://news.example/", "http://other.example/", "mailto:x",
		}})
		if added.New != 2 || added.Known != 1 || !slices.Equal(added.Outside, []string{"http://other.example/"}) || len(added.Faults) != 1 {
			t.Errorf("added %+v; want 2 new, 1 known, 1 outside, 1 fault", added)
		}
		held := post[api.Ordered](w, "/api/v1/frontier/steer", api.Order{Verb: "hold", Select: api.Select{URIs: []string{"http://news.example/a"}}})
		if held.Changed != 1 {
			t.Errorf("the hold returns %+v, want one URI", held)
		}
		w.Run(30 * time.Minute)
		if a, b := get[api.URI](w, "/api/v1/uri?uri=http://news.example/a"), get[api.URI](w, "/api/v1/uri?uri=http://news.example/b"); a.Visits != 0 || b.Visits != 1 {
			t.Errorf("%d visits of the held URI and %d of the other; want 0 and 1", a.Visits, b.Visits)
		}
		post[api.Ordered](w, "/api/v1/frontier/steer", api.Order{Verb: "release", Select: api.Select{States: []string{"held"}}})
		post[api.Ordered](w, "/api/v1/frontier/steer", api.Order{Verb: "force", Select: api.Select{URIs: []string{"http://news.example/b"}}})
		paused := post[api.HostsOrdered](w, "/api/v1/frontier/hosts", api.HostOrder{Pattern: "*.example", Verb: "pause"})
		w.Run(time.Minute)
		if h := get[api.Host](w, "/api/v1/hosts/news.example"); paused.Changed != 1 || h.State != "paused" || h.Paused == nil {
			t.Errorf("the host is %+v after %+v; want it paused", h, paused)
		}
		post[api.HostsOrdered](w, "/api/v1/frontier/hosts", api.HostOrder{Pattern: "news.example", Verb: "resume"})
		w.Run(time.Minute)
		if a, b := get[api.URI](w, "/api/v1/uri?uri=http://news.example/a"), get[api.URI](w, "/api/v1/uri?uri=http://news.example/b"); a.Visits != 1 || b.Visits != 2 {
			t.Errorf("%d and %d visits after the release and a forced visit; want 1 and 2", a.Visits, b.Visits)
		}
		list := post[api.List](w, "/api/v1/frontier/list", api.Select{Prefix: "http://news.example/", States: []string{"waiting"}})
		if len(list.Entries) != 3 || list.Next != "" {
			t.Errorf("%d URIs wait, next %q; want 3 and no more", len(list.Entries), list.Next)
		}
	})
}

// TestBadRequestsAreExplained sends requests with different mistakes.
func TestBadRequestsAreExplained(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, dir, everyHour)
		defer w.Close()
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
		} {
			var p api.Problem
			if status := w.Ask(c.method, c.path, c.body, &p); status != c.status || !strings.Contains(p.Error, c.word) {
				t.Errorf("%s %s: status %d, %q; want %d and an error that contains %q", c.method, c.path, status, p.Error, c.status, c.word)
			}
		}
		if s := get[api.Status](w, "/api/v1/status"); s.Condition.State != api.Crawling {
			t.Errorf("bad requests have changed the condition of the crawl to %+v", s.Condition)
		}
	})
}
