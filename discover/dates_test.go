package discover_test

import (
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/discover"
	"github.com/arcrawl/arcrawl/uri"
)

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
		"99999-01-01", "0000-00-00", "2026-W47-6", "١٢", "+1-1-1T1:1:1.999999999999Z",
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

func TestDateIn(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{
		"/2026/11/21/a-title":       "2026-11-21",
		"/news/2026-11-21-title":    "2026-11-21",
		"/news/20261121/title":      "2026-11-21",
		"/a/2026/1/2/":              "2026-01-02",
		"/2026/13/21/":              "",
		"/2026/11/31/":              "",
		"/2026/a/11/21":             "",
		"/12345678":                 "",
		"/99999999999999999999/1/1": "",
		"/":                         "",
	} {
		got := discover.DateIn(uri.FromCanonical("http://news.example" + path))
		if text := got.Format(time.DateOnly); got.IsZero() && want != "" || !got.IsZero() && text != want {
			t.Errorf("%s: %s, want %q", path, text, want)
		}
	}
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
