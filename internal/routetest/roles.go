package routetest

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/arcrawl/arcrawl/admin"
	"github.com/arcrawl/arcrawl/admin/access"
)

// Roles sends each request with each role, and with none. paths are pages that need a role too.
func Roles(t *testing.T, handler func(access.Options) http.Handler, routes []admin.Route, paths ...string) {
	t.Helper()
	roles := []access.Role{access.Read, access.Curate, access.Operate}
	var tokens []access.Token
	for _, r := range roles {
		tokens = append(tokens, access.Token{Name: r.String(), Role: r, Secret: "the-secret-of-" + r.String()})
	}
	h := handler(access.Options{Tokens: func() []access.Token { return tokens }})
	send := func(r admin.Route, secret string) int {
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
	for _, r := range routes {
		if r.Orders() && r.Needs <= access.Read {
			t.Errorf("%s %s changes something, but needs only the role %s; write its role into the table", r.Method, r.Path, r.Needs)
		}
		if got := send(r, ""); got != http.StatusUnauthorized {
			t.Errorf("%s %s without a token: status %d", r.Method, r.Path, got)
		}
		for i, role := range roles {
			got := send(r, tokens[i].Secret)
			if (got == http.StatusForbidden) != (role < r.Role()) || got == http.StatusUnauthorized {
				t.Errorf("%s %s needs the role %s: with the role %s it has status %d", r.Method, r.Path, r.Role(), role, got)
			}
		}
	}
	for _, path := range paths {
		if got := send(admin.Route{Method: "GET", Path: path}, ""); got != http.StatusUnauthorized {
			t.Errorf("%s without a token: status %d", path, got)
		}
	}
}

// Questions sends each request that asks something and needs no argument.
func Questions(t *testing.T, handler http.Handler, routes []admin.Route) {
	t.Helper()
	asked := 0
	for _, r := range routes {
		needs := len(r.Params) > 0 &&
			(r.Params[0].Name == "uri" || r.Params[0].Name == "q" && strings.HasSuffix(r.Path, "/search"))
		if r.Method != http.MethodGet || strings.Contains(r.Path, "{") || needs {
			continue
		}
		asked++
		got := httptest.NewRecorder()
		handler.ServeHTTP(got, httptest.NewRequest(r.Method, r.Path, nil))
		if got.Code != http.StatusOK {
			t.Errorf("%s %s: status %d", r.Method, r.Path, got.Code)
		}
	}
	if asked == 0 {
		t.Error("no request needs no argument")
	}
}

// braces is a parameter in a path.
var braces = regexp.MustCompile(`\{[^}]*\}`)

// WrongParameters sends wrong values of each parameter. No answer is 500, which would be logged as an error of the
// daemon.
func WrongParameters(t *testing.T, handler http.Handler, routes []admin.Route) {
	t.Helper()
	for _, r := range routes {
		if r.Method != http.MethodGet || r.Serve == nil {
			continue
		}
		for _, p := range r.Params {
			for _, wrong := range []string{"-", "zz", "-1", "99999999999999999999", "\x00\xff", "http://a.example/%zz"} {
				target := braces.ReplaceAllString(r.Path, url.PathEscape(wrong)) + "?uri=http://news.example/&q=a&" +
					p.Name + "=" + url.QueryEscape(wrong)
				got := httptest.NewRecorder()
				handler.ServeHTTP(got, httptest.NewRequest(r.Method, target, nil))
				if got.Code == http.StatusInternalServerError {
					t.Errorf("%s %s: status 500", r.Method, target)
				}
			}
		}
	}
}
