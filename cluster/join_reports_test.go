package cluster

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/arcrawl/arcrawl/admin"
	"github.com/arcrawl/arcrawl/admin/access"
	"github.com/arcrawl/arcrawl/admin/api"
)

// TestReportsAreOfTheWholeCrawl asks for each report. All shards of a node have one log, which must not count twice.
func TestReportsAreOfTheWholeCrawl(t *testing.T) {
	t.Parallel()
	c := wholeCrew(t, func(shard int, r *http.Request, _ string) string {
		node := (shard + 1) / 2
		switch strings.TrimPrefix(r.URL.Path, api.Base) {
		case "/reports/headers":
			return fmt.Sprintf(`{"rows":[{"host":"%d.example"},{"host":"%[1]d.example"}],"dates":[{"host":"%d.example"}],"more":%t}`, 9-shard, shard, shard == 2)
		case "/reports/days":
			return fmt.Sprintf(`{"all":{"requests":%[1]d,"versions_seen":1,"versions_estimated":2},"days":[{"day":"2026-01-01","requests":%[1]d}],
				"hosts":[{"host":"%[1]d.example","requests":7}],"rows":[{"host":"%[1]d.example","day":"2026-01-01"}],"pace":[{"host":"x","versions_lost":%[1]d}]}`, shard)
		case "/reports/dedup":
			return fmt.Sprintf(`{"from":"2026-01-0%[1]dT00:00:00Z","complete":%[2]t,"all":{"handled":%[1]d0},
				"hosts":[{"key":"both.example","handled":5,"bytes":1},{"key":"%[1]d.example","handled":%[1]d}],"types":[{"key":"text/html","handled":2}]}`,
				node, r.URL.Query().Get("all") == "true")
		case "/status/sites":
			return fmt.Sprintf(`{"condition":{"state":"crawling"},"hosts":{"known":%[1]d},"unreachable":[],"uris":{"known":%[1]d,"due":-1},"busy":1,"visits":[],
				"today":{"requests":%[1]d,"versions_seen":1,"versions_estimated":1},"alarms":[{"kind":"disk","text":"full"}]}`, shard)
		}
		return ""
	})
	h := answerOf[api.HeaderReport](c, "/reports/headers", "")
	if len(h.Rows) != 8 || h.Rows[0].Host != "5.example" || h.Rows[7].Host != "8.example" || h.Dates[0].Host != "1.example" || !h.More {
		t.Errorf("headers: %+v", h)
	}
	d := answerOf[api.DayReport](c, "/reports/days", "")
	if d.All.Requests != 10 || d.All.Seen != 4 || d.All.Versions != 8 || d.All.Share != .5 ||
		len(d.Days) != 1 || d.Days[0].Requests != 10 ||
		len(d.Hosts) != 4 || len(d.Rows) != 4 || len(d.Pace) != 4 || d.Pace[0].Lost != 4 {
		t.Errorf("days: %+v", d)
	}
	idle := "not in this answer: the log of node d, which crawls nothing now"
	p := answerOf[api.DedupReport](c, "/reports/dedup", "only the ends of the logs are read, which begin at different times: "+
		"node a since 2026-01-01 00:00:00, node b since 2026-01-02 00:00:00; "+idle)
	if len(c.asked) != 2 || p.From.Day() != 1 || p.Complete || p.All.Handled != 30 ||
		len(p.Hosts) != 3 || len(p.Types) != 1 ||
		p.Hosts[0] != (api.DedupRow{Key: "both.example", Handled: 10, Bytes: 2}) {
		t.Errorf("deduplication: %+v, asked %q", p, c.asked)
	}
	if p = answerOf[api.DedupReport](c, "/reports/dedup?all=true&rows=1", idle); len(p.Hosts) != 1 || !strings.Contains(c.asked[0], "rows=10000") {
		t.Errorf("one row: %+v, asked %q", p, c.asked)
	}
	s := answerOf[api.SitesStatus](c, "/status/sites?label=x", "")
	if s.Hosts.Known != 10 || s.URIs.Known != 10 || s.URIs.Due != -1 || s.Busy != 4 || s.Today.Requests != 10 ||
		len(s.Alarms) != 1 ||
		s.Condition != (api.Condition{State: api.Crawling}) {
		t.Errorf("some sites: %+v", s)
	}
}

// TestRowsThatAFullListMayLackAreLeftOut adds the rows of nodes, one of which has as many as a list may have.
func TestRowsThatAFullListMayLackAreLeftOut(t *testing.T) {
	t.Parallel()
	full := []api.DedupRow{{Key: "both", Handled: 9}}
	for i := range maxTallies - 1 {
		full = append(full, api.DedupRow{Key: fmt.Sprint(i), Handled: 2})
	}
	j := joining{from: httptest.NewRequest(http.MethodGet, fmt.Sprint("/reports/dedup?rows=", maxTallies), http.NoBody)}
	other := []api.DedupRow{{Key: "both", Handled: 1}, {Key: "perhaps in the rest", Handled: 50}}
	got := addRows(&j, [][]api.DedupRow{full, other}, places(2))
	if len(got) != maxTallies || got[0] != (api.DedupRow{Key: "both", Handled: 10}) ||
		slices.ContainsFunc(got, func(r api.DedupRow) bool { return r.Handled == 50 }) {
		t.Errorf("%d rows, the first is %+v", len(got), got[0])
	}
}

// TestTheSeriesIsOfTheWholeCrawl adds series of which one begins late, and the others have not ended the last step.
func TestTheSeriesIsOfTheWholeCrawl(t *testing.T) {
	t.Parallel()
	c := wholeCrew(t, func(shard int, _ *http.Request, _ string) string {
		times, visits := "0,60,120,180", "1,1,1,1"
		if shard == 4 {
			times, visits = "180,240", "5,5"
		}
		return fmt.Sprintf(`{"step_seconds":60,"times":[%s],"values":{"visits":[%s],"uris":[%[2]s],"overdue":[%[2]s],"disk_free":[%[2]s]}}`, times, visits)
	})
	s := answerOf[api.Series](c, "/series?span=1d", "shard 4 is counted since 1970-01-01 00:03 UTC only: node b has no earlier counts of it")
	want := "map[disk_free:[-1 -1 -1 1] overdue:[-1 -1 -1 5] uris:[-1 -1 -1 8] visits:[3 3 3 8]]"
	if got := fmt.Sprint(s.Values); got != want || fmt.Sprint(s.Times) != "[0 60 120 180]" {
		t.Errorf("at %v %s, want %s", s.Times, got, want)
	}
}

// TestEachNodePacksItsArchive orders packages, lists them, and fetches one from the other node.
func TestEachNodePacksItsArchive(t *testing.T) {
	t.Parallel()
	refuses := ""
	c := wholeCrew(t, func(shard int, r *http.Request, _ string) string {
		switch {
		case strings.HasSuffix(r.URL.Path, ".wacz"):
			return fmt.Sprintf("package of %d", shard)
		case r.Method == http.MethodPost && refuses == fmt.Sprint(shard):
			return ""
		case r.Method == http.MethodPost:
			return fmt.Sprintf(`{"name":"p","node":"of %d"}`, shard)
		case shard == 1:
			return `{"packages":[]}`
		}
		return fmt.Sprintf(`{"packages":[{"name":"p","ordered":"2026-01-0%dT00:00:00Z","link":"/api/v1/packages/p.wacz"}]}`, shard)
	})
	list := answerOf[api.Packages](c, "/packages", "")
	if len(list.Packages) != 3 || list.Packages[0].Link != "/api/v1/packages/p.wacz?shard=4" {
		t.Errorf("the packages are %+v", list)
	}
	w := c.ask(http.MethodGet, "/packages/p.wacz?shard=4", "")
	if w.Code != 200 || w.Body.String() != "package of 4" || w.Header().Get("Content-Length") != "" && w.Header().Get("Content-Length") != "12" {
		t.Errorf("the package is %q: %v", w.Body, w.Header())
	}
	if w = c.ask(http.MethodPost, "/packages", `{"uri":"http://3.example/"}`); len(c.asked) != 1 || !strings.Contains(w.Body.String(), "of 3") {
		t.Errorf("the package of a version: %s, asked %q", w.Body, c.asked)
	}
	for who, want := range map[string]string{
		"": "each of the nodes a, b makes a package of its archive; not in this answer: the archive of node d, which crawls nothing now",
		"3": "not ordered at node b: not known; each of the nodes a makes a package of its archive; " +
			"not in this answer: the archive of node d, which crawls nothing now",
	} {
		refuses = who
		w = c.ask(http.MethodPost, "/packages", `{"collection":"x"}`)
		if got := w.Header().Get(api.MissingHeader); w.Code != 200 || got != want || !strings.Contains(w.Body.String(), "of 1") || len(c.asked) != 2 {
			t.Errorf("ordered: %d %s, %q, want %q; asked %q", w.Code, w.Body, got, want, c.asked)
		}
	}
	refuses = "1"
	if w = c.ask(http.MethodPost, "/packages", `{"collection":"x"}`); w.Code != http.StatusNotFound || len(c.asked) != 1 {
		t.Errorf("an order that a node refuses: %d %s, asked %q", w.Code, w.Body, c.asked)
	}
}

// TestAnAnswerThatBreaksOffIsNotComplete passes on an answer whose node ends in the middle.
func TestAnAnswerThatBreaksOffIsNotComplete(t *testing.T) {
	t.Parallel()
	c := wholeCrew(t, nil)
	s := c.nodes["a"]
	s.cluster.Ask = func(*http.Request, int) (*http.Response, error) {
		w := httptest.NewRecorder()
		_, _ = w.WriteString("half of it")
		got := w.Result()
		got.ContentLength = 1000
		got.Body = http.MaxBytesReader(nil, got.Body, 3)
		return got, nil
	}
	server := httptest.NewServer(s.Handler(access.Options{}))
	defer server.Close()
	got, err := http.Get(server.URL + api.Base + "/packages/p.wacz?shard=3")
	if err != nil {
		return
	}
	defer got.Body.Close() //nolint:errcheck // it was only read
	var text any
	if err := json.NewDecoder(got.Body).Decode(&text); got.ContentLength != 1000 || err == nil || !strings.Contains(err.Error(), "EOF") {
		t.Errorf("an answer of %d bytes that broke off: %v", got.ContentLength, err)
	}
}

// TestMetricsAreOfAllShardsOfANode scrapes a node of two shards, and asks whether it is ready.
func TestMetricsAreOfAllShardsOfANode(t *testing.T) {
	t.Parallel()
	c := newCrew(t, func(shard int, r *http.Request, _ string) string {
		if r.URL.Path == "/readyz" && shard == 2 {
			return "" // an error
		}
		return fmt.Sprintf("of %d", shard)
	})
	gauge := func(name, shard string) prometheus.Gatherer {
		g := prometheus.NewGauge(prometheus.GaugeOpts{Name: name, Help: "x"})
		r := prometheus.NewRegistry()
		labels := prometheus.Labels{}
		if shard != "" {
			labels["shard"] = shard
		}
		prometheus.WrapRegistererWith(labels, r).MustRegister(g)
		return r
	}
	for _, shard := range []int{1, 2} {
		c.nodes["a"].Measure(shard, admin.Metrics{Crawl: gauge("uris", fmt.Sprint(shard)), Machine: gauge("disk", "")})
	}
	get := func(target string) *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		c.nodes["a"].Handler(access.Options{}).ServeHTTP(w, httptest.NewRequest(http.MethodGet, target, http.NoBody))
		return w
	}
	if text := get("/metrics").Body.String(); !strings.Contains(text, "disk 0\n") || !strings.Contains(text, `uris{shard="1"} 0`) ||
		!strings.Contains(text, `uris{shard="2"} 0`) {
		t.Errorf("the metrics are %s", text)
	}
	if text := get("/metrics?shard=2").Body.String(); text != "of 2" {
		t.Errorf("the metrics of shard 2 are %s", text)
	}
	if w := get("/readyz"); w.Code != http.StatusNotFound {
		t.Errorf("ready although one shard is not: %d %s", w.Code, w.Body)
	}
	idle, _ := c.nodes["a"].Remove(2)
	<-idle
	if text := get("/metrics").Body.String(); strings.Contains(text, `shard="2"`) || !strings.Contains(text, `shard="1"`) {
		t.Errorf("the metrics without shard 2 are %s", text)
	}
}

// TestAPageAsksAllShards asks, as the feed does, for the latest captures.
func TestAPageAsksAllShards(t *testing.T) {
	t.Parallel()
	c := wholeCrew(t, func(shard int, r *http.Request, _ string) string {
		if r.URL.Path == "/feed.atom" {
			ask := admin.WholeOf(r.Context())
			if ask == nil {
				return "false, " + r.URL.RawQuery
			}
			var all api.New
			err := ask(r, "/new", &all)
			return fmt.Sprintf("true, %v, %d of %s", err, len(all.Captures), r.URL.RawQuery)
		}
		return fmt.Sprintf(`{"captures":[{"host":"%d.example","at":"2026-01-01T00:00:00Z"}]}`, shard)
	})
	for target, want := range map[string]string{
		"/feed.atom?limit=3": "true, <nil>, 3 of limit=3", "/feed.atom?shard=2": "false, shard=2",
	} {
		w := httptest.NewRecorder()
		c.nodes["a"].Handler(access.Options{}).ServeHTTP(w, httptest.NewRequest(http.MethodGet, target, http.NoBody))
		if w.Body.String() != want {
			t.Errorf("%s: %s, want %s", target, w.Body, want)
		}
	}
}
