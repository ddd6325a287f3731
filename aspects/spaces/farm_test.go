package spaces_test

import (
	"fmt"
	"hash/fnv"
	"strings"
	"testing"

	"github.com/arcrawl/arcrawl/aspects/spaces"
	"github.com/arcrawl/arcrawl/internal/slow"
	"github.com/arcrawl/arcrawl/uri"
)

// pick returns a number below n that depends only on the arguments.
func pick(n int, of ...any) int {
	h := fnv.New64a()
	fmt.Fprint(h, of...)
	return int(h.Sum64() >> 1 % uint64(n))
}

// picked returns links to some of n pages, chosen by the page that has the links.
func picked(format, page string, links, n int) []string {
	var list []string
	for i := range links {
		list = append(list, fmt.Sprintf(format, pick(n, page, i)))
	}
	return list
}

var siteNav = []string{"/", "/about", "/news/", "/partners/", "/index/"}

// farmOf returns a site with a link farm below /partners/. Each page of the farm links to pages that no page linked to
// before.
func farmOf(page func(of string, i int) string, links int) site {
	return site{links: func(s string) []string {
		list := append([]string{}, siteNav...)
		if strings.HasPrefix(s, "/partners/") {
			for i := range links {
				list = append(list, page(s, i))
			}
		}
		if s == "/news/" {
			list = append(list, numbered("/news/story-%d", 0, 40)...)
		}
		return list
	}}
}

func TestLinkFarmsAreFound(t *testing.T) {
	t.Parallel()
	const all = 1_000_000_000
	for _, c := range []struct {
		name string
		site site
		most int
	}{
		{"hundreds of links to words", farmOf(func(of string, i int) string { return fmt.Sprintf("/partners/best-offer-%d", pick(all, of, i)) }, 200), 30},
		{"three links, and home", farmOf(func(of string, i int) string { return fmt.Sprintf("/partners/p%d.html", pick(all, of, i)) }, 3), 30},
		{"long ids", farmOf(func(of string, i int) string { return fmt.Sprintf("/partners/a1b2c3d4e5f6%020d", pick(all, of, i)) }, 30), 30},
		{"folders of any depth", farmOf(func(of string, i int) string {
			return "/partners/" + strings.Repeat(fmt.Sprintf("f%d/", pick(all, i, of)), 1+pick(2, of, i)) + fmt.Sprint(pick(all, of, i))
		}, 12), 30},
		{"a parameter of a program", farmOf(func(of string, i int) string { return fmt.Sprintf("/partners/go.php?p=%d", pick(all, of, i)) }, 40), 30},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := open(t)
			visited := crawl(t, b, c.site, 2_000).visited
			farm := 0
			for _, target := range visited {
				if strings.HasPrefix(target, "/partners/") {
					farm++
				}
			}
			if farm > c.most || len(visited)-farm != 44 {
				t.Errorf("%d pages of the farm and %d others were visited, want at most %d, and 44", farm, len(visited)-farm, c.most)
			}
			b = reopen(t, b)
			list, err := b.Get("news.example")
			if err != nil || len(list) != 1 || list[0].Kind != spaces.Farm || len(list[0].Examples) == 0 || !strings.Contains(list[0].Rule(), "/partners/") {
				t.Fatalf("traps %+v, %v; want one link farm, with examples and a rule", list, err)
			}
			member, home, news := parse(t, list[0].Examples[0]), parse(t, "http://news.example/partners/"), parse(t, "http://news.example/news/")
			other := parse(t, "http://news.example/partners/another")
			for _, j := range []struct {
				what string
				via  uri.URI
				hops uri.HopPath
				want bool
			}{
				{"found on a page of the farm", member, "LLL", true},
				{"found on the home of the farm", home, "LL", true},
				{"found on another page", news, "LL", false},
				{"found in a feed of the farm's folder", parse(t, "http://news.example/partners/rss.xml"), "LM", false},
				{"a seed", uri.URI{}, "", false},
			} {
				if _, got, err := b.Judge(other, j.via, j.hops, day); err != nil || got != j.want {
					t.Errorf("a URI %s: part of the trap is %t, %v; want %t", j.what, got, err, j.want)
				}
			}
			refuted, err := b.AddListed("news.example", day, other)
			if err != nil || len(refuted) != 1 {
				t.Errorf("after a sitemap lists one of its pages, %d traps were released, %v; want 1", len(refuted), err)
			}
			crawl(t, b, c.site, 100)
			if list, _ := b.Get("news.example"); len(list) != 1 || !list[0].Released {
				t.Errorf("pages in a sitemap are a trap again: %+v", list)
			}
		})
	}
}

// Real sites with many similar URIs are not taken for a link farm, and every page is visited.
func TestLargeArchivesAreNotTakenForLinkFarms(t *testing.T) {
	slow.Test(t)
	slow.Unraced(t, slow.OneGoroutine)
	t.Parallel()
	const all = 1_000
	// archive has a front page with the newest articles, a list of several pages, and articles that name others at
	// random.
	archive := func(article string, related int, listed bool, all int) func(string) []string {
		return func(s string) []string {
			list := append([]string{}, siteNav[:3]...)
			var n int
			switch {
			case s == "/":
				list = append(list, numbered(article, all-20, all)...)
			case s == "/news/" && listed:
				list = append(list, "/page/0")
			case strings.HasPrefix(s, "/page/"):
				fmt.Sscanf(s, "/page/%d", &n)
				list = append(list, numbered(article, n*50, n*50+50)...)
				if n < all/50-1 {
					list = append(list, fmt.Sprintf("/page/%d", n+1))
				}
			case s != "/about" && s != "/news/":
				list = append(list, picked(article, s, related, all)...)
			}
			return list
		}
	}
	for _, c := range []struct {
		name    string
		site    site
		minimum int // pages that must be visited
	}{
		{"articles under dates", site{links: archive("/2026/11/21/story-%d", 12, true, all)}, all},
		{"articles by number", site{links: archive("/article/%d", 30, true, all)}, all},
		{"articles at the root", site{links: archive("/story-%d.html", 12, true, all)}, all},
		{"articles by parameter", site{links: archive("/show.php?id=%d", 12, true, all)}, all},
		{"articles that only name one another, except the newest", site{links: archive("/article/%d", 30, false, 1_000_000)}, 2_500},
		{"articles of which another page names only one, that only the others had named", site{links: func(s string) []string {
			list := append([]string{}, siteNav...)
			switch {
			case s == "/about":
				list = append(list, "/editorial/1")
			case s == "/editorial/1":
				list = append(list, "/editorial/2")
			case strings.HasPrefix(s, "/partners/"):
				list = append(list, picked("/partners/%d", s, 3, 1_000_000)...)
			case s == "/editorial/2":
				first := picked("/partners/%d", "/partners/", 1, 1_000_000)
				list = append(list, picked("/partners/%d", first[0], 1, 1_000_000)...)
			}
			return list
		}}, 2_500},
		{"a dictionary from A to Z that only its own home lists", site{links: func(s string) []string {
			var n int
			list := append([]string{}, siteNav...)
			switch {
			case s == "/index/":
				list = append(list, numbered("/index/letter-%d", 0, 26)...)
			case strings.HasPrefix(s, "/index/letter-"):
				fmt.Sscanf(s, "/index/letter-%d", &n)
				list = append(list, numbered("/index/word-%d", n*60, n*60+60)...)
			case strings.HasPrefix(s, "/index/word-"):
				fmt.Sscanf(s, "/index/word-%d", &n)
				list = append(list, fmt.Sprintf("/index/word-%d", max(0, n-1)), fmt.Sprintf("/index/word-%d", n+1), fmt.Sprintf("/index/letter-%d", n/60))
			}
			return list
		}}, 26*60 + 26},
		{"a directory in three steps of a hundred", site{links: func(s string) []string {
			list := append([]string{}, siteNav...)
			switch parts := strings.Count(s, "-"); {
			case s == "/index/":
				list = append(list, numbered("/index/p-%d", 0, 40)...)
			case strings.HasPrefix(s, "/index/p-") && parts < 2:
				list = append(list, numbered(s+"-%d", 0, 40)...)
			}
			return list
		}}, 40 + 40*40},
		{"documentation in folders of a dozen", site{links: func(s string) []string {
			list := append([]string{}, siteNav...)
			switch {
			case strings.HasPrefix(s, "/index/") && strings.Count(s, "/") < 4:
				list = append(list, numbered(s+"part%d/", 0, 12)...)
			case strings.HasPrefix(s, "/index/") && strings.HasSuffix(s, "/"):
				list = append(list, numbered(s+"page%d.html", 0, 12)...)
			}
			return list
		}}, 12 + 144 + 1728},
		{"a wiki of articles that name dozens", site{links: func(s string) []string {
			list := append(append([]string{}, siteNav...), "/wiki/Main", "/wiki/Help", "/wiki/Recent")
			if strings.HasPrefix(s, "/wiki/") {
				list = append(list, picked("/wiki/T%d", s, 40, all)...)
			}
			return list
		}}, all * 9 / 10},
		{"stories with a picture each that name only new ones", site{links: func(s string) []string {
			list := append([]string{}, siteNav...)
			if strings.HasPrefix(s, "/partners/") {
				for i := range 5 {
					list = append(list, fmt.Sprintf("/partners/%d", pick(1_000_000_000, s, i)))
				}
				list = append(list, "/img"+s+".jpg")
			}
			return list
		}}, 1_900},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := open(t)
			visited := crawl(t, b, c.site, 2_500).visited
			if list, err := b.Get("news.example"); err != nil || len(list) > 0 {
				t.Errorf("traps %+v, %v; want no trap", list, err)
			}
			if len(visited) < c.minimum {
				t.Errorf("%d pages were visited, want %d at least", len(visited), c.minimum)
			}
		})
	}
}
