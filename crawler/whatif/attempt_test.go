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

// TestATrialLogsIn tries a page for members, with the right password, with a wrong one, and with an account that may
// not read.
func TestATrialLogsIn(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, password, want string
		barred               bool
	}{
		{"the right password", "pa55word", "login 200 |login 200 |as configured 200 ", false},
		{"a wrong password", "wr0ng", "login 200 |login 403 the site answers the form with status 403", false},
		{"an account without rights", "pa55word", "login 200 |login 200 |as configured 401 login:strangers the site shows", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newTrialWorld(t, func(w http.ResponseWriter, r *http.Request) {
				switch {
				case r.URL.Path == "/robots.txt":
				case r.Method == http.MethodPost:
					if r.FormValue("pass") != "pa55word" || r.FormValue("csrf") != "c5rf" {
						w.WriteHeader(http.StatusForbidden)
						return
					}
					http.SetCookie(w, &http.Cookie{Name: "session", Value: "s3ss10n", Path: "/"})
				case r.URL.Path == "/login":
					_, _ = fmt.Fprint(w, "<form><input type=hidden name=csrf value=c5rf><input name=pass></form>")
				default:
					if session, err := r.Cookie("session"); err != nil || session.Value != "s3ss10n" || c.barred {
						w.WriteHeader(http.StatusUnauthorized)
					}
				}
			}, `[request]
secrets_over_http = true
[login]
page = "SITE/login"
uri = "SITE/session"
secret_fields = [{ name = "pass", secret = "file:pass" }]
success = '(?m)^Set-Cookie: session='
`, map[string]string{"pass": c.password})
			all, err := w.trial.Run(t.Context(), w.client, w.uri(t, "/news"), time.Now())
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, r := range all {
				got = append(got, strings.TrimPrefix(fmt.Sprintf("%s %d %s %s", r.Name, r.Status, r.InsteadOf, r.Error), " "))
			}
			text := strings.ReplaceAll(strings.Join(got, "|"), "  ", " ")
			if !strings.HasPrefix(text, c.want) || len(w.rests) != len(all) {
				t.Errorf("%d rests, results %s, want %s", len(w.rests), text, c.want)
			}
			shown, err := json.Marshal(all)
			if err != nil {
				t.Fatal(err)
			}
			for _, secret := range []string{"pa55word", "wr0ng", "c5rf", "s3ss10n"} {
				if strings.Contains(string(shown), secret) {
					t.Errorf("the results show %s: %s", secret, shown)
				}
			}
		})
	}
}

// player requests URIs as a page would, and shows two links. It ends before the last request.
type player struct {
	asks     []string
	requests int // the bound of the last job
}

func (p *player) Load(ctx context.Context, j whatif.Page) (whatif.Shown, error) {
	p.requests = j.MaxRequests
	main := j.Answer(ctx, j.URI, true)
	text := string(main.Body)
	for _, u := range p.asks {
		text += " " + string(j.Answer(ctx, u, false).Body)
	}
	over, end := context.WithCancel(ctx)
	end()
	_ = j.Answer(over, strings.TrimSuffix(j.URI, "/")+"/over", false)
	return whatif.Shown{Title: "news", Text: text, DOM: []byte("<a href=/1>1</a><a href=/2>2</a>")}, nil
}

// TestATrialShowsWhatABrowserWouldRequest renders a page behind a wall with the cookie that opens it. Its requests have
// the cookie too, rest, obey robots.txt, stay on the host and have a bound.
func TestATrialShowsWhatABrowserWouldRequest(t *testing.T) {
	t.Parallel()
	var asked []string
	w := newTrialWorld(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" {
			_, _ = fmt.Fprint(w, "User-agent: *\nDisallow: /private/\n")
			return
		}
		if c, err := r.Cookie("consent"); err != nil || c.Value != "yes" {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		asked = append(asked, r.URL.Path)
		if r.URL.Path == "/broken.html" {
			w.Header().Set("Content-Encoding", "gzip")
		}
		if strings.HasPrefix(r.URL.Path, "/large") {
			_, _ = w.Write(make([]byte, 25<<20))
			return
		}
		w.Header().Set("Content-Type", map[bool]string{true: "Text/HTML", false: "text/plain"}[r.URL.Path == "/" || r.URL.Path == "/broken.html"])
		_, _ = fmt.Fprint(w, "<a href=/1>", strings.TrimPrefix(r.URL.Path, "/"))
	}, "", nil)
	site := w.site
	asks := []string{
		site + "/a.json", site + "/a.json", site + "/private/b.json", "https://other.example/c.json", "file:///etc/passwd",
	}
	for i := range 40 {
		asks = append(asks, fmt.Sprintf("%s/n%d", site, i))
	}
	p := &player{asks: asks}
	w.trial.Other, w.trial.Browser = []fetch.Field{{Name: "cookie", Value: "consent=yes"}}, p
	u := w.uri(t, "/")
	all, err := w.trial.Run(t.Context(), w.client, u, time.Now())
	if err != nil || len(all) != 3 || all[2].Name != whatif.Rendered || all[2].Rendering == nil {
		t.Fatalf("%+v, %v", all, err)
	}
	r := all[2].Rendering
	if r.Title != "news" || r.Links != 2 || r.SourceLinks != 1 || len(asked) != 31 || len(w.rests) != 32 {
		t.Errorf("%+v; %d requests had the cookie, %d rests", r, len(asked), len(w.rests))
	}
	got := map[string]string{}
	for _, q := range r.Requests {
		got[strings.TrimPrefix(q.URI, site)] = fmt.Sprint(q.Status, " ", q.Why)
	}
	for uri, want := range map[string]string{
		"/a.json": "200 ", "/private/b.json": "0 robots.txt forbids it", "https://other.example/c.json": "0 it is on another host",
		"/n28": "200 ", "/n29": "0 30 requests were made",
		"/over": "0 the rendering ended before; see render.limit",
	} {
		if got[uri] != want {
			t.Errorf("%s: %q, want %q", uri, got[uri], want)
		}
	}
	if got["file:///etc/passwd"] == "" || len(r.Requests) != len(asks) || p.requests != 500 {
		t.Errorf("%d requests are listed, want each URI once, and at most %d are answered: %v", len(r.Requests), p.requests, got)
	}
	p.asks = []string{site + "/large1", site + "/large1", site + "/large2", site + "/large3", site + "/small"}
	all, err = w.trial.Run(t.Context(), w.client, u, time.Now())
	if err != nil || len(all) != 3 || all[2].Rendering == nil {
		t.Fatalf("a page of many bytes: %+v, %v", all, err)
	}
	statuses := ""
	for _, q := range all[2].Rendering.Requests {
		statuses += fmt.Sprint(q.Status, " ", q.Why, "\n")
	}
	if want := "200 \n200 \n0 the answers of the page are longer than 67108864 bytes\n200 \n"; !strings.HasPrefix(statuses, want) {
		t.Errorf("a page of many bytes:\n%s", statuses)
	}
	if all, err = w.trial.Run(t.Context(), w.client, w.uri(t, "/broken.html"), time.Now()); err != nil || len(all) != 3 || all[2].Error == "" || all[1].Status != 200 {
		t.Errorf("a page whose compression is broken: %+v, %v", all, err)
	}
	w.trial.Other = nil
	if all, err = w.trial.Run(t.Context(), w.client, u, time.Now()); err != nil || len(all) != 2 || all[1].Rendering != nil || all[1].Error == "" {
		t.Errorf("a page that is refused: %+v, %v", all, err)
	}
}

// TestALoadOfOneURIIsInTheSingular writes the load of a host with one URI, and of one with two.
func TestALoadOfOneURIIsInTheSingular(t *testing.T) {
	t.Parallel()
	for n, want := range map[int64]string{
		1: "a.example: 1 URI asks for 2 visits a day before and 4 after; politeness allows 100",
		2: "a.example: 2 URIs ask for 2 visits a day before and 4 after; politeness allows 100",
	} {
		if got := (whatif.HostLoad{Host: "a.example", URIs: n, Before: 2, After: 4, Capacity: 100}).String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
