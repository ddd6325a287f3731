package admin

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/arcrawl/arcrawl/admin/api"
)

// TestWrongOrdersAreTheFaultOfTheCaller sends wrong cursors, texts, states and verbs. No answer is
// 500, which would be logged as an error of the daemon.
func TestWrongOrdersAreTheFaultOfTheCaller(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, dir, everyHour)
		long := strings.Repeat("x", maxPart+1)
		for path, body := range map[string]any{
			"hosts/news.example/queue?q=" + long: nil,
			"frontier/list":                      api.Select{Cursor: "zz"},
			"frontier/count":                     api.Select{States: []string{"asleep"}},
			"frontier/steer":                     api.Order{Verb: "hold", All: true, Select: api.Select{Cursor: "zz"}},
			"frontier/hosts":                     api.HostOrder{Verb: "fly", Pattern: "*"},
		} {
			method := http.MethodPost
			if body == nil {
				method = http.MethodGet
			}
			var answer api.Problem
			if status := w.Ask(method, "/api/v1/"+path, body, &answer); status != 400 || answer.Error == "" {
				t.Errorf("%s: status %d, %q, want 400 and a reason", path, status, answer.Error)
			}
		}
		w.Close()
		for path, body := range map[string]any{
			"frontier/steer": api.Order{Verb: "hold", All: true}, "frontier/hosts": api.HostOrder{Verb: "wake", Pattern: "*"},
		} {
			if status := w.Ask(http.MethodPost, "/api/v1/"+path, body, nil); status != 500 {
				t.Errorf("%s of a store that is closed: status %d, want 500", path, status)
			}
		}
	})
}
