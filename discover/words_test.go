package discover_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/arcrawl/arcrawl/discover"
	"github.com/arcrawl/arcrawl/uri"
)

// wordsOf returns the hash of the words by which a page links to /a.
func wordsOf(t *testing.T, page string) uint16 {
	t.Helper()
	doc := discover.Document{
		URI: uri.FromCanonical("http://news.example/"), Status: http.StatusOK, Header: http.Header{"Content-Type": {"text/html"}},
	}
	got, err := discover.Links(t.Context(), doc, strings.NewReader(page), discover.Bounds{Words: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range got.Links {
		if l.URI.String() == "http://news.example/a" {
			return l.Words
		}
	}
	return 0
}

// TestTheWordsOfALinkAreItsHeadlines compares the words of links with a plain headline.
func TestTheWordsOfALinkAreItsHeadlines(t *testing.T) {
	t.Parallel()
	headline := wordsOf(t, `<a href=/a>Flood in the valley</a>`)
	if headline == 0 {
		t.Fatal("a headline has no words")
	}
	for _, same := range []string{
		`<a href=/a><img src=/i.png></a><a href="/a"><h2>Flood  in <em>the</em> valley</h2><span>5 min ago</span></a>`,
		`<a href=/a#top>Flood in the valley<p>12 comments</a> and many more words here`,
		`<a href=/b>Something else altogether happened</a><p>Four words without link<a href=/a>Flood in the valley</a>`,
	} {
		if got := wordsOf(t, same); got != headline {
			t.Errorf("%s has other words", same)
		}
	}
	for _, other := range []string{
		`<a href=/a>Flood in the valleys</a>`, `<a href=/a>Flood in the valley</a><a href=/a>No one is missing</a>`,
		`<a href=/a>Flood in valley</a>`, `<a href=/b>Flood in the valley</a><a href=/a></a>`,
	} {
		if got := wordsOf(t, other); got == headline {
			t.Errorf("%s has the same words", other)
		}
	}
	long := wordsOf(t, `<a href=/a>`+strings.Repeat("Flood in the valley <p>", 10_000))
	if long == 0 {
		t.Error("a link without an end has no words")
	}
}

// TestWordsAreReadOnlyIfAskedFor reads a page without that.
func TestWordsAreReadOnlyIfAskedFor(t *testing.T) {
	t.Parallel()
	doc := discover.Document{
		URI: uri.FromCanonical("http://news.example/"), Status: http.StatusOK, Header: http.Header{"Content-Type": {"text/html"}},
	}
	got, err := discover.Links(context.Background(), doc, strings.NewReader(`<a href=/a>Flood in the valley</a>`), discover.Bounds{})
	if err != nil || len(got.Links) != 1 || got.Links[0].Words != 0 {
		t.Errorf("got %+v, %v", got.Links, err)
	}
}
