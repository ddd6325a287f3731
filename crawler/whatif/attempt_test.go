package whatif_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/crawler/whatif"
	"github.com/arcrawl/arcrawl/fetch"
	"github.com/arcrawl/arcrawl/uri"
)

// TestATrialShowsWhatACookieWouldGet tries a page behind a wall, as configured and with a cookie. Then the file that
// robots.txt redirects to forbids it, and then it is not known what that file says.
func TestATrialShowsWhatACookieWouldGet(t *testing.T) {
	t.Parallel()
	forbidden, busy, requests := false, false, 0
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" {
			if forbidden {
				http.Redirect(w, r, "/rules.txt", http.StatusMovedPermanently)
			}
			return
		}
		if r.URL.Path == "/rules.txt" {
			if busy {
				w.WriteHeader(http.StatusTooManyRequests)
			}
			_, _ = fmt.Fprint(w, "User-agent: *\nDisallow: /\n")
			return
		}
		requests++
		if r.Header.Get("X-Key") != "pa55word" {
			t.Errorf("the request lacks the secret: %v", r.Header)
		}
		if c, err := r.Cookie("consent"); err != nil || c.Value != "yes" {
			http.SetCookie(w, &http.Cookie{Name: "consent", Value: "ask"})
			http.Redirect(w, r, r.URL.Path, http.StatusFound)
			return
		}
		_, _ = fmt.Fprint(w, "news")
	}))
	t.Cleanup(site.Close)
	dir := t.TempDir()
	for name, text := range map[string]string{
		"arcrawl.toml":   "[operator]\nname = \"Library\"\ncontact = \"https://library.example/\"\n",
		"hosts.d/a.toml": fmt.Sprintf("host = %q\n[request]\nsecret_headers = [{ name = \"X-Key\", secret = \"file:key\" }]\nsecrets_over_http = true\n", site.Listener.Addr()),
		"secrets/key":    "pa55word\n",
	} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c, err := config.Load(filepath.Join(dir, "arcrawl.toml"))
	if err != nil {
		t.Fatal(err)
	}
	client := fetch.New(fetch.Options{Dial: fetch.Guard([]netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}), SpoolDir: dir})
	t.Cleanup(func() { _ = client.Close() })
	var rests []time.Duration
	trial := whatif.Trial{
		Config: c, Version: "test", Other: []fetch.Field{{Name: "cookie", Value: "consent=yes"}},
		Wait: func(_ context.Context, d time.Duration) error { rests = append(rests, d); return nil },
	}
	u, err := uri.Parse(site.URL + "/")
	if err != nil {
		t.Fatal(err)
	}
	all, err := trial.Run(t.Context(), client, u, time.Now())
	if err != nil || len(all) != 2 || len(rests) != 2 || rests[0] < time.Second {
		t.Fatalf("%d results, rests %v, %v", len(all), rests, err)
	}
	wall, page := all[0], all[1]
	if wall.Status != 302 || wall.InsteadOf != "loop:redirect" || !strings.Contains(wall.Hint, "fetch.cookie") ||
		!strings.Contains(wall.Hint, "--try "+u.String()) || strings.Join(wall.Cookies, "") != "consent" {
		t.Errorf("as configured: %+v", wall)
	}
	if page.Status != 200 || page.InsteadOf != "" || page.Hint != "" || page.Size != 4 || page.Digest == "" {
		t.Errorf("with the cookie: %+v", page)
	}
	text, err := json.Marshal(all)
	if err != nil || strings.Contains(string(text), "pa55word") || !strings.Contains(string(text), "X-Key: [redacted]") ||
		!strings.Contains(string(text), "cookie: consent=yes") {
		t.Errorf("the results are %s, %v", text, err)
	}
	forbidden = true
	before := requests
	if _, err := trial.Run(t.Context(), client, u, time.Now()); err == nil || requests != before ||
		!strings.Contains(err.Error(), "forbids fetching") {
		t.Errorf("%d requests of a page that robots.txt forbids, %v", requests-before, err)
	}
	busy = true
	if _, err := trial.Run(t.Context(), client, u, time.Now()); err == nil || requests != before ||
		!strings.Contains(err.Error(), "it is not known") {
		t.Errorf("%d requests of a page while the server is too busy for robots.txt, %v", requests-before, err)
	}
}
