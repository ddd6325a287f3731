package cluster

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/arcrawl/arcrawl/admin/access"
)

// TestRequestsReachTheirShard sends requests to a process with the shards 2 and 5.
func TestRequestsReachTheirShard(t *testing.T) {
	t.Parallel()
	var s switchboard
	var asked []string
	h := s.Handler(access.Options{})
	get := func(method, target, header, cookieValue string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(method, target, strings.NewReader("{}"))
		if header != "" {
			r.Header.Set(shardHeader, header)
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
	for _, row := range []struct {
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
		{"GET", "/", "", "3", 200, "2", "[2 GET]"},
		{"GET", "/api/v1/status", "", "3", 421, "does not crawl shard 3", "[]"},
		{"POST", "/api/v1/pause", "", "3", 421, "does not crawl shard 3", "[]"},
		{"GET", "/", "-1", "", 400, "not the number", "[]"},
		{"POST", "/api/v1/pause", "", "", 200, "2", "[2 POST 5 POST]"},
		{"POST", "/api/v1/pause", "5", "", 200, "5", "[5 POST]"},
		{"POST", "/api/v1/resume", "", "", 409, "5", "[2 POST 5 POST]"},
		{"POST", "/api/v1/seeds", "", "", 200, "2", "[2 POST]"},
	} {
		asked = nil
		w := get(row.method, row.target, row.header, row.cookie)
		if w.Code != row.status || !strings.Contains(w.Body.String(), row.body) || fmt.Sprint(asked) != row.asked {
			t.Errorf("%s %s of shard %q: %d %q, asked %v", row.method, row.target, row.header, w.Code, w.Body, asked)
		}
		if row.target == "/?shard=5" && !strings.Contains(w.Header().Get("Set-Cookie"), "arcrawl-shard=5") {
			t.Errorf("no cookie: %v", w.Header())
		}
		if row.cookie == "3" && row.status == 200 && !strings.Contains(w.Header().Get("Set-Cookie"), "Max-Age=0") {
			t.Errorf("the cookie of a shard that is elsewhere stays: %v", w.Header())
		}
	}
	s.Remove(2)
	if w := get("GET", "/", "", ""); w.Body.String() != "5" {
		t.Errorf("a shard that was given away is asked: %q", w.Body)
	}
}

// TestAnotherSiteChoosesNoShard opens a link with a shard on the page of another site.
func TestAnotherSiteChoosesNoShard(t *testing.T) {
	t.Parallel()
	var s switchboard
	s.Set(5, func(access.Options) http.Handler { return http.NotFoundHandler() })
	h := s.Handler(access.Options{})
	for site, sets := range map[string]bool{"cross-site": false, "same-site": false, "same-origin": true, "none": true} {
		r := httptest.NewRequest(http.MethodGet, "/?shard=5", http.NoBody)
		r.Header.Set("Sec-Fetch-Site", site)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if got := w.Header().Get("Set-Cookie") != ""; got != sets {
			t.Errorf("from %s: set a cookie %t, want %t", site, got, sets)
		}
	}
}

// TestRequestsEndBeforeTheirShardIsClosed removes a shard while it answers one request, and another shard another one.
func TestRequestsEndBeforeTheirShardIsClosed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var s switchboard
		answered := map[string]bool{}
		for _, n := range []int{2, 3} {
			s.Set(n, func(access.Options) http.Handler {
				return http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
					<-r.Context().Done()
					answered[r.Header.Get(shardHeader)] = true
				})
			})
		}
		h := s.Handler(access.Options{})
		for _, shard := range []string{"2", "3"} {
			r := httptest.NewRequest(http.MethodGet, "/", http.NoBody).WithContext(t.Context())
			r.Header.Set(shardHeader, shard)
			go h.ServeHTTP(httptest.NewRecorder(), r)
		}
		synctest.Wait()
		idle, end := s.Remove(3)
		select {
		case <-idle:
			t.Error("the shard is idle while it answers a request")
		default:
		}
		end()
		<-idle
		if !answered["3"] || answered["2"] {
			t.Errorf("ended requests of the shards %v, want 3", answered)
		}
		idle, end = s.Remove(2)
		end()
		<-idle
	})
}
