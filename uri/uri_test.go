package uri_test

import (
	"strings"
	"testing"

	"github.com/arcrawl/arcrawl/uri"
)

func mustParse(t *testing.T, s string) uri.URI {
	t.Helper()
	u, err := uri.Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func TestParseReturnsTheCanonicalForm(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, raw, want string }{
		{"an empty path is the root", "http://news.example", "http://news.example/"},
		{"scheme and host are lower case, the path is not", "HTTP://News.Example/A", "http://news.example/A"},
		{"the default port is left out", "https://news.example:443/", "https://news.example/"},
		{"another port stays", "http://news.example:8080/", "http://news.example:8080/"},
		{"a fragment is never sent", "http://news.example/a#top", "http://news.example/a"},
		{"user information is never sent", "http://me:secret@news.example/", "http://news.example/"},
		{"an international name becomes punycode", "http://bücher.example/ü", "http://xn--bcher-kva.example/%C3%BC"},
		{"dots are resolved", "http://news.example/a/../b/./c", "http://news.example/b/c"},
		{"an empty query stays, because it may be another document", "http://news.example/?", "http://news.example/?"},
		{"an escaped slash is not a slash", "http://news.example/a%2Fb", "http://news.example/a%2Fb"},
		{"tabs and newlines are removed", "http://news.example/a\n\tb", "http://news.example/ab"},
		{"a final dot names the same host", "http://News.Example.:8080/a", "http://news.example:8080/a"},
		{"a final dot of an address", "http://127.1.:8080/a", "http://127.0.0.1:8080/a"},
		{"a dot in the path stays", "http://news.example./a.", "http://news.example/a."},
		{"Chromium escapes these in a path, and not in a query", "http://news.example/a|b^[c]?d|e^[f]", "http://news.example/a%7Cb%5E[c]?d|e^[f]"},
		{"IPv6 keeps its brackets", "http://[::1]:8080/", "http://[::1]:8080/"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			u := mustParse(t, c.raw)
			if u.String() != c.want {
				t.Errorf("Parse(%q) = %q, want %q", c.raw, u, c.want)
			}
			if again := mustParse(t, u.String()); again != u {
				t.Errorf("Parse(%q) is not stable: %q", u, again)
			}
			if back := uri.FromCanonical(u.String()); back != u {
				t.Errorf("FromCanonical(%q) = %#v, want %#v", u, back, u)
			}
		})
	}
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, raw string }{
		{"another scheme", "mailto:editor@news.example"},
		{"a relative reference", "/a"},
		{"no host", "http:///"},
		{"an empty text", ""},
		{"two final dots", "http://news.example../"},
		{"nothing but a dot", "http://./"},
		{"an underscore in an international name", "http://a_b.eİx/"},
		{"a label longer than DNS allows", "http://" + strings.Repeat("a", 64) + ".example/"},
		{"a name longer than DNS allows", "http://" + strings.Repeat("abc.", 64) + "example/"},
		{"more folders than the limit", "http://news.example/" + strings.Repeat("a/", 250)},
		{"more folders than the limit once resolved", "http://news.example" + strings.Repeat(`\a`, 251)},
		{"a URI longer than the limit", "http://news.example/" + strings.Repeat("a", uri.MaxLength)},
		{"a URI that grows over the limit by escaping", "http://news.example/" + strings.Repeat("ü", uri.MaxLength/3)},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if u, err := uri.Parse(c.raw); err == nil {
				t.Errorf("Parse(%q) = %q, want an error", c.raw, u)
			}
		})
	}
}

func TestParts(t *testing.T) {
	t.Parallel()
	u := mustParse(t, "https://www.news.example:8443/a/b?c=d")
	for _, c := range []struct{ name, got, want string }{
		{"Scheme", u.Scheme(), "https"},
		{"Hostname", u.Hostname(), "www.news.example"},
		{"Port", u.Port(), "8443"},
		{"Address", u.Address(), "www.news.example:8443"},
		{"Authority", u.Authority(), "www.news.example:8443"},
		{"Host", string(u.Host()), "www.news.example:8443"},
		{"RequestTarget", u.RequestTarget(), "/a/b?c=d"},
		{"Path", u.Path(), "/a/b"},
		{"Origin", u.Origin().String(), "https://www.news.example:8443/"},
		{"Robots", u.Robots().String(), "https://www.news.example:8443/robots.txt"},
		{"default port", mustParse(t, "https://news.example/").Port(), "443"},
		{"IPv6 address", mustParse(t, "http://[::1]:8080/x").Address(), "[::1]:8080"},
		{"IPv6 host name", mustParse(t, "http://[::1]:8080/x").Hostname(), "::1"},
	} {
		if c.got != c.want {
			t.Errorf("%s = %q, want %q", c.name, c.got, c.want)
		}
	}
	if a, b := mustParse(t, "http://news.example/").Host(), mustParse(t, "https://news.example/").Host(); a != b {
		t.Errorf("http and https of one name are hosts %q and %q, want one", a, b)
	}
}

func TestJoinResolvesLikeABrowser(t *testing.T) {
	t.Parallel()
	base := mustParse(t, "http://news.example/a/b?q")
	for ref, want := range map[string]string{
		"c":                    "http://news.example/a/c",
		"/c":                   "http://news.example/c",
		"?x":                   "http://news.example/a/b?x",
		"//cdn.example/i.png":  "http://cdn.example/i.png",
		"#top":                 "http://news.example/a/b?q",
		" https://o.example ":  "https://o.example/",
		"..\\up":               "http://news.example/up",
		"//user@cdn.example/x": "http://cdn.example/x",
	} {
		got, err := base.Join(ref)
		if err != nil || got.String() != want {
			t.Errorf("Join(%q) = %q, %v, want %q", ref, got, err, want)
		}
	}
}

func TestHopPath(t *testing.T) {
	t.Parallel()
	p := uri.HopPath("").Then(uri.Link).Then(uri.Embed).Then(uri.Redirect).Then(uri.Embed)
	if p != "LERE" || p.Count(uri.Embed) != 2 || p.Trailing(uri.Embed) != 2 || p.TrailingRedirects() != 0 {
		t.Errorf("path %q: %d embeds, %d trailing, %d redirects", p, p.Count(uri.Embed), p.Trailing(uri.Embed), p.TrailingRedirects())
	}
	long := uri.HopPath(strings.Repeat("L", 60))
	if got, want := long.String(), "10+"+strings.Repeat("L", 50); got != want {
		t.Errorf("long path is shown as %q, want %q", got, want)
	}
}

func TestThePartsOfTheZeroURIAreEmpty(t *testing.T) {
	t.Parallel()
	var u uri.URI
	if u.Scheme() != "" || u.Host() != "" || u.Hostname() != "" || u.Path() != "" || u.RequestTarget() != "" {
		t.Errorf("scheme %q, host %q, name %q, path %q, target %q", u.Scheme(), u.Host(), u.Hostname(), u.Path(), u.RequestTarget())
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"http://news.example./", "http://0x7f..:1/", "http://news.example/", "https://[::1]:1/%zz?#", "http:\\\\a\\b", "http://xn--a/", "http://a_b.eİx/"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		u, err := uri.Parse(s)
		if err != nil {
			return
		}
		again, err := uri.Parse(u.String())
		if err != nil || again != u {
			t.Fatalf("Parse(%q) = %q; parsed again: %q, %v", s, u, again, err)
		}
		if strings.ContainsAny(u.String(), " \r\n\t") {
			t.Fatalf("Parse(%q) = %q has white space", s, u)
		}
		if uri.FromCanonical(u.String()) != u {
			t.Fatalf("FromCanonical(%q) differs", u)
		}
		_ = u.Address() + u.Path() + u.Robots().String()
	})
}

func TestDomain(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, uri, want string }{
		{"the host itself", "http://news.is/", "news.is"},
		{"a host below it", "https://www.frettir.news.is:8080/a", "news.is"},
		{"below a suffix of two labels", "http://www.news.co.uk/", "news.co.uk"},
		{"a blog of a hosting provider", "http://library.blogspot.com/", "library.blogspot.com"},
		{"a public suffix", "http://co.uk/", "co.uk"},
		{"a name of one label", "http://localhost/", "localhost"},
		{"an address", "http://192.0.2.1/", "192.0.2.1"},
		{"an IPv6 address", "http://[2001:db8::1]/", "2001:db8::1"},
		{"an unknown suffix is its last label", "http://www.news.example/", "news.example"},
		{"an international name", "http://www.bücher.is/", "xn--bcher-kva.is"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := mustParse(t, c.uri).Domain(); got != c.want {
				t.Errorf("Domain of %s is %q, want %q", c.uri, got, c.want)
			}
		})
	}
}

func TestHasBadPort(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"http://a.example/": false, "https://a.example/": false, "http://a.example:8080/": false, "http://a.example:443/": false,
		"http://a.example:25/": true, "https://a.example:6000/": true, "http://a.example:10080/": true, "http://[2001:db8::1]:22/": true,
		"http://192.0.2.1:6667/x": true, "http://a.example:225/": false,
	} {
		if got := mustParse(t, text).HasBadPort(); got != want {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}
}

// A parser that maps a long host to ASCII allocates for each of its bytes.
func TestLongHostsAreRefusedBeforeTheyAreParsed(t *testing.T) {
	base, err := uri.Parse("http://news.example/a/b")
	if err != nil {
		t.Fatal(err)
	}
	for _, host := range []string{
		strings.Repeat("a", 4000), "xn--" + strings.Repeat("9", 4000), strings.Repeat("xn--9.", 660),
		strings.Repeat("あ", 1300), strings.Repeat("%E3%81%82", 440), "user@" + strings.Repeat("é", 2000),
		strings.Repeat("a.", 200) + ":8080",
	} {
		for _, ref := range []string{"http://" + host + "/", "//" + host, " \thttps:\\\\" + host + "?q"} {
			parse := func() { _, err = base.Join(ref) }
			if n := testing.AllocsPerRun(3, parse); err == nil || n > 20 {
				t.Errorf("%.40s…: %v, after %.0f allocations", ref, err, n)
			}
		}
	}
}

func TestHostsOfAllowedLengthAreParsed(t *testing.T) {
	t.Parallel()
	long := strings.Repeat(strings.Repeat("a", 62)+".", 4)[:251]
	path := strings.Repeat("x", 3000)
	for raw, want := range map[string]string{
		"http://" + long + "/" + path:                       long,
		"http://" + long + ".:8080/" + path:                 long,
		"http://user:word@" + long + "?" + path:             long,
		"http://" + strings.Repeat("%62", 60) + ".example/": strings.Repeat("b", 60) + ".example",
		"http://" + strings.Repeat("あ.", 30) + "x/#" + path: strings.Repeat("xn--l8j.", 30) + "x",
		"http://[2001:db8::1]:8080/" + path:                 "[2001:db8::1]",
	} {
		u, err := uri.Parse(raw)
		if err != nil || u.Hostname() != want && "["+u.Hostname()+"]" != want {
			t.Errorf("%.60s: host %q, %v; want %q", raw, u.Hostname(), err, want)
		}
	}
	base, err := uri.Parse("http://news.example/a/b")
	if err != nil {
		t.Fatal(err)
	}
	for _, ref := range []string{"/" + path, "./" + path + ":x", "http:" + path, "?u=http://" + path, "#//" + path, "x//" + path} {
		if _, err := base.Join(ref); err != nil {
			t.Errorf("the reference %.30s…: %v", ref, err)
		}
	}
}

// TestWhiteSpaceAtTheEndsHasNoLength parses a URI and a reference that are short without what a browser removes.
func TestWhiteSpaceAtTheEndsHasNoLength(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("\x1b\t ", uri.MaxLength)
	u, err := uri.Parse(long + "http://news.example/a" + long)
	if err != nil || u.String() != "http://news.example/a" {
		t.Fatalf("Parse returned %q, %v", u, err)
	}
	if to, err := u.Join(long + "b" + long); err != nil || to.String() != "http://news.example/b" {
		t.Errorf("Join returned %q, %v", to, err)
	}
}
