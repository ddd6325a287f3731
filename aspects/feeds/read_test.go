package feeds

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"

	"github.com/arcrawl/arcrawl/internal/slow"
	"github.com/arcrawl/arcrawl/uri"
)

func mustURI(t testing.TB, s string) uri.URI {
	t.Helper()
	u, err := uri.Parse(s)
	must(t, err)
	return u
}

// summary is the form of an item in the tables below.
type summary struct{ ID, URI, Published, Updated string }

func summaries(items []Item) []summary {
	var out []summary
	for _, i := range items {
		line := summary{URI: i.URI.String()}
		if i.ID != line.URI {
			line.ID = i.ID
		}
		if !i.Published.IsZero() {
			line.Published = i.Published.Format(time.RFC3339)
		}
		if !i.Updated.IsZero() {
			line.Updated = i.Updated.Format(time.RFC3339)
		}
		out = append(out, line)
	}
	return out
}

func inEncoding(t *testing.T, s string, name string) string {
	t.Helper()
	var out string
	var err error
	switch name {
	case "windows-1252":
		out, err = charmap.Windows1252.NewEncoder().String(s)
	case "utf-16":
		out, err = unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewEncoder().String(s)
	}
	must(t, err)
	return out
}

func zipped(s string) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = z.Write([]byte(s))
	_ = z.Close()
	return b.String()
}

// noise returns text that hardly compresses.
func noise(n int) string {
	var b strings.Builder
	x := uint64(88172645463325252)
	for b.Len() < n {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
		fmt.Fprintf(&b, "<!--%x-->", x)
	}
	return b.String()
}

func TestRead(t *testing.T) {
	t.Parallel()
	const rss = `<?xml version="1.0" encoding="%ENC%"?>
<rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom"><channel><title>Fréttir</title>
<atom:link rel="hub" href="https://hub.example/"/><atom:link rel="self" href="http://news.example/rss.xml"/>
<item><title>É</title><link>/a</link><guid isPermaLink="false">1</guid><pubDate>Sat, 21 Nov 2026 10:00:00 GMT</pubDate></item>
<item><title>B</title><link>http://news.example/b?x=1&y=2</link></item>
<item><title>guid alone</title><guid>http://news.example/c</guid></item>
<item><title>no link at all</title><guid>4</guid></item>
</channel></rss>`
	fromRSS := []summary{
		{ID: "1", URI: "http://news.example/a", Published: "2026-11-21T10:00:00Z"},
		{URI: "http://news.example/b?x=1&y=2"},
		{URI: "http://news.example/c"},
	}
	sitemap := func(urls string) string {
		return `<?xml version="1.0" encoding="UTF-8"?><!-- made by hand --><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"
 xmlns:n="http://www.google.com/schemas/sitemap-news/0.9" xmlns:image="http://www.google.com/schemas/sitemap-image/1.1" xmlns:xhtml="http://www.w3.org/1999/xhtml">` + urls + `</urlset>`
	}
	for _, c := range []struct {
		name, contentType, body string
		awaited                 bool
		kind                    Kind
		want                    []summary
		cut                     bool
	}{
		{name: "RSS 2.0", body: strings.Replace(rss, "%ENC%", "UTF-8", 1), kind: Feed, want: fromRSS},
		{name: "RSS in another encoding, as it declares", body: inEncoding(t, strings.Replace(rss, "%ENC%", "windows-1252", 1), "windows-1252"), kind: Feed, want: fromRSS},
		{name: "RSS in another encoding than it declares", body: inEncoding(t, strings.Replace(rss, "%ENC%", "UTF-8", 1), "windows-1252"), kind: Feed, want: fromRSS},
		{name: "RSS in another encoding, as the header says", contentType: "text/xml; charset=windows-1252", body: inEncoding(t, strings.Replace(rss, "%ENC%", "UTF-8", 1), "windows-1252"), kind: Feed, want: fromRSS},
		{name: "RSS in UTF-16", body: inEncoding(t, strings.Replace(rss, "%ENC%", "utf-16", 1), "utf-16"), kind: Feed, want: fromRSS},
		{name: "RSS with a byte order mark and blanks before it", body: "\ufeff\n\n " + strings.Replace(rss, "%ENC%", "UTF-8", 1), kind: Feed, want: fromRSS},
		{name: "RSS that was cut keeps its whole items", body: strings.Replace(rss, "%ENC%", "UTF-8", 1)[:400], kind: Feed, want: fromRSS[:1], cut: true},
		{name: "RSS 1.0", body: `<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/" xmlns:dc="http://purl.org/dc/elements/1.1/">
<channel rdf:about="http://news.example/"><title>x</title></channel>
<item rdf:about="http://news.example/a"><title>A</title><link>http://news.example/a</link><dc:date>2026-11-21T10:00:00+01:00</dc:date></item></rdf:RDF>`, kind: Feed, want: []summary{{URI: "http://news.example/a", Published: "2026-11-21T09:00:00Z", Updated: "2026-11-21T09:00:00Z"}}},
		{name: "RSS 0.91", body: `<rss version="0.91"><channel><title>x</title><item><title>A</title><link>http://news.example/a</link></item></channel></rss>`, kind: Feed, want: []summary{{URI: "http://news.example/a"}}},
		{name: "Atom", contentType: "application/atom+xml", body: `<feed xmlns="http://www.w3.org/2005/Atom" xml:base="http://news.example/blog/"><title>x</title><id>f</id>
<entry><id>tag:1</id><title>A</title><link rel="alternate" href="a"/><link rel="edit" href="/edit/a"/><published>2026-11-20T10:00:00Z</published><updated>2026-11-21T10:00:00Z</updated></entry></feed>`, kind: Feed, want: []summary{{ID: "tag:1", URI: "http://news.example/blog/a", Published: "2026-11-20T10:00:00Z", Updated: "2026-11-21T10:00:00Z"}}},
		{name: "Atom that was cut keeps its whole entries", body: `<feed xmlns="http://www.w3.org/2005/Atom"><entry><id>1</id><link href="http://news.example/a"/></entry><entry><id>2</id><ti`, kind: Feed, want: []summary{{ID: "1", URI: "http://news.example/a"}}, cut: true},
		{name: "Atom with a prefix", contentType: "application/atom+xml", body: `<?xml version="1.0"?><atom:feed xmlns:atom="http://www.w3.org/2005/Atom"><atom:id>f</atom:id>
<atom:entry><atom:id>tag:1</atom:id><atom:link rel="alternate" href="http://news.example/a"/><atom:updated>2026-11-21T10:00:00Z</atom:updated></atom:entry></atom:feed>`, kind: Feed, want: []summary{{ID: "tag:1", URI: "http://news.example/a", Published: "2026-11-21T10:00:00Z", Updated: "2026-11-21T10:00:00Z"}}},
		{name: "Atom with a prefix that was cut keeps its whole entries", body: `<atom:feed xmlns:atom="http://www.w3.org/2005/Atom"><atom:entry><atom:id>1</atom:id><atom:link href="http://news.example/a"/></atom:entry><atom:entry><atom:id>2</a`, kind: Feed, want: []summary{{ID: "1", URI: "http://news.example/a"}}, cut: true},
		{name: "RSS whose items have links and dates of Atom", body: `<rss version="2.0" xmlns:a10="http://www.w3.org/2005/Atom"><channel><item><guid isPermaLink="false">1</guid><a10:link rel="alternate" href="http://news.example/a"/><a10:updated>2026-11-21T10:00:00Z</a10:updated></item></channel></rss>`, kind: Feed, want: []summary{{ID: "1", URI: "http://news.example/a", Updated: "2026-11-21T10:00:00Z"}}},
		{name: "RSS 1.0 with a prefix", body: `<r:RDF xmlns:r="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:rss="http://purl.org/rss/1.0/" xmlns:d="http://purl.org/dc/elements/1.1/"><rss:channel r:about="http://news.example/"/><rss:item r:about="http://news.example/a"><rss:link>http://news.example/a</rss:link><d:date>2026-11-21T10:00:00Z</d:date></rss:item></r:RDF>`, kind: Feed, want: []summary{{URI: "http://news.example/a", Published: "2026-11-21T10:00:00Z", Updated: "2026-11-21T10:00:00Z"}}},
		{name: "a sitemap with a prefix", body: `<s:urlset xmlns:s="http://www.sitemaps.org/schemas/sitemap/0.9"><s:url><s:loc>http://news.example/a</s:loc><s:lastmod>2026-11-21T10:00:00Z</s:lastmod></s:url></s:urlset>`, kind: Sitemap, want: []summary{{URI: "http://news.example/a", Updated: "2026-11-21T10:00:00Z"}}},
		{name: "an index with a prefix", body: `<s:sitemapindex xmlns:s="http://www.sitemaps.org/schemas/sitemap/0.9"><s:sitemap><s:loc>http://news.example/s1.xml</s:loc></s:sitemap></s:sitemapindex>`, kind: Index, want: []summary{{URI: "http://news.example/s1.xml"}}},
		{name: "JSON Feed", contentType: "application/feed+json", body: `{"version":"https://jsonfeed.org/version/1.1","title":"x","items":[{"id":7,"url":"/a","date_published":"2026-11-21T10:00:00Z","date_modified":"2026-11-21T11:00:00Z"}]}`, kind: Feed, want: []summary{{ID: "7", URI: "http://news.example/a", Published: "2026-11-21T10:00:00Z", Updated: "2026-11-21T11:00:00Z"}}},
		{name: "a sitemap", body: sitemap(`<url><loc> http://news.example/a </loc><lastmod>2026-11-21</lastmod></url><url><loc>http://news.example/b?x=1&amp;y=2</loc><lastmod>2026-11-21T10:00:00.123+01:00</lastmod></url>`), kind: Sitemap, want: []summary{
			{URI: "http://news.example/a", Updated: "2026-11-21T00:00:00Z"}, {URI: "http://news.example/b?x=1&y=2", Updated: "2026-11-21T09:00:00Z"},
		}},
		{name: "a news sitemap with titles alone", body: sitemap(`<url><loc>http://news.example/a</loc><n:news><n:title>A</n:title></n:news></url>`), kind: News, want: []summary{{URI: "http://news.example/a"}}},
		{name: "a news sitemap with dates alone", body: sitemap(`<url><loc>http://news.example/a</loc><n:news><n:publication_date>2026-11-21T10:00Z</n:publication_date></n:news></url>`), kind: News, want: []summary{{URI: "http://news.example/a", Published: "2026-11-21T10:00:00Z"}}},
		{name: "a news sitemap with any prefix", body: sitemap(`<url><loc>http://news.example/a</loc><n:news><n:publication><n:name>x</n:name></n:publication><n:publication_date>2026-11-21T10:00Z</n:publication_date><n:title>A</n:title></n:news></url>`), kind: News, want: []summary{{URI: "http://news.example/a", Published: "2026-11-21T10:00:00Z"}}},
		{name: "a sitemap with images and other languages", body: sitemap(`<url><loc>http://news.example/a</loc><xhtml:link rel="alternate" hreflang="is" href="http://news.example/is/a"/><image:image><image:loc>http://img.example/1.jpg</image:loc></image:image></url>`), kind: Sitemap, want: []summary{{URI: "http://news.example/is/a"}, {URI: "http://news.example/a"}}},
		{name: "a sitemap index", body: `<sitemapindex><sitemap><loc>http://news.example/s1.xml.gz</loc><lastmod>2026-11-21T10:00:00Z</lastmod></sitemap></sitemapindex>`, kind: Index, want: []summary{{URI: "http://news.example/s1.xml.gz", Updated: "2026-11-21T10:00:00Z"}}},
		{name: "a sitemap in a gzip of its own", contentType: "application/x-gzip", body: zipped(sitemap(`<url><loc>http://news.example/a</loc></url>`)), kind: Sitemap, want: []summary{{URI: "http://news.example/a"}}},
		{name: "a gzip that was cut", body: zipped(sitemap(`<url><loc>http://news.example/a</loc></url>` + noise(1<<17)))[:1<<15], kind: Sitemap, want: []summary{{URI: "http://news.example/a"}}, cut: true},
		{name: "a sitemap that was cut", body: sitemap(`<url><loc>http://news.example/a</loc></url><url><loc>http://news`)[:340], kind: Sitemap, want: []summary{{URI: "http://news.example/a"}}, cut: true},
		{name: "a plain sitemap that is awaited", contentType: "text/plain", body: "http://news.example/a\r\n\r\nhttp://news.example/b\n", awaited: true, kind: Sitemap, want: []summary{{URI: "http://news.example/a"}, {URI: "http://news.example/b"}}},
		{name: "an undeclared entity", body: `<rss version="2.0"><channel><item><title>a &nbsp; b &foo; & c</title><link>http://news.example/a</link></item></channel></rss>`, kind: Feed, want: []summary{{URI: "http://news.example/a"}}},
		{name: "control characters", body: "<rss version=\"2.0\"><channel><item><title>a \x0b</title><link>http://news.example/a</link></item></channel></rss>", kind: Feed, want: []summary{{URI: "http://news.example/a"}}},
		{name: "faulty links", body: `<rss version="2.0"><channel><item><link>javascript:alert(1)</link></item><item><link>mailto:a@b.example</link></item><item><link>http://[::bad/</link></item><item><link>http://news.example/rss.xml</link></item></channel></rss>`, kind: Feed},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			doc, err := Read(context.Background(), mustURI(t, "http://news.example/rss.xml"), c.contentType, c.awaited, strings.NewReader(c.body), Bounds{})
			must(t, err)
			if doc.Kind != c.kind || doc.Cut != c.cut {
				t.Errorf("kind %s, cut %v (%v), want %s, %v", doc.Kind, doc.Cut, doc.Fault, c.kind, c.cut)
			}
			if diff := cmp.Diff(c.want, summaries(doc.Items), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("items (-want +got):\n%s", diff)
			}
		})
	}
}

func TestReadFindsHintsAndHubs(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, body string
		want       Hints
		hub        string
	}{
		{
			name: "RSS", hub: "https://hub.example/",
			body: `<rss version="2.0" xmlns:a="http://www.w3.org/2005/Atom"><channel><ttl>90</ttl><skipHours><hour>0</hour><hour>24</hour><hour>5</hour></skipHours><skipDays><day>Sunday</day></skipDays>
<a:link rel="hub" href="https://hub.example/"/><item><link>/a</link></item></channel></rss>`,
			want: Hints{Every: 90 * time.Minute, SkipHours: 1<<0 | 1<<5, SkipDays: 1},
		},
		{
			name: "the syndication module", body: `<rss version="2.0" xmlns:sy="http://purl.org/rss/1.0/modules/syndication/"><channel><sy:updatePeriod> daily </sy:updatePeriod><sy:updateFrequency>6</sy:updateFrequency><item><link>/a</link></item></channel></rss>`,
			want: Hints{Every: 4 * time.Hour},
		},
		{name: "Atom", hub: "http://news.example/hub", body: `<feed xmlns="http://www.w3.org/2005/Atom"><link rel="hub" href="/hub"/><entry><id>1</id><link href="/a"/></entry></feed>`},
		{name: "JSON", hub: "http://news.example/hub", body: `{"version":"https://jsonfeed.org/version/1","hubs":[{"type":"rssCloud","url":"/no"},{"type":"WebSub","url":"/hub"}],"items":[{"id":"1","url":"/a"}]}`},
		{name: "an absurd ttl", body: `<rss version="2.0"><channel><ttl>999999999999</ttl><item><link>/a</link></item></channel></rss>`, want: Hints{Every: maxHint}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			doc, err := Read(context.Background(), mustURI(t, "http://news.example/rss.xml"), "", false, strings.NewReader(c.body), Bounds{})
			must(t, err)
			if doc.Hints != c.want || doc.Hub.String() != c.hub {
				t.Errorf("hints %+v, hub %q; want %+v, %q", doc.Hints, doc.Hub, c.want, c.hub)
			}
		})
	}
}

func TestReadRefusesOtherContents(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{
		"a page":                    "<!doctype html><html><body><rss>",
		"an empty body":             "",
		"some XML":                  "<svg/>",
		"some JSON":                 `{"items":[]}`,
		"a text with links":         "http://news.example/a\n",
		"a broken gzip":             "\x1f\x8bxxxxxxxxxxxxxxxxxxxx",
		"a comment that never ends": "<!-- <rss>",
	} {
		if doc, err := Read(context.Background(), mustURI(t, "http://news.example/x"), "", false, strings.NewReader(body), Bounds{}); !errors.Is(err, ErrNotASource) {
			t.Errorf("%s: %v, %v, want %v", name, doc, err, ErrNotASource)
		}
	}
}

func TestReadIsBounded(t *testing.T) {
	t.Parallel()
	body := "<urlset>" + strings.Repeat("<url><loc>http://news.example/a</loc></url>", 10) + "<url><loc>http://news.example/b</loc></url><url><loc>http://news.example/c</loc></url></urlset>"
	doc, err := Read(context.Background(), mustURI(t, "http://news.example/s.xml"), "", false, strings.NewReader(body), Bounds{MaxItems: 2})
	if err != nil || len(doc.Items) != 2 || doc.Dropped != 1 {
		t.Errorf("%d items, %d dropped, %v; want 2, 1", len(doc.Items), doc.Dropped, err)
	}
	doc, err = Read(context.Background(), mustURI(t, "http://news.example/s.xml"), "", false, strings.NewReader(body), Bounds{MaxBytes: 200})
	if err != nil || len(doc.Items) != 1 || !doc.Cut {
		t.Errorf("%d items, cut %v, %v; want 1, true", len(doc.Items), doc.Cut, err)
	}
	bomb := zipped("<urlset>" + strings.Repeat("<url></url>", 1<<18))
	if doc, err = Read(context.Background(), mustURI(t, "http://news.example/s.xml"), "", false, strings.NewReader(bomb), Bounds{MaxBytes: 1 << 20}); err != nil || !doc.Cut {
		t.Errorf("a gzip bomb: cut %v, %v; want true", doc.Cut, err)
	}
	for name, deep := range map[string]string{
		"rss":     `<rss version="2.0"><channel>` + strings.Repeat("<x:a>", 1<<17),
		"sitemap": "<urlset>" + strings.Repeat("<a>", 1<<17),
		"json":    `{"version":"https://jsonfeed.org/version/1","items":` + strings.Repeat("[", 1<<17),
	} {
		if doc, err := Read(context.Background(), mustURI(t, "http://news.example/s.xml"), "", false, strings.NewReader(deep), Bounds{}); err != nil || doc.Fault == nil {
			t.Errorf("a deeply nested %s: %v, fault %v; want a fault", name, err, doc.Fault)
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, s := range []string{
		`<rss version="2.0"><channel><ttl>9</ttl><item><link>/a</link><pubDate>Sat, 21 Nov 2026 10:00:00 GMT</pubDate></item></channel></rss>`,
		`<feed xmlns="http://www.w3.org/2005/Atom"><entry><id>1</id><link href="/a"/></entry></feed>`,
		`<urlset><url><loc>http://a.example/</loc><lastmod>2026-11-21</lastmod></url></urlset>`,
		`{"version":"https://jsonfeed.org/version/1","items":[{"id":1,"url":"/a"}]}`,
		"http://a.example/\n", zipped("<urlset><url><loc>/a</loc></url></urlset>"), "\xff\xfe<\x00r\x00s\x00s\x00>\x00",
		`<rdf:RDF xmlns:rdf="x"><item></item>`, "<?xml version='1.0' encoding='gbk'?><rss><channel><item>",
	} {
		f.Add(s)
	}
	self := mustURI(f, "http://news.example/rss.xml")
	f.Fuzz(func(t *testing.T, body string) {
		const maxItems = 20
		doc, err := Read(context.Background(), self, "", true, strings.NewReader(body), Bounds{MaxItems: maxItems})
		if err != nil && !errors.Is(err, ErrNotASource) {
			t.Fatal(err)
		}
		if len(doc.Items) > maxItems {
			t.Fatalf("%d items", len(doc.Items))
		}
		for _, i := range doc.Items {
			if again, err := uri.Parse(i.URI.String()); err != nil || again != i.URI || i.ID == "" {
				t.Fatalf("item %+v: %v", i, err)
			}
		}
	})
}

func many(n int, format string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

// hostile are sources that can exhaust the memory or the time of a careless program. Each is made of about n bytes.
var hostile = []struct {
	name string
	make func(n int) string
}{
	{"many items", func(n int) string {
		return "<rss version='2.0'><channel>" + many(n/30, "<item><link>/%d</link></item>") + "</channel></rss>"
	}},
	{"elements that never end", func(n int) string { return "<rss><channel>" + strings.Repeat("<item>", n/6) }},
	{"items nested as deeply as allowed", func(n int) string {
		return "<rss><channel>" + strings.Repeat(strings.Repeat("<item>", 100)+strings.Repeat("</item>", 100), n/1300) + "</channel></rss>"
	}},
	{"extensions in extensions", func(n int) string {
		return "<rss xmlns:x='urn:x'><channel><item>" + strings.Repeat(strings.Repeat("<x:a>", 100)+strings.Repeat("</x:a>", 100), n/1100) + "</item></channel></rss>"
	}},
	{"many namespaces", func(n int) string {
		return "<rss><channel>" + many(n/40, "<x:a xmlns:x='urn:%d'></x:a>") + "</channel></rss>"
	}},
	{"namespaces on one element", func(n int) string {
		return "<rss " + many(min(n/20, 50_000), "xmlns:x%d='urn:x' ") + "><channel>" + strings.Repeat("<item><link>/a</link></item>", n/60) + "</channel></rss>"
	}},
	{"many attributes", func(n int) string { return "<rss><channel><item " + many(n/8, "a%d='' ") + "/></channel></rss>" }},
	{"broken entities", func(n int) string {
		return "<rss><channel><item><title>" + strings.Repeat("&am", n/3) + "</title></item></channel></rss>"
	}},
	{"valid entities", func(n int) string {
		return "<rss><channel><item><title>" + strings.Repeat("&amp;", n/5) + "</title></item></channel></rss>"
	}},
	{"CDATA sections", func(n int) string {
		return "<rss><channel><item><description>" + strings.Repeat("<![CDATA[a]]>", n/13) + "</description></item></channel></rss>"
	}},
	{"CDATA sections that never end", func(n int) string { return "<rss><channel><item><title>" + strings.Repeat("<![CDATA[", n/9) }},
	{"comments that never end", func(n int) string { return "<rss><channel>" + strings.Repeat("<!--", n/4) }},
	{"a document type", func(n int) string {
		return "<rss><!DOCTYPE " + strings.Repeat("[<!ENTITY a 'b'>", n/16) + "><channel></channel></rss>"
	}},
	{"HTML with a base", func(n int) string {
		return "<feed xml:base='http://a.example/'><entry><content type='html'>" + strings.Repeat("&lt;a href='b'>", n/15) + "</content></entry></feed>"
	}},
	{"a base in each entry", func(n int) string {
		return "<feed xml:base='http://a.example/'>" + strings.Repeat("<entry xml:base='a/'><link href='b'/></entry>", n/45) + "</feed>"
	}},
	{"many links in one item", func(n int) string {
		return "<feed><entry>" + many(n/24, "<link href='/%d'/>") + "</entry></feed>"
	}},
	{"many JSON objects", func(n int) string {
		return `{"version":"https://jsonfeed.org/version/1","items":[` + strings.Repeat("{},", n/3) + `{}]}`
	}},
	{"a sitemap of one address", func(n int) string {
		return "<urlset>" + strings.Repeat("<url><loc>http://a.example/</loc></url>", n/39) + "</urlset>"
	}},
	{"end tags without start tags", func(n int) string { return "<urlset><a><a><a>" + strings.Repeat("</b>", n/4) }},
	{"a giant address", func(n int) string {
		return "<urlset><url><loc>http://a.example/" + strings.Repeat("a", n) + "</loc></url></urlset>"
	}},
	{"a line that never ends", func(n int) string { return "http://a.example/" + strings.Repeat("a", n) }},
	{"zeros", func(n int) string { return "<rss>" + strings.Repeat("\x00", n) }},
}

func TestReadBoundsHostileSources(t *testing.T) {
	t.Parallel()
	self := mustURI(t, "http://news.example/s.xml")
	for _, c := range hostile {
		doc, err := Read(context.Background(), self, "", true, strings.NewReader(c.make(1<<15)), Bounds{MaxItems: 100})
		if err != nil && !errors.Is(err, ErrNotASource) || len(doc.Items) > 100 {
			t.Errorf("%s: %d items, %v; want at most 100 items", c.name, len(doc.Items), err)
		}
	}
}

// No item is resolved, and nothing is read, without a look at the context, so that no source delays the end of a crawl.
func TestReadEndsWithTheContext(t *testing.T) {
	t.Parallel()
	const most = 20
	self := mustURI(t, "http://news.example/s.xml")
	for _, c := range hostile {
		doc, _ := Read(slow.EndAfter(t.Context(), most), self, "", true, strings.NewReader(c.make(1<<16)), Bounds{})
		if len(doc.Items)+len(doc.Embeds) > most {
			t.Errorf("%s: %d items and %d embeds, want at most %d", c.name, len(doc.Items), len(doc.Embeds), most)
		}
	}
}

func TestWorkOfHostileSourcesGrowsWithTheirSize(t *testing.T) {
	t.Parallel()
	self := mustURI(t, "http://news.example/s.xml")
	for _, c := range hostile {
		t.Run(c.name, func(t *testing.T) {
			slow.Linear(t, c.make, func(text string) {
				_, _ = Read(context.Background(), self, "", true, strings.NewReader(text), Bounds{})
			})
		})
	}
}

// FuzzHeaders reads arbitrary header fields that say how long an answer is fresh, and where its hub is.
func FuzzHeaders(f *testing.F) {
	f.Add("max-age=60", "Thu, 01 Jan 2099 00:00:00 GMT", "Sat, 21 Nov 2026 10:00:00 GMT", `<http://hub.example/>; rel="hub", </a>; rel=self`)
	f.Add("MAX-AGE=99999999999999999999, s-maxage=\"1\"", "0", "", "<>; rel=hub")
	f.Add("max-age=-1,,=", "-1", "x", `<http://hub.example/;rel=hub`)
	self := uri.FromCanonical("http://news.example/rss.xml")
	f.Fuzz(func(t *testing.T, cache, expires, date, link string) {
		h := http.Header{"Cache-Control": {cache}, "Expires": {expires}, "Date": {date}, "Link": {link}}
		if d := CacheHint(h); d < 0 || d > 100*365*24*time.Hour {
			t.Errorf("an answer with %q and %q is fresh for %s", cache, expires, d)
		}
		for _, u := range func() []uri.URI { a, b := hubLinks(self, h); return []uri.URI{a, b} }() {
			if again, err := uri.Parse(u.String()); !u.IsZero() && (err != nil || again != u) {
				t.Errorf("the link %q of %q is not canonical", u, link)
			}
		}
	})
}

// must ends the test if there is an error.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
