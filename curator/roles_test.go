package curator

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/arcrawl/arcrawl/admin/access"
	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/internal/routetest"
)

// TestRequestsNeedTheirRoleAndTheirParameters sends each request of the API with each role, and with none; those that
// need no argument; and wrong values of each parameter, which are the fault of the caller.
func TestRequestsNeedTheirRoleAndTheirParameters(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, dir, everyHour)
		defer w.Close()
		h := w.window.Handler(access.Options{})
		routetest.Questions(t, h, w.curation.routes())
		routetest.WrongParameters(t, h, w.curation.routes())
		for _, path := range []string{"search?q=a&cursor=1", "search?q=" + tooLong, "new?q=" + tooLong} {
			var answer api.Problem
			if status := w.Ask(http.MethodGet, "/api/v1/"+path, nil, &answer); status != 400 || answer.Error == "" {
				t.Errorf("%.30s: status %d, %q, want 400 and a reason", path, status, answer.Error)
			}
		}
		routetest.Roles(t, w.window.Handler, w.curation.routes(), "/feed.atom", "/api/v1/picture")
	})
}

// tooLong is longer than a text to search for may be.
var tooLong = strings.Repeat("x", 2001)
