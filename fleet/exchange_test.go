package fleet

import (
	"context"
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

// crew is a crawl of the nodes a, b and c, of which c is dead. A node crawls the hosts whose names begin with its name.
type crew struct {
	t         *testing.T
	nodes     map[string]*switchboard
	asked     []string // node, path, query, body and caller of each question
	names     []string // of the nodes to ask about the whole crawl
	away      []string // other nodes
	owner     map[string]string
	uncrawled string
	dead      map[string]bool
}

// crewNode is a node of a crew.
type crewNode struct {
	*crew
	name string
}

func (n crewNode) Name() string                               { return n.name }
func (n crewNode) Names() []string                            { return n.names }
func (n crewNode) Crawler(h uri.Host) string                  { return n.owner[string(h[:1])] }
func (n crewNode) Uncrawled() string                          { return n.uncrawled }
func (n crewNode) Announce(string, []byte)                    {}
func (n crewNode) Door(string) (string, []byte)               { return "", nil }
func (n crewNode) Bearer([]byte) string                       { return "" }
func (n crewNode) AllNames(context.Context) ([]string, error) { return append(n.away, n.names...), nil }

// newCrew returns a crew whose nodes, 1 to 3, answer as answer says; "" is an error.
func newCrew(t *testing.T, answer func(node int, r *http.Request, body string) string) *crew {
	c := &crew{
		t: t, nodes: map[string]*switchboard{}, names: []string{"a", "b", "c"}, dead: map[string]bool{"c": true},
		owner: map[string]string{"a": "a", "b": "b", "c": "c"},
	}
	for i, name := range c.names {
		plain := func(o access.Options) http.Handler {
			return access.Guard(http.HandlerFunc(func(to http.ResponseWriter, from *http.Request) {
				body, err := io.ReadAll(from.Body)
				if err != nil {
					t.Error(err)
				}
				by := access.CallerOf(from.Context())
				c.asked = append(c.asked, strings.TrimSpace(fmt.Sprint(name, " ", from.URL.RequestURI(), " ", string(body), " ", by.Role)))
				to.Header().Set("Content-Type", "application/json")
				text := answer(i+1, from, string(body))
				if text == "" {
					to.WriteHeader(http.StatusNotFound)
					text = `{"error":"not known"}`
				}
				_, _ = io.WriteString(to, text)
			}), o)
		}
		c.nodes[name] = &switchboard{nodes: crewNode{c, name}, plain: plain, send: c.send}
	}
	return c
}

// send sends a request to a node of the crew.
func (c *crew) send(r *http.Request, node string) (*http.Response, error) {
	if c.dead[node] {
		return nil, errors.New("connection refused")
	}
	w := httptest.NewRecorder()
	r.URL.Scheme, r.URL.Host, r.RequestURI = "https", "b", r.URL.RequestURI()
	if r.Body == nil {
		r.Body = http.NoBody
	}
	known := func(*http.Request) bool { return true }
	c.nodes[node].ForNodes(access.Options{Caller: introduced(known)}).ServeHTTP(w, r)
	return w.Result(), nil
}

// ask asks node a.
func (c *crew) ask(method, target, body string, change ...func(*http.Request)) *httptest.ResponseRecorder {
	c.t.Helper()
	r := httptest.NewRequest(method, api.Base+target, strings.NewReader(body))
	for _, do := range change {
		do(r)
	}
	return c.serve(r)
}

// serve lets node a answer a request.
func (c *crew) serve(r *http.Request) *httptest.ResponseRecorder {
	c.t.Helper()
	w := httptest.NewRecorder()
	c.asked = nil
	c.nodes["a"].Handler(access.Options{}).ServeHTTP(w, r)
	return w
}

// byHeader names a node in a request, and byCookie as a browser that has chosen it.
func byHeader(node string) func(*http.Request) {
	return func(r *http.Request) { r.Header.Set(nodeHeader, node) }
}

func byCookie(node string) func(*http.Request) {
	return func(r *http.Request) { r.AddCookie(cookieFor(node, false)) }
}

// TestAQuestionReachesTheNodeOfItsHost asks node a about hosts and URIs of all nodes.
func TestAQuestionReachesTheNodeOfItsHost(t *testing.T) {
	t.Parallel()
	c := newCrew(t, func(node int, _ *http.Request, _ string) string { return fmt.Sprintf(`{"node":%d}`, node) })
	c.owner["e"] = "x" // which has just left
	nothing := func(*http.Request) {}
	for _, row := range []struct {
		method, target, body string
		change               func(*http.Request)
		status               int
		asked                string // "" = nobody
		says                 string
	}{
		{"GET", "/hosts/a.example", "", nothing, 200, "a /api/v1/hosts/a.example  operate", `"node":1`},
		{"GET", "/hosts/b.example/queue?limit=5", "", nothing, 200, "b /api/v1/hosts/b.example/queue?limit=5  operate", `"node":2`},
		{"GET", "/why?uri=http%3A%2F%2Fb.example%2Fx", "", nothing, 200, "b /api/v1/why?uri=http%3A%2F%2Fb.example%2Fx  operate", `"node":2`},
		{"GET", "/uri?uri=b.example%2Fx", "", nothing, 200, "a /api/v1/uri?uri=b.example%2Fx  operate", `"node":1`},
		{"GET", "/history?uri=http%3A%2F%2Fc.example%2F", "", nothing, 502, "", "node c cannot be asked: connection refused"},
		{"GET", "/history?uri=http%3A%2F%2Fd.example%2F", "", nothing, 502, "", "no node crawls d.example now: try again in half a minute"},
		{"GET", "/hosts/d.example", "", nothing, 502, "", "no node crawls d.example now: try again in half a minute"},
		{"GET", "/hosts/e.example", "", nothing, 502, "", "there is no node x now; the nodes are a, b, c"},
		{"POST", "/capture", `{"uris":["http://b.example/","http://d.example/"]}`, nothing, 502, "", "no node crawls d.example now"},
		{"POST", "/frontier/import", `{"entries":[{"uri":"http://d.example/"},{"uri":"http://b.example/"}]}`, nothing, 502, "", "no node crawls d.example now"},
		{"GET", "/overdue?host=b.example", "", byCookie("a"), 200, "b /api/v1/overdue?host=b.example  operate", `"node":2`},
		{"GET", "/overdue?host=b.example", "", byHeader("a"), 200, "a /api/v1/overdue?host=b.example  operate", `"node":1`},
		{"GET", "/status", "", byHeader("b"), 200, "b /api/v1/status  operate", `"node":2`},
		{"GET", "/status?node=b", "", nothing, 200, "b /api/v1/status  operate", `"node":2`},
		{"GET", "/status", "", byCookie("b"), 200, "b /api/v1/status  operate", `"node":2`},
		{"GET", "/me", "", byCookie("b"), 200, "b /api/v1/me  operate", `"node":2`},
		{"GET", "/me?node=all", "", byCookie("b"), 200, "a /api/v1/me?node=all  operate", `"node":1`},
		{"GET", "/status", "", byHeader("x"), 502, "", "there is no node x now; the nodes are a, b, c"},
		{"POST", "/reload", "{}", nothing, 200, "a /api/v1/reload {} operate", `"node":1`},
		{"POST", "/traps/release", `{"host":"b.example"}`, nothing, 200, `b /api/v1/traps/release {"host":"b.example"} operate`, `"node":2`},
		{"POST", "/frontier/hosts", `{"pattern":"b.example"}`, nothing, 200, `b /api/v1/frontier/hosts {"pattern":"b.example"} operate`, `"node":2`},
		{"POST", "/ignore/propose", `{"uri":"http://b.example/"}`, nothing, 200, `b /api/v1/ignore/propose {"uri":"http://b.example/"} operate`, `"node":2`},
		{"GET", "/view?uri=http%3A%2F%2Fb.example%2F", "", nothing, 400, "", "shown by node b"},
		{"GET", "/view?uri=http%3A%2F%2Fa.example%2F", "", nothing, 200, "a /api/v1/view?uri=http%3A%2F%2Fa.example%2F  operate", `"node":1`},
	} {
		w := c.ask(row.method, row.target, row.body, row.change)
		if w.Code != row.status || !strings.Contains(w.Body.String(), row.says) || strings.Join(c.asked, "; ") != row.asked {
			t.Errorf("%s %s: %d %s, asked %q, want %q", row.method, row.target, w.Code, w.Body, c.asked, row.asked)
		}
	}
}

// TestAnOrderForAHostThatHasMovedIsRefused lets node a ask node b about hosts that b has handed over meanwhile.
func TestAnOrderForAHostThatHasMovedIsRefused(t *testing.T) {
	t.Parallel()
	c := newCrew(t, func(int, *http.Request, string) string { return `{"matched":1}` })
	moved := *c
	moved.owner = map[string]string{"a": "a", "b": "a"}
	c.nodes["b"].nodes = crewNode{&moved, "b"}
	for _, row := range []struct {
		method, target, body string
		status               int
	}{
		{"GET", "/hosts/b.example", "", 200},
		{"POST", "/hosts/b.example/forget", "{}", 502},
		{"POST", "/traps/release", `{"host":"b.example"}`, 502},
		{"POST", "/frontier/steer", `{"select":{"uris":["http://b.example/"]},"verb":"force"}`, 502},
		{"POST", "/frontier/import", `{"entries":[{"uri":"http://b.example/"}]}`, 502},
	} {
		w := c.ask(row.method, row.target, row.body)
		if w.Code != row.status || row.status == 502 && !strings.Contains(w.Body.String(), "node b does not crawl the host now: try again") {
			t.Errorf("%s %s: %d %s", row.method, row.target, w.Code, w.Body)
		}
	}
	delete(moved.owner, "b")
	for path, body := range map[string]string{
		"/traps/release": `{"host":"b.example"}`, "/frontier/import": `{"entries":[{"uri":"http://b.example/"}]}`,
	} {
		if w := c.ask("POST", path, body); w.Code != 502 || len(c.asked) > 0 {
			t.Errorf("%s: nobody crawls the host by now: %d %s", path, w.Code, w.Body)
		}
	}
	c.dead["c"] = false
	if w := c.ask("POST", "/frontier/hosts", `{"pattern":"*","verb":"pause"}`); w.Code != 200 || len(c.asked) != 3 {
		t.Errorf("an order for all hosts: %d %s, asked %q", w.Code, w.Body, c.asked)
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
	for token, want := range map[string]string{secret: "[b /api/v1/hosts/b.example  read]", "a wrong secret 123": "[]"} {
		r := httptest.NewRequest(http.MethodGet, "http://localhost"+api.Base+"/hosts/b.example", http.NoBody)
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

// TestWhatAnAnswerLeavesOutIsNamed asks for what one node answers, and for lists while a node is dead, and while nobody
// crawls some hosts.
func TestWhatAnAnswerLeavesOutIsNamed(t *testing.T) {
	t.Parallel()
	c := newCrew(t, func(int, *http.Request, string) string { return `{"hosts":{}}` })
	const nobody = "2 of 1,024 parts of the hosts are crawled by no node now"
	const dead = "not in this answer: node c cannot be asked: connection refused"
	const only = "this is for node a only; name another one with --node NAME, or in the address with ?node=NAME, or ?node=all: " +
		"the nodes are a, b, c"
	for _, row := range []struct {
		method, target string
		uncrawled      string
		missing        string
	}{
		{"POST", "/seeds", nobody, only},
		{"POST", "/reload", "", only},
		{"GET", "/status?node=b", nobody, ""},
		{"GET", "/me", nobody, ""},
		{"GET", "/hosts/b.example", nobody, ""},
		{"GET", "/names", "", dead},
		{"GET", "/names", nobody, nobody + "; " + dead},
		{"POST", "/frontier/count", nobody, nobody},
	} {
		c.uncrawled = row.uncrawled
		w := c.ask(row.method, row.target, "")
		if got := w.Header().Get(api.MissingHeader); w.Code != 200 || got != row.missing {
			t.Errorf("%s %s: %d %q, want %q", row.method, row.target, w.Code, got, row.missing)
		}
	}
	c.names = []string{"a"}
	if w := c.ask("POST", "/seeds", ""); w.Header().Get(api.MissingHeader) != "" {
		t.Errorf("the only node says %q", w.Header())
	}
}

// TestAPauseIsForAllNodes pauses and resumes the crawl while a node is dead, and then while all are well.
func TestAPauseIsForAllNodes(t *testing.T) {
	t.Parallel()
	refuses := 0 // the first node that refuses the order; 0 = none does
	c := newCrew(t, func(node int, _ *http.Request, _ string) string {
		if refuses > 0 && node >= refuses {
			return ""
		}
		return `{"state":"paused","why":"works"}`
	})
	is := func(path string, code int, want string, asked int, change ...func(*http.Request)) {
		t.Helper()
		w := c.ask(http.MethodPost, path, `{"reason":"works"}`, change...)
		if w.Code != code || !strings.Contains(w.Body.String(), want) || len(c.asked) != asked {
			t.Errorf("%s: %d %s %v, asked %q, want %d %s", path, w.Code, w.Body, w.Header(), c.asked, code, want)
		}
	}
	is("/pause", 502, "node c cannot be asked: connection refused; done on node a, b; repeat it", 2)
	is("/pause", 200, `{"state":"paused","why":"works"}`, 1, byHeader("b"))
	is("/pause", 200, `{"state":"paused","why":"works"}`, 1, byCookie("b"))
	c.dead["c"] = false
	is("/pause", 200, `{"state":"paused","why":"works"}`, 3)
	is("/resume", 200, `{"state":"paused","why":"works"}`, 3)
	refuses = 3
	is("/resume", 502, "node c refuses: not known; done on node a, b; repeat it", 3)
	refuses = 1
	is("/pause", 404, "not known", 1)
}

// TestListsAreJoined asks for lists of all nodes.
func TestListsAreJoined(t *testing.T) {
	t.Parallel()
	c := newCrew(t, func(node int, r *http.Request, _ string) string {
		switch strings.TrimPrefix(r.URL.Path, api.Base) {
		case "/hosts":
			return fmt.Sprintf(`{"total":2,"hosts":[{"host":"%d.example","uris":%d},{"host":"%d.test","uris":9}]}`, node, node, node)
		case "/new":
			return fmt.Sprintf(`{"captures":[{"host":"%d.example","at":"2026-01-0%dT00:00:00Z"}],"more":1,"as_of":"2026-01-0%dT00:00:00Z",
				"unreachable":[{"host":"%d.example","failures":%d}],"sites":{"%d.example":"Title"}}`, node, node, node, node, node, node)
		case "/alarms":
			return fmt.Sprintf(`{"alarms":[{"kind":"disk","text":"the disk is full"},{"kind":"host","about":"%d.example","since":"2026-01-0%dT00:00:00Z"}]}`, node, node)
		case "/alarms/acknowledge":
			if node == 3 {
				return `{"changed":1}`
			}
		case "/audit":
			return fmt.Sprintf(`{"entries":[{"time":"2026-01-0%dT00:00:00Z","who":"%d"}]}`, node, node)
		case "/traps":
			return fmt.Sprintf(`{"traps":[{"host":"%d.example"}],"more":false}`, 9-node)
		}
		return ""
	})
	c.dead["c"] = false
	for _, row := range []struct{ target, body, want string }{
		{"/hosts", "", "6 1.example 1.test 2.example 2.test 3.example 3.test"},
		{"/hosts?sort=uris&limit=3&offset=2", "", "6 3.test 3.example 2.example"},
		{"/hosts?offset=100", "", "6"},
		{"/new?limit=2", "", "3.example 2.example more 4, down 3.example 2.example 1.example, as of 1"},
		{"/alarms", "", "3.examplenode c:  2.examplenode b:  1.examplenode a:  the disk is full"},
		{"/traps", "", "6.example 7.example 8.example"},
		{"/audit?limit=2", "", "3 2"},
		{"/alarms/acknowledge", `{"kind":"host","about":"c.example"}`, "1"},
	} {
		method := http.MethodGet
		if row.body != "" {
			method = http.MethodPost
		}
		w := c.ask(method, row.target, row.body)
		if got := summaryOf(t, row.target, w.Body.Bytes()); w.Code != 200 || got != row.want || w.Header().Get(api.MissingHeader) != "" {
			t.Errorf("%s: %d %q, want %q, missing %q", row.target, w.Code, got, row.want, w.Header().Get(api.MissingHeader))
		}
	}
	if w := c.ask(http.MethodGet, "/hosts?limit=900&offset=19101", ""); w.Code != 400 || !strings.Contains(w.Body.String(), "narrow the list") {
		t.Errorf("a page far behind: %d %s", w.Code, w.Body)
	}
	c.dead["c"] = true
	w := c.ask(http.MethodGet, "/hosts", "")
	if want := "not in this answer: node c cannot be asked: connection refused"; w.Header().Get(api.MissingHeader) != want {
		t.Errorf("without a node the hosts miss %q, want %q", w.Header().Get(api.MissingHeader), want)
	}
}

// TestPagesOfManyHosts asks for pages far behind, of nodes with more hosts than one answer has.
func TestPagesOfManyHosts(t *testing.T) {
	t.Parallel()
	total := map[int]int{1: 2500, 2: 0, 3: 1001}
	c := newCrew(t, func(node int, r *http.Request, _ string) string {
		q := r.URL.Query()
		limit, _ := strconv.Atoi(q.Get("limit"))
		offset, _ := strconv.Atoi(q.Get("offset"))
		out := api.Hosts{Total: total[node], Hosts: []api.Host{}}
		for i := offset; i < min(offset+limit, out.Total); i++ {
			out.Hosts = append(out.Hosts, api.Host{Host: fmt.Sprintf("%d.example:%04d", node, i)})
		}
		text, err := json.Marshal(out)
		if err != nil {
			t.Error(err)
		}
		return string(text)
	})
	c.dead["c"] = false
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

// summaryOf says what a list has.
func summaryOf(t *testing.T, target string, text []byte) string {
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
