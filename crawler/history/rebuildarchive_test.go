package history

import (
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/arcrawl/arcrawl/archive/index"
	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/internal/archivetest"
	"github.com/arcrawl/arcrawl/uri"
)

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
		l, err := index.OpenLibrary(t.Context(), lib.Dir, index.Options{}, func(f warc.Finding) error { return &f })
		archivetest.Must(t, err)
		c, header, err := l.At(o.URI, o.File, o.Offset)
		archivetest.Must(t, err)
		file := lib.Files()[0]
		text := []byte(archivetest.Read(t, file))
		copy(text[len(text)*3/4:], strings.Repeat("x", 100))
		archivetest.Must(t, os.WriteFile(file, text, 0o600))
		if got := titleOf(l, c, header, uri.FromCanonical(o.URI)); got != want {
			t.Errorf("the title of %s is %q, want %q", contentType, got, want)
		}
		archivetest.Must(t, l.Close())
	}
}
