package crawler_test

import (
	"os"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/crawler"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/internal/town"
)

// everyHour visits each page once an hour, whether it changes or not.
const everyHour = `[[wait]]
mime = ".*"
initial = "1h"
min = "1h"
max = "1h"
[storage]
min_free = "1GB"
[seeds]
uris = ["http://news.example/"]
`

func TestFullDiskPausesTheCrawlUntilThereIsSpace(t *testing.T) {
	dir := inTown(t, everyHour, func(t *testing.T, w *world) {
		w.set("http://news.example/", town.Page{Every: time.Minute})
		last := time.Now()
		full := time.AfterFunc(90*time.Minute, func() { w.setFree(1 << 20) })
		defer full.Stop()
		freed := time.AfterFunc(10*time.Hour, func() { w.setFree(1 << 40) })
		defer freed.Stop()
		w.run(12 * time.Hour)
		var gap time.Duration
		visits := w.visits("example/")
		for _, v := range visits {
			gap = max(gap, v.Finished.Sub(last))
			last = v.Finished
		}
		if len(visits) != 4 || gap < 8*time.Hour || gap > 9*time.Hour+time.Minute {
			t.Errorf("%d visits with a gap of %s; want 2 before the disk was full, none while it was, and 2 after", len(visits), gap)
		}
	})
	checkArchive(t, dir)
}

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
