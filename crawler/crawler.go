package crawler

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/arcrawl/arcrawl/aspects"
	"github.com/arcrawl/arcrawl/aspects/feeds"
	"github.com/arcrawl/arcrawl/aspects/robots"
	"github.com/arcrawl/arcrawl/frontier"
)

// Crawler walks URIs through the parts. Create one with [New] and run it once.
type Crawler struct {
	parts Parts

	robots   *robots.Copies
	demand   estimates
	uplink   uplinkWatch
	proxies  proxyWatch
	pause    pauseState
	space    spaceLedger
	resolved resolvedHosts
	aspects  aspectSet
	order    order
	visits   sync.Pool // of *aspects.Visit

	isCrowded func() bool // crowded; a method value would be allocated for each visit

	clock   clockWatch
	started time.Time

	// step is called at each numbered step of a walk; tests interrupt the walk there.
	step func(step string)

	scopeChanged chan struct{} // has a token if the configuration changed since the URIs out of scope were judged
	clockBack    chan struct{} // has a token if the clock has jumped backward

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
func New(p Parts) *Crawler {
	c := &Crawler{
		parts: p, robots: robots.NewCopies(p.Frontier), step: func(string) {},
		dirty: make(chan struct{}, 1), current: make([]atomic.Pointer[Visiting], p.Config.Current().Crawl.Workers),
		scopeChanged: make(chan struct{}, 1), clockBack: make(chan struct{}, 1), started: time.Now(),
		waiter: make(chan struct{}, 1), wake: make(chan struct{}, 1), broken: make(chan error, 1),
	}
	c.space.freeSpace, c.space.minFree, c.space.log = p.FreeSpace, c.minFree, p.Log
	c.isCrowded = c.crowded
	c.visits.New = func() any { return new(aspects.Visit) }
	c.aspects.noise.Use(p.NoiseFinder)
	c.compose()
	c.order = c.listOrder()
	p.reportDamage()
	return c
}

// minFree returns the bytes that must stay free on disk.
func (c *Crawler) minFree() int64 { return c.parts.Config.Current().Storage.MinFree }

// AddSeeds adds the configured seeds to the frontier. Known ones do not change: neither a restart nor a new
// configuration makes them due.
func (c *Crawler) AddSeeds(now time.Time) (frontier.Added, error) {
	cfg := c.parts.Config.Current()
	seeds := make([]frontier.Candidate, 0, len(cfg.Seeds)+len(cfg.Sources))
	for _, s := range cfg.Seeds {
		seeds = append(seeds, frontier.Candidate{URI: s.URI, Seed: s.URI.String(), Due: now})
	}
	for _, s := range cfg.Sources {
		seeds = append(seeds, frontier.Candidate{URI: s.URI, Seed: s.Seed.String(), Due: now, Source: feeds.Expected()})
	}
	return c.parts.Frontier.Add(now, c.parts.Frontier.Own(seeds)...)
}
