package discover_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"github.com/arcrawl/arcrawl/discover"
)

// newsPage returns an ordinary front page of about 100 KB: navigation, sixty teasers with responsive images, text,
// data.
func newsPage() string {
	var b strings.Builder
	b.WriteString(`<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>News</title><link rel="canonical" href="/">` +
		`<link rel="stylesheet" href="/css/site.css?v=12"><script src="/js/site.js" defer></script>` +
		`<style>.logo { background: url(/img/logo.svg) }` + strings.Repeat(".teaser h2 { font: 700 1.2rem/1.3 serif; margin: 0 }\n", 100) + `</style></head><body><nav>`)
	for i := range 40 {
		fmt.Fprintf(&b, `<li class="nav__item"><a class="nav__link" href="/section-%d/">Section %d</a></li>`, i, i)
	}
	for i := range 60 {
		fmt.Fprintf(&b, `<article class="teaser teaser--m" data-id="%[1]d"><a class="teaser__link" href="/section-%[2]d/2026/11/20/a-headline-of-ordinary-length-%[1]d.html" title="Headline">`+
			`<picture><source type="image/webp" srcset="/img/w_320,h_180/photo-%[1]d.webp 320w, /img/w_640,h_360/photo-%[1]d.webp 640w"><img class="lazy" alt="" width="320" height="180" `+
			`src="data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7" data-src="/img/w_320,h_180/photo-%[1]d.jpg"></picture><h2>A headline of ordinary length</h2></a>`+
			`<p>%[3]s</p><p class="meta"><a href="/author-%[2]d">By a reporter</a> <a href="/section-%[2]d/2026/11/20/a-headline-of-ordinary-length-%[1]d.html#comments">12 comments</a></p></article>`+"\n",
			i, i%12, strings.Repeat("Some plain words of a story &amp; more of them. ", 11))
	}
	b.WriteString(`<script type="application/ld+json">{"@context":"https://schema.org","@type":"ItemList","itemListElement":[`)
	for i := range 20 {
		fmt.Fprintf(&b, `{"@type":"NewsArticle","headline":"A headline of ordinary length","datePublished":"2026-11-20T10:00:00Z","url":"https:\/\/news.example\/section-1\/%[1]d.html","image":{"@type":"ImageObject","url":"/img/%[1]d.jpg","width":640}},`, i)
	}
	b.WriteString(`]}</script><script>` + strings.Repeat(`window.dataLayer.push({"event":"view","page":"front"});`+"\n", 200) + `</script></body></html>`)
	return b.String()
}

// BenchmarkLinksNewsPage measures the search of an ordinary news page. The metric ×tokenizer is its time as a multiple
// of the time of the tokenizer alone, reading every attribute.
func BenchmarkLinksNewsPage(b *testing.B) {
	text, doc := newsPage(), page(b)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	links := 0
	var alone time.Duration
	for b.Loop() {
		links = len(find(b, doc, text, discover.Bounds{}).Links)
		b.StopTimer()
		start := time.Now()
		tokenize(text)
		alone += time.Since(start)
		b.StartTimer()
	}
	b.ReportMetric(float64(links), "links")
	b.ReportMetric(float64(b.Elapsed())/float64(alone), "×tokenizer")
}

// tokenize reads all tags and attributes of a page.
func tokenize(text string) {
	z := html.NewTokenizer(strings.NewReader(text))
	for z.Next() != html.ErrorToken {
		_, more := z.TagName()
		for more {
			_, _, more = z.TagAttr()
		}
	}
}

// BenchmarkHostile shows whether hostile content takes time in proportion to its size: compare the MB/s of both sizes.
func BenchmarkHostile(b *testing.B) {
	for _, c := range hostile {
		for _, size := range []int{1 << 20, 4 << 20} {
			b.Run(fmt.Sprintf("%s/%dMiB", c.name, size>>20), func(b *testing.B) {
				text, doc := c.make(size), response(b, 200, "Content-Type", c.contentType)
				b.SetBytes(int64(len(text)))
				for b.Loop() {
					find(b, doc, text, discover.Bounds{Speculative: true})
				}
			})
		}
	}
}
