package digest_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/arcrawl/arcrawl/digest"
)

// newsPage returns a page of about 100 KB with noise as on news sites.
func newsPage() []byte {
	random := rand.New(rand.NewPCG(1, 2))
	var b bytes.Buffer
	b.WriteString(`<!doctype html><html><head><meta charset="utf-8"><meta name="csrf-token" content="5f2a9c"><title>News</title></head><body>` +
		"\n<span class=\"clock\">10:11:12</span>\n")
	for i := 0; b.Len() < 100<<10; i++ {
		fmt.Fprintf(&b, "<article id=\"a%d\" class=\"teaser\"><h2><a href=\"/story/%d?ref=%x\">Story %d</a></h2>\n<p>", i, i, random.Uint32(), i)
		for range 60 {
			fmt.Fprintf(&b, "%s ", []string{"the", "ferry", "harbour", "council", "said", "after", "Tuesday", "bridge", "without", "12"}[random.IntN(10)])
		}
		fmt.Fprintf(&b, "</p><span class=\"views\">%d views</span></article>\n", random.IntN(10000))
	}
	b.WriteString("<!-- generated in 0.123 s by node7 -->\n</body></html>\n")
	return b.Bytes()
}

var tenRegexes = []string{
	`<span class="clock">.*?</span>`, `<span class="views">[0-9]+ views</span>`, `<meta name="csrf-token" content="[^"]*">`,
	`<!-- generated in .*? -->`, `\?ref=[0-9a-f]+`, `;jsessionid=[0-9A-F]+`, `(?s)<div class="ad-slot">.*?</div>`, `data-nonce="[^"]*"`,
	`(?s)<script[^>]*>.*?</script>`, `Datum: \d\d\.\d\d\.\d{4}`,
}

// BenchmarkScrubTenRegexes measures how fast one core scrubs a page of 100 KB with ten regexes as curators write them.
func BenchmarkScrubTenRegexes(b *testing.B) {
	r := compile(b, digest.Spec{Regexes: tenRegexes})
	page := newsPage()
	b.SetBytes(int64(len(page)))
	for b.Loop() {
		r.Scrub(page, htmlType)
	}
}
