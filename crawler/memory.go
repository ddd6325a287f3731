package crawler

import (
	"time"

	"github.com/arcrawl/arcrawl/aspects/noise"
	"github.com/arcrawl/arcrawl/config"
)

const (
	// visitMemory is for one visit: buffers, and the largest windows of decoders (16 MiB).
	visitMemory = 18 << 20
	// comparedCopies is how often a content that is compared is in memory: as text, scrubbed, and in between.
	comparedCopies = 3
)

// VisitsNeed returns how many bytes of memory the visits in progress may need at most, by crawl.workers and
// change.max_size.
func VisitsNeed(c *config.Config, now time.Time) int64 {
	s := c.ForHost("", now)
	return int64(c.Crawl.Workers) * (visitMemory + comparedCopies*config.Own[noise.Options](&s).MaxSize)
}
