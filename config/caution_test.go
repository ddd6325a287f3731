package config_test

import (
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/uri"
)

func TestPace(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		factor   float64
		min, max time.Duration
		valence  int
		want     string
	}{
		{5, 3 * time.Second, 30 * time.Second, 1, ""},
		{0, time.Second, 30 * time.Second, 4, ""},
		{0, 0, 30 * time.Second, 1, "no rest"},
		{5, 10 * time.Millisecond, 30 * time.Second, 16, "about 27 requests a second"},
		{5, 0, 30 * time.Second, 1, ""},
		{5, 0, 0, 1, "no rest"},
		{0, 100 * time.Millisecond, time.Second, 1, ""},
		{0, 50 * time.Millisecond, time.Second, 1, "about 7 requests a second"},
	} {
		p := frontier.Politeness{DelayFactor: c.factor, MinDelay: c.min, MaxDelay: c.max}
		problem, remedy := config.DoubtPace(p, c.valence)
		if (problem == "") != (c.want == "") || !strings.Contains(problem, c.want) || (remedy == "") != (c.want == "") {
			t.Errorf("%+v: %q, %q", c, problem, remedy)
		}
	}
}

func TestSeed(t *testing.T) {
	t.Parallel()
	home, loop := netip.MustParsePrefix("192.168.0.0/16"), netip.MustParsePrefix("127.0.0.0/8")
	for _, c := range []struct {
		seed  string
		allow []netip.Prefix
		want  string
	}{
		{"https://www.news.example/", nil, ""},
		{"https://93.184.215.14/", nil, ""},
		{"http://192.168.1.5/", nil, "private address"},
		{"http://192.168.1.5/", []netip.Prefix{loop}, "private address"},
		{"http://192.168.1.5:8080/", []netip.Prefix{home}, ""},
		{"http://[fd00::1]/", []netip.Prefix{home}, "private address"},
		{"http://localhost:8080/", nil, "on this machine"},
		{"http://localhost:8080/", []netip.Prefix{loop}, ""},
		{"http://intranet.local/", nil, "private network"},
		{"http://wiki/", nil, "private network"},
		{"http://wiki/", []netip.Prefix{home}, ""},
	} {
		u, err := uri.Parse(c.seed)
		if err != nil {
			t.Fatal(err)
		}
		problem, remedy := config.DoubtSeed(u, c.allow)
		if (problem == "") != (c.want == "") || !strings.Contains(problem, c.want) || problem != "" && !strings.Contains(remedy, "fetch.allow_networks") {
			t.Errorf("%s with %v: %q, %q; want %q", c.seed, c.allow, problem, remedy, c.want)
		}
	}
}

func TestHostFile(t *testing.T) {
	t.Parallel()
	seeds := []uri.Host{"www.news.example", "shop.example:8443", "www.gov.uk"}
	for _, c := range []struct {
		host   uri.Host
		sets   bool
		covers []uri.Host
		want   string
	}{
		{"www.news.example", true, []uri.Host{"www.news.example"}, ""},
		{"www.news.example", false, []uri.Host{"www.news.example"}, "is empty"},
		{"news.example", true, []uri.Host{"www.news.example"}, ""},
		{"www.nwes.example", true, nil, "did you mean www.news.example.toml"},
		{"www.news.exmaple", true, nil, "did you mean www.news.example.toml"},
		{"shop.example:8433", true, nil, "did you mean shop.example:8443.toml"},
		{"cdn.images.example", true, nil, "add a seed"},
		{"com", true, nil, "applies to no host"},
		{"co.uk", true, nil, "applies to no host"},
	} {
		covered := slices.ContainsFunc(seeds, func(h uri.Host) bool { return slices.Contains(c.covers, h) })
		problem, remedy := config.DoubtHostFile(c.host, c.sets, seeds, covered)
		if got := problem + "; " + remedy; (problem == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %s, want %q", c.host, got, c.want)
		}
	}
}

func TestExpression(t *testing.T) {
	t.Parallel()
	covers := func(h uri.Host) bool { return strings.HasSuffix(string(h), "news.example") }
	for _, c := range []struct {
		expression string
		host       uri.Host
		want       string
	}{
		{`/print/`, "", ""},
		{`^/print/`, "", "begins with http"},
		{`^https?://www[.]news[.]example/`, "", ""},
		{`^https://[^/]+/print/`, "", ""},
		{`^https://www[.]other[.]example/`, "news.example", "this file is for news.example"},
		{`^https://www[.]news[.]example/`, "news.example", ""},
		{`^https://WWW[.]news[.]example/`, "", "small letters"},
		{`page#comments`, "", "behind #"},
		{`(page#)?comments`, "", ""},
		{`/über/`, "", "percent-encoded form"},
		{`/a b/`, "", "percent-encoded form"},
		{`(?i)/Print/`, "", ""},
	} {
		problem, remedy := config.Expression(regexp.MustCompile(c.expression), c.host, covers)
		if (problem == "") != (c.want == "") || !strings.Contains(problem, c.want) || (remedy == "") != (c.want == "") {
			t.Errorf("%s in the file of %q: %q, %q; want %q", c.expression, c.host, problem, remedy, c.want)
		}
	}
}

func TestShadowed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		earlier, rule string
		want          bool
	}{
		{"/a/", "/b/", false},
		{"/a/", "/a/", true},
		{".*", "/a/", true},
		{"^https?://", "/a/", true},
		{"^https://", "/a/", false},
	} {
		got := config.Shadowed(regexp.MustCompile(c.rule), []*regexp.Regexp{regexp.MustCompile(c.earlier)})
		if (got != nil) != c.want {
			t.Errorf("%s behind %s: %v, want %t", c.rule, c.earlier, got, c.want)
		}
	}
}

func TestHead(t *testing.T) {
	t.Parallel()
	for expression, want := range map[string]string{
		`^https://a[.]example/live/`: "https://a.example/live/", `^/live/`: "/live/", `/live/`: "", `(?i)^HTTPS:`: "", `^(a|b)`: "",
	} {
		if got, ok := config.Head(regexp.MustCompile(expression)); got != want || ok != (want != "") {
			t.Errorf("Head of %s = %q, %t; want %q", expression, got, ok, want)
		}
	}
}
