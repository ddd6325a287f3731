package spaces_test

import (
	"errors"
	"fmt"
	"hash/fnv"
	"strings"
	"testing"

	"github.com/arcrawl/arcrawl/aspects/spaces"
	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/internal/slow"
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
			must(t, b.CountKeptOut(trap, day, parse(t, c.uri)))
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

// tree is a site below a folder, with folders in folders.
type tree struct {
	levels, folders int
	crumbs          bool             // each page names all folders above it
	siblings        bool             // each page names the folders next to it
	files           bool             // the last folders have files
	menu            bool             // each page names the first two levels
	end             func(string) int // last level below a folder; nil = levels
}

func (tr tree) links(s string) []string {
	list := []string{"/", "/about", "/deep/"}
	if !strings.HasPrefix(s, "/deep/") || !strings.HasSuffix(s, "/") {
		return list
	}
	parts := strings.Split(strings.Trim(s, "/"), "/")
	end := tr.levels
	if tr.end != nil {
		end = tr.end(s)
	}
	switch {
	case tr.levels == 0 || len(parts) <= end:
		list = append(list, tr.below(s)...)
	case tr.files:
		list = append(list, s+"text.html")
	}
	if tr.crumbs {
		for i := 1; i < len(parts); i++ {
			list = append(list, "/"+strings.Join(parts[:i], "/")+"/")
		}
	}
	if tr.siblings && len(parts) > 1 {
		list = append(list, tr.below("/"+strings.Join(parts[:len(parts)-1], "/")+"/")...)
	}
	if tr.menu {
		for _, name := range tr.below("/deep/") {
			list = append(append(list, name), tr.below(name)...)
		}
	}
	return list
}

func (tr tree) below(folder string) []string {
	return numbered(folder+"d"+fmt.Sprint(pick(1_000, folder))+"-%d/", 0, tr.folders)
}

// pages returns the number of pages of a tree whose last folders are all on one level. It includes the home page and
// the other pages.
func (tr tree) pages() int {
	all, level := 2, 1
	for range tr.levels + 1 {
		all, level = all+level, level*tr.folders
	}
	if tr.files {
		all += level / tr.folders
	}
	return all
}

// A finite tree of folders is not a trap: all of its pages are visited without a long wait.
func TestFiniteTreesAreNotTakenForTraps(t *testing.T) {
	slow.Test(t)
	slow.Unraced(t, slow.OneGoroutine)
	t.Parallel()
	for _, c := range []struct {
		name string
		tree tree
	}{
		{"four levels of six folders without files", tree{levels: 4, folders: 6}},
		{"four levels of six folders, with files at the ends", tree{levels: 4, folders: 6, files: true}},
		{"four levels of six folders, with breadcrumbs", tree{levels: 4, folders: 6, crumbs: true}},
		{"four levels of six folders, with siblings and a menu", tree{levels: 4, folders: 6, siblings: true, menu: true}},
		{"five levels of four folders, with breadcrumbs and files", tree{levels: 5, folders: 4, crumbs: true, files: true}},
		{"six levels of three folders", tree{levels: 6, folders: 3}},
		{"six levels of three folders, with breadcrumbs", tree{levels: 6, folders: 3, crumbs: true}},
		{"six levels of three folders, with breadcrumbs, siblings and files", tree{levels: 6, folders: 3, crumbs: true, siblings: true, files: true}},
		{"three levels of fifteen folders", tree{levels: 3, folders: 15, crumbs: true}},
		{"ten levels of two folders", tree{levels: 10, folders: 2}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := open(t)
			waits := 0
			visited := crawl(t, b, site{links: c.tree.links, waits: &waits}, 10_000).visited
			if list, err := b.Get("news.example"); err != nil || len(list) > 0 {
				t.Errorf("traps %+v, %v; want no trap", list, err)
			}
			if len(visited) != c.tree.pages() {
				t.Errorf("%d pages were visited, want %d", len(visited), c.tree.pages())
			}
			if waits > 8 {
				t.Errorf("the last pages waited for %d hours, want at most 8", waits)
			}
		})
	}
}

// An endless tree of folders becomes a trap soon after the evidence is certain. The first three folders are not part of
// the trap.
func TestEndlessFoldersAreTraps(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		tree tree
		most int
	}{
		{"one folder in each", tree{folders: 1}, 40},
		{"two folders in each", tree{folders: 2}, 40},
		{"three folders in each, with breadcrumbs", tree{folders: 3, crumbs: true}, 40},
		{"ten folders in each, with siblings and a menu", tree{folders: 10, crumbs: true, siblings: true, menu: true}, 125},
		{"three folders in each, and some are an end", tree{levels: 1, folders: 3, end: func(s string) int {
			if len(s) > 20 && pick(20, s) == 0 {
				return 0
			}
			return 1_000
		}}, 400},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := open(t)
			visited := crawl(t, b, site{links: c.tree.links}, 3_000).visited
			if len(visited) > c.most {
				t.Errorf("%d pages were visited, want at most %d", len(visited), c.most)
			}
			list, err := reopen(t, b).Get("news.example")
			if err != nil || len(list) != 1 || list[0].Kind != spaces.Growth {
				t.Errorf("traps %+v, %v; want one of the kind growth", list, err)
			}
		})
	}
}

// Released folders are not suspected again, and pages in a sitemap do not have to wait.
func TestSuspectedGrowthCanBeReleased(t *testing.T) {
	t.Parallel()
	endless := tree{folders: 3}
	b := open(t)
	crawl(t, b, site{links: endless.links}, 24) // suspected, but not yet certain
	home, other := parse(t, "http://news.example/deep/"), parse(t, "http://news.example/deep/x/y/")
	if trap, ok, err := b.Judge(other, home, "LL", day); err != nil || !ok || !trap.Suspect {
		t.Fatalf("Judge = %+v, %t, %v; want a suspect", trap, ok, err)
	}
	for _, c := range []struct{ what, uri, via, hops string }{
		{"listed by a sitemap", other.String(), home.String(), "M"},
		{"found elsewhere", other.String(), "http://news.example/about", "LL"},
		{"a file", other.String() + "text.html", home.String(), "LL"},
		{"not deep", "http://news.example/deep/x/", home.String(), "LL"},
		{"below another folder", "http://news.example/docs/x/y/", "http://news.example/docs/", "LL"},
	} {
		trap, ok, err := b.Judge(parse(t, c.uri), parse(t, c.via), uri.HopPath(c.hops), day)
		if err != nil || ok {
			t.Errorf("a URI %s: Judge = %+v, %t, %v; want no trap", c.what, trap, ok, err)
		}
	}
	crawl(t, b, site{links: endless.links}, 100)
	list, err := b.Get("news.example")
	if err != nil || len(list) != 1 {
		t.Fatalf("traps %+v, %v; want one", list, err)
	}
	if _, err := b.Release("news.example", list[0].Pattern); err != nil {
		t.Fatal(err)
	}
	waits := 0
	if visited := crawl(t, b, site{links: endless.links, waits: &waits}, 300).visited; len(visited) != 300 || waits > 0 {
		t.Errorf("%d pages were visited after the release, with %d waits; want 300 and none", len(visited), waits)
	}
}
