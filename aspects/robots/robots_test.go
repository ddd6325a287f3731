package robots_test

import (
	"strings"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/aspects/robots"
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
			rules := robots.Parse([]byte(c.file))
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
	var r robots.Rules
	if !r.Allowed(agent, news(t, "/a")) {
		t.Error("forbidden")
	}
	if d, ok := r.CrawlDelay(agent); ok {
		t.Errorf("a delay of %v", d)
	}
}

func TestOnlyTheProductTokenOfTheAgentCounts(t *testing.T) {
	t.Parallel()
	r := robots.Parse([]byte("User-agent: ArCrawl\nDisallow: /a\nCrawl-delay: 3"))
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
	r := robots.Parse([]byte(file))
	for target, want := range map[string]bool{"/early": false, "/late": true, "/later": true, "/": true} {
		if got := r.Allowed(agent, news(t, target)); got != want {
			t.Errorf("%s allowed: %v, want %v", target, got, want)
		}
	}
	whole := head + pad + line[:len(line)-1] + "\nDisallow: /late"
	if r := robots.Parse([]byte(whole)); !r.Allowed(agent, news(t, "/late")) {
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
			got, ok := robots.Parse([]byte(c.file)).CrawlDelay(agent)
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
	r := robots.Parse([]byte("User-agent: *\n" + strings.Repeat(line, 30)))
	if !r.Allowed(agent, news(t, "/"+strings.Repeat("a", 4000))) {
		t.Error("forbidden, want allowed")
	}
}
