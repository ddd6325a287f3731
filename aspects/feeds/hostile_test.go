package feeds

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/arcrawl/arcrawl/internal/slow"
)

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
		doc, err := Read(self, "", true, strings.NewReader(c.make(1<<15)), Bounds{MaxItems: 100})
		if err != nil && !errors.Is(err, ErrNotASource) || len(doc.Items) > 100 {
			t.Errorf("%s: %d items, %v; want at most 100 items", c.name, len(doc.Items), err)
		}
	}
}

// BenchmarkHostile shows whether the time per byte stays the same when a source is four times as long.
func BenchmarkHostile(b *testing.B) {
	self := mustURI(b, "http://news.example/s.xml")
	for _, c := range hostile {
		for _, n := range []int{1 << 18, 1 << 20} {
			body := c.make(n)
			b.Run(fmt.Sprintf("%s/%dKiB", c.name, n>>10), func(b *testing.B) {
				b.SetBytes(int64(len(body)))
				for b.Loop() {
					_, _ = Read(self, "", true, strings.NewReader(body), Bounds{})
				}
			})
		}
	}
}

func TestWorkOfHostileSourcesGrowsWithTheirSize(t *testing.T) {
	t.Parallel()
	self := mustURI(t, "http://news.example/s.xml")
	for _, c := range hostile {
		t.Run(c.name, func(t *testing.T) {
			slow.Linear(t, c.make, func(text string) {
				_, _ = Read(self, "", true, strings.NewReader(text), Bounds{})
			})
		})
	}
}
