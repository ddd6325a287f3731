package history

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/discover"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/uri"
)

// TestAPageWithoutASeedHasItsOwnScope reads two pages of the same second whose seeds are not known. A link counts if it
// stays in the domain of its own page.
func TestAPageWithoutASeedHasItsOwnScope(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	file := filepath.Join(t.TempDir(), "arcrawl.toml")
	const text = "[operator]\nname = \"Test\"\ncontact = \"https://library.example/\"\n[scope]\nby = \"domain\"\n" +
		"[seeds]\nuris = [\"http://a.example/\", \"http://b.example/\"]\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := config.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	f, err := frontier.Open(frontier.Options{Dir: t.TempDir(), Compactors: -1, Now: now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	r := linkReader{store: f, config: c}
	for _, host := range []string{"a.example", "b.example"} {
		page := frontier.Record{URI: uri.FromCanonical("http://" + host + "/")}
		s := c.For(config.About{URI: page.URI, Now: now})
		for link, want := range map[string]bool{"http://www." + host + "/": true, "http://c.example/": false} {
			if _, ok := r.candidate(page, discover.Link{URI: uri.FromCanonical(link), Hop: uri.Link}, s, now); ok != want {
				t.Errorf("a link from %s to %s counts: %t, want %t", host, link, ok, want)
			}
		}
	}
}
