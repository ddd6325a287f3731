package crawler_test

import (
	"testing"
	"testing/synctest"
	"time"

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
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, dir, everyHour)
		defer w.town.Close()
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
