package fleet

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/arcrawl/arcrawl/admin/api"
)

// TestSelectionsAreWorkedOffNodeByNode lists, steers and counts URIs of all nodes with cursors, as the client does. The
// name of a node may have any characters.
func TestSelectionsAreWorkedOffNodeByNode(t *testing.T) {
	t.Parallel()
	c := newCrew(t, func(node int, r *http.Request, body string) string {
		var q api.Select
		var o api.Order
		if body != "" && json.Unmarshal([]byte(body), &q) != nil {
			t.Errorf("%s", body)
		}
		if strings.HasSuffix(r.URL.Path, "/steer") && json.Unmarshal([]byte(body), &o) == nil {
			q = o.Select
		}
		if q.Cursor == "" && r.URL.Query().Get("cursor") == "" && node == 2 {
			return `{"count":10,"matched":10,"next":"there:are.more"}`
		}
		return `{"count":1,"matched":1,"next":""}`
	})
	const odd = "b:1 .%2F"
	c.dead["c"], c.names[1], c.owner["b"] = false, odd, odd
	c.nodes[odd] = c.nodes["b"]
	c.nodes[odd].nodes = crewNode{c, odd}
	for _, row := range []struct {
		method, path, format string
		want                 string
	}{
		{"POST", "/frontier/count", `{"cursor":%q}`, "1 of a, 10 of b, 1 of b, 1 of c"},
		{"POST", "/frontier/list", `{"cursor":%q,"host":"*.example"}`, "1 of a, 10 of b, 1 of b, 1 of c"},
		{"POST", "/frontier/list", `{"cursor":%q,"host":"b.example"}`, "10 of b, 1 of b"},
		{"POST", "/frontier/steer", `{"select":{"cursor":%q,"uris":["http://b.example/","http://a.example/"]},"verb":"force"}`, "1 of a, 10 of b, 1 of b"},
		{"GET", "/search?q=x&cursor=", "%s", "1 of a, 10 of b, 1 of b, 1 of c"},
	} {
		var got []string
		cursor := ""
		for range 10 {
			target, body := row.path, fmt.Sprintf(row.format, cursor)
			if row.method == http.MethodGet {
				target, body = row.path+url.QueryEscape(cursor), ""
			}
			w := c.ask(row.method, target, body)
			var v struct {
				Count int
				Next  string
			}
			if err := json.Unmarshal(w.Body.Bytes(), &v); err != nil || w.Code != 200 || len(c.asked) != 1 {
				t.Fatalf("%s: %d %s, asked %q", row.path, w.Code, w.Body, c.asked)
			}
			if strings.Contains(c.asked[0], "a.example") && strings.Contains(c.asked[0], "b.example") {
				t.Errorf("a node is asked for URIs of others: %s", c.asked[0])
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
	c.dead["c"] = true
	if w := c.ask(http.MethodPost, "/frontier/count", `{"cursor":"c:"}`); w.Code != 502 || !strings.Contains(w.Body.String(), "node c") {
		t.Errorf("with a dead node: %d %s", w.Code, w.Body)
	}
	for _, cursor := range []string{"x", "d:", "a", ":", "%zz:"} {
		if w := c.ask(http.MethodPost, "/frontier/count", fmt.Sprintf(`{"cursor":%q}`, cursor)); w.Code != 400 {
			t.Errorf("the cursor %q: %d %s", cursor, w.Code, w.Body)
		}
	}
}

// TestOrdersForSeveralNodesAreCounted passes on orders for patterns of hosts, imports and captures.
func TestOrdersForSeveralNodesAreCounted(t *testing.T) {
	t.Parallel()
	c := newCrew(t, func(node int, r *http.Request, _ string) string {
		if strings.HasSuffix(r.URL.Path, "/capture") {
			return fmt.Sprintf(`{"since":"2026-01-0%dT00:00:00Z","uris":["of %d"]}`, 4-node, node)
		}
		if strings.HasSuffix(r.URL.Path, "/progress") {
			return fmt.Sprintf(`{"condition":{},"uris":[{"uri":"http://%c.example/"}]}`, 'a'+node-1)
		}
		return `{"matched":2,"changed":1}`
	})
	w := c.ask(http.MethodPost, "/frontier/hosts", `{"pattern":"*","verb":"pause"}`)
	if w.Code != 502 || !strings.Contains(w.Body.String(), "node c cannot be asked: connection refused; done on node a, b; repeat it") {
		t.Errorf("an order that a dead node does not get: %d %s", w.Code, w.Body)
	}
	c.dead["c"], c.uncrawled = false, "7 parts"
	for _, row := range []struct {
		path, body, want string
		asked            int
		missing          string
	}{
		{"/frontier/hosts", `{"pattern":"*","verb":"pause"}`, `{"changed":3,"matched":6}`, 3, "7 parts"},
		{"/frontier/import", `{"entries":[{"uri":"http://b.example/"},{"uri":"http://a.example/"},{"uri":"http://b.example/2"}]}`, `{"changed":2,"matched":4}`, 2, ""},
		{"/capture", `{"uris":["http://b.example/","http://a.example/","not a URI"]}`, `{"since":"2026-01-02T00:00:00Z","uris":["of 1","of 2"]}`, 2, ""},
		{"/capture/progress", `{"uris":["http://b.example/","http://a.example/"]}`, `"uris":[{"uri":"http://b.example/","state":""},{"uri":"http://a.example/","state":""}]}`, 2, ""},
	} {
		w := c.ask(http.MethodPost, row.path, row.body)
		missing := w.Header().Get(api.MissingHeader)
		if w.Code != 200 || !strings.Contains(w.Body.String(), row.want) || len(c.asked) != row.asked ||
			missing != row.missing {
			t.Errorf("%s: %d %s, asked %q, missing %q", row.path, w.Code, w.Body, c.asked, missing)
		}
	}
}
