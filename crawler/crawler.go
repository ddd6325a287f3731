package crawler

import (
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/crawler/answer"
	"github.com/arcrawl/arcrawl/crawler/clock"
	"github.com/arcrawl/arcrawl/crawler/compare"
	"github.com/arcrawl/arcrawl/crawler/demand"
	"github.com/arcrawl/arcrawl/crawler/feedread"
	"github.com/arcrawl/arcrawl/crawler/optional"
	"github.com/arcrawl/arcrawl/crawler/pause"
	"github.com/arcrawl/arcrawl/crawler/policy"
	"github.com/arcrawl/arcrawl/crawler/proxies"
	"github.com/arcrawl/arcrawl/crawler/rendered"
	"github.com/arcrawl/arcrawl/crawler/request"
	"github.com/arcrawl/arcrawl/crawler/rescope"
	"github.com/arcrawl/arcrawl/crawler/resolved"
	"github.com/arcrawl/arcrawl/crawler/space"
	"github.com/arcrawl/arcrawl/crawler/uplink"
	"github.com/arcrawl/arcrawl/crawllog"
	"github.com/arcrawl/arcrawl/dedup"
	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/fetch"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/hosts/cookies"
	"github.com/arcrawl/arcrawl/hosts/daily"
	"github.com/arcrawl/arcrawl/hosts/reputation"
	"github.com/arcrawl/arcrawl/hosts/similar"
	"github.com/arcrawl/arcrawl/scope/spaces"
	"github.com/arcrawl/arcrawl/scope/traps"
	"github.com/arcrawl/arcrawl/uri"
	"github.com/arcrawl/arcrawl/warcout"
)

// Parts holds everything that a crawl needs. The caller opens the parts, and closes them after Run has returned.
//
// Optional parts and functions may be nil. Functions are called by many goroutines and must not block, unless they say
// otherwise.
type Parts struct {
	Config     *config.Live
	Frontier   *frontier.Frontier
	Fetch      *fetch.Client
	Dedup      *dedup.Index
	Reputation *reputation.Store
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

	// Now is optional: the time of day, [time.Now] if it is nil.
	Now func() time.Time
	// Similar is optional. It makes new URIs begin with the estimates of similar URIs on their host.
	Similar *similar.Store
	// Traps is optional: URIs of traps are kept out.
	Traps *traps.Store
	// Spaces is optional: parameters that say nothing are recognised, and endless query spaces.
	Spaces *spaces.Store
	// Daily is optional: visits are counted per host and day.
	Daily *daily.Store
	// Cookies is optional: hosts get their cookies back, if their settings ask for that.
	Cookies *cookies.Store

	// OpenPayload is optional. It opens the payload of a record of the archive, for the setting that compares payloads
	// byte by byte. An error of Close says that the record is damaged. It may block.
	OpenPayload func(digest.Origin) (io.ReadCloser, error)
	// IndexCapture is optional. It is called with each capture after its record is on disk. Index errors do not stop the
	// crawl, because the index can be rebuilt from the archive at any time.
	IndexCapture func(Captured) error
	// SaveConfig is optional. It is called with each configuration that comes into force during the crawl, by one
	// goroutine at a time. It may block.
	SaveConfig func(*config.Config) error
	// NotifyRest is optional. It is called with true when the crawl is idle: nothing is in progress and nothing will be
	// due for a while. It is called with false when the crawl resumes. Calls come one after the other; the last is false.
	NotifyRest func(idle bool)
	// Beat is optional. It is called each time a worker looks for something to claim: at least once a minute while a
	// worker is free.
	Beat func(now time.Time)
	// Observe is optional. It is called with every settled visit.
	Observe func(Report)
	// NotifyHub is optional. It is called at each reading of a feed that names a WebSub hub. topic is the address by
	// which the hub knows the feed; zero = the feed's own.
	NotifyHub func(now time.Time, feed, topic, hub uri.URI)
}

// Captured is a response or revisit record of the archive, as an index needs it.
type Captured struct {
	Record      digest.Origin // where it is; for a revisit, the payload digest is the one of Original
	Status      int           // of the head in the record; 0 = the record has none
	ContentType string        // as the server wrote it
	Original    digest.Origin // of a revisit: the record that holds the payload; zero for other records
}

// Report describes one settled visit.
type Report struct {
	URI      uri.URI
	Hops     uri.HopPath
	Finished time.Time
	Status   int // HTTP status, or a negative code of Heritrix
	Verdict  evaluators.Verdict
	Failed   bool   // a misfortune: nothing that was learned has changed
	Error    string // why it failed; empty if the status says enough
	Block    string // the kind of answer that came instead of the page, see [evaluators.Block]; empty = the page came
	Fault    string // why the document could not be processed; empty = it could
	Repaired bool   // the head of the response was not valid HTTP and was repaired before it was parsed
	// FaultKind is the kind of Fault: [faults.KindError] or [faults.KindPanic].
	FaultKind string
	Stopped   bool               // the mid-fetch filter stopped the download
	NoSpace   bool               // the body was not received, for lack of disk space or because of a daily quota
	Audit     bool               // the body was read although the headers would have vouched for it
	Looked    bool               // the visit was a second look
	Look      evaluators.Outcome // of a second look
	Kept      Keeping
	Received  int64 // bytes of the response that were transferred
	Spared    int64 // bytes of payload that did not have to be transferred, estimated from the last capture
	Deduped   int64 // bytes of payload that were transferred and did not have to be stored
	Wait      evaluators.Wait
	Due       time.Time
	Visits    int
	Versions  int
	Type      string          // Content-Type of the answer
	Title     string          // of a page whose content is new; empty = unknown
	Found     int             // new URIs
	Source    feedread.Result // what a feed or sitemap brought
	Written   int64           // compressed bytes added to the archive
	Took      time.Duration   // of the exchange; zero = there was none
	Rest      time.Duration   // of the host's slot after the visit, for politeness
	Rendered  *rendered.Visit // for the verdict by the rendered text; nil unless the settings want one
}

// Down reports whether the visit's host could not be reached.
func (r Report) Down() bool { return answer.HostDown(r.Status) }

// Crawler walks URIs through the parts. Create one with [New] and run it once.
type Crawler struct {
	parts   Parts // optional functions are set
	similar optional.Similar
	traps   optional.Traps
	daily   optional.Daily

	robots   *policy.Robots
	demand   demand.Estimates
	uplink   uplink.Watch
	proxies  proxies.Watch
	pause    *pause.State
	space    *space.Ledger
	resolved resolved.Hosts
	requests request.Maker
	fetches  compare.Fetches
	returns  *rescope.Keeper
	clock    *clock.Keeper
	started  time.Time

	// step is called at each numbered step of a walk; tests interrupt the walk there.
	step func(step string)

	dirty  chan struct{} // has a token if something was settled since the last sync
	broken chan error    // has the first error that stops the crawl

	current    []atomic.Pointer[Visiting] // the visit in progress of each worker
	waiting    atomic.Int64               // workers that have nothing to do
	waiter     chan struct{}              // has a token while one of them waits for the frontier
	wake       chan struct{}              // has a token to wake that worker
	sleepUntil atomic.Int64               // when that worker wakes by itself, see notSleeping

	mu     sync.Mutex // guards config
	config ConfigStatus

	reloading sync.Mutex // held while a configuration is loaded and put in force
}

// New returns a crawler of opened parts.
func New(r Parts) *Crawler {
	c := &Crawler{
		parts: r.withDefaults(), similar: optional.SimilarOr(r.Similar),
		traps: optional.TrapsOr(r.Traps), daily: optional.DailyOr(r.Daily),
		robots: policy.NewRobots(r.Frontier), step: func(string) {},
		dirty: make(chan struct{}, 1), current: make([]atomic.Pointer[Visiting], r.Config.Current().Crawl.Workers),
		waiter: make(chan struct{}, 1), wake: make(chan struct{}, 1), broken: make(chan error, 1),
	}
	minFree := func() int64 { return r.Config.Current().Storage.MinFree }
	c.space = space.New(space.Options{FreeSpace: r.FreeSpace, MinFree: minFree, Log: r.Log})
	c.pause = pause.New(pause.Options{
		FreeSpace: r.FreeSpace, MinFree: minFree,
		Uplink: &c.uplink, Wake: c.Wake, Log: r.Log, GiveUp: func(err error) { stopCrawl(c.broken, err) },
	})
	c.requests = request.Maker{
		Dedup: r.Dedup, Reputation: r.Reputation, Cookies: r.Cookies, Version: r.Version, Crowded: c.crowded,
	}
	optional.ReportDamage(r.Log, r.Reputation, r.Similar, r.Daily, r.Cookies, r.Spaces, r.Traps)
	c.returns = rescope.New(r.Frontier, r.Config, c.Wake, r.Log)
	c.clock, c.started = clock.New(r.Frontier, r.Config, c.Wake, r.Log), time.Now()
	return c
}

// AddSeeds adds the configured seeds to the frontier. Known ones do not change: neither a restart nor a new
// configuration makes them due.
func (c *Crawler) AddSeeds(now time.Time) (frontier.Added, error) {
	cfg := c.parts.Config.Current()
	seeds := make([]frontier.Candidate, 0, len(cfg.Seeds)+len(cfg.Sources))
	for _, s := range cfg.Seeds {
		seeds = append(seeds, frontier.Candidate{URI: s.URI, Seed: s.URI.String(), Due: now})
	}
	for _, s := range cfg.Sources {
		seeds = append(seeds, frontier.Candidate{URI: s.URI, Seed: s.Seed.String(), Due: now, Source: expectedSource()})
	}
	return c.parts.Frontier.Add(now, c.parts.Frontier.Own(seeds)...)
}
