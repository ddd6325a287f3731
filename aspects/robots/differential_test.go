package robots

import (
	"net/url"
	"strings"
	"testing"

	"github.com/jimsmart/grobotstxt"
	"pgregory.net/rapid"
)

// library returns the decision of the parser's own matcher about the same file and target. Both are spelled in our
// form.
func library(file, agent, target string) bool {
	return grobotstxt.AgentAllowed(spellOut([]byte(file)), product(agent), "http://news.example"+target)
}

// The test makes random files from significant words. Our evaluation must agree with the matcher of the parser.
func TestEvaluationEqualsTheParsersOwn(t *testing.T) {
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
			t.Fatalf("%q asked about %s for %s: %v, the parser's matcher says %v", file.String(), target, agent, got, want)
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

func TestPatternEqualsTheParsersOwn(t *testing.T) {
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
		if got, want := matches(p, s), grobotstxt.Matches(s, p); got != want {
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
			t.Fatalf("%q asked about %q for %q: %v, the parser's matcher says %v", file, target, agent, got, want)
		}
	})
}
