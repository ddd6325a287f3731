package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/crawllog"

	"github.com/arcrawl/arcrawl/admin/access"
	"github.com/arcrawl/arcrawl/admin/api"
)

// wholeCrew is a crew whose four shards are all crawled: 1 and 2 by node a, 3 and 4 by node b. Node d crawls nothing.
func wholeCrew(t *testing.T, answer func(shard int, r *http.Request, body string) string) *crew {
	c := newCrew(t, answer)
	c.owner[4] = "b"
	four := newCrew(t, func(_ int, r *http.Request, body string) string { return answer(4, r, body) })
	c.nodes["b"].serve[4] = four.nodes["b"].serve[3]
	for _, s := range c.nodes {
		s.cluster.Nodes = func(context.Context) ([]string, error) { return []string{"a", "b", "d"}, nil }
	}
	return c
}

// answerOf asks node a for something, which must be complete unless it misses something.
func answerOf[A any](c *crew, target, missing string) (v A) {
	c.t.Helper()
	w := c.ask(http.MethodGet, target, "")
	if err := json.Unmarshal(w.Body.Bytes(), &v); err != nil || w.Code != http.StatusOK {
		c.t.Fatalf("%s: %d %s", target, w.Code, w.Body)
	}
	if got := w.Header().Get(api.MissingHeader); got != missing {
		c.t.Errorf("%s misses %q, want %q", target, got, missing)
	}
	return v
}

// TestTheStatusIsOfTheWholeCrawl adds the states of four shards, names what concerns one node, and what is missing.
func TestTheStatusIsOfTheWholeCrawl(t *testing.T) {
	t.Parallel()
	c := wholeCrew(t, func(shard int, _ *http.Request, _ string) string {
		stand := `{"state":"crawling"}`
		if shard == 4 {
			stand = `{"state":"held","why":"the disk is full","since":"2026-01-03T00:00:00Z"}`
		}
		node := (shard + 1) / 2
		return fmt.Sprintf(`{"version":"1.%[2]d","started":"2026-01-0%[1]dT00:00:00Z","now":"2026-01-09T00:00:00Z","uptime_seconds":%[1]d,
			"condition":%[3]s,"last_hour":{"visits":%[1]d},"hosts":{"known":10,"idle":10},
			"unreachable":[{"host":"%[1]d.example","failures":%[1]d}],
			"uris":{"known":100,"due":60000,"overdue_seconds":%[1]d,"oldest":"2026-01-0%[1]dT00:00:00Z"},
			"workers":{"all":5,"busy":1,"visits":[{"uri":"http://%[1]d.example/","seconds":%[1]d}]},
			"disk":{"free":%[2]d000,"min_free":7},"archive":{"store":50,"files":[{"name":"of-%[2]d.warc"}],
			"handover":{"waiting":%[2]d,"since":"2026-01-0%[2]dT00:00:00Z","error":"refused"},"lost":{"absent":%[1]d},
			"offload":{"folders":[{"path":"/cold","free":%[2]d}],"upload":{"bucket":"b","done":%[2]d}}},
			"config":{"digest":"x","faults":[],"warnings":[{"file":"h.toml","problem":"everywhere"},{"file":"h%[1]d.toml","problem":"here"}]},
			"alarms":[{"kind":"disk","text":"of node %[2]d"}]}`, shard, node, stand)
	})
	s := answerOf[api.Status](c, "/status", "")
	want := `{"version":"1.1, 1.2","instance":"","now":"2026-01-09T00:00:00Z","started":"2026-01-01T00:00:00Z","uptime_seconds":4,` +
		`"condition":{"state":"crawling","why":"shard 4 of node b is held: the disk is full"}`
	if text, err := json.Marshal(s); err != nil || !strings.HasPrefix(string(text), want) {
		t.Errorf("the status is %s, want %s", text, want)
	}
	if s.LastHour.Visits != 10 || s.Hosts.Known != 40 || s.Hosts.Idle != 40 || s.URIs.Known != 400 ||
		s.URIs.Due != 100_000 || time.Duration(s.URIs.Overdue) != 4*time.Second || s.URIs.Oldest.Day() != 1 ||
		s.Workers.All != 20 || s.Workers.Busy != 4 {
		t.Errorf("the sums are %+v", s)
	}
	if s.Down[0].Host != "4.example" || len(s.Down) != 4 || s.Workers.Visits[0].URI != "http://4.example/" || len(s.Alarms) != 2 {
		t.Errorf("the lists are %+v, %+v, %+v", s.Down, s.Workers.Visits, s.Alarms)
	}
	a := s.Archive
	if a.Store != 200 || len(a.Files) != 2 || a.Handover.Waiting != 3 || a.Handover.Since.Day() != 1 ||
		a.Lost.Absent != 4 ||
		a.Handover.Error != "node a: refused; node b: refused" || a.Offload.Upload.Done != 3 || a.Offload.Folders[1].Path != "node b: /cold" {
		t.Errorf("the archive is %+v", a)
	}
	if len(s.Config.Warnings) != 1 || s.Disk != (api.Disk{Free: 1000, MinFree: 7}) {
		t.Errorf("the warnings are %+v, the disk is %+v", s.Config.Warnings, s.Disk)
	}
	nodes, err := nodesOf(s)
	if err != nil || len(nodes) != 2 {
		t.Fatalf("the nodes are %+v, %v", nodes, err)
	}
	b := nodes[1]
	if b.Node != "b" || !slices.Equal(b.Shards, []int{3, 4}) || b.Since.Day() != 4 || b.Disk.Free != 2000 ||
		b.Condition.Why != "shard 4 of node b is held: the disk is full" || b.Archive.Store != 100 || nodes[0].Condition.Why != "" {
		t.Errorf("the nodes are %+v", nodes)
	}
	c.owner[4] = "c"
	s = answerOf[api.Status](c, "/status", "not in this answer: shard 4: node c, which crawls shard 4, cannot be asked: connection refused")
	if s.URIs.Known != 300 || s.Condition != (api.Condition{State: api.Crawling}) {
		t.Errorf("without a node, the status is %+v", s)
	}
	c.owner[4] = "b"
	byCookie := c.ask("GET", "/status", "", func(r *http.Request) { r.AddCookie(&http.Cookie{Name: cookie, Value: "3"}) })
	if text := byCookie.Header().Get(api.MissingHeader); len(c.asked) != 1 || !strings.HasPrefix(text, "this is for shard 3 of 4 only") {
		t.Errorf("a browser that has chosen shard 3 gets %q, and asked %q", text, c.asked)
	}
	back := httptest.NewRecorder()
	r := httptest.NewRequest("GET", "/?shard=all", http.NoBody)
	r.AddCookie(&http.Cookie{Name: cookie, Value: "3"})
	c.nodes["a"].Handler(access.Options{}).ServeHTTP(back, r)
	if set := back.Header().Get("Set-Cookie"); !strings.HasPrefix(set, cookie+"=0; ") || !strings.Contains(set, "Max-Age=0") {
		t.Errorf("a browser that chooses all shards gets the cookie %q", set)
	}
}

// TestAShardThatIsBusyIsMissing asks while a shard is just being handed over.
func TestAShardThatIsBusyIsMissing(t *testing.T) {
	t.Parallel()
	c := wholeCrew(t, func(int, *http.Request, string) string { return `{"uris":{"known":1}}` })
	c.nodes["a"].serve[2].serve = func(access.Options) http.Handler {
		return http.HandlerFunc(func(to http.ResponseWriter, _ *http.Request) {
			http.Error(to, "handed over", http.StatusServiceUnavailable)
		})
	}
	if s := answerOf[api.Status](c, "/status", "not in this answer: shard 2: node a has no answer now: handed over"); s.URIs.Known != 3 {
		t.Errorf("%d URIs", s.URIs.Known)
	}
}

// TestConditionsAreJoined joins the conditions of shards.
func TestConditionsAreJoined(t *testing.T) {
	t.Parallel()
	at := func(day int) *time.Time { d := time.Date(2026, 1, day, 0, 0, 0, 0, time.UTC); return &d }
	crawls := api.Condition{State: api.Crawling}
	paused := func(since, until int) api.Condition {
		return api.Condition{State: api.Paused, Why: "works", Since: at(since), Until: at(until)}
	}
	held := api.Condition{State: api.Held, Why: "full", Since: at(2)}
	for _, row := range []struct {
		list []api.Condition
		want string
	}{
		{[]api.Condition{crawls, crawls}, `{"state":"crawling"}`},
		{[]api.Condition{paused(3, 5), paused(2, 4)}, `{"state":"paused","why":"works","since":"2026-01-02T00:00:00Z","until":"2026-01-05T00:00:00Z"}`},
		{[]api.Condition{held, paused(1, 5)}, `{"state":"held","why":"shard 1 of node a is held: full; shard 2 of node b is paused: works","since":"2026-01-01T00:00:00Z"}`},
		{[]api.Condition{held, crawls, held}, `{"state":"crawling","why":"shard 1 of node a, 3 of node c is held: full"}`},
	} {
		var j joining
		for i := range row.list {
			j.shards, j.nodes = append(j.shards, i+1), append(j.nodes, string(rune('a'+i)))
		}
		if text, err := json.Marshal(j.condition(row.list, places(len(row.list)))); err != nil || string(text) != row.want {
			t.Errorf("%+v: %s, want %s", row.list, text, row.want)
		}
	}
}

// TestOverdueURIsAreOfTheWholeCrawl adds what is overdue in four shards. The quantiles are of all URIs.
func TestOverdueURIsAreOfTheWholeCrawl(t *testing.T) {
	t.Parallel()
	var all crawllog.Histogram
	parts := map[int]crawllog.Histogram{}
	for i := range 4000 {
		d := time.Duration(i*i) * time.Millisecond
		h := parts[1+i%4]
		h.Add(d)
		all.Add(d)
		parts[1+i%4] = h
	}
	c := wholeCrew(t, func(shard int, r *http.Request, _ string) string {
		h, q := parts[shard], r.URL.Query()
		first, counts := h.Classes()
		b := api.Backlog{
			Name: "all", URIs: 2000, Due: h.Count(), Most: api.Seconds(h.Max()), Demand: 1,
			Late: &api.Lateness{First: first, Counts: counts},
		}
		if q.Get("late") != "true" {
			b.Late = nil
		}
		out := api.Overdue{By: q.Get("by"), AsOf: time.Date(2026, 1, shard, 0, 0, 0, 0, time.UTC), Age: api.Seconds(shard), All: b}
		switch b.Name = "text/html"; {
		case q.Get("latest") == "true" && shard == 2:
			out.AsOf = time.Time{}
		case q.Get("by") == "host":
			out.More = 5
			out.Rows = []api.Backlog{{Name: fmt.Sprintf("%d.example", shard), Most: api.Seconds(shard)}, {Name: fmt.Sprintf("%d.test", shard)}}
		case shard > 2: // which has more types than rows
			b.Name = "others"
			fallthrough
		default:
			out.Rows = []api.Backlog{b, {Name: "image/png", URIs: 1}}
		}
		text, err := json.Marshal(out)
		if err != nil {
			t.Error(err)
		}
		return string(text)
	})
	o := answerOf[api.Overdue](c, "/overdue?by=host&limit=3", "")
	if o.All.URIs != 8000 || o.All.Due != 4000 || o.All.Demand != 4 || time.Duration(o.All.Most) != all.Max() ||
		o.All.Late != nil || time.Duration(o.All.P50) != all.Quantile(.5) || time.Duration(o.All.P99) != all.Quantile(.99) ||
		o.AsOf.Day() != 1 || o.Age != 4 {
		t.Errorf("all: %+v, want p50 %v and p99 %v of %v", o, all.Quantile(.5), all.Quantile(.99), all.Max())
	}
	if len(o.Rows) != 3 || o.Rows[0].Name != "4.example" || o.Rows[2].Name != "2.example" || o.More != 25 {
		t.Errorf("the hosts are %+v and %d more", o.Rows, o.More)
	}
	o = answerOf[api.Overdue](c, "/overdue?by=mime", "")
	if len(o.Rows) != 2 || o.Rows[0].Name != "others" || o.Rows[0].URIs != 8000 || time.Duration(o.Rows[0].P90) != all.Quantile(.9) ||
		o.Rows[1].Name != "image/png" || o.Rows[1].URIs != 4 || o.More != 0 {
		t.Errorf("the types are %+v and %d more", o.Rows, o.More)
	}
	if o = answerOf[api.Overdue](c, "/overdue?by=mime&limit=1", ""); len(o.Rows) != 1 || o.More != 1 || !strings.Contains(c.asked[0], "limit=1000") {
		t.Errorf("one type: %+v and %d more, asked %q", o.Rows, o.More, c.asked)
	}
	if o = answerOf[api.Overdue](c, "/overdue?by=host&latest=true", ""); !o.AsOf.IsZero() {
		t.Errorf("one shard was not surveyed yet: %+v", o)
	}
	w := c.ask(http.MethodGet, "/overdue?by=mime&limit=-5", "")
	if w.Code != http.StatusOK || !strings.Contains(c.asked[0], "limit=-5") {
		t.Errorf("a limit that shards refuse: %d, asked %q", w.Code, c.asked)
	}
}
