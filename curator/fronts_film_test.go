package curator

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/admin/access"
	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/uri"
)

// TestAFilmStripIsCutWithANote writes 13 pictures of a film strip that has nearly reached its bounds, in pictures or
// in bytes. The file ends well, and says how many pictures it has not.
func TestAFilmStripIsCutWithANote(t *testing.T) {
	t.Parallel()
	w := frontsWorld(t, frontsOf(t, 8).live)
	day := time.Date(2026, 11, 29, 0, 0, 0, 0, time.UTC)
	asked := filmAsked{pages: []uri.URI{uri.FromCanonical(newspapers[0].uri)}, since: day, last: day}
	film := func(from filmWriter) (text string, f filmWriter) {
		var out strings.Builder
		f = from
		f.c, f.ctx, f.role, f.to = w.curation, t.Context(), access.Read, &out
		f.write(asked)
		must(t, f.err)
		return out.String(), f
	}
	_, whole := film(filmWriter{})
	if whole.pictures != 13 || whole.left != 0 {
		t.Fatalf("%d pictures, %d left out; want all 13", whole.pictures, whole.left)
	}
	for name, c := range map[string]struct {
		from   filmWriter
		images int
		says   string
	}{
		"pictures": {filmWriter{pictures: maxFilmPictures - 4}, 4, "9 pictures left out"},
		"bytes":    {filmWriter{bytes: maxFilmBytes - whole.bytes/2}, 6, "7 pictures left out"},
		"none":     {filmWriter{pictures: maxFilmPictures}, 0, "13 pictures left out"},
	} {
		text, f := film(c.from)
		if n := strings.Count(text, "<img "); n != c.images || !strings.Contains(text, c.says) || f.bytes > maxFilmBytes ||
			!strings.Contains(text, "at most 300 pictures and 60.0 MB") || !strings.HasSuffix(text, "</html>\n") {
			t.Errorf("%s: %d pictures of %d bytes, want %d; it does not end with %q:\n%.300s", name, n, f.bytes, c.images, c.says,
				text[max(0, strings.LastIndex(text, "<p role")):])
		}
	}
}

// TestAFilmStripHasAFewPages asks for a film strip of more pages than one may have.
func TestAFilmStripHasAFewPages(t *testing.T) {
	t.Parallel()
	w := frontsWorld(t, newArchived(t).live)
	q := "since=2026-11-29" + strings.Repeat("&uri="+url.QueryEscape(newspapers[0].uri), maxFilmPages)
	if text := w.serve(http.MethodGet, api.Base+"/film?"+q, ""); !strings.HasSuffix(string(text), "</html>\n") {
		t.Errorf("%d pages: %s", maxFilmPages, text)
	}
	var problem api.Problem
	status := w.Ask(http.MethodGet, api.Base+"/film?"+q+"&uri="+url.QueryEscape(newspapers[1].uri), nil, &problem)
	if status != http.StatusBadRequest || problem.Error != "9 pages; name 1 to 8 with uri" {
		t.Errorf("%d pages: %d %q", maxFilmPages+1, status, problem.Error)
	}
}
