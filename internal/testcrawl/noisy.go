package testcrawl

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"html"
	"maps"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
)

// Noisy serves another site, and switches on what real sites have: pages that differ at each request, and searches
// without end. A page with noise has no validators. The noise is a hidden token, a script with a number, a clock that
// readers see, or teasers that rotate.
type Noisy struct {
	Site   http.Handler
	Share  int      // of the pages of HTML that are noisy, in percent
	Search bool     // each page links to a search, and each result names two more words
	Texts  bool     // the results of searches are texts that were never on another page
	Found  []string // the real pages that each result of a search names some of

	mu     sync.Mutex // guards the fields below
	all    int
	search int
	same   int                 // whole downloads of nothing new
	noise  int                 // requests for noisy pages
	last   map[string][32]byte // what was sent last, without noise
}

// Tally counts the requests to a site.
type Tally struct {
	All    int
	Search int // of these, for searches
	Noise  int // for pages that differ at each request
	Same   int // answered with a whole page whose content, without noise, was sent before
}

// Tally returns the requests so far.
func (n *Noisy) Tally() Tally {
	n.mu.Lock()
	defer n.mu.Unlock()
	return Tally{All: n.all, Search: n.search, Noise: n.noise, Same: n.same}
}

// noiseOf returns the kind of noise of a page, from 1, or 0 for a page without noise.
func (n *Noisy) noiseOf(path string) int {
	sum := sha256.Sum256([]byte(path))
	if int(sum[0])*100 >= n.Share*256 {
		return 0
	}
	return 1 + int(sum[1])%4
}

// ServeHTTP answers one request.
func (n *Noisy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if n.Search && r.URL.Path == "/search" {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprintf(w, "<!DOCTYPE html><title>Search</title>%s", n.result(r.URL.Query().Get("q")))
		n.count(func() { n.search++ })
		return
	}
	kind := n.noiseOf(r.URL.Path)
	if kind != 0 {
		r = r.Clone(r.Context())
		r.Header.Del("If-None-Match")
		r.Header.Del("If-Modified-Since")
	}
	from := httptest.NewRecorder()
	n.Site.ServeHTTP(from, r)
	body := from.Body.Bytes()
	content := sha256.Sum256(body)
	h := w.Header()
	maps.Copy(h, from.Header())
	isPage := from.Code == http.StatusOK && strings.HasPrefix(h.Get("Content-Type"), "text/html")
	if isPage {
		body = n.addNoise(body, kind, h)
	}
	w.WriteHeader(from.Code)
	_, err := w.Write(body)
	if err == nil {
		err = http.NewResponseController(w).Flush()
	}
	n.count(func() {
		if from.Code != http.StatusOK {
			return
		}
		if isPage && kind != 0 {
			n.noise++
		}
		n.sent(r.URL.Path, content, err == nil)
	})
}

// result returns the result of a search, which names three of the real pages and two more words.
func (n *Noisy) result(q string) string {
	var b body
	seed := number(q)
	b.links("/")
	b.say("Your search for %s found these pages. Did you mean %s?", html.EscapeString(q), word(seed))
	for i := range min(3, len(n.Found)) {
		b.links(n.Found[(seed+i)%len(n.Found)])
	}
	if n.Texts {
		for i := range 60 {
			b.WriteString(word(seed+i) + " ")
		}
	}
	b.links("/search?q="+word(seed), "/search?q="+word(seed+1))
	return b.String()
}

// number returns a number that only depends on a text.
func number(text string) int {
	sum := sha256.Sum256([]byte(text))
	return int(binary.BigEndian.Uint32(sum[:]) >> 8)
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

// sent notes the content of an answer, and whether it was sent whole.
func (n *Noisy) sent(path string, content [32]byte, whole bool) {
	if n.last == nil {
		n.last = map[string][32]byte{}
	}
	if whole && n.last[path] == content {
		n.same++
	}
	n.last[path] = content
}

// count counts a request.
func (n *Noisy) count(more func()) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.all++
	more()
}

// addNoise returns a page with a link to a search, and with noise that differs at each request. Header is changed
// accordingly.
func (n *Noisy) addNoise(page []byte, kind int, header http.Header) []byte {
	page = bytes.Clone(page)
	if n.Search {
		page = append(page, "<a href=\"/search?q="+word(0)+"\">search</a>\n"...)
	}
	if kind != 0 {
		header.Del("ETag")
		header.Del("Last-Modified")
		n.mu.Lock()
		page = append(page, noiseOf(kind, n.all)...)
		n.mu.Unlock()
	}
	header.Set("Content-Length", strconv.Itoa(len(page)))
	return page
}

// noiseOf returns noise of a kind, different for each number.
func noiseOf(kind, number int) string {
	id := fmt.Sprintf("%x", sha256.Sum256([]byte(strconv.Itoa(number))))
	switch kind {
	case 1:
		return `<form><input type="hidden" name="token" value="` + id[:26] + `"></form>`
	case 2:
		return "<!-- " + id[:16] + " --><script>var visit = \"" + id[:20] + "\";</script>"
	case 3:
		return fmt.Sprintf(`<i class="clock">%02d:%02d:%02d</i>`, number/3600%24, number/60%60, number%60)
	}
	var teasers strings.Builder
	for i := range 3 {
		teasers.WriteString("<p>" + word(7*number+i) + " " + word(11*number+i) + " " + word(13*number+i) + "</p>")
	}
	return `<aside class="teasers">` + teasers.String() + "</aside>"
}
