package curator

import (
	"flag"
	"testing"

	"github.com/arcrawl/arcrawl/internal/routetest"
)

var update = flag.Bool("update", false, "rewrite the files that are generated from the code")

// TestTheOpenAPIDocumentIsFresh compares openapi.json with the table of routes and the types of the answers. The
// flag -update rewrites the file.
func TestTheOpenAPIDocumentIsFresh(t *testing.T) {
	t.Parallel()
	routetest.OpenAPI(t, "openapi.json", new(curation).routes(), true, *update, "../",
		"answers.go", "edit_answers.go", "fronts_answers.go", "../archive/captures/comparison.go", "replay_answers.go")
}
