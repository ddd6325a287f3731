package discover_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/arcrawl/arcrawl/discover"
	"github.com/arcrawl/arcrawl/uri"
)

const here = "https://news.example/a/page.html?q"

func parse(t testing.TB, s string) uri.URI {
	t.Helper()
	u, err := uri.Parse(s)
	must(t, err)
	return u
}

// response returns a document at here. fields are the names and values of its header, alternately.
func response(t testing.TB, status int, fields ...string) discover.Document {
	t.Helper()
	h := http.Header{}
	for i := 0; i < len(fields); i += 2 {
		h.Add(fields[i], fields[i+1])
	}
	return discover.Document{URI: parse(t, here), Status: status, Header: h}
}

func find(t testing.TB, doc discover.Document, content string, b discover.Bounds) discover.Result {
	t.Helper()
	f, err := discover.Links(context.Background(), doc, strings.NewReader(content), b)
	must(t, err)
	return f
}

// short writes links as "E https://cdn.example/x, L /y", without the scheme and host of news.example.
func short(f discover.Result) string {
	var lines []string
	for _, l := range f.Links {
		s := l.URI.String()
		if local, ok := strings.CutPrefix(s, "https://news.example"); ok {
			s = local
		}
		lines = append(lines, string(rune(l.Hop))+" "+s)
	}
	return strings.Join(lines, ", ")
}

// page returns a page in UTF-8.
func page(t testing.TB) discover.Document {
	return response(t, 200, "Content-Type", "text/html; charset=utf-8")
}

func TestLinksOfElements(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, html, want string }{
		{"a link", `<a href="b">`, "L /a/b"},
		{"a nofollow link", `<a href=/b rel=nofollow>`, "L /b"},
		{"an area", `<area href=/b>`, "L /b"},
		{"upper-case tags and attributes", `<A HREF=/b>`, "L /b"},
		{"quotes, entities, spaces and line ends", `<a href=/b><a href='/c?x&amp;y'><a href=" /d&#47;e ">` + "<a href='/f\n/g'>", "L /b, L /c?x&y, L /d/e, L /f/g"},
		{"another host and scheme", `<a href="//cdn.example/x"><a href="http://news.example/x">`, "L https://cdn.example/x, L http://news.example/x"},
		{"the document itself", `<a href="#top"><a href=""><a href="?q"><a href="page.html?q#x">`, ""},
		{"a fragment of another document", `<a href="/b#x"><a href="/b#y">`, "L /b"},
		{"an image", `<img src=/i.png srcset="/s.png 1x, /m.png 2x" lowsrc=/l.gif>`, "E /i.png, E /s.png, E /m.png, E /l.gif"},
		{"a lazy image", `<img src="data:image/gif;base64,R0" data-src=/i.png data-srcset="/s.png 100w, /m.png 200w" data-lazy-src=/z.png data-original=/o.png>`, "E /i.png, E /s.png, E /m.png, E /z.png, E /o.png"},
		{"a lazy background", `<div data-bg="url('/b.png')"></div><div data-background-image=/c.png></div>`, "E /b.png, E /c.png"},
		{"data of scripts without an address", `<img data-lazy=true data-src="{{ url }}" data-image='{"a":"/b"}' data-srcset="{{ /x }}">`, ""},
		{"a picture", `<picture><source srcset="/w.webp 2x" src=/x><img src=/i.jpg></picture>`, "E /w.webp, E /x, E /i.jpg"},
		{"video and audio", `<video src=/v.mp4 poster=/p.jpg><source src=/w.mp4><track src=/t.vtt></video><audio src=/a.mp3>`, "E /v.mp4, E /p.jpg, E /w.mp4, E /t.vtt, E /a.mp3"},
		{"embed, object, param", `<embed src=/e><object data=/o><param name=movie value=/m.swf><param name=x value=/y></object>`, "E /e, E /o, E /m.swf"},
		{"frames", `<frameset><frame src=/f></frameset><iframe src=/i></iframe>`, "E /f, E /i"},
		{"a srcdoc page", `<iframe srcdoc="<base href=/x/><a href=b><img src='c?a&amp;amp;d'>"></iframe><img src=e>`, "L /a/b, E /a/c?a&d, E /a/e"},
		{"a frame in a srcdoc page", `<iframe srcdoc="<iframe srcdoc='<a href=/no>'></iframe><a href=/b>"></iframe>`, "L /b"},
		{"a script", `<script src=/s.js></script><script>var u = "<a href=/no>";</script><a href=/b>`, "E /s.js, L /b"},
		{"an image button", `<input type=IMAGE src=/i.png><input type=text src=/no>`, "E /i.png"},
		{"backgrounds", `<body background=/b.gif><table background=/t.gif><td background=/d.gif>`, "E /b.gif, E /t.gif, E /d.gif"},
		{"SVG", `<svg><image href=/i.png /><image xlink:href=/j.png></image><use xlink:href="/s.svg#x"/><use href="#y"/><a xlink:href=/b><feImage href=/f.png /></svg>`, "E /i.png, E /j.png, E /s.svg, L /b, E /f.png"},
		{"an empty script or style in SVG", `<svg><style/><script href="/s.js"/><title/><a href=/b></a></svg><a href=/c>`, "E /s.js, L /b, L /c"},
		{"an empty style after SVG is not empty", `<svg></svg><style/><a href=/no></style><a href=/b>`, "L /b"},
		{"a style element", `<style>@import "/i.css"; p { background: url(/b.png) }</style><a href=/c>`, "E /i.css, E /b.png, L /c"},
		{"a style attribute", `<p style="background-image: url(&quot;/b.png&quot;)">`, "E /b.png"},
		{"style sheets, icons and preloads", `<link rel=stylesheet href=/s.css><link rel="Shortcut Icon" href=/f.ico><link rel=apple-touch-icon href=/t.png><link rel=preload href=/p imagesrcset="/q 1x"><link rel=modulepreload href=/m.js><link rel=manifest href=/w.json><link rel="alternate stylesheet" href=/alt.css>`, "E /s.css, E /f.ico, E /t.png, E /p, E /q, E /m.js, E /w.json, E /alt.css"},
		{"relations to other pages", `<link rel=alternate href=/feed><link rel=next href=/2><link rel=prev href=/0><link rel=canonical href=/c><link rel=amphtml href=/amp><link rel="made up" href=/m><link href=/n>`, "L /feed, L /2, L /0, L /c, L /amp, L /m, L /n"},
		{"hints and services", `<link rel=dns-prefetch href=//x.example><link rel=preconnect href=//y.example><link rel=pingback href=/ping>`, ""},
		{"a meta refresh", `<meta http-equiv=Refresh content="5; URL='/next'">`, "R /next"},
		{"a meta refresh in noscript", `<noscript><meta http-equiv=refresh content="0;/plain"></noscript>`, "R /plain"},
		{"a reload", `<meta http-equiv=refresh content=300>`, ""},
		{"Open Graph and Twitter cards", `<meta property=og:image content=/o.jpg><meta property=og:url content=/c><meta name=twitter:image content=/t.jpg><meta property=og:title content=/no>`, "E /o.jpg, L /c, E /t.jpg"},
		{"an image in noscript", `<noscript><img src=/i.png></noscript><a href=/b>`, "E /i.png, L /b"},
		{"a link in noframes", `<noframes><a href=/b></noframes>`, "L /b"},
		{"requests that change something", `<form action=/f method=post></form><form action=/g method=dialog></form><button formaction=/h><a ping=/i><link rel=hub href=/j>`, ""},
		{"forms with GET", `<form action=/f></form><form method=GET action=/g>`, "L /f, L /g"},
		{"citations", `<blockquote cite=/1></blockquote><q cite=/2></q><ins cite=/3></ins><del cite=/4></del><p cite=/no>`, "L /1, L /2, L /3, L /4"},
		{"long descriptions", `<img longdesc=/i.html><iframe longdesc=/f.html>`, "L /i.html, L /f.html"},
		{"an application cache", `<html manifest=/site.appcache>`, "E /site.appcache"},
		{"an object with a codebase", `<object codebase=/code/ data=o.swf archive="a.jar /b.jar"></object><a href=c>`, "E /code/o.swf, E /code/a.jar, E /b.jar, L /a/c"},
		{"an object with a faulty codebase", `<object codebase="javascript:" data=o.swf classid=clsid:D27CDB6E></object>`, "E /a/o.swf"},
		{"an applet", `<applet codebase=/j code=A.class archive="b.jar, c.jar">`, "E /A.class, E /b.jar, E /c.jar"},
		{"a picture with sources", `<picture><source srcset="/p.avif 1x, /q.avif 2x"><img src=/p.jpg></picture>`, "E /p.avif, E /q.avif, E /p.jpg"},
		{"lazy backgrounds in a list", `<div data-bgset="/a.jpg 100w, /b.jpg 200w"><img data-lazyload=/c.jpg data-orig-file=/d.jpg>`, "E /a.jpg, E /b.jpg, E /c.jpg, E /d.jpg"},
		{"properties in link elements", `<link itemprop=thumbnailUrl href=/t.jpg><link itemprop=url href=/u><meta itemprop=contentUrl content=/v.mp4>`, "E /t.jpg, L /u, E /v.mp4"},
		{"sounds and films of cards", `<meta property=og:video content=/v.mp4><meta property=og:audio:url content=/a.mp3><meta name=twitter:player content=/p.html><meta property=og:see_also content=/s>`, "E /v.mp4, E /a.mp3, E /p.html, L /s"},
		{"scripts are not searched by default", `<script>var a = "/no/thing.html"</script><p onclick="go('/no/way.html')">`, ""},
		{"comments, titles and text areas", `<!-- <a href=/no> --><title><a href=/no></title><textarea><a href=/no></textarea><a href=/b>`, "L /b"},
		{"a base", `<base href="/x/y"><a href=b>`, "L /x/b"},
		{"only the first base counts", `<base href="/x/"><base href="/y/"><a href=b>`, "L /x/b"},
		{"a base without address", `<base target=_top><base href="/y/"><a href=b>`, "L /y/b"},
		{"a faulty base", `<base href="javascript:1"><base href="/y/"><a href=b>`, "L /a/b"},
		{"a base on another host", `<a href=b><base href="//cdn.example/"><a href=b><a href=#x>`, "L /a/b, L https://cdn.example/b"},
		{"each link once, at its first place", `<a href=/b><a href=/c><a href=/b><a href="/./b">`, "L /b, L /c"},
		{"embedded later is an embed", `<a href=/i.png><a href=/c><img src=/./i.png>`, "E /i.png, L /c"},
		{"linked later is still an embed", `<img src=/i.png><a href=/i.png>`, "E /i.png"},
		{"a refresh that is also a link", `<a href=/b><meta http-equiv=refresh content="1;url=/b">`, "R /b"},
		{"a tag without an end", `<a href=/b><a href=/c`, "L /b"},
		{"an attribute given twice", `<a href=/b href=/c>`, "L /b"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := short(find(t, page(t), c.html, discover.Bounds{})); got != c.want {
				t.Errorf("%s\n got %s\nwant %s", c.html, got, c.want)
			}
		})
	}
}

func TestXHTMLMayHaveEmptyScripts(t *testing.T) {
	t.Parallel()
	const text = `<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><script src="/s.js"/><a href="/b"/></html>`
	if got, want := short(find(t, response(t, 200, "Content-Type", "application/xhtml+xml"), text, discover.Bounds{})), "E /s.js, L /b"; got != want {
		t.Errorf("as XHTML: got %s, want %s", got, want)
	}
	if got, want := short(find(t, page(t), text, discover.Bounds{})), "E /s.js"; got != want {
		t.Errorf("as HTML: got %s, want %s", got, want)
	}
}

func TestLinksOfImageLists(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, list, want string }{
		{"one", "/a", "E /a"},
		{"densities", "/a 1x, /b 2x", "E /a, E /b"},
		{"no space after the comma", "/a 1x,/b 2x", "E /a, E /b"},
		{"no descriptors", "/a, /b", "E /a, E /b"},
		{"commas in addresses", "/w_100,h_50/a 100w, /w_200,h_100/a 200w", "E /w_100,h_50/a, E /w_200,h_100/a"},
		{"commas in parentheses", "/a foo(1,2) 1x, /b", "E /a, E /b"},
		{"stray commas and line ends", " ,, /a 1x ,\n\t/b 2x,", "E /a, E /b"},
		{"a data: address in between", "data:image/gif;base64,R0lG 1x, /b 2x", "E /b"},
		{"nothing", " , ", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := short(find(t, page(t), `<img srcset="`+c.list+`">`, discover.Bounds{})); got != c.want {
				t.Errorf("%s\n got %s\nwant %s", c.list, got, c.want)
			}
		})
	}
}

func TestLinksOfStyleSheets(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, css, want string }{
		{"no quotes", `p { background: url(b.png) }`, "E /a/b.png"},
		{"spaces", `p { background: URL(  /b.png  ) no-repeat }`, "E /b.png"},
		{"quotes", `p { background: url("/b.png"), url('/c.png') }`, "E /b.png, E /c.png"},
		{"parentheses and spaces in quotes", `p { background: url("/b(1) x.png") }`, "E /b(1)%20x.png"},
		{"escapes", `p { background: url(/b\(1\).png), url("/\63 \00064.png"), url('/e\"f') }`, "E /b(1).png, E /cd.png, E /e%22f"},
		{"an escaped line end", "p { background: url(\"/b\\\n.png\") }", "E /b.png"},
		{"imports", `@import "/i.css"; @import url(/j.css) screen; @IMPORT '/k.css' layer(x);`, "E /i.css, E /j.css, E /k.css"},
		{"strings outside @import", `@charset "utf-8"; p { content: "/no"; font: "x.y" }`, ""},
		{"an image set", `p { background: image-set("/a.avif" type("image/avif") 1x, url(/b.png) 2x); content: "/no" }`, "E /a.avif, E /b.png"},
		{"an unclosed image set", `p { background: image-set("/a.png" 1x; content: "/no" }`, "E /a.png"},
		{"an escape of an invalid character", `p { background: url("/a\0 b\d800 c") }`, "E /a%EF%BF%BDb%EF%BF%BDc"},
		{"a prefixed image set", `p { background: -webkit-image-set(url(/a.png) 1x, "/b.png" 2x) }`, "E /a.png, E /b.png"},
		{"fonts", `@font-face { src: local("Arial"), url(/f.woff2) format("woff2") }`, "E /f.woff2"},
		{"a namespace", `@namespace svg url(http://www.w3.org/2000/svg); p { background: url(/b) }`, "E /b"},
		{"a document rule", `@-moz-document url(http://x.example/) { p { background: url(/b) } }`, "E /b"},
		{"data and fragments", `p { background: url(data:image/png;base64,AA), url(#x) }`, ""},
		{"a comment", `/* url(/no) */ p { background: url(/b) }`, "E /b"},
		{"unclosed at the end", `p { background: url(/b.png`, "E /b.png"},
		{"unclosed at the end, quoted", `p { background: url("/b.png`, "E /b.png"},
		{"a faulty url() is skipped", `p { background: url(/b c) } q { background: url(/d) }`, "E /d"},
		{"after a byte order mark", "\uFEFF@import '/i.css';", "E /i.css"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := short(find(t, response(t, 200, "Content-Type", "text/css"), c.css, discover.Bounds{})); got != c.want {
				t.Errorf("%s\n got %s\nwant %s", c.css, got, c.want)
			}
		})
	}
}

func TestLinksOfHeaders(t *testing.T) {
	t.Parallel()
	const body = `<a href=/body>`
	for _, c := range []struct {
		name   string
		status int
		fields []string
		want   string
	}{
		{"a redirect has only its target", 301, []string{"Location", "/new", "Link", "</s.css>; rel=stylesheet"}, "R /new"},
		{"a relative target", 302, []string{"Location", "new"}, "R /a/new"},
		{"see other", 303, []string{"Location", "http://o.example"}, "R http://o.example/"},
		{"temporary", 307, []string{"Location", "/new#x"}, "R /new"},
		{"permanent", 308, []string{"Location", " /new "}, "R /new"},
		{"UTF-8 in the target", 301, []string{"Location", "/ú"}, "R /%C3%BA"},
		{"Latin-1 in the target stays unchanged", 301, []string{"Location", "/\xfa?\xe9"}, "R /%FA?%E9"},
		{"an internationalized name in the target", 301, []string{"Location", "http://bücher.example/"}, "R http://xn--bcher-kva.example/"},
		{"a redirect without a target is a page", 301, nil, "L /body"},
		{"a redirect to mailto:", 301, []string{"Location", "mailto:a@news.example"}, ""},
		{"a redirect to itself", 301, []string{"Location", here}, ""},
		{"a Location elsewhere is not followed", 201, []string{"Location", "/new"}, "L /body"},
		{"not modified", 304, []string{"Location", "/new"}, "L /body"},
		{"Refresh", 200, []string{"Refresh", "5; url=/next"}, "R /next, L /body"},
		{"Refresh that reloads", 200, []string{"Refresh", "5"}, "L /body"},
		{"Link to style sheets and icons", 200, []string{"Link", `</s.css>; rel=preload; as=style, </f.ico>;rel="shortcut icon"`}, "E /s.css, E /f.ico, L /body"},
		{"Link to other pages", 200, []string{"Link", `<?page=2>; title="a, b; c"; rel="next"`, "Link", "</c>; REL = canonical"}, "L /a/page.html?page=2, L /c, L /body"},
		{"Link with other relations", 200, []string{"Link", `<https://news.example/wp-json/>; rel="https://api.w.org/", </x>, </y>; rel=preconnect`}, "L /body"},
		{"Link with a broken value", 200, []string{"Link", `</b>; rel=next, oops, </c>; rel=next`, "Link", `</d; rel=next`}, "L /b, L /body"},
		{"Link to a feed", 200, []string{"Link", `</f.xml>; rel=alternate; type="application/atom+xml"`}, "M /f.xml, L /body"},
		{"Link to an image list", 200, []string{"Link", `</p.jpg>; rel=preload; as=image; imagesrcset="/p.jpg 1x, /q.jpg 2x"`}, "E /p.jpg, E /q.jpg, L /body"},
		{"only the first rel counts", 200, []string{"Link", `</b>; rel=next; rel=stylesheet`}, "L /b, L /body"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			fields := append([]string{"Content-Type", "text/html"}, c.fields...)
			if got := short(find(t, response(t, c.status, fields...), body, discover.Bounds{})); got != c.want {
				t.Errorf("%d %q\n got %s\nwant %s", c.status, c.fields, got, c.want)
			}
		})
	}
}

func TestRefreshTarget(t *testing.T) {
	t.Parallel()
	for content, want := range map[string]string{
		"5;url=/b":          "R /b",
		"5; URL = /b":       "R /b",
		" 0.5 , /b":         "R /b",
		"5 url=/b":          "R /b",
		"5;url='/b' x":      "R /b",
		"5;'/b":             "R /b",
		"5;urls":            "R /a/urls",
		"5;url=/b?url=/c":   "R /b?url=/c",
		"url=/b":            "",
		"5x;url=/b":         "",
		"5;":                "",
		"5;url=":            "",
		"5;url=javascript:": "",
		"":                  "",
	} {
		if got := short(find(t, response(t, 200, "Refresh", content), "", discover.Bounds{})); got != want {
			t.Errorf("%q: got %q, want %q", content, got, want)
		}
	}
}

func TestContentTypeDecidesHowToRead(t *testing.T) {
	t.Parallel()
	const body = `<!DOCTYPE html><a href=/b>`
	for contentType, want := range map[string]string{
		"text/html":                     "L /b",
		" Text/HTML ; charset=utf-8":    "L /b",
		"application/xhtml+xml":         "L /b",
		"text/plain":                    "",
		"application/xml":               "",
		"application/rss+xml":           "",
		"image/svg+xml":                 "L /b",
		"image/png":                     "",
		"application/javascript":        "",
		"text/html,text/html":           "",
		"text/html; charset=a;charset=": "L /b",
	} {
		if got := short(find(t, response(t, 200, "Content-Type", contentType), body, discover.Bounds{})); got != want {
			t.Errorf("%q: got %q, want %q", contentType, got, want)
		}
	}
	if got := short(find(t, response(t, 200), "  \n"+body, discover.Bounds{})); got != "L /b" {
		t.Errorf("without a type, looking like HTML: got %q", got)
	}
	if got := short(find(t, response(t, 200), "plain <a href=/b>", discover.Bounds{})); got != "" {
		t.Errorf("without a type, not looking like HTML: got %q", got)
	}
}

func TestLinksReadsContentOnlyIfNeeded(t *testing.T) {
	t.Parallel()
	unreadable := iotest.ErrReader(errors.New("read"))
	for _, doc := range []discover.Document{
		response(t, 200, "Content-Type", "image/png"),
		response(t, 301, "Content-Type", "text/html", "Location", "/b"),
	} {
		if _, err := discover.Links(context.Background(), doc, unreadable, discover.Bounds{}); err != nil {
			t.Errorf("%d %v: %v", doc.Status, doc.Header, err)
		}
	}
	if f, err := discover.Links(context.Background(), page(t), nil, discover.Bounds{}); err != nil || len(f.Links) > 0 {
		t.Errorf("without content: %v, %v", f, err)
	}
}

func TestLinksBeforeAReadErrorAreReturned(t *testing.T) {
	t.Parallel()
	broken := errors.New("unexpected end")
	content := io.MultiReader(strings.NewReader("<a href=/b>"), iotest.ErrReader(broken))
	f, err := discover.Links(context.Background(), page(t), content, discover.Bounds{})
	if !errors.Is(err, broken) || short(f) != "L /b" {
		t.Errorf("got %s, %v", short(f), err)
	}
	if !strings.Contains(err.Error(), here) {
		t.Errorf("error %q does not contain the URI", err)
	}
}

func TestRefusedReferencesAreCounted(t *testing.T) {
	t.Parallel()
	got := find(t, page(t), `<a href="mailto:a@b"><a href="javascript:x()"><a href="java`+"\n"+`script:y()"><img src="data:,x"><a href="http://[x"><a href=/`+
		strings.Repeat("a", uri.MaxLength)+`><a href="http:b:c"><a href=/b>`, discover.Bounds{})
	want := discover.Result{
		Links:   []discover.Link{{URI: parse(t, "https://news.example/b"), Hop: uri.Link}},
		Refused: 7,
	}
	if diff := cmp.Diff(want, got, cmp.Comparer(func(a, b uri.URI) bool { return a == b })); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestMaxLinksBoundsLinks(t *testing.T) {
	t.Parallel()
	got := find(t, page(t), `<a href=/1><a href=/2><a href=/1><a href=/3><a href=/4><img src=/2><a href=mailto:x>`, discover.Bounds{MaxLinks: 2})
	if short(got) != "L /1, E /2" || got.Dropped != 2 || got.Refused != 1 {
		t.Errorf("got %s, %d dropped, %d refused", short(got), got.Dropped, got.Refused)
	}
}

func TestMaxLinksBoundsFaultyReferences(t *testing.T) {
	t.Parallel()
	got := find(t, page(t), many(10, "<a href=http://[%d>"), discover.Bounds{MaxLinks: 1})
	if len(got.Links) != 0 || got.Refused != 4 || got.Dropped != 6 {
		t.Errorf("got %s, %d refused, %d dropped", short(got), got.Refused, got.Dropped)
	}
}

func TestMaxBytesBoundsReading(t *testing.T) {
	t.Parallel()
	const first = "<a href=/1>"
	got := find(t, page(t), first+"<a href=/2>", discover.Bounds{MaxBytes: int64(len(first))})
	if short(got) != "L /1" || !got.Cut {
		t.Errorf("got %s, cut %v", short(got), got.Cut)
	}
	if got := find(t, page(t), first, discover.Bounds{MaxBytes: int64(len(first))}); short(got) != "L /1" || got.Cut {
		t.Errorf("with exactly MaxBytes: got %s, cut %v", short(got), got.Cut)
	}
}

func TestLinksDoesNotChangeItsArguments(t *testing.T) {
	t.Parallel()
	doc := page(t)
	content := []byte(`<a href=/1><style>p { background: url(/2) }</style><p style="background: url(/3)">`)
	same := bytes.Clone(content)
	header := doc.Header.Clone()
	if _, err := discover.Links(context.Background(), doc, bytes.NewReader(content), discover.Bounds{}); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(content, same) || !cmp.Equal(header, doc.Header) {
		t.Error("content or header was changed")
	}
}

// must ends the test if there is an error.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestTheTitleIsOneShortLine reads titles of pages, hostile ones too.
func TestTheTitleIsOneShortLine(t *testing.T) {
	t.Parallel()
	header := http.Header{"Content-Type": {"text/html"}}
	for text, want := range map[string]string{
		"<title>\n A  &amp; B\t</title><title>no</title>": "A & B", "<p>no": "", "<title>a\u202eb\u0007c</title>": "a b c",
		"<title>&lt;script&gt;alert(1)&lt;/script&gt;</title>":          "<script>alert(1)</script>",
		"<title>" + strings.Repeat("\u00fc", 150) + "</title>":          strings.Repeat("\u00fc", 100),
		"<title>x" + strings.Repeat("\u00fc", 150) + "</title>":         "x" + strings.Repeat("\u00fc", 99),
		"<meta charset=iso-8859-1><title>\xfc</title>":                  "\u00fc",
		"<title>" + strings.Repeat("a ", 1<<20) + "</title><a href=/x>": strings.TrimSpace(strings.Repeat("a ", 100)),
	} {
		doc := discover.Document{URI: uri.FromCanonical("http://a.example/"), Status: 200, Header: header}
		got, err := discover.Links(context.Background(), doc, strings.NewReader(text), discover.Bounds{})
		if err != nil || strings.TrimSpace(got.Title) != want {
			t.Errorf("%.60q has the title %q, %v; want %q", text, got.Title, err, want)
		}
	}
}
