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

// TestEveryRequestNeedsItsRole sends each request of the API with each role, and with none.
func TestEveryRequestNeedsItsRole(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, dir, everyHour)
		defer w.Close()
		routetest.Roles(t, w.Window.Handler, w.curation.routes(), "/feed.atom", "/api/v1/picture")
	})
}

// TestRoutesWithoutArgumentsSucceed calls the GET routes that need no argument.
func TestRoutesWithoutArgumentsSucceed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, dir, everyHour)
		defer w.Close()
		routetest.Questions(t, w.Window.Handler(access.Options{}), w.curation.routes())
	})
}

// TestWrongParametersAreTheFaultOfTheCaller sends wrong values of each parameter.
func TestWrongParametersAreTheFaultOfTheCaller(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, dir, everyHour)
		defer w.Close()
		routetest.WrongParameters(t, w.Window.Handler(access.Options{}), w.curation.routes())
		for _, path := range []string{"search?q=a&cursor=1", "search?q=" + tooLong, "new?q=" + tooLong} {
			var answer api.Problem
			if status := w.Ask(http.MethodGet, "/api/v1/"+path, nil, &answer); status != 400 || answer.Error == "" {
				t.Errorf("%.30s: status %d, %q, want 400 and a reason", path, status, answer.Error)
			}
		}
	})
}

// tooLong is longer than a text to search for may be.
var tooLong = strings.Repeat("x", 2001)
