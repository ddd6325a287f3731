package admin

import (
	"net/http"
	"time"

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

// lastMinute counts the visits that ended in each second of the last minute. Visits may be reported in any order.
type lastMinute [60]secondCounts

type secondCounts struct {
	second int64 // since 1970
	counts api.Counts
}

// within reports whether a second is one of the last minute. A second after now is not: the clock was set back.
func (m *lastMinute) within(second int64, now time.Time) bool {
	age := now.Unix() - second
	return age >= 0 && age < int64(len(m))
}

// add counts visits that ended at a given time. It ignores those that ended more than a minute ago.
func (m *lastMinute) add(now, ended time.Time, c api.Counts) {
	second := ended.Unix()
	if !m.within(second, now) {
		return
	}
	slot := &m[second%int64(len(m))]
	if slot.second != second {
		*slot = secondCounts{second: second}
	}
	slot.counts = slot.counts.Plus(c)
}

// sum returns the counts of the minute before now.
func (m *lastMinute) sum(now time.Time) (c api.Counts) {
	for _, slot := range m {
		if m.within(slot.second, now) {
			c = c.Plus(slot.counts)
		}
	}
	return c
}
