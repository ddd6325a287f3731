package rebuild

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/archive/captures"
	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/discover"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/internal/archivetest"
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
	archivetest.Must(t, os.WriteFile(file, []byte(text), 0o600))
	c, err := config.Load(file)
	archivetest.Must(t, err)
	f, err := frontier.Open(frontier.Options{Dir: t.TempDir(), Compactors: -1, Now: now})
	archivetest.Must(t, err)
	t.Cleanup(func() { archivetest.Must(t, f.Close()) })
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

// TestOnlyTheBeginningOfAPageIsReadForItsTitle damages the end of a page of 1 MB. Whoever reads it whole finds the
// damage. Titles of what is not HTML are no titles of pages.
func TestOnlyTheBeginningOfAPageIsReadForItsTitle(t *testing.T) {
	t.Parallel()
	rest := make([]byte, 1<<20) // it does not become smaller
	for i, r := 0, rand.New(rand.NewPCG(1, 2)); i < len(rest); i++ {
		rest[i] = 'a' + byte(r.IntN(26))
	}
	const head = "<title>Annual report</title><p>"
	for contentType, want := range map[string]string{
		"text/html; charset=utf-8": "Annual report", "application/xhtml+xml": "Annual report", "video/mp4": "",
	} {
		lib := archivetest.New(t)
		o := lib.Page("http://a.example/page", "HTTP/1.1 200 OK\r\nContent-Type: "+contentType, head+string(rest))
		lib.Seal()
		l, err := captures.OpenLibrary(t.Context(), lib.Dir, captures.Options{}, func(f warc.Finding) error { return &f })
		archivetest.Must(t, err)
		c, header, err := l.At(o.URI, o.File, o.Offset)
		archivetest.Must(t, err)
		file := lib.Files()[0]
		text := []byte(archivetest.Read(t, file))
		copy(text[len(text)*3/4:], strings.Repeat("x", 100))
		archivetest.Must(t, os.WriteFile(file, text, 0o600))
		if got := titleOf(t.Context(), l, c, header, uri.FromCanonical(o.URI)); got != want {
			t.Errorf("the title of %s is %q, want %q", contentType, got, want)
		}
		archivetest.Must(t, l.Close())
	}
}
