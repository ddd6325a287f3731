package admin

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/arcrawl/arcrawl/admin/access"
)

// TestEveryRequestNeedsItsRole sends each request of the API with each role, and with none.
func TestEveryRequestNeedsItsRole(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, dir, everyHour)
		defer w.close()
		roles := []access.Role{access.Read, access.Curate, access.Operate}
		var tokens []access.Token
		for _, r := range roles {
			tokens = append(tokens, access.Token{Name: r.String(), Role: r, Secret: "the-secret-of-" + r.String()})
		}
		h := w.window.Handler(access.Options{Tokens: func() []access.Token { return tokens }})
		send := func(r Route, secret string) int {
			path := strings.ReplaceAll(r.Path, "{host}", "news.example") + "?host=news.example"
			from := httptest.NewRequest(r.Method, path, strings.NewReader("no JSON")) // so that no order is carried out
			from.Host = "localhost"
			if secret != "" {
				from.Header.Set("Authorization", "Bearer "+secret)
			}
			to := httptest.NewRecorder()
			h.ServeHTTP(to, from)
			return to.Code
		}
		for _, r := range routes() {
			if r.orders() && r.Needs <= access.Read {
				t.Errorf("%s %s changes something, but needs only the role %s; write its role into the table", r.Method, r.Path, r.Needs)
			}
			if got := send(r, ""); got != http.StatusUnauthorized {
				t.Errorf("%s %s without a token: status %d", r.Method, r.Path, got)
			}
			for i, role := range roles {
				got := send(r, tokens[i].Secret)
				if (got == http.StatusForbidden) != (role < r.role()) || got == http.StatusUnauthorized {
					t.Errorf("%s %s needs the role %s: with the role %s it has status %d", r.Method, r.Path, r.role(), role, got)
				}
			}
		}
		for _, path := range []string{"/metrics", "/feed.atom", "/api/v1/picture", "/", "/openapi.json"} {
			if got := send(Route{Method: "GET", Path: path}, ""); got != http.StatusUnauthorized {
				t.Errorf("%s without a token: status %d", path, got)
			}
		}
	})
}

// TestHeavyQuestionsAreBounded asks heavy questions while as many as may are in progress and wait.
func TestHeavyQuestionsAreBounded(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, dir, everyHour)
		defer w.close()
		ctx, end := context.WithCancel(t.Context())
		defer end()
		for range heavyAtOnce {
			leave, ok := w.window.heavy.Enter(ctx)
			if !ok {
				t.Fatal("the gate is shut")
			}
			defer leave()
		}
		for range heavyWaiting {
			go w.window.heavy.Enter(ctx) // waits until ctx ends
		}
		synctest.Wait()
		h := w.window.Handler(access.Options{})
		for _, c := range []struct {
			path, body string
			want       int
		}{
			{"/api/v1/search?q=news", "", http.StatusServiceUnavailable},
			{"/api/v1/hosts/news.example/site", "", http.StatusServiceUnavailable},
			{"/api/v1/compare?uri=http://news.example/", "", http.StatusServiceUnavailable},
			{"/api/v1/hosts?limit=1", "", http.StatusOK},
			{"/api/v1/seeds/plan", `{"text":"https://a.example/"}`, http.StatusServiceUnavailable},
			{"/api/v1/capture/progress", `{"uris":["http://news.example/"]}`, http.StatusServiceUnavailable},
			{"/api/v1/frontier/count", `{}`, http.StatusOK},
		} {
			to := httptest.NewRecorder()
			method := http.MethodPost
			if c.body == "" {
				method = http.MethodGet
			}
			h.ServeHTTP(to, httptest.NewRequest(method, c.path, strings.NewReader(c.body)))
			if to.Code != c.want || (to.Header().Get("Retry-After") != "") != (c.want == http.StatusServiceUnavailable) {
				t.Errorf("%s: status %d, want %d: %s", c.path, to.Code, c.want, to.Body)
			}
		}
	})
}
