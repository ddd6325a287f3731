package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
)

// site describes the documents of the server.
type site struct {
	size          int  // bytes of a document
	twins         bool // document n is the same on all hosts
	unconditional bool // conditional requests get the whole document
	secure        bool // TLS
	links         int  // further links of each document; known after the first document
	hosts         int
	documents     int // on each host
	serverPort    int
}

// host returns the address of host number n.
func host(n int) string { return fmt.Sprintf("127.%d.%d.%d", 10+n/62500, n/250%250, 1+n%250) }

// origin returns the scheme, host and port of host number n.
func (s site) origin(n int) string {
	scheme := "http"
	if s.secure {
		scheme = "https"
	}
	return fmt.Sprintf("%s://%s:%d", scheme, host(n), s.serverPort)
}

// address returns the path of document number n of a host.
func address(n int) string { return "/d/" + strconv.Itoa(n) }

// uris lists all documents. They are grouped by host if byHost, as wget needs them, else the hosts take turns.
func (s site) uris(byHost bool) string {
	var b strings.Builder
	write := func(h, d int) { b.WriteString(s.origin(h) + address(d) + "\n") }
	if byHost {
		for h := range s.hosts {
			for d := range s.documents {
				write(h, d)
			}
		}
		return b.String()
	}
	for d := range s.documents {
		for h := range s.hosts {
			write(h, d)
		}
	}
	return b.String()
}

const (
	children = 10  // links to documents that no other document links to
	common   = 10  // links to the first documents, as in a menu
	stock    = 199 // different texts; each document also has its own title and links
)

// etag returns the ETag of a document.
func etag(path string) string { return `"v1-` + path[len("/d/"):] + `"` }

// texts returns the stock of texts, each of n bytes of HTML: paragraphs of words distributed by Zipf's law. They are as
// compressible as news pages.
func texts(n int) [][]byte {
	random := rand.New(rand.NewPCG(1, 2))
	vocabulary := make([]string, 6000)
	for i := range vocabulary {
		word := make([]byte, 2+min(9, int(random.ExpFloat64()*4)))
		for j := range word {
			word[j] = "etaoinshrdlucmfwypvbgkjqxz"[min(25, int(math.Abs(random.NormFloat64())*7))]
		}
		vocabulary[i] = string(word)
	}
	zipf := rand.NewZipf(random, 1.25, 3, uint64(len(vocabulary)-1))
	kinds := min(stock, max(8, 16<<20/n))
	all := make([][]byte, kinds)
	for k := range all {
		b := make([]byte, 0, n+128)
		for p := 0; len(b) < n; p++ {
			words := 20 + random.IntN(40)
			if p%2 == 1 {
				b = fmt.Appendf(b, teaser, random.Uint32())
				words = 8
			} else {
				b = append(b, "<p class=\"article-body__paragraph article-body__paragraph--wide\">"...)
			}
			for range words {
				b = append(b, vocabulary[zipf.Uint64()]...)
				b = append(b, ' ')
			}
			b = append(b, "</p>\n</div>\n"...)
		}
		all[k] = b[:n]
	}
	return all
}

// teaser is markup as on news sites, whose pages have more of it than of text.
const teaser = `<div class="teaser teaser--small teaser--image-left" data-component="teaser" data-tracking-id="%08x"><span class="teaser__icon"
 aria-hidden="true"></span><h3 class="teaser__title"><p class="teaser__text teaser__text--clamped">`

// document appends document number d of a host.
func (s site) document(b []byte, texts [][]byte, host string, d int) []byte {
	from := len(b)
	name := host
	if s.twins {
		name = "twin"
	}
	b = append(b, "<!DOCTYPE html><html><head><title>Document "...)
	b = strconv.AppendInt(b, int64(d), 10)
	b = append(b, " of "...)
	b = append(b, name...)
	b = append(b, "</title></head><body><ul class=\"menu\">\n"...)
	link := func(n int) {
		b = append(b, `<li class="menu__item"><a href="/d/`...)
		b = strconv.AppendInt(b, int64(n), 10)
		b = append(b, "\">more</a></li>\n"...)
	}
	for n := range min(common, s.documents) {
		link(n)
	}
	for n := d*children + 1; n <= (d+1)*children && n < s.documents; n++ {
		link(n)
	}
	for n := range s.links {
		link(n % s.documents)
	}
	text := texts[(d+len(name)*int(name[len(name)-1]))%len(texts)]
	if rest := s.size - (len(b) - from); rest > 0 {
		b = append(b, text[:min(rest, len(text))]...)
	}
	return b
}
