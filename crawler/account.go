package crawler

import (
	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/evaluators/rate"
)

// versionsSince is how many versions are thought to have come into being since the last judged visit: as the rule has it, or
// else going by how many visits found one.
func versionsSince(v visit, n next) float64 {
	switch {
	case n.wait.Versions > 0 || v.verdict.State != evaluators.Changed:
		return n.wait.Versions
	case v.verdict.First:
		return 1
	case n.timing.changes > 0:
		return float64(n.timing.changes)
	}
	return rate.VersionsFound(n.record.Visits-1, n.record.Versions-1)
}

// account adds a visit to its day. What robots.txt says is asked for as well, but is no version.
func (c *Crawler) account(v visit, n next) error {
	if c.rooms.Accounts == nil || hostDown(v.capture.Status) {
		return nil
	}
	d := evaluators.Day{Requests: 1}
	if !v.robots && !v.failed {
		d.Versions = n.wait.Versions
		if v.verdict.State == evaluators.Changed {
			d.Seen, d.Versions = 1, max(d.Versions, 1)
		}
	}
	return c.rooms.Accounts.Add(v.uri().Host(), v.capture.Started, d)
}
