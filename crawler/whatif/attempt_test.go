package whatif_test

import (
	"context"
	"encoding/json"
	"errors"
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
	"github.com/arcrawl/arcrawl/internal/archivetest"
	"github.com/arcrawl/arcrawl/uri"
)

// trialWorld is a trial of a site of the machine.
type trialWorld struct {
	trial  whatif.Trial
	client *fetch.Client
	site   string // its address, as a URI without path
	rests  []time.Duration
}

// newTrialWorld starts a site, with the settings of its host file and the secrets in it. SITE in them is its address.
func newTrialWorld(t *testing.T, site http.HandlerFunc, hostFile string, secrets map[string]string) *trialWorld {
	t.Helper()
	server := httptest.NewServer(site)
	t.Cleanup(server.Close)
	w := &trialWorld{site: server.URL}
	dir := t.TempDir()
	files := map[string]string{
		"arcrawl.toml":   "operator = { name = \"Library\", contact = \"https://library.example/\" }\n",
		"hosts.d/a.toml": fmt.Sprintf("host = %q\n", server.Listener.Addr()) + strings.ReplaceAll(hostFile, "SITE", w.site),
	}
	for name, secret := range secrets {
		files["secrets/"+name] = secret + "\n"
	}
	for name, text := range files {
		path := filepath.Join(dir, name)
		archivetest.Must(t, errors.Join(os.MkdirAll(filepath.Dir(path), 0o750), os.WriteFile(path, []byte(text), 0o600)))
	}
	c, err := config.Load(filepath.Join(dir, "arcrawl.toml"))
	archivetest.Must(t, err)
	dial := fetch.Guard([]netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")})
	w.client = fetch.New(fetch.Options{Dial: dial, SpoolDir: dir})
	t.Cleanup(func() { _ = w.client.Close() })
	w.trial = whatif.Trial{Config: c, Version: "test", Wait: func(_ context.Context, d time.Duration) error {
		w.rests = append(w.rests, d)
		return nil
	}}
	return w
}

func (w *trialWorld) uri(t *testing.T, path string) uri.URI {
	t.Helper()
	u, err := uri.Parse(w.site + path)
	archivetest.Must(t, err)
	return u
}

// TestATrialShowsWhatACookieWouldGet tries a page behind a wall, as configured and with a cookie. Then the file that
// robots.txt redirects to forbids it, and then it is not known what that file says.
func TestATrialShowsWhatACookieWouldGet(t *testing.T) {
	t.Parallel()
	forbidden, busy, requests := false, false, 0
	w := newTrialWorld(t, func(w http.ResponseWriter, r *http.Request) {
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
	}, "[request]\nsecret_headers = [{ name = \"X-Key\", secret = \"file:key\" }]\nsecrets_over_http = true\n",
		map[string]string{"key": "pa55word"})
	w.trial.Other = []fetch.Field{{Name: "cookie", Value: "consent=yes"}}
	u := w.uri(t, "/")
	all, err := w.trial.Run(t.Context(), w.client, u, time.Now())
	if err != nil || len(all) != 2 || len(w.rests) != 2 || w.rests[0] < time.Second {
		t.Fatalf("%d results, rests %v, %v", len(all), w.rests, err)
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
	if _, err := w.trial.Run(t.Context(), w.client, u, time.Now()); err == nil || requests != before ||
		!strings.Contains(err.Error(), "forbids fetching") {
		t.Errorf("%d requests of a page that robots.txt forbids, %v", requests-before, err)
	}
	busy = true
	if _, err := w.trial.Run(t.Context(), w.client, u, time.Now()); err == nil || requests != before ||
		!strings.Contains(err.Error(), "it is not known") {
		t.Errorf("%d requests of a page while the server is too busy for robots.txt, %v", requests-before, err)
	}
}
