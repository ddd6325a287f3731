package discover_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/arcrawl/arcrawl/discover"
	"github.com/arcrawl/arcrawl/uri"
)

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
		got, err := discover.Links(doc, strings.NewReader(text), discover.Bounds{})
		if err != nil || strings.TrimSpace(got.Title) != want {
			t.Errorf("%.60q has the title %q, %v; want %q", text, got.Title, err, want)
		}
	}
}
