package crawler_test

import (
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/crawler"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/internal/town"
	"github.com/arcrawl/arcrawl/uri"
)

// An operator removes a page with forget. The page is new again when the next version of another page links to it,
// although the cache had the link as known.
func TestForgottenLinkIsFoundAgain(t *testing.T) {
	inTown(t, everyHour, func(t *testing.T, w *world) {
		w.set("http://news.example/", town.Page{Every: time.Minute, Links: []string{"/a", "/b", "/c/c/c/c/"}})
		w.set("http://news.example/a", town.Page{})
		w.set("http://news.example/b", town.Page{})
		parts, shut := w.open()
		defer shut()
		c := crawler.New(parts)
		forget := time.AfterFunc(4*time.Hour+30*time.Minute, func() {
			u := uri.FromCanonical("http://news.example/a")
			known := make([]bool, 1)
			if parts.Frontier.RecentlyKnown([]uri.URI{u}, known); !known[0] {
				t.Error("a link that four versions have is not remembered as known")
			}
			done, _, err := parts.Frontier.Steer(time.Now(), frontier.Selection{URIs: []uri.URI{u}}, frontier.Action{Verb: frontier.Forget}, "")
			if err != nil || done.Changed != 1 {
				t.Errorf("forget: %+v, %v", done, err)
			}
		})
		defer forget.Stop()
		w.crawlWith(c, 8*time.Hour)
		firsts := 0
		for _, v := range w.visits("/a") {
			if v.Verdict.First {
				firsts++
			}
		}
		if b := len(w.visits("/b")); firsts != 2 || b < 7 {
			t.Errorf("the page was new %d times, want twice: before and after it was forgotten; the other was visited %d times", firsts, b)
		}
		list, err := parts.Traps.Get("news.example")
		if err != nil || len(list) != 1 || list[0].Kept < 4 {
			t.Errorf("each version names a URI that is a trap by itself; counted was %+v, %v", list, err)
		}
	})
}
