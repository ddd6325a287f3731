package admin

import (
	"net/http"

	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/crawler"
	"github.com/arcrawl/arcrawl/evaluators"
)

// countsOf returns the counts of one visit.
func countsOf(r crawler.Report) api.Counts {
	c := api.Counts{
		Visits: 1, Found: int64(r.Found), Received: r.Received, Spared: r.Spared, Deduped: r.Deduped, Written: r.Written,
	}
	switch {
	case r.Failed:
		c.Failed = 1
	case r.Status < 0:
		c.Refused = 1
	case r.Verdict.State == evaluators.Changed:
		c.Versions = 1
	case r.Verdict.State == evaluators.Unchanged:
		c.Unchanged = 1
		if r.Stopped || r.Status == http.StatusNotModified {
			c.Unread = 1
		}
	}
	if r.Down() {
		c.Down = 1
	}
	if r.NoSpace {
		c.NoSpace = 1
	}
	return c
}
