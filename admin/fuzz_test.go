package admin

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/arcrawl/arcrawl/admin/access"
	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/internal/archivetest"
)

// FuzzRequest sends arbitrary requests to the API of a crawl. None may cause a panic or an error of our own.
func FuzzRequest(f *testing.F) {
	all := Routes()
	for n, r := range all {
		f.Add(n, strings.ReplaceAll(r.Path, "{host}", "news.example"), "uri=http://news.example/&host=news.example&limit=5&at=2026-11-21", `{"uris":["http://news.example/a"]}`)
	}
	f.Add(0, api.Base+"/hosts/%00", "limit=-1&limit=99999999999999999999&q=%ff&sort=x&span=7d&cursor=AAAA", "{")
	f.Add(0, "/metrics", "", `{"for":"9999999h","reason":"\u0000"}`)
	w := newWorld(f, f.TempDir(), everyHour)
	f.Cleanup(w.Close)
	handler := w.window.Handler(access.Options{})
	f.Fuzz(func(t *testing.T, n int, path, query, body string) {
		if n < 0 || !strings.HasPrefix(path, "/") {
			t.Skip("no request of the API")
		}
		r, err := http.NewRequest(all[n%len(all)].Method, "http://localhost/", strings.NewReader(body))
		archivetest.Must(t, err)
		r.URL.Path, r.URL.RawQuery, r.Host = path, query, "localhost"
		if body != "" {
			r.Header.Set("Content-Type", "application/json")
		}
		got := httptest.NewRecorder()
		handler.ServeHTTP(got, r)
		if got.Code >= http.StatusInternalServerError && !strings.HasSuffix(path, "readyz") && !strings.HasSuffix(path, "healthz") {
			t.Errorf("%s %s?%s with %q: %d %s", r.Method, path, query, body, got.Code, got.Body)
		}
	})
}
