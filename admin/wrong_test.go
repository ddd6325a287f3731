package admin

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/arcrawl/arcrawl/admin/api"
)

// TestWrongParametersAreTheFaultOfTheCaller sends wrong values of each parameter, and wrong cursors, states and verbs
// in bodies. No answer is 500, which would be logged as an error of the daemon.
func TestWrongParametersAreTheFaultOfTheCaller(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	inPath := regexp.MustCompile(`\{[^}]*\}`)
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, dir, everyHour)
		for _, r := range routes() {
			if r.Method != http.MethodGet || r.Serve == nil {
				continue
			}
			for _, p := range r.Params {
				for _, wrong := range []string{"-", "zz", "-1", "99999999999999999999", "\x00\xff", "http://a.example/%zz"} {
					target := inPath.ReplaceAllString(r.Path, url.PathEscape(wrong)) + "?uri=http://news.example/&q=a&" +
						p.Name + "=" + url.QueryEscape(wrong)
					if status := w.ask(r.Method, target, nil, nil); status == http.StatusInternalServerError {
						t.Errorf("%s %s: status 500", r.Method, target)
					}
				}
			}
		}
		long := strings.Repeat("x", maxPart+1)
		for path, body := range map[string]any{
			"noise?cursor=zz":     nil,
			"search?q=a&cursor=1": nil,
			"search?q=" + long:    nil, "new?q=" + long: nil, "hosts/news.example/queue?q=" + long: nil,
			"frontier/list":  api.Select{Cursor: "zz"},
			"frontier/count": api.Select{States: []string{"asleep"}},
			"frontier/steer": api.Order{Verb: "hold", All: true, Select: api.Select{Cursor: "zz"}},
			"frontier/hosts": api.HostOrder{Verb: "fly", Pattern: "*"},
		} {
			method := http.MethodPost
			if body == nil {
				method = http.MethodGet
			}
			var answer api.Problem
			if status := w.ask(method, "/api/v1/"+path, body, &answer); status != 400 || answer.Error == "" {
				t.Errorf("%s: status %d, %q, want 400 and a reason", path, status, answer.Error)
			}
		}
		w.close()
		for path, body := range map[string]any{
			"frontier/steer": api.Order{Verb: "hold", All: true}, "frontier/hosts": api.HostOrder{Verb: "wake", Pattern: "*"},
		} {
			if status := w.ask(http.MethodPost, "/api/v1/"+path, body, nil); status != 500 {
				t.Errorf("%s of a store that is closed: status %d, want 500", path, status)
			}
		}
	})
}
