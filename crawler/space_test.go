package crawler_test

import (
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/aspects"
	"github.com/arcrawl/arcrawl/crawler"
	"github.com/arcrawl/arcrawl/internal/town"
)

// A host offers files that do not fit on the disk. They are not received, their heads are kept as evidence, and a
// healthy site is crawled as if they did not exist.
func TestABodyThatDoesNotFitDoesNotHoldTheCrawl(t *testing.T) {
	inTown(t, `[storage]
min_free = "1GB"
[[wait]]
mime = ".*"
rule = "fixed"
every = "10m"
[retry]
first = "10m"
max = "10m"
[robots]
wait = "30d"
[seeds]
uris = ["http://big.example/", "http://healthy.example/"]
`, func(t *testing.T, w *world) {
		w.set("http://big.example/", town.Page{Size: 5e6, Every: time.Minute})
		w.set("http://healthy.example/", town.Page{Size: 100e3, Every: time.Minute})
		w.free = 1e9 + 10e6 // 10 MB above the minimum, and a body of 5 MB is on disk three times
		parts, shut := w.open()
		var c *crawler.Crawler
		var held atomic.Bool // workers observe at the same time
		parts.Observe = func(r crawler.Report) {
			if c.Held() != "" {
				held.Store(true)
			}
			w.observe(r)
		}
		c = crawler.New(parts)
		w.crawlWith(c, 2*time.Hour)
		shut()
		if held.Load() {
			t.Error("the crawl was held")
		}
		big, healthy := w.visits("big.example/"), w.visits("healthy.example/")
		if len(healthy) < 12 || len(big) < 10 {
			t.Errorf("%d visits of the healthy site and %d of the other, want one each ten minutes", len(healthy), len(big))
		}
		for _, r := range big {
			if !r.NoSpace || !r.Failed || r.Kept != aspects.KeptHead || r.Received > 1e6 {
				t.Errorf("refused %v, failed %v, kept %s, received %d bytes; want a refusal and the head kept", r.NoSpace, r.Failed, r.Kept, r.Received)
			}
		}
		for _, r := range healthy {
			if r.Kept != aspects.KeptResponse {
				t.Errorf("of a version of the healthy site, %s was kept", r.Kept)
			}
		}
		for _, e := range w.logLines() {
			if e.URI == "http://big.example/" && !strings.Contains(strings.Join(e.Annotations, " "), "body_refused") {
				t.Errorf("annotations %q, want the reason", e.Annotations)
			}
		}
		checkArchive(t, w.dir)
	})
}
