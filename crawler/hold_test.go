package crawler_test

import (
	"os"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/crawler"
	"github.com/arcrawl/arcrawl/frontier"
)

// TestAStoreWithoutSpaceKeepsNoClaim holds a host because of its file, while the store has no space to note that. The
// crawl waits, and visits the host when there is space and the file is correct again. The store has no space while its
// manifest has another name and the reserve must be filled.
func TestAStoreWithoutSpaceKeepsNoClaim(t *testing.T) {
	story(t, onceADay, func(w *world) {
		parts, shut := w.openOptions(w.town.Dial, func(o *frontier.Options) { o.AwaitSpace = func() {} })
		defer shut()
		rename := func(from, to string) {
			must(t, os.Rename(w.path(from), w.path(to)))
		}
		w.duringWith(parts, 28*time.Hour, func(c *crawler.Crawler) {
			time.Sleep(time.Hour)
			w.host("www.news.example.toml", "[politeness\n")
			w.reload(c)
			rename("state/MANIFEST", "state/MANIFEST.away")
			parts.Frontier.DB().Opts().Logger.Debugf("[%d] LOG Compact. Added", "test")
			time.Sleep(24 * time.Hour)
			if held := c.Held(); held == "" {
				t.Error("the crawl is not paused although the store has no space")
			}
			rename("state/MANIFEST.away", "state/MANIFEST")
			parts.Frontier.DB().Opts().Logger.Debugf("[Compactor: %d] Compaction for", "test")
			time.Sleep(time.Hour)
			w.host("www.news.example.toml", "")
			w.reload(c)
			time.Sleep(time.Hour)
		})
		if n := len(w.visits("www.news.example/")); n != 2 {
			t.Errorf("%d visits, want one before the disk was full and one when everything is well again", n)
		}
	})
}
