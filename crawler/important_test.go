package crawler

import (
	"testing"

	"github.com/arcrawl/arcrawl/uri"
)

func TestImportantURIsLeadToOthers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		uri  string
		hops uri.HopPath
		mime string
		want bool
	}{
		{"http://a.example/any/page.html?x=1", "", "text/html", true},
		{"http://a.example/", "LLL", "text/html; charset=utf-8", true},
		{"http://a.example/politics", "L", "text/html", true},
		{"http://a.example/local-news/", "L", "text/html", true},
		{"http://a.example/deep/rss", "LL", "application/rss+xml", true},
		{"http://a.example/politics", "LL", "text/html", false},
		{"http://a.example/politics", "L", "image/png", false},
		{"http://a.example/logo", "E", "text/html", false},
		{"http://a.example/12345", "L", "text/html", false},
		{"http://a.example/?page=2", "L", "text/html", false},
		{"http://a.example/minister-denies-all-claims", "L", "text/html", false},
		{"http://a.example/politics/minister", "L", "text/html", false},
	} {
		u, err := uri.Parse(c.uri)
		if err != nil {
			t.Fatal(err)
		}
		if got := Important(u, c.hops, c.mime, false); got != c.want {
			t.Errorf("%s, %q, %s: %t, want %t", c.uri, c.hops, c.mime, got, c.want)
		}
	}
}
