package curator

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/arcrawl/arcrawl/admin"
	"github.com/arcrawl/arcrawl/admin/access"
	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/internal/testcrawl"
)

// TestWhatIsNewShowsCapturesAndWhatIsMissing crawls a page that changes, one with a hostile title, and a host that is
// down, and restarts.
func TestWhatIsNewShowsCapturesAndWhatIsMissing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		toml := strings.Replace(everyHour, `uris = ["http://news.example/"]`,
			`uris = ["http://news.example/", "http://other.example/", "http://down.example/", "http://closed.example/", "http://app.example/"]
about = [{ uri = "http://news.example/", title = "The News", labels = ["papers"] }, { uri = "http://down.example/", labels = ["papers"] }]`, 1)
		w := newWorld(t, dir, toml)
		defer w.Close()
		w.Set("http://news.example/", testcrawl.Page{Every: 2 * time.Hour})
		w.Set("http://closed.example/robots.txt", testcrawl.Page{Body: "User-agent: *\nDisallow: /\n"})
		w.Set("http://app.example/", testcrawl.Page{Body: "<div id=root></div><script>start()</script>"})
		const title = "<title>\n A &lt;b&gt;\u202e &amp; B </title>"
		w.Set("http://other.example/", testcrawl.Page{Body: "<html><head>" + title + "</head><body>other</body></html>"})
		w.Run(5 * time.Hour)
		n := get[api.New](w, "/api/v1/new")
		if text := string(w.serve("GET", "/feed.atom?limit=1", "")); strings.Count(text, "<entry>") != 1 || !strings.Contains(text, "/view/20") {
			t.Errorf("the feed: %s", text)
		}
		if len(n.Captures) != 5 || n.Sites["news.example"] != "The News" || n.Names.Labels[0] != "papers" {
			t.Fatalf("%d captures: %+v", len(n.Captures), n)
		}
		if c := n.Captures[0]; c.Kind != "changed" || c.Host != "news.example" || c.Versions != 3 || c.Type != "text/html" {
			t.Errorf("the newest capture is %+v", c)
		}
		for query, want := range map[string]int{
			"host=other.example": 1, "kind=first": 3, "label=papers": 3, "type=image/": 0, "q=OTHER": 1, "owner=jan": 0, "limit=1": 1,
		} {
			if got := get[api.New](w, "/api/v1/new?"+query); len(got.Captures) != want {
				t.Errorf("%s selects %d captures, want %d", query, len(got.Captures), want)
			}
		}
		if got := get[api.New](w, "/api/v1/new?host=other.example").Captures[0].Title; got != "A <b> & B" {
			t.Errorf("the title is %q", got)
		}
		if len(n.Seeds) != 2 || n.Seeds[0].Host != "closed.example" || n.Seeds[0].Setting != "robots.obey" ||
			!strings.Contains(n.Seeds[0].Text, "forbidden by robots.txt") ||
			n.Seeds[1].Host != "app.example" || n.Seeds[1].Setting != "render.pages" {
			t.Errorf("the seeds without a page are %+v", n.Seeds)
		}
		if of := get[SiteDetails](w, "/api/v1/hosts/closed.example/site").Seeds; len(of) != 1 || of[0].Out != "robots.txt forbids it" {
			t.Errorf("the seeds of the closed site are %+v", of)
		}
		if len(n.Down) != 1 || n.Down[0].Host != "down.example" || len(get[api.New](w, "/api/v1/new?owner=jan").Down) != 0 {
			t.Errorf("unreachable are %+v", n.Down)
		}
		if status := w.Ask("GET", "/api/v1/new?kind=third", nil, nil); status != 400 {
			t.Errorf("an unknown kind: status %d, want 400", status)
		}
		for path, body := range map[string]any{
			"/api/v1/capture":        CaptureOrder{URIs: []string{"http://other.example/"}},
			"/api/v1/frontier/steer": api.Order{Select: api.Select{URIs: []string{"http://other.example/"}}, Verb: "force"},
		} {
			if status := w.Ask("POST", path, body, nil); status != http.StatusOK {
				t.Errorf("POST %s: status %d", path, status)
			}
			w.Run(time.Minute)
			got := get[api.New](w, "/api/v1/new?kind=checked").Captures
			if len(got) == 0 || got[0].URI != "http://other.example/" || time.Since(got[0].At) > time.Minute {
				t.Errorf("POST %s: checked on demand are %+v", path, got)
			}
			w.Run(time.Minute)
		}
		if n := len(get[api.New](w, "/api/v1/new?kind=checked").Captures); n != 2 {
			t.Errorf("%d visits on demand are listed, want 2", n)
		}
		if text := string(w.serve("GET", "/feed.atom?host=other.example", "")); strings.Count(text, "<entry>") != 1 {
			t.Errorf("the feed has visits that found nothing new: %s", text)
		}
		w.Must(w.window.Close(time.Now()))
		again, err := admin.New(w.window.Options())
		w.Must(err)
		w.window, w.Window, w.Handler = again, again, again.Handler(access.Options{})
		if got := get[api.New](w, "/api/v1/new"); len(got.Captures) != 7 {
			t.Errorf("after a restart there are %d captures, want 7", len(got.Captures))
		}
	})
}

// TestASeedThatLeadsToNoPageIsNamedAtOnce lets seeds redirect to a wall, a page to log in, a refusal and a page.
func TestASeedThatLeadsToNoPageIsNamedAtOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, dir, strings.Replace(everyHour, `uris = [`,
			`uris = ["http://wall.example/", "http://members.example/", "http://closed.example/", "http://moved.example/", `, 1))
		defer w.Close()
		for from, to := range map[string]string{
			"http://wall.example/": "/?cc=1", "http://wall.example/?cc=1": "/", "http://members.example/": "/account/login?next=/",
			"http://closed.example/": "/home", "http://moved.example/": "/home",
		} {
			w.Set(from, testcrawl.Page{Status: http.StatusFound, Location: to})
		}
		w.Set("http://closed.example/home", testcrawl.Page{Status: http.StatusForbidden})
		w.Set("http://moved.example/home", testcrawl.Page{Body: "home"})
		w.Run(5 * time.Minute)
		want := map[string]string{
			"wall.example":    "fetch.cookies: leads to http://wall.example/?cc=1, which redirected back to itself",
			"members.example": "login.uri: leads to a page to log in, http://members.example/account/login?next=/",
			"closed.example":  "request.secret_headers: leads to http://closed.example/home, which refused us with status 403",
		}
		for _, s := range get[api.New](w, "/api/v1/new").Seeds {
			setting, what, _ := strings.Cut(want[s.Host], ": ")
			if setting == "" || s.Setting != setting || !strings.Contains(s.Text, "the seed http://"+s.Host+"/ "+what) {
				t.Errorf("a seed without a page is %+v, want %s", s, want[s.Host])
			}
			delete(want, s.Host)
		}
		if len(want) > 0 {
			t.Errorf("nothing says that %v", want)
		}
	})
}
