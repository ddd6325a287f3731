package discover

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/arcrawl/arcrawl/uri"
)

// TestReferencesAreResolvedAsJoinWould is why there may be a short way for simple references, and why fragments and
// foreign schemes are dealt with before anything is resolved.
func TestReferencesAreResolvedAsJoinWould(t *testing.T) {
	t.Parallel()
	bases := []string{"https://news.example/a/b?c", "http://news.example:8080/", "http://[::1]/x"}
	piece := rapid.OneOf(
		rapid.SampledFrom([]string{"/", ".", "..", "/./", "//", "a", "a.b", "?", "#", "%2e", "%", "\\", "'", "é", " ", "\n", "|", "[", "https://news.example", ":8080", ":", "@", "http:", "x+1:"}),
		rapid.StringMatching(`[ -~]`),
	)
	short := 0
	rapid.Check(t, func(t *rapid.T) {
		base, err := uri.Parse(rapid.SampledFrom(bases).Draw(t, "base"))
		if err != nil {
			t.Fatal(err)
		}
		ref := rapid.SampledFrom([]string{"/", "/", "", origin(base), origin(base) + "/"}).Draw(t, "start")
		for _, s := range rapid.SliceOfN(piece, 0, 8).Draw(t, "rest") {
			ref += s
		}
		p := newPage(base, 1)
		if !p.simple(ref).IsZero() {
			short++
		}
		p.add([]byte(ref), uri.Link)
		var want Found
		switch u, err := base.Join(ref); {
		case err != nil:
			want.Refused = 1
		case u != base:
			want.Links = []Link{{u, uri.Link}}
		}
		if !slices.Equal(p.found.Links, want.Links) || p.found.Refused != want.Refused {
			t.Fatalf("%q in %s: %v, %d refused; want %v, %d", ref, base, p.found.Links, p.found.Refused, want.Links, want.Refused)
		}
	})
	if short == 0 {
		t.Error("no reference went the short way")
	}
}
