package uri_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/arcrawl/arcrawl/uri"
)

// TestKeysAreEqualToSURT compares keys with the results of the Python module surt 0.3.1, which pywb uses
// (github.com/internetarchive/surt). The file has each URI of that module's tests (parts such as a query are
// completed), some more, and the key that the module returns. Its options are left out: pywb sets none.
func TestKeysAreEqualToSURT(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/surt.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		var c [2]string
		if err := json.Unmarshal([]byte(line), &c); err != nil {
			t.Fatal(err)
		}
		if got := uri.ReplayKey(c[0]); got != c[1] {
			t.Errorf("ReplayKey(%q) = %q, want %q", c[0], got, c[1])
		}
	}
}
