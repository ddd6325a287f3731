package discover

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/arcrawl/arcrawl/uri"
)

// resolves checks that the references of one page are resolved as Join resolves them. It returns how many of them were
// resolved as plain references.
func resolves(t interface {
	Helper()
	Fatalf(string, ...any)
}, base uri.URI, refs ...string,
) (short int) {
	t.Helper()
	p := newPage(context.Background(), base, 1000)
	var want Result
	for _, ref := range refs {
		p.add([]byte(ref), uri.Link)
		if trimmed := strings.TrimFunc(ref, func(c rune) bool { return c <= ' ' }); trimmed != "" && p.resolvePlain([]byte(trimmed)) != nil {
			short++
		}
		switch u, err := base.Join(ref); {
		case err != nil:
			want.Refused++
		case u != base && !slices.Contains(want.Links, Link{URI: u, Hop: uri.Link}):
			want.Links = append(want.Links, Link{URI: u, Hop: uri.Link})
		}
	}
	if !slices.Equal(p.result.Links, want.Links) || (p.result.Refused == 0) != (want.Refused == 0) {
		t.Fatalf("%q in %s: %v, %d refused; want %v, %d", refs, base, p.result.Links, p.result.Refused, want.Links, want.Refused)
	}
	return short
}

var bases = []string{
	"https://news.example/a/b?c", "http://news.example:8080/", "http://[::1]/x", "http://news.example/a//b/", "https://news.example/d.e/f%2Fg.html?h=/i/j",
	"http://news.example/?", "http://news.example/a?b?c",
}

// TestReferencesAreResolvedAsByJoin justifies that plain references are resolved without Join, and that fragments and
// other schemes are handled before resolving.
func TestReferencesAreResolvedAsByJoin(t *testing.T) {
	t.Parallel()
	piece := rapid.OneOf(
		rapid.SampledFrom([]string{"/", ".", "..", "/./", "//", "a", "a.b", "?", "#", "%2e", "%41", "%", "\\", "'", "é", " ", "\n", "|", "[", "https://news.example", ":8080", ":", "@", "http:", "x+1:"}),
		rapid.StringMatching(`[ -~]`),
	)
	short := 0
	rapid.Check(t, func(t *rapid.T) {
		base, err := uri.Parse(rapid.SampledFrom(bases).Draw(t, "base"))
		if err != nil {
			t.Fatal(err)
		}
		starts := []string{"/", "/", "", origin(base), origin(base) + "/", "?", "a", "https://cdn.example/", "//cdn.example/", "http://CDN.example/", "http://cdn.example:80/", "http://u@cdn.example/", "HTTPS://cdn.example/"}
		var refs []string
		for range rapid.IntRange(1, 4).Draw(t, "references") {
			ref := rapid.SampledFrom(starts).Draw(t, "start")
			for _, s := range rapid.SliceOfN(piece, 0, 8).Draw(t, "rest") {
				ref += s
			}
			refs = append(refs, ref)
		}
		short += resolves(t, base, refs...)
	})
	if short == 0 {
		t.Error("no reference was resolved as a plain one")
	}
}

func TestCommonReferencesArePlain(t *testing.T) {
	t.Parallel()
	base, err := uri.Parse("https://news.example/politics/today.html?page=1")
	if err != nil {
		t.Fatal(err)
	}
	for _, ref := range []string{
		"/", "/d/1", "/a-headline_of,2026.html?x=1&y=%20z", "next.html", "a/b/c", "?page=2", "https://news.example/sport/", "https://news.example/%C3%A4", "//cdn.example/b.png",
	} {
		if resolves(t, base, "https://cdn.example/a.png", ref) == 0 {
			t.Errorf("%q was not resolved as a plain reference", ref)
		}
	}
	if resolves(t, base, "https://cdn.example/a.png", "https://cdn.example/b.png") != 2 { // the origin is in the cache now
		t.Error("an origin was not remembered")
	}
}

// FuzzResolve compares the resolution of plain references with Join.
func FuzzResolve(f *testing.F) {
	for _, base := range bases {
		for _, ref := range []string{"/a/b", "a.b/../c", "?a=/.", "https://cdn.example/%2e/", "//cdn.example//a", "a:b", "%2E", "/%2f.", "h", "http", "http:a", "https://cdn.example/?a"} {
			f.Add(base, ref)
		}
	}
	f.Fuzz(func(t *testing.T, in, ref string) {
		base, err := uri.Parse(in)
		if err != nil || strings.IndexByte(ref, '#') >= 0 { // references with a fragment are handled elsewhere
			return
		}
		resolves(t, base, "https://cdn.example/", ref, fmt.Sprint("https://cdn.example/", ref), fmt.Sprint(origin(base), ref))
	})
}

// bothWays reads a page with skimming, and with the tokenizer alone.
func bothWays(t *testing.T, text string) (skimmed, tokenized *page) {
	t.Helper()
	self, err := uri.Parse("http://www.example.org/a/b")
	if err != nil {
		t.Fatal(err)
	}
	skimmed, tokenized = newPage(context.Background(), self, 1000), newPage(context.Background(), self, 1000)
	skimmed.speculative, tokenized.speculative, tokenized.noSkim = true, true, true
	skimmed.wording.on, tokenized.wording.on = true, true
	content := []byte(text)
	skimmed.html(content)
	if string(content) != text {
		t.Errorf("skimming changed the text %q", text)
	}
	tokenized.html([]byte(text))
	return skimmed, tokenized
}

// compareBothWays checks that skimming and the tokenizer find the same links and title.
func compareBothWays(t *testing.T, text string) {
	t.Helper()
	a, b := bothWays(t, text)
	if !slices.Equal(a.result.Links, b.result.Links) || !slices.Equal(a.guessed, b.guessed) ||
		a.result.Dropped != b.result.Dropped ||
		a.result.Refused != b.result.Refused || a.base != b.base || a.result.Title != b.result.Title {
		t.Errorf("%q: got %+v by skimming, %+v by the tokenizer", text, a.result, b.result)
	}
}

// oddMarkup is markup that a quick reader may read wrongly.
var oddMarkup = []string{
	"<a href=/1>", "<A HREF='/1'>", "<a href = \"/1\" href=/2>", "<a =href=/1>", "<a href/=/1>", "<a/href=/1>", "<a href=/1/>", "<a href=\"/1\"/>",
	"<a href=/1?a=b&amp;c><a href='/2?x&y'>", "<a title='>' href=/1>", "<a title=\">\" href=/1></a title='>' <a href=/2>'><a href=/3>",
	"<!--><a href=/1>-->", "<!---><a href=/1>-->", "<!-- <a href=/1> --!><a href=/2>", "<!-- a --!- <a href=/1> --><a href=/2>", "<!----><a href=/1>",
	"<!-- <a href=/1>", "<!doctype html><a href=/1>", "<!a><a href=/1>", "<!><a href=/1>", "<!-><a href=/1>", "<?php echo '>' ?><a href=/1>",
	"</><a href=/1>", "</ a><a href=/1>", "<3 <a href=/1>", "< a href=/1><a href=/2>", "<<a href=/1>", "<a <a href=/1>", "<a href=/1", "<a href='/1>",
	"<script>'<a href=/1>'</script><a href=/2>", "<script><!-- <script> </script> --></script><a href=/3>", "<style><a href=/1></style><a href=/2>",
	"<script type=application/ld+json>{\"url\":\"/1\"}</script><a href=/2>", "<object codebase=/c/ data=1></object><form action=/2>",
	"<title><a href=/1></title><a href=/2>", "<TITLE> a\n b</Title><title>c</title><a href=/1>", "<title></title><title a>b &lt; c</title >",
	"<Style a=1>@import '/1';\n</STYLE><a href=/2>", "<style>url(/1)</styles>url(/2)</style ><a href=/3>", "<style></style><style>url(/1)", "<style>url(/1\r)</style>",
	"<script src=/1>'/2.js'</script><a href=/3>", "<script>'/1.js</script'/2.js'></script>", "<script>'/1.js' </ '/2.js'\x00</script>", "<script src='a&amp;b'></script>",
	"<script type=application/ld+json></script><script>'/1.js'", "<script/>'/1.js'</script/><a href=/2>", "<style><!-- </style> --></style>url(/1)", "<script>a</SCRIPT\n><a href=/1>",
	"<title>a\x00b</title>", "<title>a\rb", "<title>a</titles><a href=/1></title", "<title/>a</title/>", "<noscript><img src=/1></noscript>", "<textarea><a href=/1></textarea ><a href=/2>",
	"<plaintext><a href=/1>", "<svg><script href=/1/></script><a href=/2></svg>", "<svg/><style/><a href=/1>", "<svg a=/><style/><a href=/1>",
	"<svg a='/'><style/><a href=/1>", "<svg a/><style/><a href=/1>", "<SVG><style/></SvG foo><style/><a href=/1>", "<svg><style/></svgx><style/><a href=/1>",
	"<iframe srcdoc='<a href=/1>'></iframe><a href=/2>", "<base href=/x/><a href=1>", "<a href=\x001>", "<a hr\x00ef=/1>", "<a href=/1\r\n2>", "<a href='/1\r\n2'>",
	"<a style='background:url(/1)'>", "<img srcset='/1 1x, /2 2x' data-src=/3>", "<a href=\x80\xff>", "<p a=1 b=2 c=3 a=4><a href=/1>", "<a href>/1</a>", "<a href =\n/1>",
}

func TestSkimmingFindsWhatTheTokenizerFinds(t *testing.T) {
	t.Parallel()
	back := strings.Repeat("<p>", minTokenized/3) // after this, skimming continues
	long := strings.Repeat("one two three four five ", 150)
	for _, odd := range []string{"<3 ", "</ ", "\x00<a", "&amp;<"} { // in the text of a link
		compareBothWays(t, "<a href=/1>"+long+odd+long+long+"</a>")
	}
	for _, name := range oddMarkup {
		compareBothWays(t, name)
		compareBothWays(t, "<p>before</p>"+name+"<a href=/last>")
		for _, two := range oddMarkup {
			compareBothWays(t, name+two)
			compareBothWays(t, name+back+two)
		}
	}
}

func FuzzSkimming(f *testing.F) {
	for _, text := range oddMarkup {
		f.Add(text)
	}
	f.Fuzz(compareBothWays)
}

// TestLinksOfXML reads each document with skimming and with the tokenizer alone.
func TestLinksOfXML(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, text, want string }{
		{"a style sheet", `<?xml version="1.0"?><?xml-stylesheet type="text/css" href="/a.css"?><svg/>`, "E /a.css"},
		{"a style sheet, in single quotes and with a reference", `<?xml-stylesheet href='/a.css?b&amp;c' type='text/css' ?>`, "E /a.css?b&c"},
		{"two style sheets", "<?xml-stylesheet\nhref=\"/a.css\"?>\n<?xml-stylesheet href=\"/b.xsl\" type=\"text/xsl\"?>", "E /a.css, E /b.xsl"},
		{"a style sheet in the document itself", `<?xml-stylesheet href="#s" type="text/css"?><a href="/b"/>`, "L /b"},
		{"a style sheet in a comment", `<!-- <?xml-stylesheet href="/a.css"?> --><a href="/b"/>`, "L /b"},
		{"another instruction", `<?xml-stylesheets href="/a.css"?><?php href="/b"?><?xml-stylesheet?><?xml-stylesheet href="/c.css">`, ""},
		{"an unclosed instruction", `<?xml-stylesheet href="/a.css"`, ""},
		{"links", `<svg xmlns:xlink="http://www.w3.org/1999/xlink"><a href="/a"/><a xlink:href="/b"><text>b</text></a></svg>`, "L /a, L /b"},
		{"images", `<svg><image href="/a.png"/><image xlink:href="/b.jpg" width="1"/><feImage href="/c.png"/></svg>`, "E /a.png, E /b.jpg, E /c.png"},
		{"use elements", `<svg><use href="#a"/><use xlink:href="/sprite.svg#b"/></svg>`, "E /sprite.svg"},
		{"styles", `<svg><style>@import "/a.css"; .b { fill: url(/b.svg#c) }</style><style/><g style="fill:url(/d.svg#e)"/><a href="/f"/></svg>`, "E /a.css, E /b.svg, E /d.svg, L /f"},
		{"styles in CDATA", `<svg><style><![CDATA[ @import url(/a.css); g > a { fill: red } ]]></style><a href="/b"/></svg>`, "E /a.css, L /b"},
		{"elements with a prefix", `<svg:svg xmlns:svg="http://www.w3.org/2000/svg" xmlns:x="http://www.w3.org/1999/xlink"><svg:a x:href="/a"/><svg:image x:href="/b.png"/><S:USE href="/c.svg#d"/></svg:svg>`, "L /a, E /b.png, E /c.svg"},
		{"styles of elements with a prefix", `<s:svg><s:style>@import "/a.css"; <!-- --></s:style><s:style/>@import "/no.css"; <s:style></s:style>@import "/no.css"; <s:g style="fill:url(/b.svg)"/><s:style>.c { fill: url(/d.svg) }</s:style></s:svg>`, "E /a.css, E /b.svg, E /d.svg"},
		{"elements of other vocabularies", `<svg><atom:link rel="next" href="/a"/><x:a href="/b"/><metadata rdf:href="/no" href="/no"/></svg>`, "L /a, L /b"},
		{"names with several colons, or only a colon", `<svg><a:b:a href="/no"/><: href="/no"/><a :href="/c"/></svg>`, "L /c"},
		{"a script", `<svg><script href="/a.js"/><title>A &lt;a href="/no"></title><a href="/b"/></svg>`, "E /a.js, L /b"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			self, err := uri.Parse("https://news.example/pictures/map.svg")
			if err != nil {
				t.Fatal(err)
			}
			doc := Document{URI: self, Status: http.StatusOK, Header: http.Header{"Content-Type": {"image/svg+xml"}}}
			result, err := Links(context.Background(), doc, strings.NewReader(c.text), Bounds{})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, l := range result.Links {
				got = append(got, string(rune(l.Hop))+" "+strings.TrimPrefix(l.URI.String(), "https://news.example"))
			}
			if strings.Join(got, ", ") != c.want {
				t.Errorf("%s\n got %s\nwant %s", c.text, strings.Join(got, ", "), c.want)
			}
			slow := newPage(context.Background(), self, 100)
			slow.xhtml, slow.noSkim = true, true
			slow.html([]byte(c.text))
			if !slices.Equal(slow.result.Links, result.Links) {
				t.Errorf("%s\n got %v by skimming, %v by the tokenizer", c.text, result.Links, slow.result.Links)
			}
			page := newPage(context.Background(), self, 100)
			page.html([]byte(`<?xml-stylesheet href="/a.css"?>`))
			if len(page.result.Links) > 0 {
				t.Error("an xml-stylesheet instruction has a link in HTML, want none")
			}
		})
	}
}

func FuzzSkimmingXML(f *testing.F) {
	for _, text := range append(oddMarkup, "<s:style>url(/1)</s:style><a:a x:href=/2>", "<s:style/>url(/1)<S:Style>url(/2)", "<s:script>\"/1\"</s:script><:a href=/2><a: href=/3>") {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		fast, slow := newPage(context.Background(), uri.FromCanonical("https://news.example/"), 100), newPage(context.Background(), uri.FromCanonical("https://news.example/"), 100)
		slow.noSkim = true
		for _, p := range []*page{fast, slow} {
			p.xhtml = true
			p.html([]byte(text))
		}
		if !slices.Equal(fast.result.Links, slow.result.Links) || fast.result.Title != slow.result.Title {
			t.Errorf("%q: got %+v by skimming, %+v by the tokenizer", text, fast.result, slow.result)
		}
	})
}
