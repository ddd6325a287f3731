package render_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/daemon"
	"github.com/arcrawl/arcrawl/internal/daemontest"
	"github.com/arcrawl/arcrawl/render"
	"github.com/arcrawl/arcrawl/render/chromium"
)

// scripted is a site whose front page loads its pictures by script. It remembers each request.
type scripted struct {
	mu       sync.Mutex
	requests []string // method, path and User-Agent
	last     time.Time
	rude     []string // requests that came too early after the last answer
}

// scriptedRest is the rest of the host between two requests.
const scriptedRest = 100 * time.Millisecond

var scriptedFiles = map[string]string{
	"/robots.txt": "User-agent: *\nDisallow: /private/\n",
	"/":           `<!DOCTYPE html><title>front</title><body><p>front<script src="/app.js"></script>`,
	"/app.js": `fetch("/api/list.json").then(r => r.json()).then(list => {
		for (const t of list) document.body.insertAdjacentHTML("beforeend", '<a href="' + t.link + '"><img src="' + t.img + '"></a>');
	});
	fetch("/private/secret.json");
	fetch("/form", {method: "POST", body: "x"});
	location.protocol == "http:" && new WebSocket("ws://" + location.host + "/socket");`,
	"/api/list.json": `[{"link": "/teaser.html", "img": "/teaser.svg"}]`,
	"/teaser.svg":    `<svg xmlns="http://www.w3.org/2000/svg" width="10" height="10"><rect width="10" height="10" fill="red"/></svg>`,
	"/teaser.html":   `<title>teaser</title>`,
}

func (s *scripted) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.requests = append(s.requests, r.Method+" "+r.URL.Path+" "+r.UserAgent())
	if time.Since(s.last) < scriptedRest-10*time.Millisecond {
		s.rude = append(s.rude, r.URL.Path)
	}
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		s.last = time.Now()
		s.mu.Unlock()
	}()
	text, ok := scriptedFiles[r.URL.Path]
	if !ok {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", map[string]string{
		".js": "text/javascript", ".json": "application/json", ".svg": "image/svg+xml", ".txt": "text/plain",
	}[filepath.Ext(r.URL.Path)])
	if w.Header().Get("Content-Type") == "" {
		w.Header().Set("Content-Type", "text/html")
	}
	_, _ = io.WriteString(w, text)
}

func (s *scripted) count(path string) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.requests {
		if strings.Split(r, " ")[1] == path {
			n++
		}
	}
	return n
}

// TestAPageIsRendered crawls a page whose script loads its teasers. What the browser requests is visited by the crawl,
// once, within robots.txt, and archived; the browser itself reaches nothing.
func TestAPageIsRendered(t *testing.T) {
	t.Parallel()
	if _, err := chromium.Find(""); err != nil {
		if os.Getenv("ARCRAWL_REQUIRE_FOREIGN") == "1" {
			t.Fatal(err)
		}
		t.Skipf("run scripts/test-deps: %v", err)
	}
	s := new(scripted)
	site := httptest.NewServer(s)
	defer site.Close()
	l := daemontest.StartIn(t, t.TempDir(), []func() daemon.Wing{render.Wing}, func(dir, main string) string {
		host := strings.TrimPrefix(site.URL, "http://")
		daemontest.Write(t, filepath.Join(dir, "hosts.d", "site.toml"), "host = \""+host+"\"\n[warc]\nseries = \"embargo\"\n")
		main = regexp.MustCompile(`uris = \[.*\]`).ReplaceAllString(main, fmt.Sprintf("uris = [%q]", site.URL+"/"))
		main = strings.NewReplacer("min_delay = \"0s\"", "min_delay = \"100ms\"", "max_delay = \"0s\"", "max_delay = \"1s\"",
			"[seeds]", "[warc]\nseries_names = [\"embargo\"]\n[seeds]").Replace(main)
		return strings.Replace(main, "[seeds]", "[render]\npages = \"changed\"\nkeep = \"all\"\nlimit = \"1m\"\n[scope]\nspeculative = false\n[seeds]", 1)
	})
	for end := time.Now().Add(2 * time.Minute); s.count("/teaser.html") == 0 || !strings.Contains(l.Archived(t), "urn:fullPage:"+site.URL+"/\n"); {
		if time.Now().After(end) {
			t.Fatalf("the page was not rendered in time; requests: %q; archive: %s\n%s", s.requests, l.Archived(t), l.Text())
		}
		time.Sleep(50 * time.Millisecond)
	}
	for _, path := range []string{"/", "/app.js", "/api/list.json", "/teaser.svg", "/teaser.html"} {
		if n := s.count(path); n != 1 {
			t.Errorf("%s was requested %d times, want once", path, n)
		}
	}
	for _, path := range []string{"/private/secret.json", "/form", "/socket"} {
		if n := s.count(path); n != 0 {
			t.Errorf("%s was requested", path)
		}
	}
	s.mu.Lock()
	if len(s.rude) > 0 {
		t.Errorf("requests before the host had rested: %q", s.rude)
	}
	for _, r := range s.requests {
		if !strings.Contains(r, "arcrawl/") || !strings.HasPrefix(r, "GET ") {
			t.Errorf("a request that the crawl did not make: %s", r)
		}
	}
	s.mu.Unlock()
	all := l.Archived(t)
	if others := l.ArchivedIn(t, "arcrawl-2*"); strings.Contains(others, site.URL) {
		t.Errorf("what belongs to the series of the host is in other files: %s", others)
	}
	for _, uri := range []string{
		"urn:text:" + site.URL + "/", "urn:dom:" + site.URL + "/", site.URL + "/api/list.json", site.URL + "/teaser.svg",
	} {
		if !strings.Contains(all, uri+"\n") {
			t.Errorf("the archive has no %s:\n%s", uri, all)
		}
	}
	log, err := os.ReadFile(filepath.Join(l.Dir, "crawl.log"))
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{`/api/list\.json X http://\S+/ `, `/teaser\.svg E http://\S+/ `, `/teaser\.html L http://\S+/ `} {
		if !regexp.MustCompile(line).Match(log) {
			t.Errorf("crawl.log has no line %q:\n%s", line, log)
		}
	}
}
