package cluster

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/arcrawl/arcrawl/admin/access"
	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/uri"
)

// crew is a crawl of four shards: node a crawls 1 and 2, node b crawls 3, and node c, which is dead, crawls 4.
type crew struct {
	t     *testing.T
	nodes map[string]*switchboard
	asked []string // shard, path, query, body and caller of each question
	owner map[int]string
}

func newCrew(t *testing.T, answer func(shard int, r *http.Request, body string) string) *crew {
	c := &crew{t: t, nodes: map[string]*switchboard{"a": {}, "b": {}}, owner: map[int]string{1: "a", 2: "a", 3: "b", 4: "c"}}
	for shard, name := range c.owner {
		if c.nodes[name] == nil {
			continue
		}
		c.nodes[name].Set(shard, func(o access.Options) http.Handler {
			return access.Guard(http.HandlerFunc(func(to http.ResponseWriter, from *http.Request) {
				body, err := io.ReadAll(from.Body)
				if err != nil {
					t.Error(err)
				}
				by := access.CallerOf(from.Context())
				c.asked = append(c.asked, strings.TrimSpace(fmt.Sprint(shard, " ", from.URL.RequestURI(), " ", string(body), " ", by.Role)))
				to.Header().Set("Content-Type", "application/json")
				text := answer(shard, from, string(body))
				if text == "" {
					to.WriteHeader(http.StatusNotFound)
					text = `{"error":"not known"}`
				}
				_, _ = io.WriteString(to, text)
			}), o)
		})
	}
	for _, s := range c.nodes {
		s.Join(peers{
			Shards: 4,
			// The first letter of the name says the shard: "3.example".
			ShardOf: func(h uri.Host) int { return int(h[0] - '0') },
			Node:    func(shard int) string { return c.owner[shard] },
			Ask: func(r *http.Request, shard int) (*http.Response, error) {
				to := c.nodes[c.owner[shard]]
				if to == nil {
					return nil, errors.New("connection refused")
				}
				w := httptest.NewRecorder()
				r.URL.Scheme, r.URL.Host, r.RequestURI = "https", "b", r.URL.RequestURI()
				if r.Body == nil {
					r.Body = http.NoBody
				}
				to.Handler(access.Options{Caller: introduced(func(*http.Request) bool { return true })}).ServeHTTP(w, r)
				return w.Result(), nil
			},
		})
	}
	return c
}

// ask asks node a.
func (c *crew) ask(method, target, body string, change ...func(*http.Request)) *httptest.ResponseRecorder {
	c.t.Helper()
	r := httptest.NewRequest(method, api.Base+target, strings.NewReader(body))
	for _, do := range change {
		do(r)
	}
	w := httptest.NewRecorder()
	c.asked = nil
	c.nodes["a"].Handler(access.Options{}).ServeHTTP(w, r)
	return w
}

// TestAQuestionReachesTheShardOfItsHost asks node a about hosts and URIs of all nodes.
func TestAQuestionReachesTheShardOfItsHost(t *testing.T) {
	t.Parallel()
	c := newCrew(t, func(shard int, _ *http.Request, _ string) string { return fmt.Sprintf(`{"shard":%d}`, shard) })
	explicit := func(shard string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set(shardHeader, shard) }
	}
	byCookie := func(shard string) func(*http.Request) {
		return func(r *http.Request) { r.AddCookie(&http.Cookie{Name: cookie, Value: shard}) }
	}
	nothing := func(*http.Request) {}
	for _, row := range []struct {
		method, target, body string
		change               func(*http.Request)
		status               int
		asked                string // "" = nobody
		says                 string
	}{
		{"GET", "/hosts/2.example", "", nothing, 200, "2 /api/v1/hosts/2.example  operate", `"shard":2`},
		{"GET", "/hosts/3.example/queue?limit=5", "", nothing, 200, "3 /api/v1/hosts/3.example/queue?limit=5  operate", `"shard":3`},
		{"GET", "/why?uri=http%3A%2F%2F3.example%2Fx", "", nothing, 200, "3 /api/v1/why?uri=http%3A%2F%2F3.example%2Fx  operate", `"shard":3`},
		{"GET", "/uri?uri=2.example%2Fx", "", nothing, 200, "", ""},
		{"GET", "/history?uri=http%3A%2F%2F4.example%2F", "", nothing, 502, "", "node c, which crawls shard 4, cannot be asked: connection refused"},
		{"GET", "/overdue?host=3.example", "", byCookie("1"), 200, "3 /api/v1/overdue?host=3.example  operate", `"shard":3`},
		{"GET", "/overdue?host=3.example", "", explicit("2"), 200, "2 /api/v1/overdue?host=3.example  operate", `"shard":2`},
		{"GET", "/status", "", explicit("3"), 200, "3 /api/v1/status  operate", `"shard":3`},
		{"GET", "/status?shard=3", "", nothing, 200, "3 /api/v1/status  operate", `"shard":3`},
		{"GET", "/status", "", byCookie("3"), 200, "3 /api/v1/status  operate", `"shard":3`},
		{"GET", "/status", "", explicit("9"), 502, "", "there is no shard 9: the crawl has 4"},
		{"GET", "/status", "", explicit("x"), 400, "", "not the number of a shard"},
		{"POST", "/traps/release", `{"host":"3.example"}`, nothing, 200, `3 /api/v1/traps/release {"host":"3.example"} operate`, `"shard":3`},
		{"POST", "/frontier/hosts", `{"pattern":"3.example"}`, nothing, 200, `3 /api/v1/frontier/hosts {"pattern":"3.example"} operate`, `"shard":3`},
		{"POST", "/ignore/propose", `{"uri":"http://3.example/"}`, nothing, 200, `3 /api/v1/ignore/propose {"uri":"http://3.example/"} operate`, `"shard":3`},
		{"GET", "/view?uri=http%3A%2F%2F3.example%2F", "", nothing, 400, "", "shown by node b"},
		{"GET", "/view?uri=http%3A%2F%2F2.example%2F", "", nothing, 200, "2 /api/v1/view?uri=http%3A%2F%2F2.example%2F  operate", `"shard":2`},
	} {
		w := c.ask(row.method, row.target, row.body, row.change)
		if w.Code != row.status || !strings.Contains(w.Body.String(), row.says) ||
			row.asked != "" && strings.Join(c.asked, "; ") != row.asked {
			t.Errorf("%s %s: %d %s, asked %q, want %q", row.method, row.target, w.Code, w.Body, c.asked, row.asked)
		}
	}
	c.owner[4] = "b" // which has it not yet
	if w := c.ask("GET", "/hosts/4.example", ""); w.Code != 502 || !strings.Contains(w.Body.String(), "has just moved") {
		t.Errorf("a shard that has moved: %d %s", w.Code, w.Body)
	}
	delete(c.owner, 4)
	if w := c.ask("GET", "/hosts/4.example", ""); w.Code != 502 || !strings.Contains(w.Body.String(), "no node crawls shard 4") {
		t.Errorf("a shard without a node: %d %s", w.Code, w.Body)
	}
}

// TestTheCallerIsNamedToTheOtherNode asks with tokens of several roles, and without one.
func TestTheCallerIsNamedToTheOtherNode(t *testing.T) {
	t.Parallel()
	c := newCrew(t, func(int, *http.Request, string) string { return "{}" })
	const secret = "a secret of the reader"
	o := access.Options{Tokens: func() []access.Token {
		return []access.Token{{Name: "reader", Role: access.Read, Secret: secret}}
	}}
	for token, want := range map[string]string{secret: "[3 /api/v1/hosts/3.example  read]", "a wrong secret 123": "[]"} {
		r := httptest.NewRequest(http.MethodGet, "http://localhost"+api.Base+"/hosts/3.example", http.NoBody)
		r.Header.Set("Authorization", "Bearer "+token)
		introduce(access.Caller{Name: "x", Role: access.Operate}, r.Header) // which means nothing at this address
		c.asked = nil
		w := httptest.NewRecorder()
		c.nodes["a"].Handler(o).ServeHTTP(w, r)
		if got := fmt.Sprint(c.asked); got != want {
			t.Errorf("token %q: status %d, asked %s, want %s", token, w.Code, got, want)
		}
	}
}

// TestANodeNamesTheCaller introduces callers as a node does and as strangers might.
func TestANodeNamesTheCaller(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		known      bool
		name, role string
		status     int
	}{
		{true, "Zo%C3%AB+%C3%96", "curate", 0},
		{true, "", "operate", 0},
		{true, "", "", 403},
		{true, "x", "none", 403},
		{false, "x", "operate", 403},
		{true, "%zz", "curate", 400},
	} {
		want, again := http.Header{callerHeader: {row.name}, roleHeader: {row.role}}, http.Header{}
		c, status, _ := introduced(func(*http.Request) bool { return row.known })(&http.Request{Header: want})
		introduce(c, again)
		if same := reflect.DeepEqual(again, want); status != row.status || status == 0 && (!same || c.Way != byNode) {
			t.Errorf("%+v: status %d, caller %+v, introduced as %v", row, status, c, again)
		}
	}
}

// TestWhatAnAnswerLeavesOutIsNamed asks for what one shard answers, and for lists while a node is dead.
func TestWhatAnAnswerLeavesOutIsNamed(t *testing.T) {
	t.Parallel()
	c := newCrew(t, func(int, *http.Request, string) string { return `{"hosts":{}}` })
	for _, row := range []struct{ method, target, missing string }{
		{"POST", "/seeds", "this is for shard 1 of 4 only; name another one with --shard N, or in the address with ?shard=N, or ?shard=all: " +
			"node a crawls 1, 2; node b crawls 3; node c crawls 4"},
		{"GET", "/status?shard=1", ""},
		{"GET", "/me", ""},
		{"GET", "/hosts/3.example", ""},
		{"POST", "/reload", "this is for the shards of this node only"},
		{"GET", "/names", "not in this answer: shard 4: node c, which crawls shard 4, cannot be asked: connection refused"},
	} {
		w := c.ask(row.method, row.target, "")
		got := w.Header().Get(api.MissingHeader)
		if w.Code != 200 || !strings.HasPrefix(got, row.missing) || row.missing == "" && got != "" {
			t.Errorf("%s %s: %d %q, want %q", row.method, row.target, w.Code, got, row.missing)
		}
	}
}

// TestAPauseIsForAllNodes pauses and resumes the crawl while a node is dead, and then while all are well.
func TestAPauseIsForAllNodes(t *testing.T) {
	t.Parallel()
	refuses := 0 // the first shard that refuses the order; 0 = none does
	c := newCrew(t, func(shard int, _ *http.Request, _ string) string {
		if refuses > 0 && shard >= refuses {
			return ""
		}
		return `{"state":"paused","why":"works"}`
	})
	is := func(path string, code int, want string, asked int) {
		t.Helper()
		c.asked = nil
		w := c.ask(http.MethodPost, path, `{"reason":"works"}`)
		if w.Code != code || !strings.Contains(w.Body.String(), want) || len(c.asked) != asked || w.Header().Get(api.MissingHeader) != "" {
			t.Errorf("%s: %d %s %v, asked %q, want %d %s", path, w.Code, w.Body, w.Header(), c.asked, code, want)
		}
	}
	is("/pause", 502, "node c, which crawls shard 4, cannot be asked: connection refused; done in the shards 1, 2, 3; repeat it", 3)
	c.owner[4] = "a"
	c.nodes["a"].serve[4] = c.nodes["a"].serve[1]
	is("/pause", 200, `{"state":"paused","why":"works"}`, 4)
	is("/resume", 200, `{"state":"paused","why":"works"}`, 4)
	refuses = 3
	is("/resume", 502, "shard 3 refuses: not known; done in the shards 1, 2, 4; repeat it", 4)
	refuses = 1
	is("/pause", 404, "not known", 1)
}

// TestListsAreJoined asks for lists of all shards.
func TestListsAreJoined(t *testing.T) {
	t.Parallel()
	c := newCrew(t, func(shard int, r *http.Request, _ string) string {
		switch strings.TrimPrefix(r.URL.Path, api.Base) {
		case "/hosts":
			return fmt.Sprintf(`{"total":2,"hosts":[{"host":"%d.example","uris":%d},{"host":"%d.test","uris":9}]}`, shard, shard, shard)
		case "/new":
			return fmt.Sprintf(`{"captures":[{"host":"%d.example","at":"2026-01-0%dT00:00:00Z"}],"more":1,"as_of":"2026-01-0%dT00:00:00Z",
				"unreachable":[{"host":"%d.example","failures":%d}],"sites":{"%d.example":"Title"}}`, shard, shard, shard, shard, shard, shard)
		case "/alarms":
			return fmt.Sprintf(`{"alarms":[{"kind":"disk","text":"the disk is full"},{"kind":"host","about":"%d.example","since":"2026-01-0%dT00:00:00Z"}]}`, shard, shard)
		case "/alarms/acknowledge":
			if shard == 3 {
				return `{"changed":1}`
			}
		case "/audit":
			return fmt.Sprintf(`{"entries":[{"time":"2026-01-0%dT00:00:00Z","who":"%d"}]}`, shard, shard)
		case "/traps":
			return fmt.Sprintf(`{"traps":[{"host":"%d.example"}],"more":false}`, 9-shard)
		}
		return ""
	})
	c.owner[4] = "b" // which has no such shard yet
	c.nodes["b"].serve[4] = c.nodes["b"].serve[3]
	for _, row := range []struct{ target, body, want string }{
		{"/hosts", "", "8 1.example 1.test 2.example 2.test 3.example 3.example 3.test 3.test"},
		{"/hosts?sort=uris&limit=3&offset=3", "", "8 3.test 3.example 3.example"},
		{"/hosts?offset=100", "", "8"},
		{"/new?limit=2", "", "3.example 3.example more 6, down 3.example 3.example 2.example 1.example, as of 1"},
		{"/alarms", "", "3.examplenode b:  2.examplenode a:  1.examplenode a:  the disk is full"},
		{"/traps", "", "6.example 6.example 7.example 8.example"},
		{"/audit?limit=3", "", "3 3 2"},
		{"/alarms/acknowledge", `{"kind":"host","about":"3.example"}`, "1"},
	} {
		method := http.MethodGet
		if row.body != "" {
			method = http.MethodPost
		}
		w := c.ask(method, row.target, row.body)
		if got := summary(t, row.target, w.Body.Bytes()); w.Code != 200 || got != row.want || w.Header().Get(api.MissingHeader) != "" {
			t.Errorf("%s: %d %q, want %q, missing %q", row.target, w.Code, got, row.want, w.Header().Get(api.MissingHeader))
		}
	}
	if w := c.ask(http.MethodGet, "/hosts?limit=900&offset=19101", ""); w.Code != 400 || !strings.Contains(w.Body.String(), "narrow the list") {
		t.Errorf("a page far behind: %d %s", w.Code, w.Body)
	}
}

// TestPagesOfManyHosts asks for pages far behind, of shards with more hosts than one answer has.
func TestPagesOfManyHosts(t *testing.T) {
	t.Parallel()
	total := map[int]int{1: 2500, 2: 3, 3: 1001, 4: 0}
	c := newCrew(t, func(shard int, r *http.Request, _ string) string {
		q := r.URL.Query()
		limit, _ := strconv.Atoi(q.Get("limit"))
		offset, _ := strconv.Atoi(q.Get("offset"))
		out := api.Hosts{Total: total[shard], Hosts: []api.Host{}}
		for i := offset; i < min(offset+limit, out.Total); i++ {
			out.Hosts = append(out.Hosts, api.Host{Host: fmt.Sprintf("%d.example:%04d", shard, i)})
		}
		text, err := json.Marshal(out)
		if err != nil {
			t.Error(err)
		}
		return string(text)
	})
	c.owner[4] = "a"
	c.nodes["a"].serve[4] = c.nodes["a"].serve[2]
	total[2] = 0
	var all []string
	for offset := 0; ; offset += 700 {
		w := c.ask(http.MethodGet, fmt.Sprintf("/hosts?limit=700&offset=%d", offset), "")
		var v api.Hosts
		if err := json.Unmarshal(w.Body.Bytes(), &v); err != nil || v.Total != 3501 {
			t.Fatalf("%d hosts: %v: %d", v.Total, err, w.Code)
		}
		if len(v.Hosts) == 0 {
			break
		}
		for _, h := range v.Hosts {
			all = append(all, h.Host)
		}
	}
	if len(all) != 3501 || !slices.IsSorted(all) || len(slices.Compact(all)) != 3501 {
		t.Errorf("the pages have %d hosts, sorted %t", len(all), slices.IsSorted(all))
	}
}

// summary says what a list has.
func summary(t *testing.T, target string, text []byte) string {
	t.Helper()
	var words []string
	decode := func(v any) {
		if err := json.Unmarshal(text, v); err != nil {
			t.Errorf("%s: %v: %s", target, err, text)
		}
	}
	name, _, _ := strings.Cut(target, "?")
	switch name {
	case "/hosts":
		var v api.Hosts
		decode(&v)
		words = append(words, fmt.Sprint(v.Total))
		for _, h := range v.Hosts {
			words = append(words, h.Host)
		}
	case "/new":
		var v api.New
		decode(&v)
		for _, h := range v.Captures {
			words = append(words, h.Host)
		}
		words = append(words, fmt.Sprintf("more %d, down", v.More))
		for _, h := range v.Down {
			words = append(words, h.Host)
		}
		words[len(words)-1] += fmt.Sprintf(", as of %d", v.AsOf.Day())
	case "/alarms":
		var v api.Alarms
		decode(&v)
		for _, a := range v.Alarms {
			words = append(words, a.About+a.Text)
		}
	case "/audit":
		var v api.Audit
		decode(&v)
		for _, e := range v.Entries {
			words = append(words, e.Who)
		}
	case "/traps":
		var v api.Traps
		decode(&v)
		for _, h := range v.Traps {
			words = append(words, h.Host)
		}
	case "/alarms/acknowledge":
		var v api.Acknowledged
		decode(&v)
		words = append(words, fmt.Sprint(v.Changed))
	}
	return strings.Join(words, " ")
}

// TestSelectionsAreWorkedOffShardByShard lists, steers and counts URIs of all shards with cursors, as the client does.
func TestSelectionsAreWorkedOffShardByShard(t *testing.T) {
	t.Parallel()
	c := newCrew(t, func(shard int, r *http.Request, body string) string {
		var q api.Select
		var o api.Order
		if body != "" && json.Unmarshal([]byte(body), &q) != nil {
			t.Errorf("%s", body)
		}
		if strings.HasSuffix(r.URL.Path, "/steer") && json.Unmarshal([]byte(body), &o) == nil {
			q = o.Select
		}
		if q.Cursor == "" && r.URL.Query().Get("cursor") == "" && shard == 2 {
			return `{"count":10,"matched":10,"next":"there.are.more"}`
		}
		return `{"count":1,"matched":1,"next":""}`
	})
	c.owner[4] = "a"
	c.nodes["a"].serve[4] = c.nodes["a"].serve[1]
	for _, row := range []struct {
		method, path, format string
		want                 string
	}{
		{"POST", "/frontier/count", `{"cursor":%q}`, "1 of 1, 10 of 2, 1 of 2, 1 of 3, 1 of 1"},
		{"POST", "/frontier/list", `{"cursor":%q,"host":"*.example"}`, "1 of 1, 10 of 2, 1 of 2, 1 of 3, 1 of 1"},
		{"POST", "/frontier/list", `{"cursor":%q,"host":"3.example"}`, "1 of 3"},
		{"POST", "/frontier/steer", `{"select":{"cursor":%q,"uris":["http://3.example/","http://2.example/"]},"verb":"force"}`, "10 of 2, 1 of 2, 1 of 3"},
		{"GET", "/search?q=x&cursor=", "%s", "1 of 1, 10 of 2, 1 of 2, 1 of 3, 1 of 1"},
	} {
		var got []string
		cursor := ""
		for range 10 {
			target, body := row.path, fmt.Sprintf(row.format, cursor)
			if row.method == http.MethodGet {
				target, body = row.path+cursor, ""
			}
			w := c.ask(row.method, target, body)
			var v struct {
				Count int
				Next  string
			}
			if err := json.Unmarshal(w.Body.Bytes(), &v); err != nil || w.Code != 200 || len(c.asked) != 1 {
				t.Fatalf("%s: %d %s, asked %q", row.path, w.Code, w.Body, c.asked)
			}
			if strings.Contains(c.asked[0], "2.example") && strings.Contains(c.asked[0], "3.example") {
				t.Errorf("a shard is asked for URIs of others: %s", c.asked[0])
			}
			got = append(got, fmt.Sprintf("%d of %c", v.Count, c.asked[0][0]))
			if cursor = v.Next; cursor == "" {
				break
			}
		}
		if text := strings.Join(got, ", "); text != row.want {
			t.Errorf("%s %s: %s, want %s", row.path, row.format, text, row.want)
		}
	}
	c.owner[3] = "c"
	if w := c.ask(http.MethodPost, "/frontier/count", `{"cursor":"3."}`); w.Code != 502 || !strings.Contains(w.Body.String(), "node c") {
		t.Errorf("with a dead node: %d %s", w.Code, w.Body)
	}
	for _, cursor := range []string{"x", "9.", "3", ".", "3x."} {
		if w := c.ask(http.MethodPost, "/frontier/count", fmt.Sprintf(`{"cursor":%q}`, cursor)); w.Code != 400 {
			t.Errorf("the cursor %q: %d %s", cursor, w.Code, w.Body)
		}
	}
}

// TestOrdersForSeveralShardsAreCounted passes on orders for patterns of hosts, imports and captures.
func TestOrdersForSeveralShardsAreCounted(t *testing.T) {
	t.Parallel()
	c := newCrew(t, func(shard int, r *http.Request, _ string) string {
		if strings.HasSuffix(r.URL.Path, "/capture") {
			return fmt.Sprintf(`{"since":"2026-01-0%dT00:00:00Z","uris":["of %d"]}`, 5-shard, shard)
		}
		if strings.HasSuffix(r.URL.Path, "/progress") {
			return fmt.Sprintf(`{"condition":{},"uris":[{"uri":"http://%d.example/"}]}`, shard)
		}
		return `{"matched":2,"changed":1}`
	})
	w := c.ask(http.MethodPost, "/frontier/hosts", `{"pattern":"*","verb":"pause"}`)
	if w.Code != 502 || !strings.Contains(w.Body.String(), "done in the shards 1, 2, 3; repeat it") {
		t.Errorf("an order that a dead node does not get: %d %s", w.Code, w.Body)
	}
	c.owner[4] = "a"
	c.nodes["a"].serve[4] = c.nodes["a"].serve[1]
	for _, row := range []struct {
		path, body, want string
		asked            int
	}{
		{"/frontier/hosts", `{"pattern":"*","verb":"pause"}`, `{"changed":4,"matched":8}`, 4},
		{"/frontier/import", `{"entries":[{"uri":"http://3.example/"},{"uri":"http://1.example/"},{"uri":"http://3.example/2"}]}`, `{"changed":2,"matched":4}`, 2},
		{"/capture", `{"uris":["http://3.example/","http://2.example/","not a URI"]}`, `{"since":"2026-01-02T00:00:00Z","uris":["of 2","of 3"]}`, 2},
		{"/capture/progress", `{"uris":["http://3.example/","http://2.example/"]}`, `"uris":[{"uri":"http://3.example/","state":""},{"uri":"http://2.example/","state":""}]}`, 2},
	} {
		w := c.ask(http.MethodPost, row.path, row.body)
		if w.Code != 200 || !strings.Contains(w.Body.String(), row.want) || len(c.asked) != row.asked {
			t.Errorf("%s: %d %s, asked %q", row.path, w.Code, w.Body, c.asked)
		}
	}
}
