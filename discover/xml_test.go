package discover

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/arcrawl/arcrawl/uri"
)

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
			result, err := Links(doc, strings.NewReader(c.text), Bounds{})
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
			slow := newPage(self, 100)
			slow.xhtml, slow.noSkim = true, true
			slow.html([]byte(c.text))
			if !slices.Equal(slow.result.Links, result.Links) {
				t.Errorf("%s\n got %v by skimming, %v by the tokenizer", c.text, result.Links, slow.result.Links)
			}
			page := newPage(self, 100)
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
		fast, slow := newPage(uri.FromCanonical("https://news.example/"), 100), newPage(uri.FromCanonical("https://news.example/"), 100)
		slow.noSkim = true
		for _, p := range []*page{fast, slow} {
			p.xhtml = true
			p.html([]byte(text))
		}
		if !slices.Equal(fast.result.Links, slow.result.Links) {
			t.Errorf("%q: got %v by skimming, %v by the tokenizer", text, fast.result.Links, slow.result.Links)
		}
	})
}
