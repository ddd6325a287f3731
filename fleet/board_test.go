package fleet

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/arcrawl/arcrawl/admin"
	"github.com/arcrawl/arcrawl/admin/api"
)

// TestABrowserChoosesANode opens pages of node a with names of nodes in the address and in a cookie.
func TestABrowserChoosesANode(t *testing.T) {
	t.Parallel()
	c := newCrew(t, func(node int, _ *http.Request, _ string) string { return fmt.Sprint("page of ", node) })
	for _, row := range []struct {
		target, cookie string
		status         int
		sets           string // "" = no cookie
	}{
		{"/", "", 200, ""},
		{"/?node=b", "", 200, "arcrawl-node=b;"},
		{"/hosts.html?node=c", "b", 200, "arcrawl-node=c;"},
		{"/?node=all", "b", 200, "arcrawl-node=; Path=/; Max-Age=0;"},
		{"/?node=x", "", 200, ""},
		{"/", "b", 200, ""},
		{"/", "x", 200, "arcrawl-node=; Path=/; Max-Age=0;"}, // it has been removed
		{"/app.js", "x", 200, ""},
		{"/metrics?node=a", "", 200, "arcrawl-node=a;"},
		{"/metrics", "b", 200, ""},
		{"/metrics?node=b", "", 421, ""},
		{"/readyz?node=b", "", 421, ""},
	} {
		r := httptest.NewRequest(http.MethodGet, row.target, http.NoBody)
		if row.cookie != "" {
			byCookie(row.cookie)(r)
		}
		w := c.serve(r)
		set := w.Header().Get("Set-Cookie")
		if w.Code != row.status || !strings.HasPrefix(set, row.sets) || row.sets == "" && set != "" || row.status == 200 && w.Body.String() != "page of 1" {
			t.Errorf("%s with the cookie %q: %d %s, sets %q, want %q", row.target, row.cookie, w.Code, w.Body, set, row.sets)
		}
	}
}

// TestTheNameInACookieMayHaveAnyCharacters names a node whose name no cookie could have as it is.
func TestTheNameInACookieMayHaveAnyCharacters(t *testing.T) {
	t.Parallel()
	const name = `Zoë; "1"`
	r := httptest.NewRequest(http.MethodGet, "/", http.NoBody)
	r.AddCookie(cookieFor(name, true))
	if got, explicit := nameOf(r); got != name || explicit {
		t.Errorf("the cookie names %q, explicitly %t", got, explicit)
	}
}

// TestAnotherSiteChoosesNoNode opens a link with a node on the page of another site.
func TestAnotherSiteChoosesNoNode(t *testing.T) {
	t.Parallel()
	c := newCrew(t, func(int, *http.Request, string) string { return "page" })
	for site, sets := range map[string]bool{"cross-site": false, "same-site": false, "same-origin": true, "none": true} {
		r := httptest.NewRequest(http.MethodGet, "/?node=b", http.NoBody)
		r.Header.Set("Sec-Fetch-Site", site)
		if got := c.serve(r).Header().Get("Set-Cookie") != ""; got != sets {
			t.Errorf("from %s: set a cookie %t, want %t", site, got, sets)
		}
	}
}

// TestAPageAsksAllNodes asks, as the feed does, for the latest captures.
func TestAPageAsksAllNodes(t *testing.T) {
	t.Parallel()
	c := newCrew(t, func(node int, r *http.Request, _ string) string {
		if r.URL.Path == "/feed.atom" {
			var all api.New
			err := admin.WholeOf(r.Context())(r, "/new", &all)
			return fmt.Sprintf("%v, %d", err, len(all.Captures))
		}
		return fmt.Sprintf(`{"captures":[{"host":"%d.example","at":"2026-01-01T00:00:00Z"}]}`, node)
	})
	c.dead["c"] = false
	for target, want := range map[string]string{
		"/feed.atom?limit=2": "<nil>, 2", "/feed.atom": "<nil>, 3", "/feed.atom?node=b": "<nil>, 1",
		"/feed.atom?node=x": "ask all nodes: there is no node x now; the nodes are a, b, c, 0",
	} {
		if w := c.serve(httptest.NewRequest(http.MethodGet, target, http.NoBody)); w.Body.String() != want {
			t.Errorf("%s: %s, want %s", target, w.Body, want)
		}
	}
}
