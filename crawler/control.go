package crawler

import (
	"cmp"
	"fmt"
	"time"

	"github.com/arcrawl/arcrawl/aspects/feeds"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/uri"
)

// Visiting is a visit in progress. URI is the one that was claimed, even while its robots.txt is fetched first.
type Visiting struct {
	URI     uri.URI
	Claimed time.Time
	Worker  int
}

// ProxiesDown returns the proxies that do not work, as far as the configuration in force uses them.
func (c *Crawler) ProxiesDown() []ProxyDown {
	return c.proxies.Down(c.parts.Config.Current().UsesProxy)
}

// Held returns why the crawl is not running; empty if it is.
func (c *Crawler) Held() string {
	s := c.Status()
	return cmp.Or(s.Paused, s.Held)
}

// Wake makes a worker check at once whether a URI is due. Call it after the frontier was changed from outside.
func (c *Crawler) Wake() { signal(c.wake) }

// InProgress lists the visits in progress, by worker.
func (c *Crawler) InProgress() []Visiting {
	var all []Visiting
	for i := range c.current {
		if v := c.current[i].Load(); v != nil {
			all = append(all, *v)
		}
	}
	return all
}

// Memory is how much memory a part of the crawl takes for what it keeps of hosts.
type Memory struct {
	Part  string
	Bytes int64
}

// Memory returns how much memory the tables take that grow with the number of hosts. Each is bounded.
func (c *Crawler) Memory() []Memory {
	return []Memory{
		{"robots", c.robots.Bytes()},
		{"prices", c.demand.bytes()},
		{"space", c.space.Bytes()},
		{"similar", c.parts.Similar.Bytes()},
		{"daily", c.parts.Daily.Bytes()},
		{"cookies", c.parts.Cookies.Bytes()},
		{"looks", c.aspects.noise.Bytes()},
		{"traps", c.parts.Traps.Bytes()},
		{"reputation", c.parts.Reputation.Bytes()},
	}
}

// Reserved returns the number of bytes of disk space that are reserved for bodies in progress.
func (c *Crawler) Reserved() int64 { return c.space.Reserved() }

// Trigger makes a known feed due as soon as politeness and feeds.min_wait allow, because a hub says that it has news.
// It does nothing if the URI is not known.
func (c *Crawler) Trigger(now time.Time, feed uri.URI) error {
	r, known, err := c.parts.Frontier.Get(feed)
	if err != nil || !known {
		return err
	}
	s := c.parts.Config.Current().For(config.About{URI: feed, Hops: r.Hops, ContentType: r.ContentType, Now: now})
	due := r.LastVisit.Add(config.Own[feeds.Options](&s).MinWait)
	if due.Before(now) {
		due = now
	}
	_, err = c.parts.Frontier.Add(now, frontier.Candidate{
		URI: feed, Hops: r.Hops, Via: r.Via, Seed: r.Seed, Urgent: true, Sooner: true, Due: due,
	})
	if err != nil {
		return fmt.Errorf("make the feed %s due: %w", feed, err)
	}
	c.Wake()
	return nil
}
