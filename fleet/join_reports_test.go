package fleet

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/arcrawl/arcrawl/admin/access"
	"github.com/arcrawl/arcrawl/admin/api"
)

// TestReportsAreOfTheWholeCrawl asks for each report.
func TestReportsAreOfTheWholeCrawl(t *testing.T) {
	t.Parallel()
	c := wholeCrew(t, func(n int, r *http.Request, _ string) string {
		switch strings.TrimPrefix(r.URL.Path, api.Base) {
		case "/reports/headers":
			return fmt.Sprintf(`{"rows":[{"host":"%d.example"},{"host":"%[1]d.example"}],"dates":[{"host":"%d.example"}],"more":%t}`, 9-n, n, n == 2)
		case "/reports/days":
			return fmt.Sprintf(`{"all":{"requests":%[1]d,"versions_seen":1,"versions_estimated":2},"days":[{"day":"2026-01-01","requests":%[1]d}],
				"hosts":[{"host":"%[1]d.example","requests":7}],"rows":[{"host":"%[1]d.example","day":"2026-01-01"}],"pace":[{"host":"x","versions_lost":%[1]d}]}`, n)
		case "/reports/dedup":
			return fmt.Sprintf(`{"from":"2026-01-0%[1]dT00:00:00Z","complete":%[2]t,"all":{"handled":%[1]d0},
				"hosts":[{"key":"both.example","handled":5,"bytes":1},{"key":"%[1]d.example","handled":%[1]d}],"types":[{"key":"text/html","handled":2}]}`,
				n, r.URL.Query().Get("all") == "true")
		case "/status/sites":
			return fmt.Sprintf(`{"condition":{"state":"crawling"},"hosts":{"known":%[1]d},"unreachable":[],"uris":{"known":%[1]d,"due":-1},"busy":1,"visits":[],
				"today":{"requests":%[1]d,"versions_seen":1,"versions_estimated":1},"alarms":[{"kind":"disk","text":"full"}]}`, n)
		}
		return ""
	})
	h := answerOf[api.HeaderReport](c, "/reports/headers", "")
	if len(h.Rows) != 6 || h.Rows[0].Host != "6.example" || h.Rows[5].Host != "8.example" || h.Dates[0].Host != "1.example" || !h.More {
		t.Errorf("headers: %+v", h)
	}
	d := answerOf[api.DayReport](c, "/reports/days", "")
	if d.All.Requests != 6 || d.All.Seen != 3 || d.All.Versions != 6 || d.All.Share != .5 ||
		len(d.Days) != 1 || d.Days[0].Requests != 6 ||
		len(d.Hosts) != 3 || len(d.Rows) != 3 || len(d.Pace) != 3 || d.Pace[0].Lost != 3 {
		t.Errorf("days: %+v", d)
	}
	away := "not in this answer: the log of node d, which is away"
	p := answerOf[api.DedupReport](c, "/reports/dedup", "only the ends of the logs are read, which begin at different times: "+
		"node a since 2026-01-01 00:00:00, node b since 2026-01-02 00:00:00, node c since 2026-01-03 00:00:00; "+away)
	if len(c.asked) != 3 || p.From.Day() != 1 || p.Complete || p.All.Handled != 60 ||
		len(p.Hosts) != 4 || len(p.Types) != 1 ||
		p.Hosts[0] != (api.DedupRow{Key: "both.example", Handled: 15, Bytes: 3}) {
		t.Errorf("deduplication: %+v, asked %q", p, c.asked)
	}
	if p = answerOf[api.DedupReport](c, "/reports/dedup?all=true&rows=1", away); len(p.Hosts) != 1 || !strings.Contains(c.asked[0], "rows=10000") {
		t.Errorf("one row: %+v, asked %q", p, c.asked)
	}
	s := answerOf[api.SitesStatus](c, "/status/sites?label=x", "")
	if s.Hosts.Known != 6 || s.URIs.Known != 6 || s.URIs.Due != -1 || s.Busy != 3 || s.Today.Requests != 6 ||
		len(s.Alarms) != 1 ||
		s.Condition != (api.Condition{State: api.Crawling}) {
		t.Errorf("some sites: %+v", s)
	}
}

// TestTheLogIsOfAllNodes asks for the log of three nodes: the last lines, those that follow while a node does not
// answer, and after that.
func TestTheLogIsOfAllNodes(t *testing.T) {
	t.Parallel()
	c := wholeCrew(t, func(n int, r *http.Request, _ string) string {
		node, at := "abc"[n-1:n], 10*n
		if r.URL.Query().Has("after") {
			at += 5
		}
		return fmt.Sprintf(`{"lines":[{"at":"2026-01-01T00:00:%[2]dZ","node":"%[1]s","line":"%[2]d"},{"at":"2026-01-01T00:00:%[3]dZ","node":"%[1]s","line":"%[3]d"}],
			"read":"2026-01-01T00:01:0%[4]dZ","more":%[5]t,"next":{"%[1]s":{"offset":%[2]d}}}`, node, at, at+11, n, n == 2)
	})
	const away = "not in this answer: the log of node d, which is away"
	check := func(query, missing, want string) string {
		t.Helper()
		log := answerOf[api.Log](c, "/log?host=a.example&"+query, missing)
		got := fmt.Sprint(log.Read.Second(), log.More)
		for _, l := range log.Lines {
			got += " " + l.Node + l.Line
		}
		if next, err := json.Marshal(log.Next); err != nil || got+" "+string(next) != want {
			t.Errorf("%s: %s %s, want %s", query, got, next, want)
		}
		next, _ := json.Marshal(log.Next)
		return "limit=1&after=" + url.QueryEscape(string(next))
	}
	next := check("limit=4", away, `1 true a21 c30 b31 c41 {"a":{"offset":10},"b":{"offset":20},"c":{"offset":30}}`)
	c.dead["c"] = true
	next = check(next, "not in this answer: node c cannot be asked: connection refused; "+away,
		`1 true a15 b25 a26 b36 {"a":{"offset":15},"b":{"offset":25},"c":{"offset":30}}`)
	c.dead["c"] = false
	check(next, away, `1 true a15 b25 a26 c35 b36 c46 {"a":{"offset":15},"b":{"offset":25},"c":{"offset":35}}`)
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
	got := addRows(&j, [][]api.DedupRow{full, other}, []string{"a", "b"})
	if len(got) != maxTallies || got[0] != (api.DedupRow{Key: "both", Handled: 10}) ||
		slices.ContainsFunc(got, func(r api.DedupRow) bool { return r.Handled == 50 }) {
		t.Errorf("%d rows, the first is %+v", len(got), got[0])
	}
}

// TestTheSeriesIsOfTheWholeCrawl adds series of which one begins late, one has a gap, and not all have ended the last
// step.
func TestTheSeriesIsOfTheWholeCrawl(t *testing.T) {
	t.Parallel()
	c := wholeCrew(t, func(n int, _ *http.Request, _ string) string {
		times, visits := "0,60,120,180,240", "1,1,1,1,1"
		switch n {
		case 2:
			times, visits = "0,120,180,240", "1,1,1,1"
		case 3:
			times, visits = "180,240,300", "5,5,5"
		}
		return fmt.Sprintf(`{"step_seconds":60,"times":[%s],"values":{"visits":[%s],"uris":[%[2]s],"overdue":[%[2]s],"disk_free":[%[2]s]}}`, times, visits)
	})
	s := answerOf[api.Series](c, "/series?span=1d", "node c is counted since 1970-01-01 00:03 UTC only; "+
		"not in this answer: the counts of node d, which is away")
	want := "map[disk_free:[1 -1 1 1 1] overdue:[1 -1 1 5 5] uris:[2 -1 2 7 7] visits:[2 1 2 7 7]]"
	if got := fmt.Sprint(s.Values); got != want || fmt.Sprint(s.Times) != "[0 60 120 180 240]" {
		t.Errorf("at %v %s, want %s", s.Times, got, want)
	}
}

// TestEachNodePacksItsArchive orders packages, lists them, and fetches one from another node.
func TestEachNodePacksItsArchive(t *testing.T) {
	t.Parallel()
	refuses := ""
	c := wholeCrew(t, func(n int, r *http.Request, _ string) string {
		switch {
		case strings.HasSuffix(r.URL.Path, ".wacz"):
			return fmt.Sprintf("package of %d", n)
		case r.Method == http.MethodPost && refuses == fmt.Sprint(n):
			return ""
		case r.Method == http.MethodPost:
			return fmt.Sprintf(`{"name":"p","node":"of %d"}`, n)
		case n == 1:
			return `{"packages":[]}`
		}
		return fmt.Sprintf(`{"packages":[{"name":"p","ordered":"2026-01-0%dT00:00:00Z","link":"/api/v1/packages/p.wacz"}]}`, n)
	})
	list := answerOf[api.Packages](c, "/packages", "")
	if len(list.Packages) != 2 || list.Packages[0].Link != "/api/v1/packages/p.wacz?node=c" {
		t.Errorf("the packages are %+v", list)
	}
	w := c.ask(http.MethodGet, "/packages/p.wacz?node=c", "")
	if w.Code != 200 || w.Body.String() != "package of 3" || w.Header().Get("Content-Length") != "" && w.Header().Get("Content-Length") != "12" {
		t.Errorf("the package is %q: %v", w.Body, w.Header())
	}
	if w = c.ask(http.MethodPost, "/packages", `{"uri":"http://c.example/"}`); len(c.asked) != 1 || !strings.Contains(w.Body.String(), "of 3") {
		t.Errorf("the package of a version: %s, asked %q", w.Body, c.asked)
	}
	const away = "not in this answer: the archive of node d, which is away"
	for who, want := range map[string]string{
		"":  "each of the nodes a, b, c makes a package of its archive; " + away,
		"3": "not ordered at node c: not known; each of the nodes a, b makes a package of its archive; " + away,
	} {
		refuses = who
		w = c.ask(http.MethodPost, "/packages", `{"collection":"x"}`)
		if got := w.Header().Get(api.MissingHeader); w.Code != 200 || got != want || !strings.Contains(w.Body.String(), "of 1") || len(c.asked) != 3 {
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
	c := wholeCrew(t, func(int, *http.Request, string) string { return "" })
	s := c.nodes["a"]
	s.send = func(*http.Request, string) (*http.Response, error) {
		w := httptest.NewRecorder()
		_, _ = w.WriteString("half of it")
		got := w.Result()
		got.ContentLength = 1000
		got.Body = http.MaxBytesReader(nil, got.Body, 3)
		return got, nil
	}
	server := httptest.NewServer(s.Handler(access.Options{}))
	defer server.Close()
	got, err := http.Get(server.URL + api.Base + "/packages/p.wacz?node=c")
	if err != nil {
		return
	}
	defer got.Body.Close() //nolint:errcheck // it was only read
	var text any
	if err := json.NewDecoder(got.Body).Decode(&text); got.ContentLength != 1000 || err == nil || !strings.Contains(err.Error(), "EOF") {
		t.Errorf("an answer of %d bytes that broke off: %v", got.ContentLength, err)
	}
}
