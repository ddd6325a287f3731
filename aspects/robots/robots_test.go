package robots

import (
	"fmt"
	"net/url"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/jimsmart/grobotstxt"
	"pgregory.net/rapid"

	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/uri"
)

func news(t testing.TB, target string) uri.URI {
	t.Helper()
	u, err := uri.Parse("https://news.example" + target)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

const agent = "arcrawl"

// TestAllowed tests the rules of RFC 9309. Each case has a file and some targets. Field "no" lists the forbidden
// targets.
func TestAllowed(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a", 3000)
	for _, c := range []struct {
		name, file string
		yes, no    []string
	}{
		{name: "an empty file allows everything", file: "", yes: []string{"/", "/a"}},
		{name: "a file of prose allows everything", file: "Please be kind.\n<html>: no\n", yes: []string{"/a"}},
		{name: "rules for everyone count", file: "User-agent: *\nDisallow: /a", yes: []string{"/", "/b"}, no: []string{"/a", "/a/b", "/ab"}},
		{name: "rules for others do not count", file: "User-agent: other\nDisallow: /", yes: []string{"/a"}},
		{name: "our own group replaces the one for everyone", file: "User-agent: *\nDisallow: /\n\nUser-agent: arcrawl\nDisallow: /a", yes: []string{"/b"}, no: []string{"/a"}},
		{name: "our own group counts wherever it is", file: "User-agent: arcrawl\nDisallow: /a\n\nUser-agent: *\nDisallow: /", yes: []string{"/b"}, no: []string{"/a"}},
		{name: "our own group without rules allows everything", file: "User-agent: *\nDisallow: /\n\nUser-agent: arcrawl\n", yes: []string{"/a"}},
		{name: "an empty Disallow allows everything", file: "User-agent: arcrawl\nDisallow:\n", yes: []string{"/a"}},
		{name: "an empty Disallow takes nothing back", file: "User-agent: *\nDisallow: /a\nDisallow:\n", no: []string{"/a"}},
		{name: "groups of one agent are merged", file: "User-agent: arcrawl\nDisallow: /a\n\nUser-agent: other\nDisallow: /b\n\nUser-agent: arcrawl\nDisallow: /c", yes: []string{"/b"}, no: []string{"/a", "/c"}},
		{name: "groups for everyone are merged", file: "User-agent: *\nDisallow: /a\n\nUser-agent: *\nDisallow: /c", yes: []string{"/b"}, no: []string{"/a", "/c"}},
		{name: "several agents share a group", file: "User-agent: other\nUser-agent: arcrawl\nUser-agent: third\nDisallow: /a", yes: []string{"/b"}, no: []string{"/a"}},
		{name: "an empty line does not end a group", file: "User-agent: arcrawl\n\n\nDisallow: /a\n\nDisallow: /b", no: []string{"/a", "/b"}},
		{name: "a Crawl-delay or Sitemap does not part two agents", file: "User-agent: arcrawl\nCrawl-delay: 5\nSitemap: https://news.example/s.xml\nUser-agent: other\nDisallow: /a", no: []string{"/a"}},
		{name: "the agent's name is matched without regard to case", file: "uSER-aGENT: ARCrawl\ndISALLOW: /a", no: []string{"/a"}},
		{name: "a version after the agent's name is ignored", file: "User-agent: arcrawl/2.1 (news)\nDisallow: /a", no: []string{"/a"}},
		{name: "a part of our name is not our name", file: "User-agent: arc\nDisallow: /\n\nUser-agent: arcrawler\nDisallow: /", yes: []string{"/a"}},
		{name: "a star with words after it is everyone", file: "User-agent: * (all)\nDisallow: /a", no: []string{"/a"}},
		{name: "rules before any group say nothing", file: "Disallow: /\nAllow: /b\nUser-agent: *\nDisallow: /a", yes: []string{"/b", "/c"}, no: []string{"/a"}},
		{name: "the longest match decides, allow last", file: "User-agent: *\nDisallow: /a\nAllow: /a/b", yes: []string{"/a/b", "/a/bc"}, no: []string{"/a", "/a/c"}},
		{name: "the longest match decides, allow first", file: "User-agent: *\nAllow: /a\nDisallow: /a/b", yes: []string{"/a", "/a/c"}, no: []string{"/a/b"}},
		{name: "allow wins a tie, standing last", file: "User-agent: *\nDisallow: /a\nAllow: /a", yes: []string{"/a"}},
		{name: "allow wins a tie, standing first", file: "User-agent: *\nAllow: /a\nDisallow: /a", yes: []string{"/a"}},
		{name: "a wildcard counts into the length", file: "User-agent: *\nDisallow: /*.html\nAllow: /a", yes: []string{"/a"}, no: []string{"/a.html"}},
		{name: "paths are matched with regard to case", file: "User-agent: *\nDisallow: /A", yes: []string{"/a"}, no: []string{"/A"}},
		{name: "a star stands for anything, also nothing", file: "User-agent: *\nDisallow: /a*b", yes: []string{"/a", "/ba"}, no: []string{"/ab", "/axxb", "/ax/b?c"}},
		{name: "several stars may share the text between them", file: "User-agent: *\nDisallow: /*a*a*.gif$", yes: []string{"/a.gif", "/aa.gif?x"}, no: []string{"/aa.gif", "/xaxax.gif", "/a.gif/aa.gif"}},
		{name: "a star at the start", file: "User-agent: *\nDisallow: *.pdf", yes: []string{"/a"}, no: []string{"/a.pdf", "/a.pdf?x"}},
		{name: "a star at the end changes nothing", file: "User-agent: *\nDisallow: /a*", yes: []string{"/b"}, no: []string{"/a", "/ab"}},
		{name: "a dollar is the end", file: "User-agent: *\nDisallow: /*.php$", yes: []string{"/a.php?x", "/a.php5"}, no: []string{"/a.php", "/.php.php"}},
		{name: "a dollar after a star is any end", file: "User-agent: *\nDisallow: /a*$", no: []string{"/a", "/ab"}},
		{name: "the root alone", file: "User-agent: *\nDisallow: /$", yes: []string{"/a"}, no: []string{"/"}},
		{name: "a dollar in the middle is a dollar", file: "User-agent: *\nDisallow: /a$b", yes: []string{"/a"}, no: []string{"/a$b", "/a%24bc"}},
		{name: "an escaped star is a star", file: "User-agent: *\nDisallow: /a-%2A.html", yes: []string{"/a-b.html"}, no: []string{"/a-*.html", "/a-%2a.html"}},
		{name: "an escaped dollar is a dollar", file: "User-agent: *\nDisallow: /a%24", yes: []string{"/a"}, no: []string{"/a$b"}},
		{name: "the query belongs to the target", file: "User-agent: *\nDisallow: /*?s=", yes: []string{"/a?t=1"}, no: []string{"/?s=1", "/a?s="}},
		{name: "lower-case escapes with digits", file: "User-agent: *\nDisallow: /caf%c3%a9\nDisallow: /a%2fb", yes: []string{"/cafe", "/a/b"}, no: []string{"/café", "/caf%C3%A9", "/a%2fb", "/a%2Fb"}},
		{name: "raw UTF-8 equals its escapes", file: "User-agent: *\nDisallow: /ツ", no: []string{"/ツ", "/%E3%83%84", "/%e3%83%84"}},
		{name: "escapes of unreserved characters are decoded", file: "User-agent: *\nDisallow: /foo/%62%61%7A\nDisallow: /%7Euser", no: []string{"/foo/baz", "/foo/%62az", "/~user", "/%7euser"}},
		{name: "a character that a URI cannot have equals its escape", file: "User-agent: *\nDisallow: /a b\nDisallow: /x|y", no: []string{"/a b", "/a%20b", "/x|y", "/x%7Cy"}},
		{name: "a percent sign that escapes nothing", file: "User-agent: *\nDisallow: /100%\nDisallow: /%zz", no: []string{"/100%", "/100%25", "/%zz"}},
		{name: "a byte order mark", file: "\xEF\xBB\xBFUser-agent: *\nDisallow: /a", no: []string{"/a"}},
		{name: "a byte order mark in the middle", file: "User-agent: other\nDisallow: /b\n\xEF\xBB\xBFUser-agent: *\nDisallow: /a", yes: []string{"/b"}, no: []string{"/a"}},
		{name: "no-break spaces around a rule", file: "User-agent:\u00a0*\n\u00a0Disallow:\u00a0/a\u00a0\n", no: []string{"/a"}},
		{name: "lines that end in CR", file: "User-agent: *\rDisallow: /a\rDisallow: /b\r", yes: []string{"/c"}, no: []string{"/a", "/b"}},
		{name: "lines that end in CR LF", file: "User-agent: *\r\nDisallow: /a\r\n\r\nDisallow: /b", yes: []string{"/c"}, no: []string{"/a", "/b"}},
		{name: "comments", file: "# all\nUser-agent: * # you\nDisallow: /a#b\n", yes: []string{"/b"}, no: []string{"/a"}},
		{name: "blanks around the colon", file: "  User-agent\t :  *\t\n\tDisallow \t:/a  ", yes: []string{"/b"}, no: []string{"/a"}},
		{name: "a missing colon", file: "User-agent *\nDisallow /a\nDisallow /b /c", yes: []string{"/b", "/c"}, no: []string{"/a"}},
		{name: "common typos", file: "Useragent: *\nDissallow: /a\nDisalow: /b", no: []string{"/a", "/b"}},
		{name: "allowing an index page allows its folder", file: "User-agent: *\nDisallow: /\nAllow: /a/index.html", yes: []string{"/a/", "/a/index.html"}, no: []string{"/a/b", "/"}},
		{name: "robots.txt itself is always allowed", file: "User-agent: *\nDisallow: /", yes: []string{"/robots.txt"}, no: []string{"/robots.txt.html", "/robots.txt?x"}},
		{name: "unknown lines are skipped", file: "User-agent: *\nNoindex: /b\nHost: news.example\nDisallow: /a", yes: []string{"/b"}, no: []string{"/a"}},
		{name: "a rule as long as a URI", file: "User-agent: *\nDisallow: /" + long, yes: []string{"/aaa"}, no: []string{"/" + long, "/" + long + "b"}},
		{name: "a line longer than any URI disturbs no other", file: "User-agent: *\nDisallow: /b" + strings.Repeat(long, 20) + "\nDisallow: /c", yes: []string{"/b" + long}, no: []string{"/c"}},
		{name: "NUL bytes", file: "User-agent: *\nDis\x00allow: /\nDisallow: /a", yes: []string{"/b"}, no: []string{"/a"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			rules := Parse([]byte(c.file))
			for _, target := range c.yes {
				if !rules.Allowed(agent, news(t, target)) {
					t.Errorf("%q is forbidden, want allowed", target)
				}
			}
			for _, target := range c.no {
				if rules.Allowed(agent, news(t, target)) {
					t.Errorf("%q is allowed, want forbidden", target)
				}
			}
		})
	}
}

func TestTheZeroRulesAllowEverything(t *testing.T) {
	t.Parallel()
	var r Rules
	if !r.Allowed(agent, news(t, "/a")) {
		t.Error("forbidden")
	}
	if d, ok := r.CrawlDelay(agent); ok {
		t.Errorf("a delay of %v", d)
	}
}

func TestOnlyTheProductTokenOfTheAgentCounts(t *testing.T) {
	t.Parallel()
	r := Parse([]byte("User-agent: ArCrawl\nDisallow: /a\nCrawl-delay: 3"))
	const full = "arcrawl/1.0 (+https://library.example/)"
	if r.Allowed(full, news(t, "/a")) {
		t.Error("allowed")
	}
	if d, ok := r.CrawlDelay(full); d != 3*time.Second || !ok {
		t.Errorf("delay %v, %v", d, ok)
	}
}

func TestOnlyWholeLinesOfTheFirst500KiBCount(t *testing.T) {
	t.Parallel()
	const limit = 500 << 10
	head := "User-agent: *\nDisallow: /early\n"
	line := "Disallow: /" // if the file is cut after these bytes, this line forbids everything
	pad := strings.Repeat("#", limit-len(head)-len(line)-1) + "\n"
	file := head + pad + line + "late\nDisallow: /later\n"
	if file[:limit] != head+pad+line {
		t.Fatal("the test does not cut at the intended place")
	}
	r := Parse([]byte(file))
	for target, want := range map[string]bool{"/early": false, "/late": true, "/later": true, "/": true} {
		if got := r.Allowed(agent, news(t, target)); got != want {
			t.Errorf("%s allowed: %v, want %v", target, got, want)
		}
	}
	whole := head + pad + line[:len(line)-1] + "\nDisallow: /late"
	if r := Parse([]byte(whole)); !r.Allowed(agent, news(t, "/late")) {
		t.Error("a line after the limit counts")
	}
}

func TestCrawlDelay(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, file string
		want       time.Duration
		none       bool
	}{
		{name: "none asked for", file: "User-agent: *\nDisallow: /a", none: true},
		{name: "of the group for everyone", file: "User-agent: *\nCrawl-delay: 10", want: 10 * time.Second},
		{name: "of our own group", file: "User-agent: *\nCrawl-delay: 10\nDisallow:\nUser-agent: arcrawl\nCrawl-delay: 2\nDisallow:", want: 2 * time.Second},
		{name: "our own group without one takes none from everyone's", file: "User-agent: *\nCrawl-delay: 10\nDisallow:\nUser-agent: arcrawl\nDisallow:", none: true},
		{name: "of another's group", file: "User-agent: other\nCrawl-delay: 10\nDisallow:", none: true},
		{name: "before any group", file: "Crawl-delay: 10\nUser-agent: *\nDisallow:", none: true},
		{name: "after the rules", file: "User-agent: *\nDisallow: /a\nCrawl-delay: 10", want: 10 * time.Second},
		{name: "the longest of several", file: "User-agent: *\nCrawl-delay: 1\nDisallow:\nUser-agent: *\nCrawl-delay: 7\nCrawl-delay: 3", want: 7 * time.Second},
		{name: "a fraction", file: "User-agent: *\nCrawl-Delay: 0.5", want: 500 * time.Millisecond},
		{name: "zero is an answer", file: "User-agent: *\nCrawl-delay: 0", want: 0},
		{name: "never more than a day", file: "User-agent: *\nCrawl-delay: 86401", want: 24 * time.Hour},
		{name: "a number beyond all bounds", file: "User-agent: *\nCrawl-delay: 1" + strings.Repeat("0", 400), want: 24 * time.Hour},
		{name: "a negative number", file: "User-agent: *\nCrawl-delay: -1", none: true},
		{name: "an exponent", file: "User-agent: *\nCrawl-delay: 1e3", none: true},
		{name: "infinity", file: "User-agent: *\nCrawl-delay: inf", none: true},
		{name: "a unit", file: "User-agent: *\nCrawl-delay: 10s", none: true},
		{name: "no number at all", file: "User-agent: *\nCrawl-delay:\nCrawl-delay: .\nCrawl-delay: 1.2.3", none: true},
		{name: "a comment after it", file: "User-agent: *\nCrawl-delay: 4 # please", want: 4 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, ok := Parse([]byte(c.file)).CrawlDelay(agent)
			if got != c.want || ok == c.none {
				t.Errorf("CrawlDelay = %v, %v, want %v, %v", got, ok, c.want, !c.none)
			}
		})
	}
}

// The rules would take a billion steps if the work were proportional to the pattern length times the target length.
func TestHostileWildcardsEnd(t *testing.T) {
	t.Parallel()
	line := "Disallow: /" + strings.Repeat("*a", 8000) + "b\n"
	r := Parse([]byte("User-agent: *\n" + strings.Repeat(line, 30)))
	if !r.Allowed(agent, news(t, "/"+strings.Repeat("a", 4000))) {
		t.Error("forbidden, want allowed")
	}
}

// library returns the decision of the port of Google's parser about the same file and target. Both are spelled in our
// form. The first line keeps it from reading a byte order mark.
func library(file, agent, target string) bool {
	var spelled strings.Builder
	spelled.WriteString("#\n")
	eachLine(file, func(l line) { spelled.WriteString(keys[l.field] + ":" + l.value + "\n") })
	return grobotstxt.AgentAllowed(spelled.String(), product(agent), "http://news.example"+target)
}

// keys are keys that mean the fields.
var keys = map[field]string{
	otherField: "x", agentField: "user-agent", allowField: "allow", disallowField: "disallow", sitemapField: "sitemap",
	delayField: "crawl-delay",
}

// The test makes random files from significant words. Our evaluation must agree with the port of Google's
// parser.
func TestEvaluationEqualsGoogles(t *testing.T) {
	t.Parallel()
	key := rapid.SampledFrom([]string{
		"User-agent: ", "User-agent:", "Allow: ", "Disallow: ", "Disallow", "Crawl-delay: ", "Sitemap: ", "disalow:", "Foo: ", "",
	})
	piece := rapid.SampledFrom([]string{
		"/", "a", "b", "*", "$", "ab", "/index.html", "/index.htm", "?", "%2f", "%61", "%c3%a9", "é", "%2A", "%", " ", "other", "arcrawl", "*", "/robots.txt", "/1.0", "&=",
	})
	end := rapid.SampledFrom([]string{"\n", "\n", "\r\n", "\r", "\n\n", " #c\n"})
	word := rapid.Map(rapid.SliceOfN(piece, 0, 6), func(p []string) string { return strings.Join(p, "") })
	rapid.Check(t, func(t *rapid.T) {
		var file strings.Builder
		for range rapid.IntRange(0, 12).Draw(t, "lines") {
			file.WriteString(key.Draw(t, "key") + word.Draw(t, "value") + end.Draw(t, "end"))
		}
		target := spell("/"+word.Draw(t, "target"), false)
		agent := rapid.SampledFrom([]string{"arcrawl", "other", "a", "ARCRAWL"}).Draw(t, "agent")
		got, want := Parse([]byte(file.String())).allows(agent, target), library(file.String(), agent, target)
		if got != want {
			t.Fatalf("%q asked about %s for %s: %v, Google's says %v", file.String(), target, agent, got, want)
		}
		all := Parse([]byte(file.String()))
		if reduced := all.For(agent); reduced.allows("somebody", target) != want {
			t.Fatalf("%q asked about %s for %s: reduced to that agent the answer is another one", file.String(), target, agent)
		}
		wait, asked := all.CrawlDelay(agent)
		if gotWait, gotAsked := all.For(agent).CrawlDelay("somebody"); gotWait != wait || gotAsked != asked {
			t.Fatalf("%q for %s: delay %s, %v after the reduction, want %s, %v", file.String(), agent, gotWait, gotAsked, wait, asked)
		}
	})
}

func TestPatternsMatchAsGoogles(t *testing.T) {
	t.Parallel()
	pattern := rapid.Map(rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "*", "/", "$"}), 0, 12), func(p []string) string {
		s := strings.Join(p, "")
		if i := strings.IndexByte(s, '$'); i >= 0 { // spell escapes a $ in the middle
			s = s[:i+1]
		}
		return s
	})
	target := rapid.StringMatching(`[ab/]{0,16}`)
	rapid.Check(t, func(t *rapid.T) {
		p, s := pattern.Draw(t, "pattern"), target.Draw(t, "target")
		var work int
		if got, want := matches(p, s, &work), grobotstxt.Matches(s, p); got != want {
			t.Fatalf("%q against %q: %v, want %v", p, s, got, want)
		}
	})
}

func FuzzParse(f *testing.F) {
	f.Add("User-agent: *\nDisallow: /a%c3%a9*b$\nAllow: /a", "arcrawl", "/a%C3%A9")
	f.Add("\xEF\xBB\xBFuser agent foo\rDisallow /\r\n", "foo/1", "/x?y=*$")
	f.Add("User-agent: * all\nAllow: /index.html\nDisallow: /\nCrawl-delay: 1.5", "b", "/")
	f.Fuzz(func(t *testing.T, file, agent, target string) {
		rules := Parse([]byte(file))
		target = spell("/"+target, false)
		if again := spell(target, false); again != target {
			t.Fatalf("spell(%q) = %q, want it unchanged", target, again)
		}
		if d, _ := rules.CrawlDelay(agent); d < 0 || d > maxDelay {
			t.Fatalf("Crawl-delay %v of %q", d, file)
		}
		got := rules.allows(agent, target)
		// The library accepts a target only if net/url does, and drops a second scheme or authority.
		if u, err := url.Parse("http://news.example" + target); err != nil || u.String() != "http://news.example"+target {
			return
		}
		if want := library(file, agent, target); got != want {
			t.Fatalf("%q asked about %q for %q: %v, Google's says %v", file, target, agent, got, want)
		}
	})
}

// copies are copies of robots.txt, and of what replaces them, by URI.
type copies map[string]frontier.RobotsCopy

func (c copies) Robots(origin uri.URI) (frontier.RobotsCopy, bool, error) {
	return c.Substitute(origin.Robots())
}

func (c copies) Substitute(u uri.URI) (frontier.RobotsCopy, bool, error) {
	found, ok := c[u.String()]
	return found, ok, nil
}

func TestRulesAreFoundWhereverRobotsLeads(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	redirect := func(to string) frontier.RobotsCopy {
		return frontier.RobotsCopy{Status: 301, Body: []byte(to), Expires: now.Add(time.Hour)}
	}
	closed := frontier.RobotsCopy{Status: 200, Body: []byte("User-agent: *\nDisallow: /"), Expires: now.Add(time.Hour)}
	expired, dead := closed, frontier.RobotsCopy{Unreachable: true, Expires: now.Add(time.Minute)}
	expired.Expires = now.Add(-time.Hour)
	chain := copies{}
	for n := range 6 {
		chain[fmt.Sprintf("http://a.example/%d", n)] = redirect(fmt.Sprintf("/%d", n+1))
	}
	chain["http://a.example/6"] = closed
	for _, c := range []struct {
		name   string
		to     string
		others copies
		want   string
	}{
		{"another path", "/real.txt", copies{"http://a.example/real.txt": closed}, "forbidden"},
		{"another host", "//b.example/x?y", copies{"http://b.example/x?y": closed}, "forbidden"},
		{"the robots.txt of another host", "https://b.example/robots.txt", copies{"https://b.example/robots.txt": closed}, "forbidden"},
		{"not fetched yet", "/real.txt", nil, "wanted http://a.example/real.txt"},
		{"expired, on the same host", "/real.txt", copies{"http://a.example/real.txt": expired}, "wanted http://a.example/real.txt"},
		{"expired, on another host", "//b.example/r", copies{"http://b.example/r": expired}, "forbidden"},
		{"dead", "//b.example/r", copies{"http://b.example/r": dead}, "unreachable"},
		{"missing", "/real.txt", copies{"http://a.example/real.txt": {Status: 404, Expires: now.Add(time.Hour)}}, "allowed"},
		{"five redirects", "/2", chain, "forbidden"},
		{"six redirects", "/1", chain, "allowed"},
		{"itself", "/robots.txt", nil, "allowed"},
		{"no URI", "ftp://b.example/", nil, "allowed"},
	} {
		known := copies{"http://a.example/robots.txt": redirect(c.to)}
		for u, copied := range c.others {
			known[u] = copied
		}
		origin := uri.FromCanonical("http://a.example/")
		r, err := NewCopies(known).Rules(origin, known["http://a.example/robots.txt"], now)
		got := "forbidden"
		switch {
		case err != nil:
			got = err.Error()
		case !r.Wanted.IsZero():
			got = "wanted " + r.Wanted.String()
		case !r.UnreachableUntil.IsZero():
			got = "unreachable"
		case r.Rules.Allowed("arcrawl", uri.FromCanonical("http://a.example/page")):
			got = "allowed"
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

func TestIsHTML(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"": false, "User-agent: *\nDisallow: /": false, "<3 robots\nUser-agent: *": false, "# <html>\nUser-agent: *": false,
		"<!doctype html><title>x</title>": true, "\xEF\xBB\xBF\n <HTML lang=de>": true, "<?xml version='1.0'?><!DOCTYPE html>": true,
		"<!-- made by x --><html>": true, "<script>1</script>": true,
	} {
		if got := IsHTML([]byte(text)); got != want {
			t.Errorf("IsHTML(%q) = %v, want %v", text, got, want)
		}
	}
}

// hostile returns a file of 500 KiB with as many rules as possible, for all crawlers.
func hostile() []byte {
	return []byte("User-agent: *\n" + strings.Repeat("allow:/\n", 500<<10/8))
}

func fileOf(n int) uri.URI { return uri.FromCanonical(fmt.Sprintf("http://h%d.example/robots.txt", n)) }

// Twenty hosts have the worst robots.txt. Before, each one took 5.8 MB, and ten thousand were kept.
func TestTheCacheIsBoundedInBytes(t *testing.T) {
	const limit = 3 << 20
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	c := newCache(limit)
	body := hostile()
	for n := range 20 {
		if c.rulesOf(nameOf(fileOf(n)), time.Unix(1, 0), body); c.memory() > limit {
			t.Fatalf("%d bytes are kept after %d files, want at most %d", c.memory(), n+1, limit)
		}
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > limit+limit/2 {
		t.Errorf("the cache takes %d bytes of the heap, and says %d", grown, c.memory())
	}
	if c.memory() < limit/2 {
		t.Errorf("%d bytes are kept, want nearly %d", c.memory(), limit)
	}
	runtime.KeepAlive(c)
}

func TestOneRuleTakesItsTextAndFourBytes(t *testing.T) {
	t.Parallel()
	c := newCache(1 << 30)
	body := hostile()
	c.rulesOf(nameOf(fileOf(1)), time.Unix(1, 0), body)
	if n := c.memory(); n > int64(len(body)) {
		t.Errorf("the rules of a file of %d bytes take %d", len(body), n)
	}
	c = newCache(1 << 30)
	others := "User-agent: other\n" + strings.Repeat("Disallow: /\n", 10_000) + "User-agent: *\nDisallow: /private\n"
	c.rulesOf(nameOf(fileOf(1)), time.Unix(1, 0), []byte(others))
	if n := c.memory(); n > 1000 {
		t.Errorf("%d bytes are kept of a file whose rules are for others", n)
	}
}

func TestTheCacheAnswersAsTheFileDoes(t *testing.T) {
	t.Parallel()
	c := newCache(1 << 20)
	page := uri.FromCanonical("http://h1.example/private/x")
	old := []byte("User-agent: *\nDisallow: /\nUser-agent: arcrawl\nDisallow: /private\nCrawl-delay: 7\n")
	for range 2 {
		rules := c.rulesOf(nameOf(fileOf(1)), time.Unix(1, 0), old)
		wait, _ := rules.CrawlDelay("arcrawl")
		if rules.Allowed("arcrawl", page) || !rules.Allowed("arcrawl", fileOf(2)) || wait != 7*time.Second {
			t.Errorf("the file has other rules")
		}
	}
	// The file was fetched again, and has changed.
	if !c.rulesOf(nameOf(fileOf(1)), time.Unix(2, 0), []byte("User-agent: *\n")).Allowed("arcrawl", page) {
		t.Error("old rules are in force")
	}
	if c.memory() > 600 {
		t.Errorf("%d bytes are kept of an empty file", c.memory())
	}
}

// While large files are parsed, the rules that are known are answered at once.
func TestParsingKeepsNobodyWaiting(t *testing.T) {
	t.Parallel()
	c := newCache(1 << 20)
	c.rulesOf(nameOf(fileOf(1)), time.Unix(1, 0), []byte("User-agent: *\nDisallow: /\n"))
	done := make(chan struct{})
	for range cap(c.parsing) {
		c.parsing <- struct{}{} // no other file can be parsed
	}
	go func() {
		c.rulesOf(nameOf(fileOf(1)), time.Unix(1, 0), nil)
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(time.Minute):
		t.Error("known rules waited for a file that is being parsed")
		<-c.parsing
		<-done
	}
}
