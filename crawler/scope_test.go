package crawler

import (
	"os"
	"path/filepath"
	"testing"
	"time"

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

func TestScope(t *testing.T) {
	t.Parallel()
	const seed = "http://news.example/politics/"
	for _, c := range []struct {
		name, scope string
		uri         string
		hops        uri.HopPath
		via         string
		seed        string
		want        bool
	}{
		{name: "the seed", uri: seed, want: true},
		{name: "a link on the seed's host", uri: "http://news.example/sport/", hops: "L", via: seed, want: true},
		{name: "the same host over https", uri: "https://news.example/sport/", hops: "L", via: seed, want: true},
		{name: "a link to another host", uri: "http://other.example/", hops: "L", via: seed},
		{name: "a picture on another host", uri: "http://cdn.example/a.png", hops: "LE", via: "http://news.example/sport/", want: true},
		{name: "a picture named by a style sheet on another host", uri: "http://cdn.example/b.png", hops: "LEE", via: "http://cdn.example/a.css", want: true},
		{name: "the third embed in a row", uri: "http://cdn.example/c.png", hops: "LEEE", via: "http://cdn.example/b.css"},
		{name: "a link in a frame from another host", uri: "http://ads.example/more", hops: "LEL", via: "http://ads.example/frame"},
		{name: "a picture elsewhere when that is not wanted", scope: "embeds_anywhere = false", uri: "http://cdn.example/a.png", hops: "E", via: seed},
		{name: "where the seed redirects to", uri: "https://www.news.example/", hops: "R", via: seed, want: true},
		{name: "a link on the host that the seed redirects to", uri: "https://www.news.example/a", hops: "RL", via: "https://www.news.example/", want: true},
		{name: "a link's redirect to another host", uri: "http://other.example/", hops: "LR", via: "http://news.example/out"},
		{name: "a redirect after too many", uri: "http://news.example/6", hops: "RRRRRR", via: "http://news.example/5"},
		{name: "a link beyond the hops", scope: "max_hops = 2", uri: "http://news.example/deep", hops: "LLL", via: "http://news.example/2"},
		{name: "embeds are not counted as hops", scope: "max_hops = 2", uri: "http://news.example/a.png", hops: "LLE", via: "http://news.example/2", want: true},
		{name: "inside the seed's folder", scope: `by = "prefix"`, uri: "http://news.example/politics/a", hops: "L", via: seed, want: true},
		{name: "outside the seed's folder", scope: `by = "prefix"`, uri: "http://news.example/sport/", hops: "L", via: seed},
		{name: "inside a named prefix", scope: "by = \"prefix\"\nprefixes = [\"http://news.example/sport/\"]", uri: "http://news.example/sport/a", hops: "L", via: seed, want: true},
		{name: "robots.txt", uri: "http://cdn.example/robots.txt", hops: "P", via: "http://cdn.example/a.png", want: true},
		{name: "what a seed led to that is a seed no more", uri: "http://gone.example/a", hops: "L", via: "http://gone.example/", seed: "http://gone.example/"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if c.seed == "" {
				c.seed = seed
			}
			got := inScope(scoped(t, c.scope), time.Now(), uri.FromCanonical(c.uri), c.hops, uri.FromCanonical(c.via), c.seed)
			if got != c.want {
				t.Errorf("%s by %s at %q: in scope %t, want %t", c.uri, c.via, c.hops, got, c.want)
			}
		})
	}
}
