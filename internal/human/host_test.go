package human

import "testing"

func TestHostShowsInternationalizedNamesInUnicode(t *testing.T) {
	t.Parallel()
	for host, want := range map[string]string{
		"www.news.example":            "www.news.example",
		"[2001:db8::1]:8080":          "[2001:db8::1]:8080",
		"xn--bcher-kva.example":       "bücher.example (xn--bcher-kva.example)",
		"xn--bcher-kva.example:8080":  "bücher.example:8080 (xn--bcher-kva.example:8080)",
		"xn--\u202e.example":          "xn--\u202e.example",
		"xn--a-ecp.example.xn--zzzzz": "xn--a-ecp.example.xn--zzzzz",
	} {
		if got := Host(host); got != want {
			t.Errorf("Host(%q) is %q, want %q", host, got, want)
		}
	}
}

func TestURIShowsItsHostInUnicode(t *testing.T) {
	t.Parallel()
	for uri, want := range map[string]string{
		"https://www.news.example/":           "https://www.news.example/",
		"https://xn--bcher-kva.example:8/a?b": "https://xn--bcher-kva.example:8/a?b (bücher.example:8)",
		"https://[::1]/":                      "https://[::1]/",
		"%zz":                                 "%zz",
	} {
		if got := URI(uri); got != want {
			t.Errorf("URI(%q) is %q, want %q", uri, got, want)
		}
	}
}
