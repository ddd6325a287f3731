package spaces_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/arcrawl/arcrawl/aspects/spaces"
	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/uri"
)

// numbered returns links with the numbers from one to another.
func numbered(format string, from, to int) []string {
	var list []string
	for i := from; i < to; i++ {
		list = append(list, fmt.Sprintf(format, i))
	}
	return list
}

// Real sites whose URIs look like traps are not taken for traps.
func TestRealSitesAreNotTakenForTraps(t *testing.T) {
	t.Parallel()
	nav := []string{"/", "/about", "/contact"}
	for _, c := range []struct {
		name  string
		site  site
		pages int // number of pages of the site
	}{
		{"documentation in folders", site{links: func(s string) []string {
			switch strings.Count(s, "/") {
			case 5:
				return nav
			case 1:
				return numbered("/docs%d/", 0, 5)
			case 2:
				return append(numbered(s+"part%d/", 0, 12), nav...)
			case 3:
				return append(numbered(s+"module%d/", 0, 8), nav...)
			case 4:
				return append(numbered(s+"page%d/index.html", 0, 2), nav...)
			}
			return nav
		}}, 1 + 5 + 5*12 + 5*12*8 + 5*12*8*2 + 2},
		{"a long chain of pages of a list", site{links: func(s string) []string {
			var n int
			if _, err := fmt.Sscanf(s, "/news/page/%d", &n); err != nil && s != "/" {
				return nav
			}
			list := append(numbered(fmt.Sprintf("/news/story-%d-%%d", n), 0, 4), nav...)
			if n < 120 {
				list = append(list, fmt.Sprintf("/news/page/%d", n+1))
			}
			return list
		}}, 3 + 121*4 + 120},
		{"archives by month and day, with articles under dates", site{links: func(s string) []string {
			switch {
			case s == "/":
				return []string{"/2020/01/"}
			case strings.HasSuffix(s, ".jpg"):
				return nil
			case strings.Contains(s, "story"):
				return append([]string{"/img" + s + ".jpg"}, nav...)
			case strings.Count(s, "/") != 3:
				return nav
			}
			var y, m int
			if _, err := fmt.Sscanf(s, "/%d/%d/", &y, &m); err != nil {
				return nav
			}
			list := append([]string{s + "story-a", s + "story-b"}, nav...)
			if m++; m > 12 {
				y, m = y+1, 1
			}
			if y < 2026 {
				list = append(list, fmt.Sprintf("/%d/%02d/", y, m))
			}
			return list
		}}, 3 + 72 + 72*4},
		{"stories that name one another", site{links: func(s string) []string {
			var n int
			if _, err := fmt.Sscanf(s, "/2026/03/01/story-%d", &n); err != nil && s != "/" {
				return nav
			}
			return append(nav, fmt.Sprintf("/2026/03/01/story-%d", (n+1)%300), fmt.Sprintf("/2026/03/01/story-%d", (n*7+1)%300))
		}}, 3 + 300},
		{"articles by number and language in the query", site{links: func(s string) []string {
			if s == "/" {
				return numbered("/a.php?section=%d&lang=en", 0, 6)
			}
			var n int
			if _, err := fmt.Sscanf(s, "/a.php?section=%d&lang=en", &n); err != nil || strings.Contains(s, "id=") {
				return nav
			}
			return append(numbered(fmt.Sprintf("/a.php?section=%d&lang=en&id=%d%%d", n, n), 100, 140), nav...)
		}}, 3 + 6 + 6*40},
		{"commits by their ids", site{links: func(s string) []string {
			if s == "/" {
				return numbered("/commit/0123456789abcdef%04d", 0, 80)
			}
			return nav
		}, page: func(s string) string { return "the change " + s[len(s)-4:] }}, 3 + 80},
		{"numbers that are twice in a date", site{links: func(s string) []string {
			if s == "/" {
				return numbered("/2011/11/11/11/story-%d", 0, 5)
			}
			return nav
		}}, 3 + 5},
		{"a shop whose filters lead to other items", site{links: func(s string) []string {
			if s == "/" {
				return []string{"/shop?a=0&b=0&c=0"}
			}
			var a, b, c int
			if _, err := fmt.Sscanf(s, "/shop?a=%d&b=%d&c=%d", &a, &b, &c); err != nil {
				return nav
			}
			list := append(numbered(fmt.Sprintf("/item-%d-%d-%d-%%d", a, b, c), 0, 3), nav...)
			return append(list, fmt.Sprintf("/shop?a=%d&b=%d&c=%d", (a+1)%5, b, c), fmt.Sprintf("/shop?a=%d&b=%d&c=%d", a, (b+1)%5, c),
				fmt.Sprintf("/shop?a=%d&b=%d&c=%d", a, b, (c+1)%5))
		}}, 3 + 125 + 125*3},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := open(t)
			visited := crawl(t, b, c.site, 5_000).visited
			if list, err := b.Get("news.example"); err != nil || len(list) > 0 {
				t.Errorf("traps %+v, %v; want no trap", list, err)
			}
			if len(visited) != c.pages {
				t.Errorf("%d pages were visited, want %d", len(visited), c.pages)
			}
		})
	}
}

// Each kind of trap is found after some dozens of its pages, and the real pages next to it are visited.
func TestTrapsAreFound(t *testing.T) {
	t.Parallel()
	nav := []string{"/", "/about"}
	for _, c := range []struct {
		name    string
		kind    spaces.Kind
		site    site
		maximum int // pages visited
		rule    string
		taken   string // a URI of the trap
		free    string // a URI that is not part of it
	}{
		{
			"a calendar by query", spaces.Calendar,
			site{links: func(s string) []string {
				var y, m int
				if _, err := fmt.Sscanf(s, "/events?year=%d&month=%d", &y, &m); err != nil {
					return append(nav, "/events?year=2026&month=3")
				}
				return append(nav, fmt.Sprintf("/events?year=%d&month=%d", y+m/12, m%12+1))
			}},
			40, "[scope]\nrules = ['reject ^https?://news\\.example/events\\?year=[0-9]+&month=[0-9]+$']",
			"http://news.example/events?year=2031&month=1", "http://news.example/events?year=2026&month=3",
		},
		{
			"session ids", spaces.Session,
			site{links: func(s string) []string {
				return append(nav, numbered("/s/0123456789abcdef"+fmt.Sprintf("%08x", len(s)*7919)+"%04d/topic", 0, 6)...)
			}, page: func(s string) string { return "the topic, and links with " + s }},
			30,
			"[names]\nrewrite = ['^(https?://news\\.example/s/)[0-9A-Za-z]{16,64} -> ${1}-']", "", "http://news.example/s/0123456789abcdef99999999/topic",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := open(t)
			visited := crawl(t, b, c.site, 1_000).visited
			if len(visited) > c.maximum {
				t.Errorf("%d pages were visited, want at most %d", len(visited), c.maximum)
			}
			b = reopen(t, b) // what was learned is read from the store
			var list []spaces.Trap
			err := b.Each(func(_ uri.Host, of []spaces.Trap) error { list = of; return nil })
			if err != nil || len(list) == 0 || list[0].Kind != c.kind || len(list[0].Examples) == 0 {
				t.Fatalf("traps %+v, %v; want one of the kind %s", list, err, c.kind)
			}
			if list[0].Rule() != c.rule {
				t.Errorf("rule %s, want %s", list[0].Rule(), c.rule)
			}
			judge := func(text string, want bool) {
				t.Helper()
				if _, got, err := b.Judge(parse(t, text), parse(t, "http://news.example/"), "L", day); err != nil || got != want {
					t.Errorf("Judge(%s) = %t, %v; want %t", text, got, err, want)
				}
			}
			judge(c.free, false)
			if c.taken == "" {
				return
			}
			judge(c.taken, true)
			if _, err := b.Release("news.example", list[0].Pattern); err != nil {
				t.Fatal(err)
			}
			judge(c.taken, false)
			crawl(t, b, c.site, 100)
			judge(c.taken, false)
		})
	}
}

func TestRepeatedFolders(t *testing.T) {
	t.Parallel()
	b := open(t)
	for _, c := range []struct {
		uri  string
		want bool
	}{
		{"http://news.example/a/b/a/b/", false},
		{"http://news.example/a/b/a/b/a/b/", true},
		{"http://news.example/img/img/img/x.png", true},
		{"http://news.example/img/img/x.png", false},
		{"http://news.example/2011/11/11/11/x", false},
		{"http://news.example/0/0/0/0/0/x", true},
		{"http://news.example/a/b/c/a/b/c/a/b/c?q=1", true},
		{"http://news.example/a//b//c", false},
	} {
		trap, got, err := b.Judge(parse(t, c.uri), parse(t, "http://news.example/"), "L", day)
		if err != nil || got != c.want {
			t.Errorf("Judge(%s) = %t, %v; want %t", c.uri, got, err, c.want)
		}
		if got {
			if _, err := b.CountKeptOut(trap, day, parse(t, c.uri)); err != nil {
				t.Fatal(err)
			}
		}
	}
	list, err := reopen(t, b).Get("news.example")
	if err != nil || len(list) != 4 || list[0].Kept != 1 {
		t.Fatalf("%d traps, %v; want 4, each with one URI kept out: %+v", len(list), err, list)
	}
	if _, err := b.Release("news.example", list[0].Pattern); err != nil {
		t.Fatal(err)
	}
	if _, got, _ := b.Judge(parse(t, "http://news.example/a/b/a/b/a/b/"), uri.URI{}, "L", day); got {
		t.Error("a released trap still keeps URIs out")
	}
	if _, err := b.Release("news.example", "nothing"); !errors.Is(err, spaces.ErrUnknown) {
		t.Errorf("release of an unknown trap: %v", err)
	}
}

func TestSharedAnswers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		path string // path of the answers, with a number
		root bool
		want bool
	}{
		{"for many paths", "/missing/%d", false, true},
		{"for the root too: a page that scripts fill", "/missing/%d", true, false},
		{"for one path with many queries", "/article?ref=%d", false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := open(t)
			answer := digest.Of([]byte("the same"))
			first := parse(t, "http://news.example/first")
			if c.root {
				first = parse(t, "http://news.example/")
			}
			for i := range 20 {
				if _, err := b.LearnShared(answer, false, day, parse(t, "http://news.example"+fmt.Sprintf(c.path, i)), first); err != nil {
					t.Fatal(err)
				}
			}
			got, err := b.IsNotFound("news.example", answer)
			if err != nil || got != c.want {
				t.Errorf("IsNotFound = %t, %v; want %t", got, err, c.want)
			}
			if other, _ := b.IsNotFound("news.example", digest.Of([]byte("another"))); other {
				t.Error("another answer was taken for the shared one")
			}
		})
	}
}
