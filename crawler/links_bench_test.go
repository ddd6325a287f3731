package crawler_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"github.com/arcrawl/arcrawl/crawler"
)

// BenchmarkVisitOf5000KnownLinks measures a first visit to a page with 5,000 links to known pages, with all parts, and
// compares it with the time in which the tokenizer alone reads such a page (×tokenizer). The server and the gzip of the
// record are included. Use -cpuprofile to see the cost of each step.
func BenchmarkVisitOf5000KnownLinks(b *testing.B) {
	for _, links := range []int{0, 5000} {
		b.Run(fmt.Sprint(links), func(b *testing.B) { benchmarkKnownLinks(b, links) })
	}
}

// knownPages is a number of pages larger than the number of visits.
const knownPages = 10_000

func benchmarkKnownLinks(b *testing.B, links int) {
	var text strings.Builder
	for n := range links {
		fmt.Fprintf(&text, "<li class=\"menu__item\"><a href=\"/%d\">more</a></li>\n", n)
	}
	for n := 0; text.Len() < 250_000; n++ {
		fmt.Fprintf(&text, "<p class=\"body\">word %x of a long text</p>\n", n*n*2654435761)
	}
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Content-Length", fmt.Sprint(text.Len()+len(r.URL.Path)))
		_, _ = fmt.Fprint(w, r.URL.Path, text.String())
	}))
	b.Cleanup(site.Close)
	w := newWorld(b, b.TempDir(), fmt.Sprintf("[politeness]\ndelay_factor = 0.0\nmin_delay = \"0s\"\nmax_delay = \"0s\"\n[seeds]\nuris = [%q]\n", site.URL+"/"))
	b.Cleanup(w.town.Close)
	parts, shut := w.openWith(dialLoopback)
	defer shut()
	c := crawler.New(parts)
	addPages(b, parts.Frontier, site.URL, max(knownPages, links))
	walkOne := func() { walkNext(b, parts.Frontier, c) }
	walkOne() // robots.txt
	walkOne() // a page whose links are looked up in the store
	b.ReportAllocs()
	began := processTime(b)
	for b.Loop() {
		walkOne()
	}
	each := (processTime(b) - began) / time.Duration(b.N)
	const times = 20
	began = processTime(b)
	for range times {
		for z := html.NewTokenizer(strings.NewReader(text.String())); z.Next() != html.ErrorToken; {
			_, more := z.TagName()
			for more {
				_, _, more = z.TagAttr()
			}
		}
	}
	b.ReportMetric(each.Seconds()*1e3, "ms-cpu/op")
	b.ReportMetric(float64(each)/float64((processTime(b)-began)/times), "×tokenizer")
}
