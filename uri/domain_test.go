package uri_test

import "testing"

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
