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

// TestHeavyQuestionsAreBounded asks heavy questions while as many as may are in progress and wait.
func TestHeavyQuestionsAreBounded(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, dir, everyHour)
		defer w.Close()
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
			{"/api/v1/hosts/news.example/queue", "", http.StatusServiceUnavailable},
			{"/api/v1/hosts?limit=1", "", http.StatusOK},
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
