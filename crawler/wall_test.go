package crawler_test

import (
	"net/http"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/arcrawl/arcrawl/evaluators"
)

// walled is a site that lets only visitors with a cookie in.
func walled(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/robots.txt" {
		http.NotFound(w, r)
		return
	}
	if c, err := r.Cookie("consent"); err != nil || c.Value != "yes" {
		w.Header().Set("Set-Cookie", "consent=yes")
		http.Redirect(w, r, r.URL.Path, http.StatusFound)
		return
	}
	w.Header().Set("Content-Type", "text/html")
	_, _ = w.Write([]byte("<p>News</p><a href=/1>1</a><a href=/2>2</a>"))
}

// TestACookieFromTheConfigurationOpensAWall crawls a walled site, first without and then with fetch.cookie, next to a
// site that must never get the cookie.
func TestACookieFromTheConfigurationOpensAWall(t *testing.T) {
	t.Parallel()
	for hostFile, want := range map[string]int{"": 0, "[fetch]\ncookie = \"consent=yes\"\n": 3} {
		dir := t.TempDir()
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, dir, "[seeds]\nuris = [\"http://walled.example/\", \"http://open.example/\"]\n")
			defer w.town.Close()
			if err := os.Mkdir(w.path("hosts.d"), 0o750); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(w.path("hosts.d/walled.example.toml"), []byte(hostFile), 0o600); err != nil {
				t.Fatal(err)
			}
			w.town.Serve("walled.example", http.HandlerFunc(walled))
			w.town.Serve("open.example", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if c := r.Header.Get("Cookie"); c != "" {
					t.Errorf("another host was sent the cookie %q", c)
				}
				_, _ = w.Write([]byte("open"))
			}))
			w.run(2 * 24 * time.Hour)
			pages, loops, open := map[string]bool{}, 0, false
			for _, r := range w.reports {
				switch {
				case r.URI.Host() == "open.example":
					open = open || r.Status == http.StatusOK
				case r.Block == evaluators.RedirectLoop && r.Failed:
					loops++
				case r.Status == http.StatusOK && !strings.HasSuffix(r.URI.String(), "/robots.txt"):
					pages[r.URI.String()] = true
				}
			}
			if len(pages) != want || (loops > 0) == (want > 0) || !open {
				t.Errorf("with %q: %d pages and %d loops, want %d pages; the open site was crawled: %t", hostFile, len(pages), loops, want, open)
			}
		})
	}
}
