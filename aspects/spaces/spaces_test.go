package spaces_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/dgraph-io/badger/v4"

	"github.com/arcrawl/arcrawl/aspects/spaces"
	"github.com/arcrawl/arcrawl/uri"
)

var day = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

const host = "http://news.example"

func openDB(t testing.TB, dir string) *badger.DB {
	t.Helper()
	db, err := badger.Open(badger.DefaultOptions(dir).WithLogger(nil).WithMemTableSize(8 << 20))
	if err != nil {
		t.Fatal(err)
	}
	return db
}

func open(t testing.TB) *spaces.Store {
	t.Helper()
	db := openDB(t, t.TempDir())
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	s, err := spaces.Open(db)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func parse(t testing.TB, s string) uri.URI {
	t.Helper()
	u, err := uri.Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// site says what is on each page of a host, by request target: its links and its text.
type site func(target string) (links []string, text string)

// crawl visits the pages of a site in the order in which they are found. It returns the visited targets, the targets
// that wait for a budget, and what was found.
func (s site) crawl(t testing.TB, b *spaces.Store, maximum int) (visited, waiting []string, found []spaces.Trap) {
	t.Helper()
	queue := []spaces.Wanted{{URI: parse(t, host+"/"), First: true, Now: day}}
	known := map[uri.URI]bool{queue[0].URI: true}
	for len(queue) > 0 && len(visited) < maximum {
		w := queue[0]
		queue = queue[1:]
		if _, _, held, err := b.Hold(w, true); err != nil {
			t.Fatal(err)
		} else if held {
			waiting = append(waiting, w.URI.RequestTarget())
			continue
		}
		visited = append(visited, w.URI.RequestTarget())
		links, text := s(w.URI.RequestTarget())
		page := spaces.Page{
			URI: w.URI, Via: w.Via, Hops: w.Hops, First: true, HTML: !strings.Contains(w.URI.Path(), "."),
			Content: []byte(text), Now: day,
		}
		for _, l := range links {
			u, err := w.URI.Join(l)
			if err != nil {
				t.Fatal(err)
			}
			embed := strings.Contains(u.Path(), ".")
			page.Links = append(page.Links, spaces.Link{URI: u, Page: !embed, Known: known[u]})
			if !known[u] {
				known[u] = true
				hop := uri.Link
				if embed {
					hop = uri.Embed
				}
				queue = append(queue, spaces.Wanted{URI: u, Via: w.URI, Hops: w.Hops.Then(hop), First: true, Now: day})
			}
		}
		more, _, err := b.Learn(page)
		if err != nil {
			t.Fatal(err)
		}
		found = append(found, more...)
	}
	return visited, waiting, found
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
		site  site
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
			visited, waiting, found := c.site.crawl(t, open(t), 1000)
			if len(visited) != c.pages || len(waiting) > 0 || len(found) > 0 {
				t.Errorf("%d pages were visited, want %d; %d wait: %.300v; found: %.300v",
					len(visited), c.pages, len(waiting), waiting, found)
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
		return func(s string) ([]string, string) {
			links := []string{"/"}
			for _, m := range next(asked(s)) {
				links = append(links, "/search?q="+letters(m))
			}
			return links, text(s[strings.IndexByte(s, '=')+1:])
		}
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
			visited, _, found := c.site.crawl(t, open(t), 45)
			pattern, at := "", len(visited)
			for _, f := range found {
				pattern, at = f.Space, f.Visited
			}
			if pattern != c.pattern || at > c.visited {
				t.Errorf("found %q after %d pages, want %q after at most %d", pattern, at, c.pattern, c.visited)
			}
			visited, waiting, _ := c.site.crawl(t, open(t), 3000)
			if c.pattern == "" && (len(visited) > c.visited || len(waiting) == 0) {
				t.Errorf("%d pages were visited and %d wait, want at most %d visits", len(visited), len(waiting), c.visited)
			}
		})
	}
}

// again visits the pages with parameters of a site a second time, and returns how many of them may be visited then.
func again(t *testing.T, b *spaces.Store, visited []string, now time.Time) (admitted int) {
	t.Helper()
	for _, target := range visited {
		u := parse(t, host+target)
		_, _, held, err := b.Hold(spaces.Wanted{URI: u, Via: parse(t, host+"/search?q=k"), Hops: "LLL", Now: now}, true)
		if err != nil {
			t.Fatal(err)
		}
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
	endless := site(func(s string) ([]string, string) {
		n := asked(s)
		return []string{"/search?q=" + letters(2*n+1), "/search?q=" + letters(2*n+2)}, words(s, 80)
	})
	b := open(t)
	visited, waiting, _ := endless.crawl(t, b, 3000)
	if len(waiting) == 0 {
		t.Fatal("no search was put off")
	}
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
	linked := site(func(s string) ([]string, string) {
		n := asked(s)
		return []string{"/search?q=" + letters((n+1)%40), "/search?q=" + letters((3*n+11)%40)}, words(s, 80)
	})
	visited, _, _ = linked.crawl(t, b, 3000)
	if n := again(t, b, visited[1:], day.Add(time.Hour)); n != len(visited)-1 || n < 40 {
		t.Errorf("%d of %d pages that link to each other are visited again, want all", n, len(visited)-1)
	}
}

// The time at which a first visit was put off last is stored while pages name further searches all the time, and a time
// from a clock that was ahead does not count.
func TestTheTimeOfTheLastPutOffIsStored(t *testing.T) {
	t.Parallel()
	endless := site(func(s string) ([]string, string) {
		n := asked(s)
		return []string{"/search?q=" + letters(2*n+1), "/search?q=" + letters(2*n+2)}, words(s, 80)
	})
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
			db := openDB(t, t.TempDir())
			defer db.Close()
			b, err := spaces.Open(db)
			if err != nil {
				t.Fatal(err)
			}
			visited, _, _ := endless.crawl(t, b, 3000)
			name := func(now time.Time) {
				w := spaces.Wanted{
					URI: parse(t, host+"/search?q=kk"), Via: parse(t, host+"/search?q=k"), Hops: "L", First: true, Found: true, Now: now,
				}
				if _, _, held, err := b.Hold(w, true); err != nil || !held {
					t.Fatalf("a new search is held: %v, %v; want true", held, err)
				}
			}
			if err := b.Flush(); err != nil {
				t.Fatal(err)
			}
			for _, after := range c.named {
				name(day.Add(after))
			}
			if err := b.Flush(); err != nil {
				t.Fatal(err)
			}
			if b, err = spaces.Open(db); err != nil {
				t.Fatal(err)
			}
			if n := again(t, b, visited[1:], day.Add(c.at)); (n == len(visited)-1) != c.visited || !c.visited && n > 1 {
				t.Errorf("%d of %d searches are visited again after %s, want all: %v", n, len(visited)-1, c.at, c.visited)
			}
		})
	}
}

// A query space is refuted by a feed or sitemap that lists one of its pages.
func TestFeedRefutesAQuerySpace(t *testing.T) {
	t.Parallel()
	b := open(t)
	s := site(func(s string) ([]string, string) {
		return []string{"/search?q=" + letters(asked(s)+1)}, "nothing"
	})
	if _, _, found := s.crawl(t, b, 20); len(found) != 1 || found[0].Released {
		t.Fatalf("found %+v, want one query space", found)
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
				if err != nil {
					t.Fatal(err)
				}
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
		say  func(*spaces.Store) ([]spaces.Trap, error)
		want int
	}{
		{"a page with three", func(b *spaces.Store) ([]spaces.Trap, error) {
			g := spaces.Page{URI: parse(t, host+"/"), HTML: true, Now: day}
			for _, u := range links(3) {
				g.Links = append(g.Links, spaces.Link{URI: u, Page: true})
			}
			_, refuted, err := b.Learn(g)
			return refuted, err
		}, 1},
		{"a page with two", func(b *spaces.Store) ([]spaces.Trap, error) {
			g := spaces.Page{URI: parse(t, host+"/"), HTML: true, Now: day}
			for _, u := range links(2) {
				g.Links = append(g.Links, spaces.Link{URI: u, Page: true})
			}
			_, refuted, err := b.Learn(g)
			return refuted, err
		}, 0},
		{"a feed with two", func(b *spaces.Store) ([]spaces.Trap, error) {
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
					if err != nil {
						t.Fatal(err)
					}
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
	dir := t.TempDir()
	db := openDB(t, dir)
	b, err := spaces.Open(db)
	if err != nil {
		t.Fatal(err)
	}
	s := site(func(s string) ([]string, string) {
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
	_, waiting, _ := s.crawl(t, b, 4000)
	before, err := b.Patterns("news.example")
	if err != nil || len(before) == 0 || len(waiting) == 0 {
		t.Fatalf("patterns %v, %d URIs wait, %v; want some", before, len(waiting), err)
	}
	if err := b.Flush(); err != nil {
		t.Fatal(err)
	}
	err = db.View(func(txn *badger.Txn) error {
		item, err := txn.Get([]byte("ptnews.example"))
		if err == nil && item.ValueSize() > 100<<10 {
			t.Errorf("the row has %d bytes, want at most 100 KiB", item.ValueSize())
		}
		return err
	})
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	db = openDB(t, dir)
	defer db.Close()
	if b, err = spaces.Open(db); err != nil {
		t.Fatal(err)
	}
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
