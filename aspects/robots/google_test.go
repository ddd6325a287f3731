package robots

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jimsmart/grobotstxt"

	"github.com/arcrawl/arcrawl/uri"
)

// TestAsGoogle has a case for each behaviour that RFC 9309 describes or Google's tests of its parser check, as far as
// TestAllowed has none. Each case has a file and some targets. Field "no" lists the forbidden targets.
func TestAsGoogle(t *testing.T) {
	t.Parallel()
	const cutAt = 8*2083 - 1 - len("disallow:")
	long := strings.Repeat("z", cutAt)
	for _, c := range []struct {
		name, file string
		yes, no    []string
	}{
		// The form of lines: RFC 9309, section 2.2.
		{name: "an empty file with line ends", file: "\n\r\n\r", yes: []string{"/", "/x"}},
		{name: "lines of unknown keys make no group", file: "bot: arcrawl\nforbid: /\n", yes: []string{"/x"}},
		{name: "a rule without any User-agent", file: "Disallow: /", yes: []string{"/x"}},
		{name: "the last line needs no end", file: "User-agent: arcrawl\nDisallow: /x", no: []string{"/x"}},
		{name: "line ends of all kinds in one file", file: "User-agent: *\rDisallow: /x\r\nDisallow: /y\n\n\rDisallow: /z", yes: []string{"/w"}, no: []string{"/x", "/y", "/z"}},
		{name: "tabs are blanks", file: "user-agent\t:\tarcrawl\ndisallow\t:\t/x\t\n", yes: []string{"/y"}, no: []string{"/x"}},
		{name: "tabs instead of the colon", file: "user-agent\tarcrawl\ndisallow \t /x\n", yes: []string{"/y"}, no: []string{"/x"}},
		{name: "no key before the colon", file: "User-agent: *\n: /x\nDisallow: /y", yes: []string{"/x"}, no: []string{"/y"}},
		{name: "a second colon belongs to the value", file: "User-agent: *\nDisallow: /x:y", yes: []string{"/x"}, no: []string{"/x:y"}},
		{name: "a key counts by its beginning", file: "User-agents: *\nDisallowed: /x\nAllow-all: /x/y", yes: []string{"/x/y"}, no: []string{"/x"}},
		{name: "every accepted typo", file: "user agent: *\ndissallow: /a\ndissalow: /b\ndisalow: /c\ndiasllow: /d\ndisallaw: /e\ndiaslow: /f", yes: []string{"/g"}, no: []string{"/a", "/b", "/c", "/d", "/e", "/f"}},
		{name: "a key in Turkish capitals", file: "User-agent: *\nDİSALLOW: /x", no: []string{"/x"}},
		{name: "a key of which a part is missing", file: "User-agent: *\nallo: /x\ndis: /y\nisallow: /z", yes: []string{"/x", "/y", "/z"}},

		// Groups: RFC 9309, section 2.2.1.
		{name: "a group after rules outside of any group", file: "Allow: /x/y\n\nUser-agent: arcrawl\nDisallow: /x", no: []string{"/x", "/x/y"}},
		{name: "a comment does not end a group", file: "User-agent: arcrawl\nAllow: /x/y\n# and\n\nDisallow: /x\n", yes: []string{"/x/y"}, no: []string{"/x/z"}},
		{name: "an unknown line does not part two agents", file: "User-agent: arcrawl\nMood: good\nUser-agent: other\nDisallow: /x", no: []string{"/x"}},
		{name: "an unknown line and everyone share a group", file: "User-agent: other\nMood: good\nUser-agent: *\nDisallow: /x", no: []string{"/x"}},
		{name: "a rule ends the list of agents", file: "User-agent: arcrawl\nAllow: /\nUser-agent: other\nDisallow: /", yes: []string{"/x"}},
		{name: "everyone and we share a group, and there is another for everyone", file: "User-agent: *\nDisallow: /y\n\nUser-agent: *\nUser-agent: arcrawl\nDisallow: /x", yes: []string{"/y"}, no: []string{"/x"}},
		{name: "groups of others do not apply to us", file: "User-agent: foo\nDisallow: /\n\nUser-agent: bar\nDisallow: /", yes: []string{"/", "/x"}},
		{name: "an empty name is nobody", file: "User-agent:\nDisallow: /x", yes: []string{"/x"}},
		{name: "a name counts to its first blank", file: "User-agent: arcrawl images\nDisallow: /x", no: []string{"/x"}},
		{name: "a name with a hyphen is another name", file: "User-agent: arcrawl-images\nDisallow: /x", yes: []string{"/x"}},
		{name: "a name in quotes is no name", file: "User-agent: \"arcrawl\"\nDisallow: /x", yes: []string{"/x"}},
		{name: "a star before a name is a name", file: "User-agent: *crawl\nDisallow: /x", yes: []string{"/x"}},
		{name: "a star with a version is a name", file: "User-agent: */1.0\nDisallow: /x", yes: []string{"/x"}},
		{name: "a comment after the name", file: "User-agent: arcrawl#bot\nDisallow: /x", no: []string{"/x"}},

		// The longest match: RFC 9309, section 2.2.2.
		{name: "a page is forbidden in a folder that is allowed", file: "User-agent: *\nDisallow: /dir/one.html\nAllow: /dir/", yes: []string{"/dir/", "/dir/two.html"}, no: []string{"/dir/one.html", "/dir/one.html?x"}},
		{name: "a page is allowed in a folder that is forbidden", file: "User-agent: *\nAllow: /dir/one.html\nDisallow: /dir/", yes: []string{"/dir/one.html", "/dir"}, no: []string{"/dir/", "/dir/two.html"}},
		{name: "both are empty", file: "User-agent: *\nDisallow:\nAllow:", yes: []string{"/", "/x"}},
		{name: "both are the root", file: "User-agent: *\nDisallow: /\nAllow: /", yes: []string{"/", "/x"}},
		{name: "a slash more is longer", file: "User-agent: *\nDisallow: /dir\nAllow: /dir/", yes: []string{"/dir/", "/dir/x"}, no: []string{"/dir", "/dirx"}},
		{name: "a longer pattern with a star wins", file: "User-agent: *\nAllow: /one\nDisallow: /*.html", yes: []string{"/one"}, no: []string{"/one.html"}},
		{name: "a shorter pattern with a star loses", file: "User-agent: *\nAllow: /dir/one.\nDisallow: /*.html", yes: []string{"/dir/one.html"}, no: []string{"/dir/two.html"}},
		{name: "a dollar counts into the length", file: "User-agent: *\nAllow: /$\nDisallow: /", yes: []string{"/"}, no: []string{"/x", "/?x"}},
		{name: "the longest match of another group does not count", file: "User-agent: *\nAllow: /dir/one\n\nUser-agent: arcrawl\nDisallow: /dir/", no: []string{"/dir/one"}},
		{name: "a pattern need not begin with a slash", file: "User-agent: *\nDisallow: dir\nDisallow: *dir2", yes: []string{"/dir"}, no: []string{"/x/dir2"}},
		{name: "case of the path", file: "User-agent: *\nDisallow: /Dir/", yes: []string{"/dir/", "/DIR/"}, no: []string{"/Dir/"}},

		// Prefixes and folders, as Google's documentation explains them.
		{name: "a prefix", file: "User-agent: *\nDisallow: /cat", yes: []string{"/", "/Cat", "/tomcat", "/?q=cat", "/x/cat"}, no: []string{"/cat", "/cat.html", "/cats", "/cat/tom.html", "/cat?x=y"}},
		{name: "a prefix and a star", file: "User-agent: *\nDisallow: /cat*", yes: []string{"/", "/Cat", "/tomcat", "/?q=cat"}, no: []string{"/cat", "/cat.html", "/cats", "/cat/tom.html"}},
		{name: "a folder", file: "User-agent: *\nDisallow: /cat/", yes: []string{"/cat", "/cat.html", "/cats/"}, no: []string{"/cat/", "/cat/tom", "/cat/?x=y"}},
		{name: "a suffix anywhere", file: "User-agent: *\nDisallow: /*.cgi", yes: []string{"/", "/x.CGI", "/cgi"}, no: []string{"/x.cgi", "/dir/x.cgi/y", "/x.cgi?y", "/x.cgi5"}},
		{name: "a suffix at the end", file: "User-agent: *\nDisallow: /*.cgi$", yes: []string{"/x.cgi?y", "/x.cgi/", "/x.cgi5"}, no: []string{"/x.cgi", "/dir/x.cgi", "/x?y.cgi"}},
		{name: "a prefix and a suffix", file: "User-agent: *\nDisallow: /cat*.cgi", yes: []string{"/Cat.cgi", "/x/cat.cgi"}, no: []string{"/cat.cgi", "/cats/tom.cgi?x"}},

		// Special characters: RFC 9309, section 2.2.3.
		{name: "a star within the path", file: "User-agent: *\nDisallow: /a/*/c", yes: []string{"/a/c", "/a/b/d"}, no: []string{"/a/b/c", "/a//c", "/a/b/x/cd"}},
		{name: "a pattern with an end and a longer one", file: "User-agent: *\nDisallow: /dir$\nAllow: /dir/x", yes: []string{"/dir/", "/dir/x", "/dirs"}, no: []string{"/dir"}},
		{name: "a rule in a comment", file: "User-agent: *\n# Disallow: /\nDisallow: /x#/y\nAllow: /", yes: []string{"/", "/y"}, no: []string{"/x", "/x/y"}},
		{name: "a rule that is only a comment", file: "User-agent: *\nDisallow: # /x", yes: []string{"/x"}},
		{name: "two dollars", file: "User-agent: *\nDisallow: /x$$", yes: []string{"/x"}, no: []string{"/x$"}},
		{name: "two stars", file: "User-agent: *\nDisallow: /x**y", yes: []string{"/x"}, no: []string{"/xy", "/xzy"}},
		{name: "a lone dollar", file: "User-agent: *\nDisallow: $", yes: []string{"/", "/x"}},
		{name: "a lone star", file: "User-agent: *\nDisallow: *", no: []string{"/", "/x"}},

		// Encodings: RFC 9309, section 2.2.2.
		{name: "an address within the query", file: "User-agent: *\nDisallow: /\nAllow: /x?a=b&to=http://other.example?c&d", yes: []string{"/x?a=b&to=http://other.example?c&d"}, no: []string{"/x?a=b"}},
		{name: "parameters and the fragment", file: "User-agent: *\nDisallow: /x;v=1", yes: []string{"/x", "/x;v=2"}, no: []string{"/x;v=1", "/x;v=1?y#z"}},
		{name: "a letter of three bytes", file: "User-agent: *\nDisallow: /本", yes: []string{"/"}, no: []string{"/本", "/%E6%9C%AC", "/%e6%9c%acx"}},
		{name: "its escapes", file: "User-agent: *\nDisallow: /%e6%9C%Ac", yes: []string{"/"}, no: []string{"/本", "/%E6%9C%AC"}},
		{name: "an escaped slash is no slash", file: "User-agent: *\nDisallow: /x%2Fy", yes: []string{"/x/y"}, no: []string{"/x%2fy"}},
		{name: "Latin-1", file: "User-agent: *\nDisallow: /\xE9", yes: []string{"/é"}, no: []string{"/%E9"}},

		// The index page.
		{name: "index.html stands for its folder", file: "User-agent: *\nAllow: /dir/index.html\nDisallow: /", yes: []string{"/dir/", "/dir/index.html"}, no: []string{"/dir/index.htm", "/dir/x", "/x/"}},
		{name: "so does index.htm", file: "User-agent: *\nAllow: /dir/index.htm\nDisallow: /", yes: []string{"/dir/", "/dir/index.htm", "/dir/index.html"}, no: []string{"/dir", "/dir/?x"}},
		{name: "to forbid it forbids no folder", file: "User-agent: *\nDisallow: /dir/index.html", yes: []string{"/dir/"}, no: []string{"/dir/index.html"}},
		{name: "another name than index.htm", file: "User-agent: *\nAllow: /dir/myindex.html\nDisallow: /", no: []string{"/dir/"}},

		// Long lines.
		{name: "a forbidding line is cut", file: "User-agent: *\nDisallow: *" + long + "y", yes: []string{"/x"}},
		{name: "a star survives the cut", file: "User-agent: *\nDisallow: /x*" + strings.Repeat("*", cutAt) + "y", yes: []string{"/z"}, no: []string{"/x"}},
		{name: "a long comment is no rule", file: "User-agent: *\n#" + long + "\nDisallow: /x #" + long, yes: []string{"/y"}, no: []string{"/x"}},
		{name: "a long key is no rule", file: "User-agent: *\nDisallow" + long + ": /x\nDisallow: /y", yes: []string{"/x"}, no: []string{"/y"}},

		// Byte order marks.
		{name: "a byte order mark alone", file: "\xEF\xBB\xBF", yes: []string{"/x"}},
		{name: "two bytes of a byte order mark", file: "\xEF\xBBUser-agent: arcrawl\nDisallow: /x", no: []string{"/x"}},
		{name: "one byte of a byte order mark", file: "\xEFUser-agent: arcrawl\nDisallow: /x", no: []string{"/x"}},
		{name: "another byte within the byte order mark", file: "\xEF\x11\xBFUser-agent: arcrawl\nDisallow: /x\nUser-agent: *\nDisallow: /y", yes: []string{"/x"}, no: []string{"/y"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			rules := Parse([]byte(c.file))
			for _, target := range slices.Concat(c.yes, c.no) {
				if got, want := rules.Allowed(agent, news(t, target)), slices.Contains(c.yes, target); got != want {
					t.Errorf("%q allowed: %v, want %v", target, got, want)
				}
			}
		})
	}
}

// A URI is too short to reach the place where a line is cut.
func TestALineIsCutWhereGoogleCutsIt(t *testing.T) {
	t.Parallel()
	const room = 8*2083 - 1 - len("disallow:")
	kept := "/x" + strings.Repeat("a", room-len("/x"))
	rules := Parse([]byte("user-agent:*\ndisallow:" + kept + "/y\n"))
	for target, want := range map[string]bool{"/x": true, kept[:room-1]: true, kept: false, kept + "/y": false, kept + "/z": false} {
		if got := rules.allows(agent, target); got != want {
			t.Errorf("a target of %d bytes allowed: %v, want %v", len(target), got, want)
		}
	}
}

func TestSitemapsBelongToNoGroup(t *testing.T) {
	t.Parallel()
	file := "Sitemap: https://a.example/1.xml\nUser-agent: other\nSITEMAP : /2.xml # two\nDisallow: /\n" +
		"site-map: https://a.example/3.xml\nSitemap:\nSitemap https://a.example/4.xml\nSitemaps: /5.xml"
	// The fourth line has no colon after its key, so the colon of the address ends the key, as for Google.
	want := []string{"https://a.example/1.xml", "/2.xml", "https://a.example/3.xml", "//a.example/4.xml", "/5.xml"}
	rules := Parse([]byte(file))
	if diff := cmp.Diff(want, rules.Sitemaps()); diff != "" {
		t.Errorf("sitemaps (-want +got):\n%s", diff)
	}
	if !rules.Allowed(agent, news(t, "/x")) {
		t.Error("/x is forbidden")
	}
	if n := len(Parse([]byte(strings.Repeat("Sitemap: /a\n", 1000))).Sitemaps()); n != maxSitemaps {
		t.Errorf("%d sitemaps, want %d", n, maxSitemaps)
	}
}

// recorder keeps the lines that the port of Google's parser finds.
type recorder []line

func (r *recorder) HandleRobotsStart()                  {}
func (r *recorder) HandleRobotsEnd()                    {}
func (r *recorder) HandleUserAgent(_ int, value string) { *r = append(*r, line{agentField, value}) }
func (r *recorder) HandleAllow(_ int, value string)     { r.add(allowField, value) }
func (r *recorder) HandleDisallow(_ int, value string)  { r.add(disallowField, value) }
func (r *recorder) HandleSitemap(_ int, value string)   { r.add(sitemapField, value) }
func (r *recorder) HandleUnknownAction(_ int, key, value string) {
	about := otherField
	if strings.EqualFold(key, "crawl-delay") {
		about = delayField
	}
	r.add(about, value)
}

func (r *recorder) add(about field, value string) { *r = append(*r, line{about, spell(value, true)}) }

// FuzzLines compares the lines of a file with those that the port of Google's parser finds. It leaves out what is read
// otherwise on purpose: percent signs, of which the port damages some, and characters that only we count as blank.
func FuzzLines(f *testing.F) {
	f.Add("User-agent: *\nDisallow: /a*b$ # c\r\nAllow /é\rcrawl-delay:1\n\nSite-map : x: y")
	f.Add("\xEF\xBBuser agent a\nDissalow\t/\n:x\n: \n x\ny z w\n")
	f.Fuzz(func(t *testing.T, file string) {
		longer := func(l string) bool { return len(l) > maxLine/3 }
		if strings.ContainsAny(file, "%\uFEFF\u200B") || slices.ContainsFunc(strings.Split(file, "\n"), longer) {
			return
		}
		var got []line
		eachLine(file, func(l line) { got = append(got, l) })
		var want recorder
		grobotstxt.Parse(file, &want)
		if diff := cmp.Diff([]line(want), got, cmp.AllowUnexported(line{})); diff != "" {
			t.Fatalf("%q (-Google's +ours):\n%s", file, diff)
		}
	})
}

// FuzzSameAnswer changes what must not matter: the ends of lines, comments, a byte order mark, blank lines, and the
// groups of others. The answers about a target must be the same.
func FuzzSameAnswer(f *testing.F) {
	f.Add("User-agent: *\nDisallow: /a*b$\nAllow: /a\nCrawl-delay: 2", "arcrawl", "/axb")
	f.Add("Disallow: /\nuser-agent arcrawl\ndisallow /x", "arcrawl", "/x")
	f.Add("userAgent ArCrAwl", "ArCrAwl", "0")
	f.Fuzz(func(t *testing.T, file, agent, target string) {
		const other = "zz-other"
		if strings.HasPrefix(file, "\xEF") || product(agent) == other || len(file) > maxBody/8 {
			return
		}
		target = spell("/"+target, false)
		rules := Parse([]byte(file))
		delay, hasDelay := rules.CrawlDelay(agent)
		lines := strings.FieldsFunc(file, func(c rune) bool { return c == '\n' || c == '\r' })
		others := "User-agent: " + other + "\nDisallow: /\nCrawl-delay: 9\n"
		for what, text := range map[string]string{
			"CR LF":         strings.Join(lines, "\r\n"),
			"CR":            strings.Join(lines, "\r"),
			"comments":      strings.Join(lines, " # Disallow: /\n") + "# Allow: /",
			"blank lines":   "\n\n" + strings.Join(lines, "\n \n#\n") + "\n",
			"a mark":        "\xEF\xBB\xBF" + file,
			"another first": others + file,
			"another last":  file + "\nDisallow:\n" + others, // without a rule, its names would join the last group
		} {
			changed := Parse([]byte(text))
			gotDelay, gotHas := changed.CrawlDelay(agent)
			if got, want := changed.allows(agent, target), rules.allows(agent, target); got != want {
				t.Fatalf("%q about %q for %q: allowed %v, with %s %v", file, target, agent, want, what, got)
			}
			if gotDelay != delay || gotHas != hasDelay {
				t.Fatalf("%q for %q: delay %v, with %s %v", file, agent, delay, what, gotDelay)
			}
			if one := changed.For(agent); one.allows("somebody", target) != changed.allows(agent, target) {
				t.Fatalf("%q about %q: another answer after the reduction to %q", text, target, agent)
			}
		}
	})
}

// TestWorkOfAnAnswerIsBounded asks about the longest URIs with files of 500 KiB that are made for much work.
func TestWorkOfAnAnswerIsBounded(t *testing.T) {
	t.Parallel()
	longest := strings.Repeat("a", uri.MaxLength-100)
	for _, c := range []struct {
		name, pattern, target string
		allowed               bool
	}{
		{"a star and a piece that is not there", "*a%04x", longest, false},
		{"a target that grows when it is spelled", "*%%2A%04x", strings.Repeat("*", uri.MaxLength-100), false},
		{"pieces of seventy bytes", "*" + strings.Repeat("a", 70) + "%04x", longest, false},
		{"hundreds of stars", "*" + strings.Repeat("a*", 300) + "%04x", longest, true},
		{"thousands of stars", "*" + strings.Repeat("a*", 8000) + "%04x", longest, true},
		{"a short URI", "*a%04x", strings.Repeat("a", 400), true},
	} {
		var file strings.Builder
		file.WriteString("user-agent:*\nallow:/none\n")
		for n := 0; file.Len() < maxBody; n++ {
			fmt.Fprintf(&file, "disallow:"+c.pattern+"\n", n)
		}
		rules := Parse([]byte(file.String()))
		var found verdict
		target := spell("/"+c.target, false)
		rules.groups[0].rules.judge(target, &found)
		if found.work > maxWork+len(target) {
			t.Errorf("%s: %d bytes are compared, want at most %d", c.name, found.work, maxWork)
		}
		if got := rules.allows(agent, target); got != c.allowed {
			t.Errorf("%s: allowed %v, want %v", c.name, got, c.allowed)
		}
	}
}
