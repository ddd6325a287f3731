package config_test

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/arcrawl/arcrawl/config"
)

func TestPageIsUpToDate(t *testing.T) {
	t.Parallel()
	const path = "../docs/config.md"
	if *update {
		if err := os.WriteFile(path, []byte(config.Page()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	written, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(written), config.Page()); diff != "" {
		t.Errorf("%s does not match the key tables; run go test ./config -update (-page +tables):\n%s", path, diff)
	}
}
