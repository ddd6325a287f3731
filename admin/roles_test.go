package admin_test

import (
	"flag"
	"testing"
	"testing/synctest"

	"github.com/arcrawl/arcrawl/admin"
	"github.com/arcrawl/arcrawl/admin/access"
	"github.com/arcrawl/arcrawl/internal/routetest"
	"github.com/arcrawl/arcrawl/internal/testcrawl"
)

// TestEveryRequestNeedsItsRole sends each request of the API with each role and with none, then those that need no
// argument, and those that have parameters with wrong values.
func TestEveryRequestNeedsItsRole(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		w := admin.NewWorld(t, dir, testcrawl.EveryHour)
		defer w.Close()
		handler := w.Window.(*admin.Window).Handler
		routetest.Roles(t, handler, admin.Routes(), "/metrics", "/", "/openapi.json")
		routetest.Questions(t, handler(access.Options{}), admin.Routes())
		routetest.WrongParameters(t, handler(access.Options{}), admin.Routes())
	})
}

// TestTheOpenAPIDocumentIsFresh compares openapi.json with the table of routes and the types of the answers. The
// flag -update rewrites the file.
func TestTheOpenAPIDocumentIsFresh(t *testing.T) {
	t.Parallel()
	update := flag.Lookup("update").Value.String() == "true" // other tests of the package define it
	routetest.OpenAPI(t, "openapi.json", admin.Routes(), false, update, "../")
}
