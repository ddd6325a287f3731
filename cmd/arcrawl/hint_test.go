package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/arcrawl/arcrawl/admin/api"
)

// TestWhyShowsTheHint prints what the daemon says of a URI behind a wall, and of one without trouble.
func TestWhyShowsTheHint(t *testing.T) {
	t.Parallel()
	for _, hint := range []string{"", "set fetch.cookies"} {
		var out bytes.Buffer
		if err := showWhy(&out, api.Why{URI: api.URI{URI: "http://news.example/"}, Hint: hint}); err != nil {
			t.Fatal(err)
		}
		if shown := strings.Contains(out.String(), "hint  ") && strings.Contains(out.String(), "set fetch.cookies\n"); shown != (hint != "") {
			t.Errorf("with the hint %q:\n%s", hint, &out)
		}
	}
}
