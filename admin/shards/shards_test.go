package shards

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/arcrawl/arcrawl/admin/access"
)

// TestRequestsReachTheirShard sends requests to a process with the shards 2 and 5.
func TestRequestsReachTheirShard(t *testing.T) {
	t.Parallel()
	var s Switch
	var asked []string
	h := s.Handler(access.Options{})
	get := func(method, target, header, cookieValue string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(method, target, strings.NewReader("{}"))
		if header != "" {
			r.Header.Set(Header, header)
		}
		if cookieValue != "" {
			r.AddCookie(&http.Cookie{Name: cookie, Value: cookieValue})
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w
	}
	if w := get("GET", "/api/v1/status", "", ""); w.Code != http.StatusServiceUnavailable {
		t.Errorf("without a shard: %d", w.Code)
	}
	for _, n := range []int{5, 2} {
		s.Set(n, func(access.Options) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				asked = append(asked, fmt.Sprint(n, " ", r.Method))
				if n == 5 && r.URL.Path == "/api/v1/resume" {
					w.WriteHeader(http.StatusConflict)
				}
				fmt.Fprint(w, n)
			})
		})
	}
	for _, is := range []struct {
		method, target, header, cookie string
		status                         int
		body                           string
		asked                          string
	}{
		{"GET", "/api/v1/status", "", "", 200, "2", "[2 GET]"},
		{"GET", "/api/v1/status", "5", "2", 200, "5", "[5 GET]"},
		{"GET", "/?shard=5", "", "", 200, "5", "[5 GET]"},
		{"GET", "/", "", "5", 200, "5", "[5 GET]"},
		{"GET", "/", "", "nonsense", 200, "2", "[2 GET]"},
		{"GET", "/", "3", "", 421, "does not crawl shard 3", "[]"},
		{"GET", "/", "-1", "", 400, "not the number", "[]"},
		{"POST", "/api/v1/pause", "", "", 200, "2", "[2 POST 5 POST]"},
		{"POST", "/api/v1/pause", "5", "", 200, "5", "[5 POST]"},
		{"POST", "/api/v1/resume", "", "", 409, "5", "[2 POST 5 POST]"},
		{"POST", "/api/v1/seeds", "", "", 200, "2", "[2 POST]"},
	} {
		asked = nil
		w := get(is.method, is.target, is.header, is.cookie)
		if w.Code != is.status || !strings.Contains(w.Body.String(), is.body) || fmt.Sprint(asked) != is.asked {
			t.Errorf("%s %s of shard %q: %d %q, asked %v", is.method, is.target, is.header, w.Code, w.Body, asked)
		}
		if is.target == "/?shard=5" && !strings.Contains(w.Header().Get("Set-Cookie"), "arcrawl-shard=5") {
			t.Errorf("no cookie: %v", w.Header())
		}
	}
	s.Set(2, nil)
	if w := get("GET", "/", "", ""); w.Body.String() != "5" {
		t.Errorf("a shard that was given away is asked: %q", w.Body)
	}
}
