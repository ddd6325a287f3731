package alarm

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/arcrawl/arcrawl/internal/human"
	"github.com/arcrawl/arcrawl/uri"
)

const (
	gapLasts = 24 * time.Hour // how long a gap of a feed is a trouble
	maxGaps  = 1000
)

// Gaps holds when feeds may have lost entries, by URI. The zero value is empty. It is not safe for concurrent use.
type Gaps struct{ at map[string]time.Time }

// Add records that a feed may have lost entries.
func (g *Gaps) Add(feed string, at time.Time) {
	if g.at == nil {
		g.at = map[string]time.Time{}
	}
	if _, known := g.at[feed]; known || len(g.at) < maxGaps {
		g.at[feed] = at
	}
}

// Troubles returns one trouble for each host whose feeds lost entries in the last day.
func (g *Gaps) Troubles(now time.Time) []Trouble {
	type gap struct {
		feeds int
		last  string // URI of the feed that lost entries last
		at    time.Time
	}
	hosts := map[string]gap{}
	for feed, when := range g.at {
		if now.Sub(when) > gapLasts {
			delete(g.at, feed)
			continue
		}
		host := string(uri.FromCanonical(feed).Host())
		h := hosts[host]
		if h.feeds++; when.After(h.at) || when.Equal(h.at) && feed < h.last {
			h.last, h.at = feed, when
		}
		hosts[host] = h
	}
	list := make([]Trouble, 0, len(hosts))
	for host, h := range hosts {
		list = append(list, Trouble{Kind: FeedGap, About: host, Text: fmt.Sprintf(
			"%s of %s may have lost entries between two visits, the last one %s at %s; lower feeds.min for the host",
			human.Count(h.feeds, "feed"), human.Host(host), h.last, h.at.UTC().Format("2006-01-02 15:04:05 MST"))})
	}
	slices.SortFunc(list, func(a, b Trouble) int { return cmp.Compare(a.About, b.About) })
	return list
}
