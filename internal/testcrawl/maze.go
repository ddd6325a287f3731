package testcrawl

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"html"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// The numbers of real pages of a maze.
const (
	articles = 60
	perPage  = 10
	tags     = 8
	items    = 40
	topics   = 15
	events   = 9
)

// Maze is a site with a few real pages and many traps: an endless calendar, folders in folders, a shop whose filters
// combine, a forum that writes a session id into each link, and partners that only link to further partners. It has
// more than 10^9 URIs. It counts requests, and is safe for concurrent use.
type Maze struct {
	began time.Time

	mu       sync.Mutex // guards the fields below
	sessions int
	real     map[string]int             // requests for each real page
	first    map[string]string          // the URI under which a topic was asked for first
	traps    map[string]map[string]bool // by kind, the URIs of traps that were asked for
}

// session returns a new session id.
func (s *Maze) session() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sessions++
	sum := sha256.Sum256([]byte(strconv.Itoa(s.sessions)))
	return hex.EncodeToString(sum[:16])
}

// NewMaze returns a site whose calendar has events around the time at which it began.
func NewMaze(began time.Time) *Maze {
	return &Maze{
		began: began, real: map[string]int{}, first: map[string]string{}, traps: map[string]map[string]bool{},
	}
}

// Missing returns the real pages that were not requested.
func (s *Maze) Missing() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.DeleteFunc(s.pages(), func(p string) bool { return s.real[p] > 0 })
}

// Trapped returns the number of requested URIs of traps, by kind and in total.
func (s *Maze) Trapped() (byKind map[string]int, all int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	byKind = map[string]int{}
	for kind, uris := range s.traps {
		byKind[kind] = len(uris)
		all += len(uris)
	}
	return byKind, all
}

// pages returns the real pages.
func (s *Maze) pages() []string {
	list := []string{"/", "/about", "/shop"}
	for i := range articles {
		list = append(list, s.article(i))
	}
	for i := range articles / perPage {
		list = append(list, "/news?page="+strconv.Itoa(i+1))
	}
	for i := range tags {
		list = append(list, "/tag/"+strconv.Itoa(i))
	}
	for i := range items {
		list = append(list, "/shop/item-"+strconv.Itoa(i))
	}
	for i := range topics {
		list = append(list, "topic-"+strconv.Itoa(i))
	}
	for i := range events {
		list = append(list, "/events/"+strconv.Itoa(i))
	}
	return list
}

func (s *Maze) article(i int) string {
	return s.began.AddDate(0, 0, -3*i).Format("/2006/01/02/") + "story-" + strconv.Itoa(i)
}

// ServeHTTP answers one request.
func (s *Maze) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path, q := r.URL.Path, r.URL.Query()
	var page body
	page.links("/", "/about", "/news?page=1", "/shop", "/calendar/"+s.began.Format("2006/01"),
		"/deep/", "/forum/"+s.session()+"/", "/partners/")
	s.mu.Lock()
	if slices.Contains(s.pages(), r.URL.RequestURI()) {
		s.real[r.URL.RequestURI()]++
	}
	s.mu.Unlock()
	ok := true
	switch {
	case path == "/" || path == "/about":
		page.say("Welcome to %s", path)
	case path == "/news":
		ok = s.news(&page, q)
	case strings.HasPrefix(path, "/tag/"):
		s.tag(&page, path)
	case strings.HasPrefix(path, "/calendar/"):
		ok = s.calendar(&page, path)
	case strings.HasPrefix(path, "/deep/"):
		s.deep(&page, path)
	case strings.HasPrefix(path, "/partners/"):
		s.partners(&page, path)
	case path == "/shop":
		s.shop(&page, q)
	case strings.HasPrefix(path, "/forum/"):
		s.forum(&page, path)
	default:
		ok = s.leaf(&page, path)
	}
	if !ok {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	fmt.Fprintf(w, "<!DOCTYPE html><title>%s</title>%s", html.EscapeString(path), page.String())
}

// body returns the text of a page.
type body struct{ strings.Builder }

func (b *body) say(format string, args ...any) { fmt.Fprintf(b, "<p>"+format+"</p>\n", args...) }

func (b *body) links(to ...string) {
	for _, l := range to {
		fmt.Fprintf(b, "<a href=%q>%s</a>\n", html.EscapeString(l), html.EscapeString(l))
	}
}

// count counts a request for a URI of a trap.
func (s *Maze) count(trap, uri string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.note(trap, uri)
}

func (s *Maze) note(trap, uri string) {
	if s.traps[trap] == nil {
		s.traps[trap] = map[string]bool{}
	}
	s.traps[trap][uri] = true
}

func (s *Maze) news(page *body, q url.Values) bool {
	n, _ := strconv.Atoi(q.Get("page"))
	if n < 1 || n > articles/perPage {
		return false
	}
	for i := (n - 1) * perPage; i < n*perPage; i++ {
		page.links(s.article(i))
	}
	if n < articles/perPage {
		page.links("/news?page=" + strconv.Itoa(n+1))
	}
	return true
}

func (s *Maze) tag(page *body, path string) {
	for i := range articles {
		if strings.HasSuffix(path, "/"+strconv.Itoa(i%tags)) {
			page.links(s.article(i))
		}
	}
}

// calendar serves a page for every month, past and future, and events in the three months around the beginning.
func (s *Maze) calendar(page *body, path string) bool {
	month, err := time.Parse("/calendar/2006/01", path)
	if err != nil {
		return false
	}
	s.count("calendar", path)
	page.links(month.AddDate(0, 1, 0).Format("/calendar/2006/01"), month.AddDate(0, -1, 0).Format("/calendar/2006/01"))
	page.say("The events of %s", month.Format("January 2006"))
	here := time.Date(s.began.Year(), s.began.Month(), 1, 0, 0, 0, 0, time.UTC)
	for i := range events {
		if here.AddDate(0, i%3-1, 0).Equal(month) {
			page.links("/events/" + strconv.Itoa(i))
		}
	}
	return true
}

// deep serves three folders in each folder.
func (s *Maze) deep(page *body, path string) {
	s.count("deep", path)
	for i := range 3 {
		sum := sha256.Sum256([]byte(path + strconv.Itoa(i)))
		page.links(path + hex.EncodeToString(sum[:3]) + "/")
	}
}

// partners serves a different text on each page, and links to a hundred pages that no other page links to.
func (s *Maze) partners(page *body, path string) {
	s.count("farm", path)
	words := []string{"best", "offers", "rooms", "credit", "travel", "garden", "repair", "music"}
	for i := range 100 {
		sum := sha256.Sum256([]byte(path + strconv.Itoa(i)))
		word := func(n int) string { return words[int(sum[n])%len(words)] }
		page.say("%s %s and %s", word(0), word(1), word(2))
		page.links("/partners/" + word(3) + "-" + word(4) + "-" + hex.EncodeToString(sum[5:9]))
	}
}

var filters = []struct {
	name   string
	values int
}{{"color", 9}, {"size", 7}, {"sort", 5}, {"brand", 9}, {"price", 8}, {"rating", 5}, {"stock", 3}}

// shop serves lists of items, with links that add or change a filter.
func (s *Maze) shop(page *body, q url.Values) {
	if len(q) > 0 {
		s.count("shop", q.Encode())
	}
	seed := sha256.Sum256([]byte(q.Encode()))
	for i := range items {
		if len(q) == 0 || seed[i%len(seed)]%4 == 0 {
			page.links("/shop/item-" + strconv.Itoa(i))
		}
	}
	for i, f := range filters {
		for v := range 3 {
			next := url.Values{}
			for k := range q {
				next.Set(k, q.Get(k))
			}
			next.Set(f.name, strconv.Itoa((int(seed[i])+v)%f.values))
			page.links("/shop?" + next.Encode())
		}
	}
}

// forum serves pages whose links have a new session id each time.
func (s *Maze) forum(page *body, path string) {
	_, topic, _ := strings.Cut(strings.TrimPrefix(path, "/forum/"), "/")
	s.mu.Lock()
	if topic != "" {
		if s.real[topic] == 0 {
			s.first[topic] = path
		}
		if s.first[topic] != path {
			s.note("forum", path)
		}
		s.real[topic]++
	}
	s.mu.Unlock()
	page.say("Forum %s", topic)
	id := s.session()
	for i := range topics {
		page.links("/forum/" + id + "/topic-" + strconv.Itoa(i))
	}
}

// leaf serves an article, an item or an event.
func (s *Maze) leaf(page *body, path string) bool {
	if !slices.Contains(s.pages(), path) {
		return false
	}
	page.say("What there is to say about %s.", path)
	fmt.Fprintf(page, "<img src=%q>", "/img"+path+".jpg")
	for i := range articles {
		if s.article(i) == path {
			page.links("/tag/"+strconv.Itoa(i%tags), s.article((i+7)%articles), s.article((i+13)%articles))
		}
	}
	return true
}
