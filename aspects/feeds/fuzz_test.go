package feeds

import (
	"net/http"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/uri"
)

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
		for _, u := range func() []uri.URI { a, b := HubLinks(self, h); return []uri.URI{a, b} }() {
			if again, err := uri.Parse(u.String()); !u.IsZero() && (err != nil || again != u) {
				t.Errorf("the link %q of %q is not canonical", u, link)
			}
		}
	})
}
