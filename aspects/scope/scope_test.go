package scope_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/aspects/scope"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/uri"
)

func scoped(t *testing.T, scope string) *config.Config {
	t.Helper()
	path := filepath.Join(t.TempDir(), "arcrawl.toml")
	text := `[operator]
name = "Test Library"
contact = "https://library.example/crawler"
[seeds]
uris = ["http://news.example/politics/"]
[scope]
` + scope
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := config.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// movedTo returns a lookup of redirects in which only the seed redirects, to the given target.
func movedTo(target string) func(uri.URI) (uri.URI, bool) {
	return func(u uri.URI) (uri.URI, bool) {
		return uri.FromCanonical(target), u.String() == "http://news.example/politics/"
	}
}

func TestScope(t *testing.T) {
	t.Parallel()
	const seed = "http://news.example/politics/"
	for _, c := range []struct {
		name, scope string
		uri         string
		hops        uri.HopPath
		via         string
		seed        string
		redirect    func(uri.URI) (uri.URI, bool)
		want        bool
	}{
		{name: "the seed", uri: seed, want: true},
		{name: "a link on the seed's host", uri: "http://news.example/sport/", hops: "L", via: seed, want: true},
		{name: "the same host over https", uri: "https://news.example/sport/", hops: "L", via: seed, want: true},
		{name: "a link to another host", uri: "http://other.example/", hops: "L", via: seed},
		{name: "a picture on another host", uri: "http://cdn.example/a.png", hops: "LE", via: "http://news.example/sport/", want: true},
		{name: "a picture named by a style sheet on another host", uri: "http://cdn.example/b.png", hops: "LEE", via: "http://cdn.example/a.css", want: true},
		{name: "a picture on a port of another protocol", uri: "http://cdn.example:25/a.png", hops: "LE", via: seed},
		{name: "a robots.txt on such a port", uri: "http://cdn.example:6000/robots.txt", hops: "P", via: seed},
		{name: "the third embed in a row", uri: "http://cdn.example/c.png", hops: "LEEE", via: "http://cdn.example/b.css"},
		{name: "a link in a frame from another host", uri: "http://ads.example/more", hops: "LEL", via: "http://ads.example/frame"},
		{name: "a picture on another host when that is not wanted", scope: "embeds_anywhere = false", uri: "http://cdn.example/a.png", hops: "E", via: seed},
		{name: "where the seed redirects to", uri: "https://www.news.example/", hops: "R", via: seed, want: true},
		{name: "a link on the host that the seed redirects to", uri: "https://www.news.example/a", hops: "RL", via: "https://www.news.example/", want: true},
		{name: "a link's redirect to another host", uri: "http://other.example/", hops: "LR", via: "http://news.example/out"},
		{name: "a redirect after too many", uri: "http://news.example/6", hops: "RRRRRR", via: "http://news.example/5"},
		{name: "a link beyond the hops", scope: "max_hops = 2", uri: "http://news.example/deep", hops: "LLL", via: "http://news.example/2"},
		{name: "embeds are not counted as hops", scope: "max_hops = 2", uri: "http://news.example/a.png", hops: "LLE", via: "http://news.example/2", want: true},
		{name: "inside the seed's folder", scope: `by = "prefix"`, uri: "http://news.example/politics/a", hops: "L", via: seed, want: true},
		{name: "outside the seed's folder", scope: `by = "prefix"`, uri: "http://news.example/sport/", hops: "L", via: seed},
		{name: "inside a named prefix", scope: "by = \"prefix\"\nprefixes = [\"http://news.example/sport/\"]", uri: "http://news.example/sport/a", hops: "L", via: seed, want: true},
		{name: "another host of the domain", uri: "http://sport.news.example/", hops: "L", via: seed},
		{name: "another host of the domain when that is wanted", scope: `by = "domain"`, uri: "http://sport.news.example/", hops: "L", via: seed, want: true},
		{name: "a host of another domain when the domain is wanted", scope: `by = "domain"`, uri: "http://badnews.example/", hops: "L", via: seed},
		{name: "a host without a page", scope: `by = "domain"`, uri: "http://example/", hops: "L", via: seed},
		{name: "rejected by a rule", scope: `rules = ['reject /print/']`, uri: "http://news.example/print/1", hops: "L", via: seed},
		{name: "rejected by a rule after another one accepts it", scope: `rules = ['accept /print/1$', 'reject /print/']`, uri: "http://news.example/print/1", hops: "L", via: seed, want: true},
		{name: "a picture that a rule rejects", scope: `rules = ['reject ^https?://ads[.]']`, uri: "http://ads.example/a.png", hops: "E", via: seed},
		{name: "elsewhere, but accepted by a rule", scope: `rules = ['accept ^https?://blog[.]other[.]example/']`, uri: "http://blog.other.example/a", hops: "L", via: seed, want: true},
		{name: "a link on a host of which a rule accepted one page", scope: `rules = ['accept ^http://blog[.]other[.]example/a$']`, uri: "http://blog.other.example/b", hops: "LL", via: "http://blog.other.example/a"},
		{name: "accepted by a rule, but too many hops away", scope: "max_hops = 1\nrules = ['accept .']", uri: "http://news.example/2", hops: "LL", via: seed},
		{name: "a seed that a rule rejects is a seed", scope: `rules = ['reject .']`, uri: seed, want: true},
		{name: "more links than allowed", scope: "max_link_hops = 1", uri: "http://news.example/2", hops: "LL", via: seed},
		{name: "as many links as allowed, behind a feed", scope: "max_link_hops = 1", uri: "http://news.example/2", hops: "ML", via: seed, want: true},
		{name: "a guess", uri: "http://news.example/guess", hops: "LX", via: seed, want: true},
		{name: "a guess behind a guess", uri: "http://news.example/guess", hops: "XX", via: seed},
		{name: "a guess where none are wanted", scope: "max_speculative_hops = 0", uri: "http://news.example/guess", hops: "X", via: seed},
		{name: "a link to the host that the seed is known to redirect to", uri: "https://www.news.example/a", hops: "L", via: "http://news.example/b", redirect: movedTo("https://www.news.example/"), want: true},
		{name: "a link to a host of another name that the seed redirects to", uri: "https://renamed.example/a", hops: "L", via: seed, redirect: movedTo("https://renamed.example/"), want: true},
		{name: "the same where redirects count within the domain", scope: `seed_redirects = "domain"`, uri: "https://renamed.example/a", hops: "RL", via: "https://renamed.example/", redirect: movedTo("https://renamed.example/")},
		{name: "www where redirects count within the domain", scope: `seed_redirects = "domain"`, uri: "https://www.news.example/a", hops: "RL", via: "https://www.news.example/", redirect: movedTo("https://www.news.example/"), want: true},
		{name: "the redirect's target is a page of the seed in any case", scope: `seed_redirects = "page"`, uri: "https://renamed.example/", hops: "R", via: seed, want: true},
		{name: "another page of that host, when only the target is wanted", scope: `seed_redirects = "page"`, uri: "https://www.news.example/a", hops: "RL", via: "https://www.news.example/", redirect: movedTo("https://www.news.example/")},
		{name: "the folder that the seed's folder redirects to", scope: `by = "prefix"`, uri: "https://www.news.example/politics/a", hops: "RL", via: "https://www.news.example/politics/", want: true},
		{name: "outside the folder that it redirects to", scope: `by = "prefix"`, uri: "https://www.news.example/sport/a", hops: "RL", via: "https://www.news.example/politics/"},
		{name: "robots.txt", uri: "http://cdn.example/robots.txt", hops: "P", via: "http://cdn.example/a.png", want: true},
		{name: "a link from a seed that is no longer listed", uri: "http://gone.example/a", hops: "L", via: "http://gone.example/", seed: "http://gone.example/"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if c.seed == "" {
				c.seed = seed
			}
			u := uri.FromCanonical(c.uri)
			settings := scoped(t, c.scope)
			root := uri.FromCanonical(c.seed)
			rules := settings.For(config.About{URI: root, Now: time.Now()}).Scope
			s := scope.New(root, rules, settings.SeedHost, c.redirect)
			got := s.Accepts(scope.Discovery{URI: u, Hops: c.hops, Via: uri.FromCanonical(c.via)})
			if got != c.want {
				t.Errorf("%s by %s at %q: in scope %t, want %t", c.uri, c.via, c.hops, got, c.want)
			}
			for _, other := range []string{"http://" + u.Authority() + "/another/page", "https://" + u.Authority() + "/?a"} {
				at := uri.FromCanonical(other)
				if s.HostDecides() && s.Accepts(scope.Discovery{URI: at, Hops: c.hops, Via: uri.FromCanonical(c.via)}) != got {
					t.Errorf("%s: in scope %t, and the decision about %s of the same host differs", u, got, at)
				}
			}
		})
	}
}
