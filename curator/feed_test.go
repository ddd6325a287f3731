package curator

import (
	"encoding/xml"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/admin/api"
)

// TestAFeedOfHostileCapturesIsValid writes captures whose titles and URIs try to leave their elements.
func TestAFeedOfHostileCapturesIsValid(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
	list := []api.Capture{
		{At: at, Host: "a.example", URI: "http://a.example/?x=1&y=2", Title: "</title><script>alert(1)</script>\x00\u202e", Kind: "changed", Versions: 3},
		{At: at.Add(-time.Hour), Host: "b.example", URI: "http://b.example/", Kind: "first", Versions: 1},
	}
	got := httptest.NewRecorder()
	r := httptest.NewRequest(http.MethodGet, "/feed.atom?label=press", nil)
	if err := writeFeed(got, r, "https://crawler.example/", list, at); err != nil {
		t.Fatal(err)
	}
	var d document
	if err := xml.Unmarshal(got.Body.Bytes(), &d); err != nil {
		t.Fatalf("%v in %s", err, got.Body)
	}
	if d.Title != "New captures, label press" || d.Updated != "2026-11-21T09:00:00Z" || len(d.Entries) != 2 {
		t.Errorf("feed: %+v", d)
	}
	if e := d.Entries[0]; e.Link.Href != "https://crawler.example/view/20261121090000/http://a.example/?x=1&y=2" || e.Summary != "a.example: changed, version 3 of http://a.example/?x=1&y=2" {
		t.Errorf("entry: %+v", e)
	}
	if e := d.Entries[1]; e.Title != "http://b.example/" || e.Summary != "b.example: first capture of http://b.example/" {
		t.Errorf("entry: %+v", e)
	}
	if strings.Contains(got.Body.String(), "<script") {
		t.Errorf("markup of a stranger: %s", got.Body)
	}
}

// TestTheFeedLinksToTheDashboardAsTheReaderReachedIt reads the feed without and with TLS.
func TestTheFeedLinksToTheDashboardAsTheReaderReachedIt(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ configured, reached, want string }{
		{"", "http://a.example:8471", "http://a.example:8471/"},
		{"", "https://a.example:8471", "https://a.example:8471/"},
		{"https://crawler.example", "http://a.example:8471", "https://crawler.example/"},
		{"https://crawler.example/", "http://a.example:8471", "https://crawler.example/"},
	} {
		r := httptest.NewRequest(http.MethodGet, c.reached+"/feed.atom", nil)
		if got := dashboardAt(c.configured, r); got != c.want {
			t.Errorf("configured %q, reached as %s: %s, want %s", c.configured, c.reached, got, c.want)
		}
	}
}
