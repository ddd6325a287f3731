package discover_test

import (
	"strings"
	"testing"
	"time"

	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/unicode"

	"github.com/arcrawl/arcrawl/discover"
)

func TestLinksOfScripts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, js, want string }{
		{"a path from the root", `load("/news/list"); x = '/b'; y = ` + "`/c`", "X /news/list, X /b, X /c"},
		{"full addresses", `a="https://news.example/d";b="//cdn.example/e.js"`, "X /d, X https://cdn.example/e.js"},
		{"relative files", `i="img/1.jpg"; j='../2.png?v=3'; k="./4.html#x"`, "X /a/img/1.jpg, X /2.png?v=3, X /a/4.html"},
		{"escapes", `{"u":"https:\/\/news.example\/e\u0026f","v":"\x2fg"}`, "X /e&f, X /g"},
		{"JSON in a string", `s = "{\"u\":\"\/h\"}"`, "X /h"},
		{"each guess once", `"/b","/b",'/b'`, "X /b"},
		{"unmatched quotes", `// it's a comment` + "\n" + `r = /["']/; a = "/b"`, "X /b"},
		{"a list", `["/1","/2",'/3']`, "X /1, X /2, X /3"},
		{"strings that are not addresses", `"text/html" "a/b" "1.2.3" "/" "//" "./" "../" "/>" "/ x" "a.b.c" "./locale/en" "use strict" "https://" "//comment" "/\\d+/" "${a}/b.js" "/a{b}"`, ""},
		{"an unclosed string", `"/b` + "\n" + `"/c"`, "X /c"},
		{"a string that is too long", `"/` + strings.Repeat("a", 5000) + `" "/c"`, "X /c"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			wanted := discover.Bounds{Speculative: true}
			script := response(t, 200, "Content-Type", "text/javascript; charset=utf-8")
			if got := short(find(t, script, c.js, wanted)); got != c.want {
				t.Errorf("script file %s\n got %s\nwant %s", c.js, got, c.want)
			}
			if got := short(find(t, page(t), "<script>"+c.js+"</script>", wanted)); got != c.want {
				t.Errorf("script element %s\n got %s\nwant %s", c.js, got, c.want)
			}
			if got := short(find(t, script, c.js, discover.Bounds{})); got != "" {
				t.Errorf("without Speculative: %s\n got %s, want nothing", c.js, got)
			}
		})
	}
}

func TestLinksOfScriptsInPages(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, html, want string }{
		{"an event handler", `<p onclick="go('/b')">`, "X /b"},
		{"a javascript: address", `<a href="JavaScript:go('/b')">`, "X /b"},
		{"JSON of the page", `<script type=application/json>{"u":"/b"}</script>`, "X /b"},
		{"JSON-LD is not a guess", `<script type=application/ld+json>{"url":"/b","other":"/c"}</script>`, "L /b"},
		{"a linked URI is not a guess", `<script>"/b";"/c"</script><a href=/b><img src=/d.png>`, "L /b, E /d.png, X /c"},
		{"a page inside a frame", `<iframe srcdoc="<script>'/b'</script>"></iframe>`, "X /b"},
		{"a giant script", `<script>var x = "` + strings.Repeat("QUJD", 1<<19) + `"; y = "/b"</script>`, "X /b"},
		{"text is not a script", `<p>"/b"</p>`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := short(find(t, page(t), c.html, discover.Bounds{Speculative: true})); got != c.want {
				t.Errorf("%.200s\n got %s\nwant %s", c.html, got, c.want)
			}
		})
	}
}

func TestLinksComeBeforeGuesses(t *testing.T) {
	t.Parallel()
	got := find(t, page(t), `<script>"/1","/2","/3"</script><a href=/b>`, discover.Bounds{MaxLinks: 2, Speculative: true})
	if short(got) != "L /b, X /1" || got.Dropped != 2 {
		t.Errorf("got %s, %d dropped", short(got), got.Dropped)
	}
}

func TestLinksDecodesTheContent(t *testing.T) {
	t.Parallel()
	encode := func(e interface{ String(string) (string, error) }, s string) string {
		out, err := e.String(s)
		must(t, err)
		return out
	}
	utf16le := unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewEncoder()
	utf16be := unicode.UTF16(unicode.BigEndian, unicode.UseBOM).NewEncoder()
	sjis, jis := japanese.ShiftJIS.NewEncoder(), japanese.ISO2022JP.NewEncoder()
	kilobyte := strings.Repeat("<p>plain</p>", 100)
	for _, c := range []struct{ name, contentType, body, want string }{
		{"UTF-8 by header", "text/html; charset=utf-8", `<a href="/é?é">`, "L /%C3%A9?%C3%A9"},
		{"UTF-8 not declared", "text/html", `<a href="/é?é">`, "L /%C3%A9?%C3%A9"},
		{"UTF-8 not declared, ASCII in the first kilobyte", "text/html", kilobyte + `<a href="/é?é">`, "L /%C3%A9?%C3%A9"},
		{"UTF-8 with a wrong declaration", "text/html", `<meta charset=windows-1252><a href="/é?é">`, "L /%C3%A9?%C3%A9"},
		{"UTF-8 cut in the middle of a character", "text/html", kilobyte + "<a href=/é>\xc3", "L /%C3%A9"},
		{"UTF-8 with a byte order mark and another header", "text/html; charset=windows-1252", "\xEF\xBB\xBF<a href=/é>", "L /%C3%A9"},
		{"windows-1252 by header", "text/html; charset=windows-1252", "<a href='/\xe9?\xe9=\x80#\xe9'>", "L /%C3%A9?%E9=%80"},
		{"Latin-1 by header", `text/html; Charset="ISO-8859-1"`, "<a href='/\xe9?\xe9'>", "L /%C3%A9?%E9"},
		{"windows-1252 by meta", "text/html", "<meta http-equiv=content-type content='text/html; charset=windows-1252'><a href='/\xe9?\xe9'>", "L /%C3%A9?%E9"},
		{"windows-1252 not declared", "text/html", kilobyte + "<a href='/\xe9?\xe9'>", "L /%C3%A9?%E9"},
		{"an unknown name", "text/html; charset=klingon", "<a href='/\xe9'>", "L /%C3%A9"},
		{"a name that browsers refuse", "text/html; charset=iso-2022-kr", "<a href=/b>", "L /b"},
		{"a query with a character that the encoding lacks", "text/html; charset=windows-1252", "<a href='/?\xe9&#1078;'>", "L /?%C3%A9%D0%B6"},
		{"a style attribute escapes in UTF-8", "text/html; charset=windows-1252", "<p style='background: url(/?\xe9)'>", "E /?%C3%A9"},
		{"UTF-16, little-endian, by byte order mark", "text/html", encode(utf16le, "<a href='/é?é'>"), "L /%C3%A9?%C3%A9"},
		{"UTF-16, big-endian, by byte order mark", "text/html; charset=utf-8", encode(utf16be, "<a href='/é'>"), "L /%C3%A9"},
		{"Shift_JIS, where a second byte may be a backslash", "text/html; charset=shift_jis", encode(sjis, "<a href='/ソ表?表'>"), "L /%E3%82%BD%E8%A1%A8?%95\\"},
		{"ISO-2022-JP by meta, in ASCII bytes", "text/html", "<meta charset=iso-2022-jp>" + encode(jis, "<p>い<</p><a href='/あ'>"), "L /%E3%81%82"},
		{"ISO-2022-JP with a character reference", "text/html", "<meta charset='iso-20&#50;2-jp'>" + encode(jis, "<p>い<</p><a href='/あ'>"), "L /%E3%81%82"},
		{"ISO-2022-JP, where a byte may be a number sign", "text/html; charset=iso-2022-jp", encode(jis, "<a href='/?Ａ#x'>"), "L /?%1B$B%23A%1B(B"},
		{"a style sheet in UTF-8", "text/css", "p { background: url(/é) }", "E /%C3%A9"},
		{"a style sheet by header", "text/css; charset=windows-1252", "p { background: url(/\xe9) }", "E /%C3%A9"},
		{"a style sheet by its @charset rule", "text/css", "@charset \"windows-1252\"; p { background: url(/\xe9) }", "E /%C3%A9"},
		{"a style sheet with an impossible rule", "text/css", "@charset \"utf-16le\"; p { background: url(/é) }", "E /%C3%A9"},
		{"a style sheet in UTF-16", "text/css", encode(utf16le, "p { background: url(/é) }"), "E /%C3%A9"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := short(find(t, response(t, 200, "Content-Type", c.contentType), c.body, discover.Bounds{})); got != c.want {
				t.Errorf("%q\n got %s\nwant %s", c.body, got, c.want)
			}
		})
	}
}

func TestLinksOfJSONLD(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, json, want string }{
		{"an address", `{"@type":"NewsArticle","url":"https://news.example/b"}`, "L /b"},
		{"escaped slashes", `{"url":"https:\/\/news.example\/b\u002fc"}`, "L /b/c"},
		{"images", `{"image":["/1.jpg","/2.jpg"],"thumbnailUrl":"/3.jpg","logo":"/4.png","photo":"/5.jpg"}`, "E /1.jpg, E /2.jpg, E /3.jpg, E /4.png, E /5.jpg"},
		{"an image as an object", `{"publisher":{"url":"/p/","logo":{"@type":"ImageObject","url":"/l.png","width":60}}}`, "L /p/, E /l.png"},
		{"images as objects", `{"image":[{"url":"/1.jpg"},{"contentUrl":"/2.jpg"}],"url":"/b"}`, "E /1.jpg, E /2.jpg, L /b"},
		{"a film", `{"video":{"url":"/v/","contentUrl":"/v.mp4","embedUrl":"/player/v","thumbnailUrl":"/v.jpg"}}`, "L /v/, E /v.mp4, E /player/v, E /v.jpg"},
		{"the page of the article", `{"mainEntityOfPage":"/m1"} `, "L /m1"},
		{"the page of the article by @id", `{"mainEntityOfPage":{"@type":"WebPage","@id":"https://news.example/m2"}}`, "L /m2"},
		{"breadcrumbs", `{"itemListElement":[{"@type":"ListItem","item":"https://news.example/s/"},{"item":{"@id":"https://news.example/t/"}}]}`, "L /s/, L /t/"},
		{"an image by @id", `{"image":{"@id":"https://news.example/i.jpg"}}`, "E /i.jpg"},
		{"names that are not addresses", `{"@id":"https://news.example/x","image":{"@id":"https://news.example/y#image"},"mainEntityOfPage":{"@id":"/z"}}`, ""},
		{"a graph", `{"@context":"https://schema.org","@graph":[{"url":"/1"},{"isPartOf":{"url":"/2"}}]}`, "L /1, L /2"},
		{"the terms of a context", `{"@context":[{"image":{"@id":"https://news.example/no"},"url":"/no"}],"url":"/b"}`, "L /b"},
		{"full names of properties", `{"https://schema.org/url":"/b","schema:image":"/i.png"}`, "L /b, E /i.png"},
		{"a list of blocks", `[{"url":"/1"},{"url":"/2"}]`, "L /1, L /2"},
		{"values that are not references", `{"name":"/n","headline":"a/b.c","sameAs":"https://x.example/","image":"none","url":"two words.","logo":"{{ a.b }}","potentialAction":{"target":"/s?q={q}"}}`, ""},
		{"numbers, true and null", `{"url":1,"image":null,"logo":true,"mainEntityOfPage":"/m"}`, "L /m"},
		{"a trailing comma", `{"image":["/1.png",],"url":"/b",}`, "E /1.png, L /b"},
		{"a line end in a string", "{\"description\":\"one\ntwo\",\"url\":\"/b\"}", "L /b"},
		{"JSON that is cut", `{"url":"/b","image":"/1.p`, "L /b"},
		{"faulty JSON", `{"url":"/b", oops "image":"/1.png"}`, "L /b"},
		{"not JSON", `url = "/no"`, ""},
		{"in a comment", "\n<!-- \n{\"url\":\"/b\"} -->", "L /b"},
		{"in a CDATA section", `//<![CDATA[` + "\n" + `{"url":"/b"}` + "\n//]]>", "L /b"},
		{"allowed nesting", strings.Repeat(`{"a":`, 50) + `{"url":"/b"}`, "L /b"},
		{"too deep nesting", strings.Repeat(`{"a":`, 80) + `{"url":"/b"}`, ""},
		{"too deep nesting in a context", `{"@context":` + strings.Repeat("[", 80), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			text := `<script type="Application/LD+JSON; charset=utf-8">` + c.json + `</script><script>{"url":"/no"}</script>`
			if got := short(find(t, page(t), text, discover.Bounds{})); got != c.want {
				t.Errorf("%s\n got %s\nwant %s", c.json, got, c.want)
			}
		})
	}
}

func TestDateReadsTheFormatsOfPublishers(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		in   string
		want time.Time
		day  bool
	}{
		{"2026-11-21T12:00:00Z", noon, false},
		{"2026-11-21T13:00:00.250+01:00", noon.Add(250 * time.Millisecond), false},
		{"2026-11-21T13:00:00.250+0100", noon.Add(250 * time.Millisecond), false},
		{"2026-11-21T12:00Z", noon, false},
		{"2026-11-21T12:00:00", noon, false},
		{"2026-11-21 12:00:00", noon, false},
		{"2026-11-21 14:00:00 +02:00", noon, false},
		{"Sat, 21 Nov 2026 12:00:00 +0000", noon, false},
		{"2026-11-21", noon.Truncate(24 * time.Hour), true},
		{"2026-13-21", time.Time{}, false},
		{"yesterday", time.Time{}, false},
		{"", time.Time{}, false},
	} {
		if got, day := discover.ParseDate(c.in); !got.Equal(c.want) || day != c.day {
			t.Errorf("Date(%q) = %s, %t; want %s, %t", c.in, got, day, c.want, c.day)
		}
	}
}

func TestValidUTF8AllowsAnIncompleteEnd(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]bool{
		"": true, "plain": true, "é": true, "caf\xc3": true, "\xf0\x9f\x98": true, "caf\xe9 au lait": false, "\xff": false,
	} {
		if got := discover.ValidUTF8([]byte(in)); got != want {
			t.Errorf("ValidUTF8(%q) = %t, want %t", in, got, want)
		}
	}
}

// FuzzDate reads arbitrary dates. A result must be a date that can be stored.
func FuzzDate(f *testing.F) {
	for _, s := range []string{
		"2026-11-21", "2026-11-21T10:00:00+25:99", "Sat, 21 Nov 2026 10:00:00 GMT", "21. November 2026",
		"99999-01-01", "0000-00-00", "0000-01-01 0:00:00+10:00", "9999-12-31T23:00:00-10:00",
		"2026-W47-6", "١٢", "+1-1-1T1:1:1.999999999999Z",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		at, _ := discover.ParseDate(s)
		if at.IsZero() {
			return
		}
		if y := at.UTC().Year(); y < 0 || y > 9999 {
			t.Errorf("%q is read as the year %d", s, y)
		}
		discover.ValidUTF8([]byte(s))
	})
}

func TestLinksFindsFeedsAndThePublicationDate(t *testing.T) {
	t.Parallel()
	f := find(t, page(t), `<link rel="alternate" type="application/rss+xml" href="/rss"><link rel="alternate" hreflang="is" href="/is">
<link rel="alternate feed" type="application/atom+xml; charset=utf-8" href="/atom"><link rel="alternate" type="application/json" href="/api"><a href="/rss">feed</a>
<meta property="article:published_time" content="2026-11-21T10:00:00+01:00"><meta property="article:published_time" content="2020-01-01">`, discover.Bounds{})
	if got, want := short(f), "M /rss, L /is, M /atom, L /api"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if want := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC); !f.Published.Equal(want) {
		t.Errorf("published %s, want %s", f.Published, want)
	}
}

func TestLinksFindsThePublicationDateInJSONLD(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"@type": "NewsArticle", "headline": "x", "datePublished": "2026-11-21T10:00:00+01:00"}`:                                   "2026-11-21T09:00:00Z",
		`[{"@type": "NewsArticle", "schema:datePublished": "2026-11-21"}]`:                                                          "2026-11-21T00:00:00Z",
		`{"itemListElement": [{"@type": "NewsArticle", "datePublished": "2026-11-21"}]}`:                                            "0001-01-01T00:00:00Z",
		`{"@context": "https://schema.org", "@graph": [{"@type": "WebSite"}, {"@type": "Article", "datePublished": "2026-11-21"}]}`: "2026-11-21T00:00:00Z",
		`{"@graph": {"@type": "Article", "datePublished": "2026-11-21"}}`:                                                           "2026-11-21T00:00:00Z",
		`[{"@graph": [{"@type": "Article", "datePublished": "2026-11-21"}]}]`:                                                       "2026-11-21T00:00:00Z",
		`{"@graph": [{"@type": "WebPage", "comment": [{"datePublished": "2026-11-21"}]}]}`:                                          "0001-01-01T00:00:00Z",
		`{"@graph": [{"@type": "ItemList", "item": {"datePublished": "2026-11-21"}}]}`:                                              "0001-01-01T00:00:00Z",
		`[[{"@type": "NewsArticle", "datePublished": "2026-11-21"}], {}]`:                                                           "2026-11-21T00:00:00Z",
		`{"@graph": [[[{"@type": "NewsArticle", "datePublished": "2026-11-21"}]]]}`:                                                 "2026-11-21T00:00:00Z",
		`{"itemListElement": [[{"@type": "NewsArticle", "datePublished": "2026-11-21"}]]}`:                                          "0001-01-01T00:00:00Z",
		`[{"@type": "NewsArticle", "datePublished": ["2026-11-21"]}]`:                                                               "2026-11-21T00:00:00Z",
		`[{"@type": "NewsArticle", "datePublished": [{"@type": "Date", "@value": "2026-11-21"}]}]`:                                  "2026-11-21T00:00:00Z",
		`{"dateModified": {"@type": "Date", "@value": "2026-11-21"}}`:                                                               "0001-01-01T00:00:00Z",
		`{"comment": [{"datePublished": {"@value": "2026-11-21"}}]}`:                                                                "0001-01-01T00:00:00Z",
		`{"datePublished": "some day"}`:                                                                                             "0001-01-01T00:00:00Z",
		`{"headline": "datePublished", "x": "2026-11-21"}`:                                                                          "0001-01-01T00:00:00Z",
	} {
		f := find(t, page(t), `<script type="application/ld+json">`+text+`</script>`, discover.Bounds{})
		if got := f.Published.Format(time.RFC3339); got != want {
			t.Errorf("%s: published %s, want %s", text, got, want)
		}
	}
}
