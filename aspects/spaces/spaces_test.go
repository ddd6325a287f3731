package spaces_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/dgraph-io/badger/v4"

	"github.com/arcrawl/arcrawl/aspects/spaces"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/uri"
)

var day = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

const host = "http://news.example"

// store is a store of traps, and the database that it is in.
type store struct {
	*spaces.Store
	db *badger.DB
}

func open(t testing.TB) store {
	t.Helper()
	db, err := badger.Open(badger.DefaultOptions("").WithInMemory(true).WithLogger(nil).WithMemTableSize(8 << 20))
	must(t, err)
	t.Cleanup(func() { _ = db.Close() })
	return store{spaces.Open(db), db}
}

// reopen returns a store that knows of b what is in the database.
func reopen(t testing.TB, b store) store {
	t.Helper()
	must(t, b.Flush())
	return store{spaces.Open(b.db), b.db}
}

func parse(t testing.TB, s string) uri.URI {
	t.Helper()
	u, err := uri.Parse(s)
	must(t, err)
	return u
}

// site is a host whose pages are a function of their request targets.
type site struct {
	links func(target string) []string
	page  func(target string) string // content, where it is compared
	waits *int                       // if not nil, counts the hours in which all remaining pages had to wait
	first bool                       // all visits are first ones, and need the budget of their pattern
}

// asking returns a site of pages with parameters, and with files that have a dot in their names.
func asking(page func(target string) (links []string, text string)) site {
	return site{
		links: func(s string) []string { links, _ := page(s); return links },
		page:  func(s string) string { _, text := page(s); return text },
		first: true,
	}
}

// walk holds the results of a crawl: the visited targets, the targets that wait for a budget, and the traps found.
type walk struct {
	visited, waiting []string
	found            []spaces.Trap
}

// crawl visits a site from its root, page by page in the order in which they are found.
func crawl(t *testing.T, b store, s site, maximum int) (w walk) {
	t.Helper()
	queue := []spaces.Wanted{{URI: parse(t, host+"/"), First: s.first}}
	known := map[string]bool{host + "/": true}
	var later []spaces.Wanted // links to be judged again later
	now := day
	for len(queue) > 0 && len(w.visited) < maximum {
		next := queue[0]
		queue, next.Now = queue[1:], now
		trap, trapped, err := b.Judge(next.URI, next.Via, next.Hops, now)
		must(t, err)
		if trap.Suspect {
			later = append(later, next)
		}
		if len(queue) == 0 && len(later) > 0 {
			if s.waits != nil {
				*s.waits++
			}
			now, queue, later = now.Add(spaces.SuspectWait), later, nil
		}
		if trapped {
			continue
		}
		target := next.URI.RequestTarget()
		if s.first {
			_, _, held, err := b.Hold(next, true)
			must(t, err)
			if held {
				w.waiting = append(w.waiting, target)
				continue
			}
		}
		w.visited = append(w.visited, target)
		g := spaces.Page{URI: next.URI, Via: next.Via, Hops: next.Hops, First: s.first, HTML: true, Now: next.Now}
		queue = append(queue, s.read(t, b, &g, known)...)
		found, _, err := b.Learn(g)
		must(t, err)
		w.found = append(w.found, found...)
	}
	return w
}

// read completes a page, and returns the links that are not known.
func (s site) read(t *testing.T, b store, g *spaces.Page, known map[string]bool) (queue []spaces.Wanted) {
	t.Helper()
	target := g.URI.RequestTarget()
	for _, l := range s.links(target) {
		u, err := g.URI.Join(l)
		must(t, err)
		hop := uri.Link
		if s.first && strings.Contains(u.Path(), ".") {
			hop = uri.Embed
		}
		name := b.Naming(u.Host(), nil).Name(u)
		g.Links = append(g.Links, spaces.Link{URI: u, Page: hop == uri.Link, Known: known[name]})
		if u.Host() == g.URI.Host() && !known[name] {
			known[name] = true
			queue = append(queue, spaces.Wanted{URI: u, Via: g.URI, Hops: g.Hops.Then(hop), First: s.first})
		}
	}
	switch {
	case s.first:
		g.Content, g.HTML = []byte(s.page(target)), !strings.Contains(g.URI.Path(), ".")
	case s.page != nil && spaces.HasID(target):
		g.Sum = spaces.SumWithoutIDs([]byte(s.page(target)))
	}
	return queue
}

// word returns a word that only depends on n.
func word(n int) string {
	sum := sha256.Sum256(fmt.Append(nil, n))
	text := make([]byte, 6)
	for i := range text {
		text[i] = 'a' + sum[i]%26
	}
	return string(text)
}

// words returns n words that only depend on a text.
func words(of string, n int) string {
	sum := sha256.Sum256([]byte(of))
	var b strings.Builder
	for i := range n {
		b.WriteString(word(int(sum[0])<<16+int(sum[1])<<8+int(sum[2])+i) + " ")
	}
	return b.String()
}

func number(target, before string) (n int) {
	_, rest, ok := strings.Cut(target, before)
	if _, err := fmt.Sscanf(rest, "%d", &n); !ok || err != nil {
		return -1
	}
	return n
}

// Real sites whose parameters look like an endless space are neither taken for one nor put off.
func TestRealSitesAreNotPutOff(t *testing.T) {
	t.Parallel()
	nav := []string{"/", "/about"}
	with := func(links ...string) []string { return append(links, nav...) }
	for _, c := range []struct {
		name  string
		pages int
		site  func(target string) (links []string, text string)
	}{
		{"articles by number, each named by the one before", 302, func(s string) ([]string, string) {
			if n := number(s, "?id="); n >= 0 && n < 299 {
				return with(fmt.Sprintf("/news?id=%d", n+1)), words(s, 60)
			}
			return with("/news?id=0"), words(s, 60)
		}},
		{"articles whose numbers look like times", 152, func(s string) ([]string, string) {
			if n := number(s, "?id="); n >= 0 && n < 1770000000+149*3600 {
				return with(fmt.Sprintf("/news?id=%d", n+3600)), words(s, 60)
			}
			return with("/news?id=1770000000"), words(s, 60)
		}},
		{"a pagination of articles that are known from elsewhere", 2 + 16 + 160, func(s string) ([]string, string) {
			all := []string{}
			for i := range 160 {
				all = append(all, fmt.Sprintf("/article/%d", i))
			}
			switch n := number(s, "?page="); {
			case s == "/":
				return with(append(all, "/list?page=0")...), "all articles"
			case n >= 0 && n < 15:
				return with(append(all[10*n:10*n+10], fmt.Sprintf("/list?page=%d", n+1))...), "a page of the list"
			case n == 15:
				return with(all[150:]...), "a page of the list"
			}
			return with(), words(s, 60)
		}},
		{"a catalogue with products that name related ones", 2 + 4 + 120, func(s string) ([]string, string) {
			list := func(cat int) (l []string) {
				for i := range 30 {
					l = append(l, fmt.Sprintf("/product?sku=A%d", 30*cat+i))
				}
				return l
			}
			if n := number(s, "?sku=A"); n >= 0 {
				return with(fmt.Sprintf("/product?sku=A%d", (n+7)%120), fmt.Sprintf("/product?sku=A%d", (n+1)%120)), words(s, 40)
			}
			if n := number(s, "?cat="); n >= 0 {
				return with(list(n)...), "category"
			}
			return with("/shop?cat=0", "/shop?cat=1", "/shop?cat=2", "/shop?cat=3"), "shop"
		}},
		{"one script for everything, with sections and articles", 2 + 8 + 160, func(s string) ([]string, string) {
			if n := number(s, "view=article&id="); n >= 0 {
				return with(fmt.Sprintf("/index?view=article&id=%d", (n+1)%160)), words(s, 60)
			}
			var links []string
			if n := number(s, "view=section&id="); n >= 0 {
				for i := range 20 {
					links = append(links, fmt.Sprintf("/index?view=article&id=%d", 20*n+i))
				}
				return with(links...), words(s, 60)
			}
			for i := range 8 {
				links = append(links, fmt.Sprintf("/index?view=section&id=%d", i))
			}
			return with(links...), "home"
		}},
		{"an encyclopedia whose pages are named by words and link to each other", 202, func(s string) ([]string, string) {
			n := number(s, "?title=Word")
			if n < 0 {
				n = 0
			}
			var links []string
			for i := range 5 {
				links = append(links, fmt.Sprintf("/wiki?title=Word%d", (n*3+i*41+1)%200))
			}
			return with(append(links, fmt.Sprintf("/wiki?title=Word%d", (n+1)%200))...), words(s, 80)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := crawl(t, open(t), asking(c.site), 1000)
			if len(w.visited) != c.pages || len(w.waiting) > 0 || len(w.found) > 0 {
				t.Errorf("%d pages were visited, want %d; %d wait: %.300v; found: %.300v",
					len(w.visited), c.pages, len(w.waiting), w.waiting, w.found)
			}
		})
	}
}

// letters returns a word for a number, and asked the number of the word at the end of a target.
func letters(n int) string {
	return strings.Map(func(r rune) rune { return r - '0' + 'k' }, fmt.Sprint(n))
}

func asked(target string) (n int) {
	_, text, _ := strings.Cut(target, "?q=")
	for _, r := range text {
		n = 10*n + int(r-'k')
	}
	return n
}

// Endless spaces of words are recognised, or else bounded by their budget.
func TestQuerySpaces(t *testing.T) {
	t.Parallel()
	chain := func(next func(n int) []int, text func(string) string) site {
		return asking(func(s string) ([]string, string) {
			links := []string{"/"}
			for _, m := range next(asked(s)) {
				links = append(links, "/search?q="+letters(m))
			}
			return links, text(s[strings.IndexByte(s, '=')+1:])
		})
	}
	same := func(s string) string { return "Your search for " + s + " found nothing. Did you mean another word?" }
	for _, c := range []struct {
		name    string
		site    site
		visited int // maximum
		pattern string
	}{
		{"one further word", chain(func(n int) []int { return []int{n + 1} }, same), 20, "/search?q"},
		{"two further words", chain(func(n int) []int { return []int{2*n + 1, 2*n + 2} }, same), 40, "/search?q"},
		{"one further word and a new text", chain(func(n int) []int { return []int{2*n + 1, 2*n + 2} }, func(s string) string {
			return words(s, 80)
		}), 60, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := crawl(t, open(t), c.site, 45)
			pattern, at := "", len(w.visited)
			for _, f := range w.found {
				pattern, at = f.Space, f.Visited
			}
			if pattern != c.pattern || at > c.visited {
				t.Errorf("found %q after %d pages, want %q after at most %d", pattern, at, c.pattern, c.visited)
			}
			w = crawl(t, open(t), c.site, 3000)
			if c.pattern == "" && (len(w.visited) > c.visited || len(w.waiting) == 0) {
				t.Errorf("%d pages were visited and %d wait, want at most %d visits", len(w.visited), len(w.waiting), c.visited)
			}
		})
	}
}

// endless is a search whose pages have a new text, and name two further words.
var endless = asking(func(s string) ([]string, string) {
	n := asked(s)
	return []string{"/search?q=" + letters(2*n+1), "/search?q=" + letters(2*n+2)}, words(s, 80)
})

// again visits the pages with parameters of a site a second time, and returns how many of them may be visited then.
func again(t *testing.T, b store, visited []string, now time.Time) (admitted int) {
	t.Helper()
	for _, target := range visited {
		u := parse(t, host+target)
		_, _, held, err := b.Hold(spaces.Wanted{URI: u, Via: parse(t, host+"/search?q=k"), Hops: "LLL", Now: now}, true)
		must(t, err)
		if !held {
			admitted++
		}
	}
	return admitted
}

// Searches that bring new texts take one visit in a hundred, also once they are known; until nothing has been put off
// for a long time, or a feed or sitemap lists one. Real pages of the same shape are visited as usual.
func TestPagesThatMayBeEndlessAreSeldomVisitedAgain(t *testing.T) {
	t.Parallel()
	b := open(t)
	w := crawl(t, b, endless, 3000)
	if len(w.waiting) == 0 {
		t.Fatal("no search was put off")
	}
	visited := w.visited
	if n := again(t, b, visited[1:], day.Add(time.Hour)); n > 1 {
		t.Errorf("%d of %d searches are visited again, want none or one", n, len(visited))
	}
	if n := again(t, b, visited[1:], day.Add(spaces.Doubt)); n != len(visited)-1 {
		t.Errorf("%d of %d are visited again after nothing was put off for %s, want all", n, len(visited)-1, spaces.Doubt)
	}
	_, _ = b.AddListed("news.example", day, parse(t, host+"/search?q="+letters(1)))
	if n := again(t, b, visited[1:], day.Add(time.Hour)); n != len(visited)-1 {
		t.Errorf("%d of %d pages of a pattern in a sitemap are visited again, want all", n, len(visited)-1)
	}

	b = open(t)
	linked := asking(func(s string) ([]string, string) {
		n := asked(s)
		return []string{"/search?q=" + letters((n+1)%40), "/search?q=" + letters((3*n+11)%40)}, words(s, 80)
	})
	visited = crawl(t, b, linked, 3000).visited
	if n := again(t, b, visited[1:], day.Add(time.Hour)); n != len(visited)-1 || n < 40 {
		t.Errorf("%d of %d pages that link to each other are visited again, want all", n, len(visited)-1)
	}
}

// The time at which a first visit was put off last is stored while pages name further searches all the time, and a time
// from a clock that was ahead does not count.
func TestTheTimeOfTheLastPutOffIsStored(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		named   []time.Duration // when pages name a new search, after the first day
		at      time.Duration   // when the visited searches are due again
		visited bool            // whether they are visited then
	}{
		{"each half hour", []time.Duration{
			30 * time.Minute, time.Hour, 90 * time.Minute, 2 * time.Hour, 150 * time.Minute, 3 * time.Hour,
		}, spaces.Doubt + time.Hour, false},
		{"once at the beginning", nil, spaces.Doubt + time.Hour, true},
		{"by a clock that was 40 days ahead", []time.Duration{40 * 24 * time.Hour}, spaces.Doubt + time.Hour, true},
		{"by a clock that was 40 days ahead, and again", []time.Duration{40 * 24 * time.Hour, 5 * time.Hour}, 6 * time.Hour, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := open(t)
			visited := crawl(t, b, endless, 3000).visited
			name := func(now time.Time) {
				w := spaces.Wanted{
					URI: parse(t, host+"/search?q=kk"), Via: parse(t, host+"/search?q=k"), Hops: "L", First: true, Found: true, Now: now,
				}
				if _, _, held, err := b.Hold(w, true); err != nil || !held {
					t.Fatalf("a new search is held: %v, %v; want true", held, err)
				}
			}
			must(t, b.Flush())
			for _, after := range c.named {
				name(day.Add(after))
			}
			b = reopen(t, b)
			if n := again(t, b, visited[1:], day.Add(c.at)); (n == len(visited)-1) != c.visited || !c.visited && n > 1 {
				t.Errorf("%d of %d searches are visited again after %s, want all: %v", n, len(visited)-1, c.at, c.visited)
			}
		})
	}
}

// A query space has what its own pages name. It is refuted by a feed or sitemap that lists one of its pages.
func TestFeedRefutesAQuerySpace(t *testing.T) {
	t.Parallel()
	b := open(t)
	s := asking(func(s string) ([]string, string) {
		return []string{"/search?q=" + letters(asked(s)+1)}, "nothing"
	})
	if found := crawl(t, b, s, 20).found; len(found) != 1 || found[0].Released {
		t.Fatalf("found %+v, want one query space", found)
	}
	for _, c := range []struct {
		via  string
		hops uri.HopPath
		want bool
	}{
		{"/search?q=k", "LL", true},
		{"/search?lang=da", "LL", true},
		{"/search?q=k", "LM", false},
		{"/search", "LL", false},
		{"/other?q=k", "LL", false},
		{"/", "L", false},
	} {
		_, got, err := b.Judge(parse(t, host+"/search?q=new"), parse(t, host+c.via), c.hops, day)
		if err != nil || got != c.want {
			t.Errorf("found on %s by %s: part of the space is %t, %v; want %t", c.via, c.hops, got, err, c.want)
		}
	}
	refuted, err := b.AddListed("news.example", day, parse(t, host+"/search?q="+letters(3)))
	if err != nil || len(refuted) != 1 || !refuted[0].Released || refuted[0].Space != "/search?q" {
		t.Errorf("refuted %+v, %v; want the query space", refuted, err)
	}
}

// visit is a visit of a URI, and the content that came.
type visit struct{ uri, content string }

func id(n int) string {
	sum := sha256.Sum256(fmt.Append(nil, "session", n))
	return hex.EncodeToString(sum[:13])
}

// Parameters that say nothing are recognised for the whole host, and others are not.
func TestParameters(t *testing.T) {
	t.Parallel()
	clock := func(n int) string { return fmt.Sprint(day.UnixMilli() - int64(n)*60_000) }
	repeat := func(n int, v func(int) []visit) (all []visit) {
		for i := range n {
			all = append(all, v(i)...)
		}
		return all
	}
	for _, c := range []struct {
		name   string
		visits []visit
		want   string
	}{
		{"a script with the time", repeat(5, func(i int) []visit { return []visit{{"/app.js?_=" + clock(i), "code"}} }), "_"},
		{"a picture with a fraction", repeat(5, func(i int) []visit {
			return []visit{{fmt.Sprintf("/a.png?rand=0.%d", 73846592+i), "picture"}}
		}), "rand"},
		{"session ids, with each id in the page too", repeat(3, func(i int) []visit {
			return repeat(3, func(p int) []visit {
				return []visit{{fmt.Sprintf("/page/%d?PHPSESSID=%s", p, id(i)), fmt.Sprintf("page %d <a href='/x?PHPSESSID=%s'>", p, id(i))}}
			})
		}), "PHPSESSID"},
		{"session ids in the path", repeat(3, func(i int) []visit {
			return repeat(3, func(p int) []visit {
				return []visit{{fmt.Sprintf("/page/%d;jsessionid=%s", p, id(i)), fmt.Sprint("page ", p)}}
			})
		}), ";jsessionid"},
		{"session ids on pages of which one changes", repeat(4, func(i int) []visit {
			return append(repeat(3, func(p int) []visit {
				return []visit{{fmt.Sprintf("/page/%d?sid=%s", p, id(i)), fmt.Sprint("page ", p)}}
			}), visit{"/live?sid=" + id(i), words(id(i), 5)})
		}), "sid"},
		{"articles by ids", repeat(40, func(i int) []visit { return []visit{{"/article?id=" + id(i), words(id(i), 20)}} }), ""},
		{"articles by long numbers, all of which say: please log in", repeat(60, func(i int) []visit {
			return []visit{{fmt.Sprint("/article?id=", 4_000_000_000+i), "please log in"}}
		}), ""},
		{"articles by ids, of which some do not exist", repeat(40, func(i int) []visit {
			if i%3 == 0 {
				return []visit{{"/article?id=" + id(i), "no such article"}}
			}
			return []visit{{"/article?id=" + id(i), words(id(i), 20)}}
		}), ""},
		{"versions of a script", repeat(20, func(i int) []visit {
			return []visit{{"/app.js?v=" + id(i)[:10], "code of version " + id(i)}}
		}), ""},
		{"languages", repeat(20, func(i int) []visit { return []visit{{"/a.js?lang=" + word(i), "code"}} }), ""},
		{"pictures by number", repeat(20, func(i int) []visit { return []visit{{fmt.Sprint("/thumb.png?n=", i), "empty"}} }), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := open(t)
			got := ""
			for _, v := range c.visits {
				u := parse(t, host+v.uri)
				found, _, err := b.Learn(spaces.Page{
					URI: u, Via: parse(t, host+"/"), Hops: "L", First: true, HTML: !strings.Contains(u.Path(), "."),
					Content: []byte(v.content), Now: day,
				})
				must(t, err)
				for _, f := range found {
					got += f.Parameter
				}
			}
			if got != c.want {
				t.Errorf("found the parameter %q, want %q", got, c.want)
			}
		})
	}
}

// A page that links to the same URI with three values of a parameter, or a feed that lists two, shows that the
// parameter is real, even if it was thought to say nothing.
func TestListsShowThatAParameterIsReal(t *testing.T) {
	t.Parallel()
	links := func(n int) (list []uri.URI) {
		for i := range n {
			list = append(list, parse(t, host+"/page/1?sid="+id(100+i)))
		}
		return list
	}
	for _, c := range []struct {
		name string
		say  func(store) ([]spaces.Trap, error)
		want int
	}{
		{"a page with three", func(b store) ([]spaces.Trap, error) {
			g := spaces.Page{URI: parse(t, host+"/"), HTML: true, Now: day}
			for _, u := range links(3) {
				g.Links = append(g.Links, spaces.Link{URI: u, Page: true})
			}
			_, refuted, err := b.Learn(g)
			return refuted, err
		}, 1},
		{"a page with two", func(b store) ([]spaces.Trap, error) {
			g := spaces.Page{URI: parse(t, host+"/"), HTML: true, Now: day}
			for _, u := range links(2) {
				g.Links = append(g.Links, spaces.Link{URI: u, Page: true})
			}
			_, refuted, err := b.Learn(g)
			return refuted, err
		}, 0},
		{"a feed with two", func(b store) ([]spaces.Trap, error) {
			return b.AddListed("news.example", day, links(2)...)
		}, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := open(t)
			n := 0
			for i := range 3 {
				for p := range 3 {
					found, _, err := b.Learn(spaces.Page{
						URI: parse(t, fmt.Sprintf("%s/page/%d?sid=%s", host, p, id(i))), HTML: true, Now: day,
						Content: fmt.Append(nil, "page ", p),
					})
					must(t, err)
					n += len(found)
				}
			}
			if n != 1 {
				t.Fatalf("%d parameters were found, want 1", n)
			}
			found, err := c.say(b)
			if err != nil || len(found) != c.want || len(found) > 0 && (!found[0].Released || found[0].Parameter != "sid") {
				t.Errorf("refuted %+v, %v; want %d", found, err, c.want)
			}
		})
	}
}

// The budget of a pattern is in the store after a restart, and a host with very many patterns stays small.
func TestStoreKeepsBudgetsAndStaysSmall(t *testing.T) {
	t.Parallel()
	b := open(t)
	s := asking(func(s string) ([]string, string) {
		var links []string
		path, _, _ := strings.Cut(s, "?")
		for i := range 60 {
			if s == "/" {
				links = append(links, fmt.Sprintf("/script%s?q=k", letters(i)))
			} else if i < 3 {
				links = append(links, path+"?q="+letters(3*asked(s)+i+1))
			}
		}
		return links, words(s, 50)
	})
	w := crawl(t, b, s, 4000)
	before, err := b.Patterns("news.example")
	if err != nil || len(before) == 0 || len(w.waiting) == 0 {
		t.Fatalf("patterns %v, %d URIs wait, %v; want some", before, len(w.waiting), err)
	}
	b = reopen(t, b)
	err = b.db.View(func(txn *badger.Txn) error {
		item, err := txn.Get([]byte("ptnews.example"))
		if err == nil && item.ValueSize() > 100<<10 {
			t.Errorf("the row has %d bytes, want at most 100 KiB", item.ValueSize())
		}
		return err
	})
	must(t, err)
	hosts := 0
	err = b.EachPattern(func(h uri.Host, list []spaces.Pattern) error {
		hosts++
		if h != "news.example" || fmt.Sprint(list) != fmt.Sprint(before) {
			t.Errorf("after the restart %s has %v, want %v", h, list, before)
		}
		return nil
	})
	if err != nil || hosts != 1 {
		t.Errorf("%d hosts, %v; want 1", hosts, err)
	}
}

// A page that names a search which was visited already does not put off anything. So searches that nobody else names
// are visited as usual again once no new one was named for a long time.
func TestNamesOfVisitedSearchesPutOffNothing(t *testing.T) {
	t.Parallel()
	f, err := frontier.Open(frontier.Options{Dir: t.TempDir(), Now: day, Compactors: -1})
	must(t, err)
	defer f.Close()
	b := store{spaces.Open(f.DB()), f.DB()}
	a := spaces.Aspect{Store: b.Store, Frontier: f}
	visited := crawl(t, b, endless, 3000).visited
	for _, target := range visited {
		_, err := f.Add(day, frontier.Candidate{URI: parse(t, host+target), Via: host + "/", Hops: "LL"})
		must(t, err)
	}
	holds := func(n int, after time.Duration, want bool) {
		t.Helper()
		via := parse(t, host+"/search?q="+letters(n/2))
		w := spaces.Wanted{URI: parse(t, host+"/search?q="+letters(n)), Via: via, Hops: "LL", Now: day.Add(after)}
		if _, held, err := a.HoldFound(w); err != nil || held != want {
			t.Fatalf("search %d is held: %v, %v; want %v", n, held, err, want)
		}
	}
	again1 := func(after time.Duration, want int) {
		t.Helper()
		if n := again(t, b, visited[1:2], day.Add(after)); n != want {
			t.Errorf("after %s %d visited searches are visited again, want %d", after, n, want)
		}
	}
	again1(time.Hour, 0) // while new ones are put off
	for after := time.Hour; after < spaces.Doubt; after += 12 * time.Hour {
		holds(1, after, false) // it is known
	}
	again1(spaces.Doubt+2*time.Hour, 1) // no new one was named for a long time
	holds(5000, spaces.Doubt, true)
	again1(spaces.Doubt+2*time.Hour, 0) // a new one was put off
}

// FuzzQueries learns pages with arbitrary queries, links and texts. A URI that waits must belong to a pattern and wait
// for a finite time, what a finding names must be of the host, and a pattern that was lifted keeps nothing out.
func FuzzQueries(f *testing.F) {
	for _, query := range []string{
		"?sid=0123456789abcdef&p=1", "?q=a+b&q=c", "?=&&;=", "?t=1772366400", "?%C3%A4=%00&x", ";jsessionid=ABCDEF0123456789?a=1",
		"?r=0.123456789", "calendar?year=2026&month=3", "?" + strings.Repeat("a=1&", 60),
	} {
		f.Add(query, "<p>one two three <script>x</script> four</p><a href='"+query+"'>next</a>", byte(20))
	}
	b := open(f)
	hosts := 0
	f.Fuzz(func(t *testing.T, target, content string, n byte) {
		hosts++
		host := uri.Host(fmt.Sprintf("h%d.example", hosts))
		u, err := uri.Parse("http://" + string(host) + "/" + target)
		if err != nil || u.Host() != host {
			t.Skip("no URI of the host")
		}
		via := u
		for i := range n % 32 {
			next, err := uri.Parse(fmt.Sprintf("http://%s/%s%d", host, target, int(i)*1_000_003))
			if err != nil || next.Host() != host {
				next = u
			}
			found, _, err := b.Learn(spaces.Page{
				URI: u, Via: via, Hops: "LL", First: true, HTML: i%4 != 3, Now: day, Content: []byte(fmt.Sprint(content, i%3)),
				Links: []spaces.Link{{URI: next, Page: true}, {URI: via, Page: true, Known: true}, {URI: u}},
			})
			must(t, err)
			for _, x := range found {
				if x.Why == "" || !regexp.MustCompile(x.Pattern).MatchString(x.Examples[0]) {
					t.Fatalf("found %+v", x)
				}
			}
			via, u = u, next
		}
		w := spaces.Wanted{URI: u, Via: via, Hops: "LL", First: true, Found: true, Now: day}
		p, wait, held, err := b.Hold(w, true)
		if err != nil || held && (wait <= 0 || wait > 366*24*60*60*1e9 || p.Key == "") {
			t.Fatalf("%s waits %v for %s, because of %+v, %v", u, held, wait, p, err)
		}
		if trap, err := b.Release(host, p.Key); trap != nil || (err == nil) != held {
			t.Fatalf("released %+v, %v; the URI waits: %v", trap, err, held)
		} else if _, _, again, _ := b.Hold(w, false); held && again {
			t.Fatalf("%s waits still, because of the lifted pattern %q", u, p.Key)
		}
	})
}

// FuzzLearn learns pages with arbitrary URIs. A trap must have a valid pattern that matches its examples, and a
// released trap must keep nothing out.
func FuzzLearn(f *testing.F) {
	for _, target := range []string{"/calendar/2031/07", "/a/b/a/b/a/b", "/shop?a=1&b=2&c=3", "/s/0123456789abcdef01234567/x", "/p/it's(odd[", "/%27/?year=2026&month=3", "//", "/?", "/x.php?id=1"} {
		f.Add(target, "/partners/"+target, byte(3))
	}
	b := open(f)
	hosts := 0
	f.Fuzz(func(t *testing.T, target, other string, n byte) {
		hosts++
		host := uri.Host(fmt.Sprintf("h%d.example", hosts))
		u, err := uri.Parse("http://" + string(host) + "/" + target)
		if err != nil || u.Host() != host {
			t.Skip("no URI of the host")
		}
		via := parse(t, "http://"+string(host)+"/")
		for range n % 40 {
			next, err := u.Join(other)
			if err != nil || next.Host() != u.Host() {
				next = u
			}
			g := spaces.Page{HTML: true, URI: next, Via: via, Hops: "LL", Sum: 1, Now: day}
			g.Links = []spaces.Link{{URI: u, Page: true}, {URI: via, Page: true}, {URI: next, Page: true}}
			if _, _, err := b.Learn(g); err != nil {
				t.Fatal(err)
			}
			u, via = next, u
		}
		trap, ok, err := b.Judge(u, via, "L", day)
		if quiet, _ := b.NoneSuspected(host); quiet && ok != spaces.MayRepeat(u) {
			t.Fatalf("%s: no trap is suspected on the host; part of a trap: %t, may repeat: %t", u, ok, !ok)
		}
		if err != nil || !ok || trap.Suspect {
			return
		}
		if re, err := regexp.Compile(trap.Pattern); err != nil || !re.MatchString(u.String()) {
			t.Fatalf("%s is part of the trap %q, which does not match it (%v)", u, trap.Pattern, err)
		}
		must(t, b.CountKeptOut(trap, day, u))
		if _, err := b.Release(host, trap.Pattern); err != nil {
			t.Fatal(err)
		}
		if again, ok, _ := b.Judge(u, via, "L", day); ok && again.Pattern == trap.Pattern {
			t.Fatalf("the released trap %q still keeps URIs out", trap.Pattern)
		}
	})
}

// must ends the test if there is an error.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
