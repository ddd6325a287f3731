package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

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

// While every visit found a version, nobody knows how often a page changes.
func TestWhyStatesARateThatIsKnown(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		visits, versions int
		want             string
	}{
		{1, 1, "10m learned; not known yet how often it changes"},
		{4, 4, "10m learned; not known yet how often it changes"},
		{5, 4, "10m learned, 14.9 changes a day expected"},
	} {
		var out strings.Builder
		y := api.Why{URI: api.URI{URI: "http://news.example/", Visits: c.visits, Versions: c.versions, Rate: 14.9, Wait: api.Seconds(10 * time.Minute)}}
		if err := showWhy(&out, y); err != nil || !strings.Contains(out.String(), c.want) {
			t.Errorf("%d visits, %d versions: %s, want %q, %v", c.visits, c.versions, out.String(), c.want, err)
		}
	}
}
