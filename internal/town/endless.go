package town

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"html"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Endless is a site with several hundred real pages, most of them behind query parameters, and spaces of URIs without
// end next to them: searches that suggest further searches, scripts with a number that is different in each link, and
// session ids in all links.
//
// The real pages are of the shapes that must not be taken for such a space: articles by number, a paginated list, a
// catalogue with parameters, a site that names its articles only by ?id=, topics of a forum, and pages with a number of
// thirteen digits.
type Endless struct {
	Search   bool // each result of a search names two more words
	Texts    bool // the results of searches are texts that were never on another page
	Busters  bool // each page loads a script and a picture with the time as a parameter
	Sessions bool // all links have a session id, which is a new one for each request without one

	visited
	spaces map[string]int    // requests for each space
	last   map[string]string // the value under which a name was requested last
	all    int
}

// The numbers of real pages of an endless site.
const (
	endlessArticles = 195
	endlessNews     = 120
	endlessProducts = 80
	endlessTopics   = 20
	endlessStamps   = 20
	endlessList     = 15 // per page of the list
	endlessChain    = 15 // articles that name each other in a row
)

// NewEndless returns a site without any space.
func NewEndless() *Endless {
	return &Endless{visited: visited{real: map[string]int{}}, spaces: map[string]int{}, last: map[string]string{}}
}

// Requests returns the number of requests for each space, and of all requests. Of a script or page that comes under
// many names, each request under another name than before counts.
func (e *Endless) Requests() (bySpace map[string]int, all int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return maps.Clone(e.spaces), e.all
}

// Missing returns the real pages that were not requested.
func (e *Endless) Missing() []string { return e.missing(e.Pages()) }

// Pages returns the real pages.
func (e *Endless) Pages() []string {
	list := []string{"/", "/shop", "/forum"}
	each := func(n int, format string) {
		for i := range n {
			list = append(list, fmt.Sprintf(format, i))
		}
	}
	each(endlessArticles, "/article/%d")
	each(endlessArticles/endlessList, "/list?page=%d")
	each(endlessNews, "/news.php?id=%d")
	each(endlessProducts, "/product?sku=A%03d")
	for c := range 4 {
		for _, sort := range []string{"name", "price"} {
			list = append(list, fmt.Sprintf("/shop?cat=%d&sort=%s", c, sort))
		}
	}
	each(endlessTopics, "/viewtopic.php?t=%d")
	for i := range endlessStamps {
		list = append(list, "/note?id="+stamp(i))
	}
	return list
}

// stamp returns a number of thirteen digits that is the name of a real page.
func stamp(i int) string { return strconv.FormatInt(1_790_000_000_000+int64(i)*86_400_000, 10) }

// ServeHTTP answers one request.
func (e *Endless) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	session := q.Get("PHPSESSID")
	name := e.enter(r.URL.Path, q)
	if strings.HasSuffix(r.URL.Path, ".js") || strings.HasSuffix(r.URL.Path, ".png") {
		if r.URL.Path != "/app.js" && r.URL.Path != "/logo.png" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", map[bool]string{true: "text/javascript", false: "image/png"}[r.URL.Path == "/app.js"])
		fmt.Fprintf(w, "/* the same for all: %s */", r.URL.Path)
		return
	}
	page := endlessPage{e: e, session: session}
	if e.Sessions && session == "" {
		page.session = e.session(13)
	}
	page.links("/", "/list?page=0", "/shop", "/forum")
	if e.Search {
		page.links("/search?q=" + word(0))
	}
	if !page.serve(name, q) {
		http.NotFound(w, r)
		return
	}
	if e.Busters {
		now := strconv.FormatInt(time.Now().UnixMilli(), 10)
		fmt.Fprintf(&page, "<script src=\"/app.js?_=%s\"></script><img src=\"/logo.png?nocache=%s\">", now, now)
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	fmt.Fprintf(w, "<!DOCTYPE html><title>The endless site</title>%s", page.String())
}

// enter counts a request, and returns the name of the page without what is different in each link.
func (e *Endless) enter(path string, q url.Values) string {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.all++
	session, number := q.Get("PHPSESSID"), q.Get("_")+q.Get("nocache")
	for _, p := range []string{"PHPSESSID", "_", "nocache"} {
		q.Del(p)
	}
	name := path
	if len(q) > 0 {
		name, _ = url.PathUnescape(path + "?" + q.Encode())
	}
	e.real[name]++
	if session != "" {
		e.note("session", name, session)
	}
	if number != "" {
		e.note("buster", name, number)
	}
	if path == "/search" {
		e.spaces["search"]++
	}
	return name
}

// note counts a request for a name under another value than the last one.
func (e *Endless) note(space, name, value string) {
	key := space + " " + name
	if last := e.last[key]; last != "" && last != value {
		e.spaces[space]++
	}
	e.last[key] = value
}

// endlessPage is the text of a page.
type endlessPage struct {
	strings.Builder
	e       *Endless
	session string
}

func (b *endlessPage) links(to ...string) {
	for _, l := range to {
		if b.e.Sessions {
			mark := "?"
			if strings.Contains(l, "?") {
				mark = "&"
			}
			l += mark + "PHPSESSID=" + b.session
		}
		fmt.Fprintf(b, "<a href=%q>more</a>\n", html.EscapeString(l))
	}
}

// word returns a word that only depends on n.
func word(n int) string {
	sum := sha256.Sum256([]byte("word " + strconv.Itoa(n)))
	text := make([]byte, 7)
	for i := range text {
		text[i] = 'a' + sum[i]%26
	}
	return string(text)
}

// text writes a text of n words that only depends on the name.
func (b *endlessPage) text(name string, n int) {
	sum := sha256.Sum256([]byte(name))
	seed := binary.BigEndian.Uint32(sum[:])
	b.WriteString("<p>")
	for i := range n {
		b.WriteString(word(int(seed>>8)+i) + " ")
	}
	b.WriteString("</p>\n")
}

// serve writes a page, and reports whether there is one.
func (b *endlessPage) serve(name string, q url.Values) bool {
	path, _, _ := strings.Cut(name, "?")
	if path == "/search" && b.e.Search {
		b.search(q.Get("q"), b.e.articles())
		return true
	}
	if !slices.Contains(b.e.Pages(), name) {
		return false
	}
	number, _ := strconv.Atoi(path[strings.LastIndexByte(path, '/')+1:])
	switch path {
	case "/":
		b.links("/article/0", "/article/1", "/note?id="+stamp(0))
		for i := 0; i < endlessNews; i += endlessChain {
			b.links(fmt.Sprintf("/news.php?id=%d", i))
		}
	case "/list":
		n, _ := strconv.Atoi(q.Get("page"))
		b.list(n, endlessList, endlessArticles, "/article/%d", "/list?page=%d")
	case "/shop":
		b.shop(q)
	case "/forum":
		b.list(0, endlessTopics, endlessTopics, "/viewtopic.php?t=%d", "")
	case "/news.php": // the only link to most articles is in the one before
		n, _ := strconv.Atoi(q.Get("id"))
		if (n+1)%endlessChain != 0 {
			b.links(fmt.Sprintf("/news.php?id=%d", n+1))
		}
		b.text(name, 60)
	case "/note":
		for i := range endlessStamps - 1 {
			if stamp(i) == q.Get("id") {
				b.links("/note?id=" + stamp(i+1))
			}
		}
		b.text(name, 60)
	default:
		b.text(name, 60)
		if strings.HasPrefix(path, "/article/") {
			b.links(fmt.Sprintf("/article/%d", (number+7)%endlessArticles))
		}
	}
	return true
}

func (b *endlessPage) list(n, per, all int, item, more string) {
	for i := n * per; i < min((n+1)*per, all); i++ {
		b.links(fmt.Sprintf(item, i))
	}
	if (n+1)*per < all {
		b.links(fmt.Sprintf(more, n+1))
	}
}

// shop writes the list of categories, or the products of one of them in one of two orders.
func (b *endlessPage) shop(q url.Values) {
	if q.Get("cat") == "" {
		for c := range 4 {
			b.links(fmt.Sprintf("/shop?cat=%d&sort=name", c), fmt.Sprintf("/shop?cat=%d&sort=price", c))
		}
		return
	}
	c, _ := strconv.Atoi(q.Get("cat"))
	for i := range endlessProducts / 4 {
		if q.Get("sort") == "price" {
			i = endlessProducts/4 - 1 - i
		}
		b.links(fmt.Sprintf("/product?sku=A%03d", 4*i+c))
	}
}

// articles returns the names of the articles.
func (e *Endless) articles() []string { return e.Pages()[3 : 3+endlessArticles] }

// search writes the result of a search, which names three of the real pages and two more words.
func (b *endlessPage) search(q string, pages []string) {
	sum := sha256.Sum256([]byte(q))
	n := int(binary.BigEndian.Uint32(sum[:]) >> 8)
	fmt.Fprintf(b, "<h1>Results for %s</h1><p>Your search for %s found these pages. Did you mean %s?</p>\n",
		html.EscapeString(q), html.EscapeString(q), word(n))
	for i := range min(3, len(pages)) {
		b.links(pages[(n+i)%len(pages)])
	}
	if b.e.Texts {
		b.text(q, 60)
	}
	b.links("/search?q="+word(n), "/search?q="+word(n+1))
}
