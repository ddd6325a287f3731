package reference_test

import (
	"flag"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/arcrawl/arcrawl/config/reference"
)

var update = flag.Bool("update", false, "rewrite docs/config.md")

func TestPageIsUpToDate(t *testing.T) {
	t.Parallel()
	const path = "../../docs/config.md"
	if *update {
		if err := os.WriteFile(path, []byte(reference.Page()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	written, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(written), reference.Page()); diff != "" {
		t.Errorf("%s does not match the key tables; run go test ./config/reference -update (-page +tables):\n%s", path, diff)
	}
}
