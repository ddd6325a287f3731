package crawler

import (
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/crawler/policy"
	"github.com/arcrawl/arcrawl/crawllog"
	"github.com/arcrawl/arcrawl/dedup"
	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/fetch"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/hosts/daily"
	"github.com/arcrawl/arcrawl/hosts/reputation"
	"github.com/arcrawl/arcrawl/hosts/similar"
	"github.com/arcrawl/arcrawl/scope/traps"
	"github.com/arcrawl/arcrawl/uri"
	"github.com/arcrawl/arcrawl/warcout"
)

// Rooms is everything that a crawl needs. Whoever opens the rooms closes them, after Run has returned.
type Rooms struct {
	Config   *config.Live
	Frontier *frontier.Frontier
	Fetch    *fetch.Client
	Dedup    *dedup.Index
	Trust    *reputation.Store
	Kin      *similar.Store // nil: a URI that is new learns nothing from others
	Traps    *traps.Book    // nil looks for no traps
	Accounts *daily.Store   // nil keeps no accounts of hosts and days
	Archive  *warcout.Writer
	CrawlLog *crawllog.Writer

	// Stored opens the payload of a record of the archive, for the settings that want it compared. Nil: none can be read.
	// An error of Close says that the record is damaged.
	Stored func(o digest.Origin) (io.ReadCloser, error)
	// Index, when set, is told of each capture once its record is on disk. What it does not take is no matter of the crawl: an index can
	// be made of the archive at any time. It is called by many goroutines.
	Index func(Captured) error
	// FreeSpace tells the bytes left where the store and the archive are, whichever has less.
	FreeSpace func() (int64, error)
	// Keep, when set, hears of each configuration that comes into force while the crawl goes on.
	Keep func(*config.Config) error
	// Rest, when set, is told when the crawl rests, because nothing is in progress and nothing will be due for a while, and when
	// it goes on. The calls take turns, the last one says that it goes on.
	Rest func(rests bool)
	// Beat, when set, is called each time a worker looks for something to claim: at least once a minute while a worker is free.
	// It is called by many goroutines and must not block.
	Beat func(now time.Time)
	// Version stands in the User-Agent.
	Version string
	// Observe, when set, hears of every settled visit. It is called by many goroutines and must not block.
	Observe func(Report)
	// Hub, when set, hears at each reading of a feed of the WebSub hub that it names, and what the hub knows it as (zero: its
	// own address). It is called by many goroutines and must not block.
	Hub func(now time.Time, feed, topic, hub uri.URI)
	Log zerolog.Logger
}

// Captured is a response or revisit record of the archive, as an index knows it.
type Captured struct {
	Record      digest.Origin // where it is; its payload digest is that of the original for a revisit
	Status      int           // of the head in the record; 0 when it has none
	ContentType string        // as the server wrote it
	Revisit     bool
}

// Report tells of one settled visit to whoever watches.
type Report struct {
	URI      uri.URI
	Hops     uri.HopPath
	Finished time.Time
	Status   int // HTTP status, or a negative code of Heritrix
	Verdict  evaluators.Verdict
	Failed   bool   // a misfortune: nothing that was learned has changed
	Block    string // what stood in for the page, see [evaluators.Block]; empty if nothing did
	Stopped  bool   // the mid-fetch filter broke off the download
	Audit    bool   // the body was read though the headers would have vouched for it
	Kept     Keeping
	Received int64 // bytes of the response that were transferred
	Spared   int64 // bytes of payload that did not have to be transferred, going by the last capture
	Deduped  int64 // bytes of payload that were transferred and did not have to be stored
	Wait     evaluators.Wait
	Due      time.Time
	Visits   int
	Versions int
	Found    int           // URIs that were new
	Source   Reading       // of a feed or sitemap: what it brought
	Written  int64         // compressed bytes added to the archive
	Took     time.Duration // of the exchange; zero when there was none
	Rest     time.Duration // of the slot after it, for politeness
}

// Crawler walks URIs through the rooms. Make one with [New] and run it once.
type Crawler struct {
	rooms  Rooms
	robots *policy.Robots

	// step is called at each numbered step of a walk; tests die there.
	step func(step string)

	dirty chan struct{} // a token when something was settled since the last sync

	desks    []desk        // of the workers
	waiting  atomic.Int64  // workers that have nothing to do
	seat     chan struct{} // has a token while one of them waits for the frontier
	wake     chan struct{} // a token to end its nap
	napUntil atomic.Int64  // when the nap ends by itself, see noNap

	prices prices
	uplink uplink

	mu        sync.Mutex // guards the fields below
	held      string     // why nothing is claimed at present; empty when crawling
	heldSince time.Time
	until     time.Time // when to look again whether held still holds
	paused    Stand     // by an operator
	loading   Loading   // of the configuration

	reloading sync.Mutex // held while a configuration is loaded and put in force
}

// New makes a crawler of opened rooms.
func New(r Rooms) *Crawler {
	if r.Beat == nil {
		r.Beat = func(time.Time) {}
	}
	return &Crawler{
		rooms: r, step: func(string) {}, robots: policy.NewRobots(r.Frontier),
		dirty: make(chan struct{}, 1), desks: make([]desk, r.Config.Current().Crawl.Workers),
		seat: make(chan struct{}, 1), wake: make(chan struct{}, 1),
	}
}

// AddSeeds puts the configured seeds into the frontier. Known ones stay as they are: neither a restart nor a new
// configuration makes them due.
func (c *Crawler) AddSeeds(now time.Time) (frontier.Added, error) {
	listed := c.rooms.Config.Current().Seeds
	seeds := make([]frontier.Candidate, len(listed))
	for i, s := range listed {
		seeds[i] = frontier.Candidate{URI: s.URI, Seed: s.URI.String(), Due: now}
	}
	for _, s := range c.rooms.Config.Current().Sources {
		seeds = append(seeds, frontier.Candidate{URI: s.URI, Seed: s.Seed.String(), Due: now, Source: awaited()})
	}
	return c.rooms.Frontier.Add(now, seeds...)
}
