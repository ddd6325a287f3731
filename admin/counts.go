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
	return c
}

// lastMinute counts each second of the last minute.
type lastMinute struct {
	slots [60]api.Counts
	at    int64 // the second of the newest slot
}

// turn makes the second of now the newest slot.
func (m *lastMinute) turn(now time.Time) {
	s := now.Unix()
	if s-m.at >= int64(len(m.slots)) || s < m.at {
		*m = lastMinute{at: s}
	}
	for m.at < s {
		m.at++
		m.slots[m.at%int64(len(m.slots))] = api.Counts{}
	}
}

func (m *lastMinute) add(now time.Time, c api.Counts) {
	m.turn(now)
	slot := &m.slots[m.at%int64(len(m.slots))]
	*slot = slot.Plus(c)
}

func (m *lastMinute) sum(now time.Time) (c api.Counts) {
	m.turn(now)
	for _, slot := range m.slots {
		c = c.Plus(slot)
	}
	return c
}
