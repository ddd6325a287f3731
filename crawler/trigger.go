package crawler

import (
	"fmt"
	"time"

	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/uri"
)

// Trigger has a known feed visited as soon as politeness and feeds.min_wait allow, because somebody says that it has something
// new. A URI that is not known stays so.
func (c *Crawler) Trigger(now time.Time, feed uri.URI) error {
	r, known, err := c.rooms.Frontier.Get(feed)
	if err != nil || !known {
		return err
	}
	s := c.rooms.Config.Current().For(config.About{URI: feed, Hops: r.Hops, ContentType: r.ContentType, Now: now})
	_, err = c.rooms.Frontier.Add(now, frontier.Candidate{
		URI: feed, Hops: r.Hops, Via: r.Via, Seed: r.Seed, Due: later(now, r.LastVisit.Add(s.Feeds.MinWait)), Urgent: true, Sooner: true,
	})
	if err != nil {
		return fmt.Errorf("have %s visited: %w", feed, err)
	}
	c.Wake()
	return nil
}
