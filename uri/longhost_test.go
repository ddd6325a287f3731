package uri_test

import (
	"strings"
	"testing"

	"github.com/arcrawl/arcrawl/uri"
)

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
