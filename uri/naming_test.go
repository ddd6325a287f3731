package uri_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/arcrawl/arcrawl/uri"
)

const id32 = "0123456789abcdefghijklemopqrstuv"

// TestHeritrixNames uses the examples of the tests of Heritrix itself, each with all steps applied.
func TestHeritrixNames(t *testing.T) {
	t.Parallel()
	n := &uri.Naming{Set: uri.Heritrix}
	for _, c := range []struct{ name, uri, want string }{
		{"upper case anywhere", "http://WWW.aRchive.Org/Index.html", "http://archive.org/index.html"},
		{"www", "http://www.archive.org/index.html", "http://archive.org/index.html"},
		{"www and a number", "http://www001.archive.org/index.html", "http://archive.org/index.html"},
		{"www of a home page stays", "http://www.archive.org/", "http://www.archive.org/"},
		{"www of a home page with a query is removed", "http://www.archive.org/?x", "http://archive.org/?x"},
		{"a name that only begins like www", "http://www2foo.com/a", "http://www2foo.com/a"},
		{"user information", "http://stack:password@archive.org/index.html", "http://archive.org/index.html"},
		{"jsessionid alone", "http://archive.org/index.html?jsessionid=" + id32, "http://archive.org/index.html"},
		{"jsessionid of 33 characters stays", "http://archive.org/i?jsessionid=" + id32 + "0", "http://archive.org/i?jsessionid=" + id32 + "0"},
		{"jsessionid and another parameter", "http://archive.org/i?jsessionid=" + id32 + "&x=y", "http://archive.org/i?x=y"},
		{"jsessionid in between", "http://archive.org/i?one=two&jsessionid=" + id32 + "&x=y", "http://archive.org/i?one=two&x=y"},
		{"jsessionid at the end", "http://archive.org/i?one=two&jsessionid=" + id32, "http://archive.org/i?one=two"},
		{"jsessionid in the path leaves its semicolon", "http://archive.org/i;jsessionid=" + id32, "http://archive.org/i;"},
		{"aspsessionid", "http://archive.org/i?aspsessionidABCDEFGH=ABCDEFGHIJKLMNOPQRSTUVWX&x=y", "http://archive.org/i?x=y"},
		{"phpsessid", "http://archive.org/i?phpsessid=" + id32 + "&x=y", "http://archive.org/i?x=y"},
		{"phpsessid at the end", "http://archive.org/i?one=two&phpsessid=" + id32, "http://archive.org/i?one=two"},
		{"sid", "http://archive.org/i?sid=9682993c8daa2c5497996114facdc805&x=y", "http://archive.org/i?x=y"},
		{"sid, then jsessionid", "http://archive.org/i?sid=9682993c8daa2c5497996114facdc805&jsessionid=" + id32, "http://archive.org/i"},
		{"cfid and cftoken", "http://a.b.c/boo?CFID=1169580&CFTOKEN=48630702&dtstamp=22%2F08", "http://a.b.c/boo?dtstamp=22%2f08"},
		{"cfid and a long cftoken", "http://a.b.c/boo?CFID=14475712&CFTOKEN=2D89F5AF-3048-2957-DA4EE4B6B13661AB&r=468&m=f", "http://a.b.c/boo?r=468&m=f"},
		{"cfid alone stays", "http://a.b.c/boo?CFID=14475712", "http://a.b.c/boo?cfid=14475712"},
		{"an empty query", "http://archive.org/index.html?", "http://archive.org/index.html"},
		{"a query of an ampersand", "http://archive.org/index.html?&", "http://archive.org/index.html"},
		{"a query that begins with one", "http://archive.org/index.html?&x=y", "http://archive.org/index.html?x=y"},
		{"a query that ends with one", "http://archive.org/index.html?x=y&", "http://archive.org/index.html?x=y"},
		{"only one ampersand is removed", "http://archive.org/index.html?&x=y&", "http://archive.org/index.html?x=y&"},
		{"the scheme stays", "https://www.archive.org/i", "https://archive.org/i"},
		{"the order of the query stays", "http://archive.org/i?b=1&a=2", "http://archive.org/i?b=1&a=2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := n.Name(mustParse(t, c.uri)); got != c.want {
				t.Errorf("Name(%s)\n got %s\nwant %s", c.uri, got, c.want)
			}
		})
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	rewrite := func(s string) uri.Rewrite {
		match, to, _ := strings.Cut(s, " -> ")
		return uri.Rewrite{Match: regexp.MustCompile(match), To: to}
	}
	for _, c := range []struct {
		name   string
		naming *uri.Naming
		uri    string
		want   string
	}{
		{"no rules", nil, "http://www.news.example/A?utm_source=x&", "http://www.news.example/A?utm_source=x&"},
		{"whatwg", &uri.Naming{Set: uri.WHATWG}, "http://www.news.example/A?b&a", "http://www.news.example/A?b&a"},
		{"pywb", &uri.Naming{Set: uri.Pywb}, "https://www.news.example/A/?b=1&a=2", "example,news)/a?a=2&b=1"},
		{"a dropped parameter", &uri.Naming{Drop: []string{"fbclid"}}, "http://news.example/a?x=1&fbclid=abc", "http://news.example/a?x=1"},
		{"the last one, with its question mark", &uri.Naming{Drop: []string{"utm_*"}}, "http://news.example/a?utm_source=x&utm_medium=y", "http://news.example/a"},
		{"only whole names", &uri.Naming{Drop: []string{"utm_*", "id"}}, "http://news.example/a?my_utm_x=1&idx=2&id=3", "http://news.example/a?my_utm_x=1&idx=2"},
		{"a star in the middle", &uri.Naming{Drop: []string{"a*z*"}}, "http://news.example/a?abcz1=1&abc=2", "http://news.example/a?abc=2"},
		{"a rewrite", &uri.Naming{Rewrite: []uri.Rewrite{rewrite(`^(https?://[^/]+)/s/[0-9a-f]{8}/ -> $1/`)}}, "http://news.example/s/0123abcd/a", "http://news.example/a"},
		{"a rewrite that would leave nothing is ignored", &uri.Naming{Rewrite: []uri.Rewrite{rewrite(`^.+ -> `)}}, "http://news.example/a", "http://news.example/a"},
		{"drops, rewrites and a set, in this order", &uri.Naming{
			Set: uri.Heritrix, Drop: []string{"B"}, Rewrite: []uri.Rewrite{rewrite(`/Old/ -> /New/`), rewrite(`/New/ -> /X/`)},
		}, "http://www.news.example/Old/?B=1&A=2", "http://news.example/x/?a=2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			u := mustParse(t, c.uri)
			if got := c.naming.Name(u); got != c.want {
				t.Errorf("Name(%s) = %s, want %s", c.uri, got, c.want)
			}
			steps := c.naming.Steps(u)
			if last := steps[len(steps)-1]; last.Result != c.want {
				t.Errorf("the steps end with %+v", last)
			}
		})
	}
}

func TestDifferentRulesHaveDifferentNotations(t *testing.T) {
	t.Parallel()
	r := uri.Rewrite{Match: regexp.MustCompile(`a"`), To: "b"}
	all := []*uri.Naming{
		nil,
		{Set: uri.Heritrix},
		{Set: uri.Pywb},
		{Drop: []string{"a"}},
		{Drop: []string{"a", "b"}},
		{Rewrite: []uri.Rewrite{r}},
		{Set: uri.Heritrix, Drop: []string{"a"}},
	}
	seen := map[string]bool{}
	for _, n := range all {
		if text := n.Notation(); seen[text] || seen[n.Digest()] || strings.ContainsAny(text, "\r\n") {
			t.Errorf("%+v has the notation %s, which is not unique", n, text)
		}
		seen[n.Notation()], seen[n.Digest()] = true, true
	}
	if a, b := (&uri.Naming{Drop: []string{"b", "a"}}), (&uri.Naming{Set: uri.WHATWG, Drop: []string{"a", "b"}}); a.Digest() != b.Digest() {
		t.Errorf("the same rules have two notations, %s and %s", a.Notation(), b.Notation())
	}
	if got, want := all[5].Notation(), `whatwg rewrite="a\" -> b"`; got != want {
		t.Errorf("notation %s, want %s", got, want)
	}
}

func FuzzNames(f *testing.F) {
	f.Add("http://www.news.example/a?sid="+id32+"&utm_x=1", "utm_*")
	f.Add("http://u@WWW7.news.example/;jsessionid="+id32+"?&", "*")
	f.Fuzz(func(t *testing.T, s, drop string) {
		u, err := uri.Parse(s)
		if err != nil {
			return
		}
		for _, set := range []uri.RuleSet{uri.WHATWG, uri.Heritrix, uri.Pywb} {
			n := &uri.Naming{Set: set, Drop: []string{drop}}
			name := n.Name(u)
			if name == "" || name != n.Name(u) {
				t.Fatalf("%s of %s is %q, then %q", set, u, name, n.Name(u))
			}
		}
	})
}
