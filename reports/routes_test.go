package reports

import (
	"flag"
	"testing"

	"github.com/arcrawl/arcrawl/admin/access"
	"github.com/arcrawl/arcrawl/internal/routetest"
	"github.com/arcrawl/arcrawl/internal/testcrawl"
)

var update = flag.Bool("update", false, "rewrite the file that is generated from the code")

// TestTheOpenAPIDocumentIsFresh compares openapi.json with the routes. The flag -update rewrites the file.
func TestTheOpenAPIDocumentIsFresh(t *testing.T) {
	t.Parallel()
	routetest.OpenAPI(t, "openapi.json", new(reporter).routes(), true, *update, "../", "answers.go")
}

// TestRequestsNeedTheirRoleAndTheirParameters sends each request of the API with each role, and with none; those that
// need no argument; and wrong values of each parameter, which are the fault of the caller.
func TestRequestsNeedTheirRoleAndTheirParameters(t *testing.T) {
	inWorld(t, testcrawl.EveryHour, func(w *world) {
		routes := new(reporter).routes()
		routetest.Questions(t, w.window.Handler(access.Options{}), routes)
		routetest.WrongParameters(t, w.window.Handler(access.Options{}), routes)
		routetest.Roles(t, w.window.Handler, routes)
	})
}
