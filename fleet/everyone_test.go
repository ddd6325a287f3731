package fleet

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/crawllog"

	"github.com/arcrawl/arcrawl/admin/access"
	"github.com/arcrawl/arcrawl/admin/api"
)

// wholeCrew is a crew whose nodes are all alive. Node d is away.
func wholeCrew(t *testing.T, answer func(node int, r *http.Request, body string) string) *crew {
	c := newCrew(t, answer)
	c.dead, c.away = map[string]bool{}, []string{"d"}
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

// TestTheStatusIsOfTheWholeCrawl adds the states of three nodes, names what concerns one node, and what is missing.
func TestTheStatusIsOfTheWholeCrawl(t *testing.T) {
	t.Parallel()
	c := wholeCrew(t, func(n int, _ *http.Request, _ string) string {
		stand := `{"state":"crawling"}`
		if n == 3 {
			stand = `{"state":"held","why":"the disk is full","since":"2026-01-03T00:00:00Z"}`
		}
		return fmt.Sprintf(`{"version":"1.%[2]d","started":"2026-01-0%[1]dT00:00:00Z","now":"2026-01-09T00:00:00Z","uptime_seconds":%[1]d,
			"condition":%[3]s,"last_hour":{"visits":%[1]d},"hosts":{"known":10,"idle":10},
			"unreachable":[{"host":"%[1]d.example","failures":%[1]d}],
			"uris":{"known":100,"due":60000,"overdue_seconds":%[1]d,"oldest":"2026-01-0%[1]dT00:00:00Z"},
			"workers":{"all":5,"busy":1,"visits":[{"uri":"http://%[1]d.example/","seconds":%[1]d}]},
			"disk":{"free":%[1]d000,"min_free":7},"archive":{"store":50,"files":[{"name":"of-%[1]d.warc"}],
			"handover":{"waiting":%[1]d,"since":"2026-01-0%[1]dT00:00:00Z","error":"refused"},"lost":{"absent":%[1]d},
			"fixity":{"files":2,"failed":1},
			"offload":{"folders":[{"path":"/cold","free":%[1]d}],"upload":{"bucket":"b","done":%[1]d}}},
			"config":{"digest":"x%[1]d","faults":[{"problem":"bad"}],"warnings":[{"file":"h.toml","problem":"everywhere"}]},
			"alarms":[{"kind":"disk","text":"of node %[1]d"}]}`, n, (n+1)/2, stand)
	})
	s := answerOf[api.Status](c, "/status", "")
	want := `{"version":"1.1, 1.2","instance":"","now":"2026-01-09T00:00:00Z","started":"2026-01-01T00:00:00Z","uptime_seconds":3,` +
		`"condition":{"state":"crawling","why":"node c is held: the disk is full"}`
	if text, err := json.Marshal(s); err != nil || !strings.HasPrefix(string(text), want) {
		t.Errorf("the status is %s, want %s", text, want)
	}
	if s.LastHour.Visits != 6 || s.Hosts.Known != 30 || s.Hosts.Idle != 30 || s.URIs.Known != 300 ||
		s.URIs.Due != 100_000 || time.Duration(s.URIs.Overdue) != 3*time.Second || s.URIs.Oldest.Day() != 1 ||
		s.Workers.All != 15 || s.Workers.Busy != 3 {
		t.Errorf("the sums are %+v", s)
	}
	if s.Down[0].Host != "3.example" || len(s.Down) != 3 || s.Workers.Visits[0].URI != "http://3.example/" || len(s.Alarms) != 3 {
		t.Errorf("the lists are %+v, %+v, %+v", s.Down, s.Workers.Visits, s.Alarms)
	}
	a := s.Archive
	if a.Store != 150 || len(a.Files) != 3 || a.Handover.Waiting != 6 || a.Handover.Since.Day() != 1 ||
		a.Lost.Absent != 3 || a.Fixity.Files != 6 || a.Fixity.Failed != 3 ||
		a.Handover.Error != "node a: refused; node b: refused; node c: refused" || a.Offload.Upload.Done != 6 ||
		a.Offload.Folders[1].Path != "node b: /cold" {
		t.Errorf("the archive is %+v", a)
	}
	if len(s.Config.Warnings) != 1 || s.Disk != (api.Disk{Free: 1000, MinFree: 7}) {
		t.Errorf("the warnings are %+v, the disk is %+v", s.Config.Warnings, s.Disk)
	}
	nodes, err := nodesOf(s)
	if err != nil || len(nodes) != 3 {
		t.Fatalf("the nodes are %+v, %v", nodes, err)
	}
	last := nodes[2]
	if last.Node != "c" || last.Version != "1.2" || last.Since.Day() != 3 || last.Disk.Free != 3000 || last.Config != "x3" ||
		last.Faults != 1 || last.Condition.Why != "the disk is full" || last.Archive.Store != 50 || nodes[0].Condition.Why != "" {
		t.Errorf("the nodes are %+v", nodes)
	}
	var text strings.Builder
	ShowNodes(&text, s)
	if !strings.HasPrefix(text.String(), "node      a: since ") || !strings.Contains(text.String(), ", 3.0 kB free, held: the disk is full\n") {
		t.Errorf("the nodes are shown as\n%s", &text)
	}
	c.dead["c"] = true
	s = answerOf[api.Status](c, "/status", "not in this answer: node c cannot be asked: connection refused")
	if s.URIs.Known != 200 || s.Condition != (api.Condition{State: api.Crawling}) {
		t.Errorf("without a node, the status is %+v", s)
	}
	w := c.ask("GET", "/status", "", byCookie("b"))
	if text := w.Header().Get(api.MissingHeader); len(c.asked) != 1 || !strings.HasPrefix(text, "this is for node b only") {
		t.Errorf("a browser that has chosen node b gets %q, and asked %q", text, c.asked)
	}
}

// TestANodeThatIsBusyIsMissing asks while a node begins or ends.
func TestANodeThatIsBusyIsMissing(t *testing.T) {
	t.Parallel()
	c := wholeCrew(t, func(int, *http.Request, string) string { return `{"uris":{"known":1}}` })
	c.nodes["b"].plain = func(access.Options) http.Handler {
		return http.HandlerFunc(func(to http.ResponseWriter, _ *http.Request) {
			http.Error(to, "too many requests", http.StatusServiceUnavailable)
		})
	}
	if s := answerOf[api.Status](c, "/status", "not in this answer: node b has no answer now: too many requests"); s.URIs.Known != 2 {
		t.Errorf("%d URIs", s.URIs.Known)
	}
}

// TestAWarningOfOneNodeIsNoneOfAll joins the warnings of nodes with the same configuration. Only one of them does not
// know a host.
func TestAWarningOfOneNodeIsNoneOfAll(t *testing.T) {
	t.Parallel()
	c := wholeCrew(t, func(n int, _ *http.Request, _ string) string {
		return fmt.Sprintf(`{"digest":"x","warnings":[{"file":"h.toml","problem":"everywhere"},{"file":"h%d.toml","problem":"here"}]}`, n)
	})
	if got := answerOf[api.Config](c, "/config", ""); len(got.Warnings) != 1 || got.Warnings[0].Problem != "everywhere" {
		t.Errorf("the warnings are %+v", got.Warnings)
	}
}

// TestConditionsAreJoined joins the conditions of nodes.
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
		{[]api.Condition{held, paused(1, 5)}, `{"state":"held","why":"node a is held: full; node b is paused: works","since":"2026-01-01T00:00:00Z"}`},
		{[]api.Condition{held, crawls, held}, `{"state":"crawling","why":"node a, c is held: full"}`},
	} {
		nodes := []string{"a", "b", "c"}[:len(row.list)]
		if text, err := json.Marshal(joinConditions(nil, row.list, nodes)); err != nil || string(text) != row.want {
			t.Errorf("%+v: %s, want %s", row.list, text, row.want)
		}
	}
}

// TestOverdueURIsAreOfTheWholeCrawl adds what is overdue on three nodes. The quantiles are of all URIs.
func TestOverdueURIsAreOfTheWholeCrawl(t *testing.T) {
	t.Parallel()
	var all crawllog.Histogram
	parts := map[int]crawllog.Histogram{}
	for i := range 3000 {
		d := time.Duration(i*i) * time.Millisecond
		h := parts[1+i%3]
		h.Add(d)
		all.Add(d)
		parts[1+i%3] = h
	}
	c := wholeCrew(t, func(n int, r *http.Request, _ string) string {
		h, q := parts[n], r.URL.Query()
		first, counts := h.Classes()
		b := api.Backlog{
			Name: "all", URIs: 2000, Due: h.Count(), Most: api.Seconds(h.Max()), Demand: 1,
			Late: &api.Lateness{First: first, Counts: counts},
		}
		if q.Get("late") != "true" {
			b.Late = nil
		}
		out := api.Overdue{By: q.Get("by"), AsOf: time.Date(2026, 1, n, 0, 0, 0, 0, time.UTC), Age: api.Seconds(n), All: b}
		switch b.Name = "text/html"; {
		case q.Get("latest") == "true" && n == 2:
			out.AsOf = time.Time{}
		case q.Get("by") == "host":
			out.More = 5
			out.Rows = []api.Backlog{{Name: fmt.Sprintf("%d.example", n), Most: api.Seconds(n)}, {Name: fmt.Sprintf("%d.test", n)}}
		case n > 2: // which has more types than rows
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
	if o.All.URIs != 6000 || o.All.Due != 3000 || o.All.Demand != 3 || time.Duration(o.All.Most) != all.Max() ||
		o.All.Late != nil || time.Duration(o.All.P50) != all.Quantile(.5) || time.Duration(o.All.P99) != all.Quantile(.99) ||
		o.AsOf.Day() != 1 || o.Age != 3 {
		t.Errorf("all: %+v, want p50 %v and p99 %v of %v", o, all.Quantile(.5), all.Quantile(.99), all.Max())
	}
	if len(o.Rows) != 3 || o.Rows[0].Name != "3.example" || o.Rows[2].Name != "1.example" || o.More != 18 {
		t.Errorf("the hosts are %+v and %d more", o.Rows, o.More)
	}
	o = answerOf[api.Overdue](c, "/overdue?by=mime", "")
	if len(o.Rows) != 2 || o.Rows[0].Name != "others" || o.Rows[0].URIs != 6000 || time.Duration(o.Rows[0].P90) != all.Quantile(.9) ||
		o.Rows[1].Name != "image/png" || o.Rows[1].URIs != 3 || o.More != 0 {
		t.Errorf("the types are %+v and %d more", o.Rows, o.More)
	}
	if o = answerOf[api.Overdue](c, "/overdue?by=mime&limit=1", ""); len(o.Rows) != 1 || o.More != 1 || !strings.Contains(c.asked[0], "limit=1000") {
		t.Errorf("one type: %+v and %d more, asked %q", o.Rows, o.More, c.asked)
	}
	if o = answerOf[api.Overdue](c, "/overdue?by=host&latest=true", ""); !o.AsOf.IsZero() {
		t.Errorf("one node was not surveyed yet: %+v", o)
	}
	w := c.ask(http.MethodGet, "/overdue?by=mime&limit=-5", "")
	if w.Code != http.StatusOK || !strings.Contains(c.asked[0], "limit=-5") {
		t.Errorf("a limit that nodes refuse: %d, asked %q", w.Code, c.asked)
	}
}
