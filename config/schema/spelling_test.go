package schema_test

import (
	"strings"
	"testing"

	"github.com/arcrawl/arcrawl/config/schema"
)

func TestNearestFindsMisspelledWords(t *testing.T) {
	t.Parallel()
	words := []string{"min_delay", "max_delay", "valence", "workers"}
	for slip, want := range map[string]string{
		"min_dealy": "min_delay", "valnece": "valence", "maxdelay": "max_delay", "MIN-DELAY": "min_delay", "valance": "valence", "work": "workers", "worker": "workers",
		"colour": "", "x": "", "": "", strings.Repeat("min_delay", 50): "",
	} {
		got, ok := schema.Nearest(slip, words)
		if got != want || ok != (want != "") {
			t.Errorf("Nearest(%q) = %q, %v; want %q", slip, got, ok, want)
		}
	}
}
