package discover_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"github.com/arcrawl/arcrawl/discover"
	"github.com/arcrawl/arcrawl/internal/slow"
	"github.com/arcrawl/arcrawl/uri"
)

// many returns n pieces, each formatted with its number.
func many(n int, format string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

// hostile are contents that can exhaust the memory or the time of a careless program. Each is made of about n bytes.
var hostile = []struct {
	name, contentType string
	make              func(n int) string
}{
	{"tags that never end", "text/html", func(n int) string { return strings.Repeat("<a", n/2) }},
	{"attributes that never end", "text/html", func(n int) string { return strings.Repeat("<a href='", n/9) }},
	{"end tags that never end", "text/html", func(n int) string { return strings.Repeat("</a ", n/4) }},
	{"comments that never end", "text/html", func(n int) string { return strings.Repeat("<!--", n/4) }},
	{"comments with an unusual end", "text/html", func(n int) string { return strings.Repeat("<!----!>", n/8) }},
	{"tags with just too many attributes", "text/html", func(n int) string {
		return strings.Repeat("<a"+strings.Repeat(" b", 33)+">", n/69)
	}},
	{"deep nesting", "text/html", func(n int) string { return strings.Repeat("<div>", n/5) }},
	{"one giant attribute", "text/html", func(n int) string { return "<a href='/" + strings.Repeat("a", n) + "'>" }},
	{"one giant style attribute", "text/html", func(n int) string { return "<a style='" + strings.Repeat("a:url(/b);", n/10) + "'>" }},
	{"one giant frame in a frame", "text/html", func(n int) string { return "<iframe srcdoc='" + strings.Repeat("<iframe srcdoc=a>", n/17) + "'>" }},
	{"a tag of many attributes before many tags", "text/html", func(n int) string {
		return "<p " + many(min(n/10, 100_000), "a%d ") + ">" + strings.Repeat("<b c>", n/5)
	}},
	{"a long image list", "text/html", func(n int) string { return "<img srcset='" + many(n/10, "/%d 1x, ") + "'>" }},
	{"an image list of commas", "text/html", func(n int) string { return "<img srcset='" + strings.Repeat(", ", n/2) + "'>" }},
	{"an image list of parentheses", "text/html", func(n int) string { return "<img srcset='a " + strings.Repeat("(,", n/2) + "'>" }},
	{"many links", "text/html", func(n int) string { return many(n/16, "<a href=/%d>") }},
	{"faulty links", "text/html", func(n int) string { return many(n/20, "<a href=http://[%d>") }},
	{"one link in many spellings", "text/html", func(n int) string { return many(n/20, "<a href=/b#%d>") }},
	{"many bases", "text/html", func(n int) string { return many(n/20, "<base href=/%d/><a href=b>") }},
	{"entities", "text/html", func(n int) string { return "<a href='" + strings.Repeat("&am", n/3) + "'>" }},
	{"scripts in scripts", "text/html", func(n int) string { return "<script>" + strings.Repeat("<!--<script>", n/12) }},
	{"SVG", "text/html", func(n int) string { return strings.Repeat("<svg><style/>", n/13) }},
	{"zeros", "text/html", func(n int) string { return "<a href=/b>" + strings.Repeat("\x00", n) }},
	{"UTF-16 of nothing", "text/html; charset=utf-16", func(n int) string { return strings.Repeat("\xd8", n) }},
	{"escapes in a style sheet", "text/css", func(n int) string { return "a{b:url(" + strings.Repeat(`\`, n) }},
	{"parentheses in a style sheet", "text/css", func(n int) string { return strings.Repeat("image-set(", n/10) }},
	{"strings that never end in a style sheet", "text/css", func(n int) string { return strings.Repeat("'\\\n", n/3) }},
	{"bad addresses in a style sheet", "text/css", func(n int) string { return strings.Repeat("url(a b ", n/8) }},
	{"hyphens in a style sheet", "text/css", func(n int) string { return strings.Repeat("-", n) }},
	{"nested JSON-LD", "text/html", func(n int) string { return `<script type=application/ld+json>` + strings.Repeat(`{"url":[`, n/8) }},
	{"JSON-LD that never ends", "text/html", func(n int) string { return `<script type=application/ld+json>["` + strings.Repeat(`\"`, n/2) }},
	{"JSON-LD of addresses", "text/html", func(n int) string { return `<script type=application/ld+json>{"url":[` + many(n/12, `"/%d",`) }},
	{"JSON-LD of backslashes", "text/html", func(n int) string {
		return `<script type=application/ld+json>{"url":["` + strings.Repeat(`\`, n/2) + `"]}</script>`
	}},
	{"many broken JSON-LD blocks", "text/html", func(n int) string { return strings.Repeat(`<script type=application/ld+json>{"url"</script>`, n/48) }},
	{"an object of many archives", "text/html", func(n int) string { return "<object codebase=/b/ archive='" + many(n/10, "%d.jar ") + "'>" }},
	{"many objects with codebases", "text/html", func(n int) string { return many(n/40, "<object codebase=/%d/ data=a.swf></object>") }},
	{"many quotes", "text/javascript", func(n int) string { return strings.Repeat(`"`, n) }},
	{"quotes of all kinds", "text/javascript", func(n int) string { return strings.Repeat("\"a'b`", n/5) }},
	{"a string that never ends", "text/javascript", func(n int) string { return `"` + strings.Repeat("/a", n/2) }},
	{"one giant string", "text/javascript", func(n int) string { return `"` + strings.Repeat("/a", n/2) + `"` }},
	{"strings of backslashes", "text/javascript", func(n int) string { return strings.Repeat(`"/\\\"`, n/8) }},
	{"many guesses", "text/javascript", func(n int) string { return many(n/12, `"/a/%d";`) }},
	{"scripts that never end", "text/html", func(n int) string { return "<script>" + strings.Repeat(`'/a/b" `, n/7) }},
	{"many imports", "text/css", func(n int) string { return many(n/18, "@import '/%d';") }},
}

func TestLinksBoundsHostileContent(t *testing.T) {
	t.Parallel()
	bounds := discover.Bounds{MaxLinks: 100, Speculative: true}
	for _, c := range hostile {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			f := find(t, response(t, 200, "Content-Type", c.contentType), c.make(1<<20), bounds)
			check(t, f, bounds.MaxLinks)
		})
	}
}

// No reference is resolved without a look at the context, so that no page delays the end of a crawl.
func TestLinksEndWithTheContext(t *testing.T) {
	t.Parallel()
	const most = 20
	for _, c := range hostile {
		doc := response(t, 200, "Content-Type", c.contentType)
		content := strings.NewReader(c.make(1 << 16))
		found, err := discover.Links(slow.EndAfter(t.Context(), most), doc, content, discover.Bounds{Speculative: true})
		if len(found.Links) > most || len(found.Links) == most && !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %d links, %v; want at most %d and %v", c.name, len(found.Links), err, most, context.Canceled)
		}
	}
}

func TestLinksCountsDroppedReferences(t *testing.T) {
	t.Parallel()
	const n = 100_000
	f := find(t, page(t), "<img srcset='"+many(n, "/%d 1x,")+"'>", discover.Bounds{})
	if len(f.Links) != 5_000 || f.Dropped != n-5_000 {
		t.Errorf("%d links, %d dropped; want 5000 and 95000", len(f.Links), f.Dropped)
	}
}

func TestLinksAfterAGiantTokenAreFound(t *testing.T) {
	t.Parallel()
	giant := strings.Repeat("QUJD", 1<<19) // 2 MiB
	for _, c := range []struct{ name, html, want string }{
		{"a data: image", `<img src="data:image/png;base64,` + giant + `"><a href=/b>`, "L /b"},
		{"a tag, whose own link is lost", `<a title="` + giant + `" href=/lost><a href=/b>`, "L /b"},
		{"a comment", `<!-- ` + giant + `--><a href=/b>`, "L /b"},
		{"plain text", giant + `<a href=/b>`, "L /b"},
		{"a JSON-LD block", `<script type=application/ld+json>{"name":"` + giant + `","url":"/no"}</script><a href=/b>`, "L /b"},
		{"a script that writes tags", `<script>var x = "` + giant + `<a href=/no>";</script><a href=/b>`, "L /b"},
		{"a style element", `<style>/*` + giant + `*/ p { background: url(/c) }</style><a href=/b>`, "E /c, L /b"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := short(find(t, page(t), c.html, discover.Bounds{})); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

// check checks the invariants of all results.
func check(t *testing.T, f discover.Result, maxLinks int) {
	t.Helper()
	if len(f.Links) > maxLinks {
		t.Errorf("%d links, want at most %d", len(f.Links), maxLinks)
	}
	seen := map[uri.URI]bool{}
	for _, l := range f.Links {
		if again, err := uri.Parse(l.URI.String()); err != nil || again != l.URI {
			t.Errorf("link %q is not canonical: %q, %v", l.URI, again, err)
		}
		if l.URI.String() == here || seen[l.URI] {
			t.Errorf("link %q is the document itself or is listed twice", l.URI)
		}
		if !slices.Contains([]uri.Hop{uri.Embed, uri.Link, uri.Redirect, uri.Manifest, uri.Speculative}, l.Hop) {
			t.Errorf("link %q has hop %q", l.URI, l.Hop)
		}
		seen[l.URI] = true
	}
}

func FuzzLinks(f *testing.F) {
	types := []string{"text/html", "text/css", "text/html; charset=windows-1252", "text/html; charset=shift_jis", "text/javascript", ""}
	for i, s := range []string{
		`<base href=x/><a href="b">&amp;<img srcset="/a 1x, /b,c 2x" style="a:url(b)"><noscript><img src=/c></noscript>`,
		`@import "a"; p { b: url( "c\64 " ), image-set("d" type("e") 1x) `,
		"<svg><style/><script href=/é?é></script></svg><meta http-equiv=refresh content='1;url=\xe9?\xe9'>",
		`<script type=application/ld+json>{"image":[{"url":"\/i.png"},"\u002fj"],"@context":{},"url":"/u",}</script><script>'/a.js'</script><p onclick="go('/x')">`,
		"<iframe srcdoc='<a href=/x>'></iframe><link rel=stylesheet href=//y><style>a{b:url(c)}",
	} {
		f.Add(types[i], "5; url=/r", "</l>; rel=next", []byte(s))
	}
	f.Fuzz(func(t *testing.T, contentType, refresh, link string, content []byte) {
		const maxLinks = 10
		doc := response(t, 200, "Content-Type", contentType, "Refresh", refresh, "Link", link)
		check(t, find(t, doc, string(content), discover.Bounds{MaxLinks: maxLinks, Speculative: true}), maxLinks)
		doc = response(t, 302, "Location", link)
		check(t, find(t, doc, string(content), discover.Bounds{MaxLinks: maxLinks, Speculative: true}), maxLinks)
	})
}

func TestWorkOfHostileContentGrowsWithItsSize(t *testing.T) {
	t.Parallel()
	for _, c := range hostile {
		t.Run(c.name, func(t *testing.T) {
			doc := response(t, 200, "Content-Type", c.contentType)
			slow.Linear(t, c.make, func(text string) { find(t, doc, text, discover.Bounds{Speculative: true}) })
		})
	}
}

func TestWorkOfHostileHeadersGrowsWithTheirSize(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, field string
		make        func(n int) string
	}{
		{"many links", "Link", func(n int) string { return many(n/24, "</%d>; rel=next, ") }},
		{"commas", "Link", func(n int) string { return strings.Repeat(",", n) }},
		{"brackets that never end", "Link", func(n int) string { return strings.Repeat("<", n) }},
		{"quotes that never end", "Link", func(n int) string { return "</a>; rel=\"" + strings.Repeat(`\"`, n/2) }},
		{"many parameters", "Link", func(n int) string { return "</a>" + strings.Repeat(";a=b", n/4) }},
		{"a long address", "Refresh", func(n int) string { return "0; url=/" + strings.Repeat("a", n) }},
		{"spaces", "Refresh", func(n int) string { return "0;" + strings.Repeat(" ", n) }},
		{"a long target", "Location", func(n int) string { return "/" + strings.Repeat("../a/", n/5) }},
		{"a long host", "Location", func(n int) string { return "http://" + strings.Repeat("ü", n/2) + "/" }},
		{"many parameters of a type", "Content-Type", func(n int) string { return "text/html" + many(n/8, ";a%d=b") }},
		{"quotes in a type", "Content-Type", func(n int) string { return "text/html; charset=\"" + strings.Repeat(`\"`, n/2) }},
		{"a type in pieces", "Content-Type", func(n int) string { return "text/html" + many(n/10, ";a*%d=b") }},
	} {
		t.Run(c.field+": "+c.name, func(t *testing.T) {
			slow.Linear(t, c.make, func(text string) {
				status := 200
				if c.field == "Location" {
					status = 302
				}
				find(t, response(t, status, c.field, text), "<a href=/b>", discover.Bounds{})
			})
		})
	}
}

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
