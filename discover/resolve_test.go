package discover

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/arcrawl/arcrawl/uri"
)

// resolves checks that the references of one page are resolved as Join resolves them. It returns how many of them were
// resolved as plain references.
func resolves(t interface {
	Helper()
	Fatalf(string, ...any)
}, base uri.URI, refs ...string,
) (short int) {
	t.Helper()
	p := newPage(base, 1000)
	var want Result
	for _, ref := range refs {
		p.add([]byte(ref), uri.Link)
		if trimmed := strings.TrimFunc(ref, func(c rune) bool { return c <= ' ' }); trimmed != "" && p.resolvePlain([]byte(trimmed)) != nil {
			short++
		}
		switch u, err := base.Join(ref); {
		case err != nil:
			want.Refused++
		case u != base && !slices.Contains(want.Links, Link{u, uri.Link}):
			want.Links = append(want.Links, Link{u, uri.Link})
		}
	}
	if !slices.Equal(p.result.Links, want.Links) || (p.result.Refused == 0) != (want.Refused == 0) {
		t.Fatalf("%q in %s: %v, %d refused; want %v, %d", refs, base, p.result.Links, p.result.Refused, want.Links, want.Refused)
	}
	return short
}

var bases = []string{
	"https://news.example/a/b?c", "http://news.example:8080/", "http://[::1]/x", "http://news.example/a//b/", "https://news.example/d.e/f%2Fg.html?h=/i/j",
	"http://news.example/?", "http://news.example/a?b?c",
}

// TestReferencesAreResolvedAsByJoin justifies that plain references are resolved without Join, and that fragments and
// other schemes are handled before resolving.
func TestReferencesAreResolvedAsByJoin(t *testing.T) {
	t.Parallel()
	piece := rapid.OneOf(
		rapid.SampledFrom([]string{"/", ".", "..", "/./", "//", "a", "a.b", "?", "#", "%2e", "%41", "%", "\\", "'", "é", " ", "\n", "|", "[", "https://news.example", ":8080", ":", "@", "http:", "x+1:"}),
		rapid.StringMatching(`[ -~]`),
	)
	short := 0
	rapid.Check(t, func(t *rapid.T) {
		base, err := uri.Parse(rapid.SampledFrom(bases).Draw(t, "base"))
		if err != nil {
			t.Fatal(err)
		}
		starts := []string{"/", "/", "", origin(base), origin(base) + "/", "?", "a", "https://cdn.example/", "//cdn.example/", "http://CDN.example/", "http://cdn.example:80/", "http://u@cdn.example/", "HTTPS://cdn.example/"}
		var refs []string
		for range rapid.IntRange(1, 4).Draw(t, "references") {
			ref := rapid.SampledFrom(starts).Draw(t, "start")
			for _, s := range rapid.SliceOfN(piece, 0, 8).Draw(t, "rest") {
				ref += s
			}
			refs = append(refs, ref)
		}
		short += resolves(t, base, refs...)
	})
	if short == 0 {
		t.Error("no reference was resolved as a plain one")
	}
}

func TestCommonReferencesArePlain(t *testing.T) {
	t.Parallel()
	base, err := uri.Parse("https://news.example/politics/today.html?page=1")
	if err != nil {
		t.Fatal(err)
	}
	for _, ref := range []string{
		"/", "/d/1", "/a-headline_of,2026.html?x=1&y=%20z", "next.html", "a/b/c", "?page=2", "https://news.example/sport/", "https://news.example/%C3%A4", "//cdn.example/b.png",
	} {
		if resolves(t, base, "https://cdn.example/a.png", ref) == 0 {
			t.Errorf("%q was not resolved as a plain reference", ref)
		}
	}
	if resolves(t, base, "https://cdn.example/a.png", "https://cdn.example/b.png") != 2 { // the origin is in the cache now
		t.Error("an origin was not remembered")
	}
}

// FuzzResolve compares the resolution of plain references with Join.
func FuzzResolve(f *testing.F) {
	for _, base := range bases {
		for _, ref := range []string{"/a/b", "a.b/../c", "?a=/.", "https://cdn.example/%2e/", "//cdn.example//a", "a:b", "%2E", "/%2f.", "h", "http", "http:a", "https://cdn.example/?a"} {
			f.Add(base, ref)
		}
	}
	f.Fuzz(func(t *testing.T, in, ref string) {
		base, err := uri.Parse(in)
		if err != nil || strings.IndexByte(ref, '#') >= 0 { // references with a fragment are handled elsewhere
			return
		}
		resolves(t, base, "https://cdn.example/", ref, fmt.Sprint("https://cdn.example/", ref), fmt.Sprint(origin(base), ref))
	})
}
