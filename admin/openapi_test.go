package admin_test

import (
	"flag"
	"testing"

	"github.com/arcrawl/arcrawl/admin"
	"github.com/arcrawl/arcrawl/internal/routetest"
)

// TestTheOpenAPIDocumentIsFresh compares openapi.json with the table of routes and the types of the answers. The
// flag -update rewrites the file.
func TestTheOpenAPIDocumentIsFresh(t *testing.T) {
	t.Parallel()
	update := flag.Lookup("update").Value.String() == "true" // other tests of the package define it
	routetest.OpenAPI(t, "openapi.json", admin.Routes(), false, update, "api/*.go", "audit/*.go")
}
