package crawler

import (
	"io"
	"time"

	"github.com/rs/zerolog"

	"github.com/arcrawl/arcrawl/aspects"
	"github.com/arcrawl/arcrawl/aspects/noise"
	"github.com/arcrawl/arcrawl/aspects/spaces"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/crawllog"
	"github.com/arcrawl/arcrawl/dedup"
	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/fetch"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/hosts"
	"github.com/arcrawl/arcrawl/uri"
	"github.com/arcrawl/arcrawl/warcout"
)

// Parts holds everything that a crawl needs. The caller opens the parts, and closes them after Run has returned.
//
// Optional fields may be nil. Functions are called by many goroutines and must not block, unless they say otherwise.
type Parts struct {
	Config     *config.Live
	Frontier   *frontier.Frontier
	Fetch      *fetch.Client
	Dedup      *dedup.Index
	Reputation *hosts.Reputation // how reliable headers are
	Similar    *hosts.Similar    // what new URIs begin with: the estimates of similar URIs on their host
	Traps      *spaces.Store     // URIs of endless spaces are kept out
	Daily      *hosts.Daily      // visits of each host and day
	Cookies    *hosts.Cookies
	Archive    *warcout.Writer
	CrawlLog   *crawllog.Writer
	Log        zerolog.Logger
	// Version is part of the User-Agent.
	Version string
	// Void, when set, returns why a visit that began at a time teaches nothing; nil if it counts. It must be fast.
	Void func(began time.Time) error
	// Accept, when set, returns an error if a valid configuration must not be put in force now.
	Accept func(*config.Config) error
	// FreeSpace returns the free bytes of the store's or the archive's file system, whichever has less.
	FreeSpace func() (int64, error)

	// Now returns the time of day.
	Now func() time.Time
	// OpenPayload opens the payload of a record of the archive, for the setting that compares payloads byte by byte. An
	// error of Close says that the record is damaged. It may block.
	OpenPayload func(digest.Origin) (io.ReadCloser, error)
	// IndexCapture is called with each capture after its record is on disk. Index errors do not stop the crawl, because
	// the index can be rebuilt from the archive at any time.
	IndexCapture func(Captured) error
	// SaveConfig is called with each configuration that comes into force during the crawl, by one goroutine at a time. It
	// may block.
	SaveConfig func(*config.Config) error
	// NotifyRest is optional. It is called with true when the crawl is idle: nothing is in progress and nothing will be
	// due for a while. It is called with false when the crawl resumes. Calls come one after the other; the last is false.
	NotifyRest func(idle bool)
	// NoiseFinder is optional. It finds rules for pages that differ at each fetch.
	NoiseFinder noise.Finder
	// Rendered is optional. It lets the text that a browser shows decide about the next visit of a page.
	Rendered aspects.Rendered
	// Beat is called each time a worker looks for something to claim: at least once a minute while a worker is free.
	Beat func(now time.Time)
	// Observe is called with every settled visit.
	Observe func(Report)
	// NotifyHub is called at each reading of a feed that names a WebSub hub. topic is the address by which the hub knows
	// the feed; zero = the feed's own.
	NotifyHub func(now time.Time, feed, topic, hub uri.URI)
}

// Captured is a response or revisit record of the archive, as an index needs it.
type Captured struct {
	Record      digest.Origin // where it is; for a revisit, the payload digest is the one of Original
	Status      int           // of the head in the record; 0 = the record has none
	ContentType string        // as the server wrote it
	Original    digest.Origin // of a revisit: the record that holds the payload; zero for other records
}

// reportDamage makes the stores log each row that is damaged, and replace it.
func (p Parts) reportDamage() {
	report := func(err error) {
		p.Log.Error().Err(err).Msg("a row about one host is damaged: it is replaced, and learned again")
	}
	stores := []interface{ OnDamage(report func(error)) }{
		p.Reputation, p.Similar, p.Daily, p.Cookies, p.Traps,
	}
	for _, s := range stores {
		s.OnDamage(report)
	}
}
