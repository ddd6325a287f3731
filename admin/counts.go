package admin

import (
	"net/http"
	"time"

	"github.com/arcrawl/arcrawl/crawler"
	"github.com/arcrawl/arcrawl/evaluators"
)

// Counts holds the results of the visits in a period.
type Counts struct {
	Visits    int64 `json:"visits"`    // settled, with any result
	Versions  int64 `json:"versions"`  // captured: first visits and changes
	Unchanged int64 `json:"unchanged"` // visits that found nothing new
	Unread    int64 `json:"unread"`    // unchanged visits that did not read the body
	Failed    int64 `json:"failed"`    // failures
	Refused   int64 `json:"refused"`   // not requested because of robots.txt or scope
	Found     int64 `json:"found"`     // new URIs
	Received  int64 `json:"received"`  // transferred bytes of responses
	Spared    int64 `json:"spared"`    // bytes not transferred, estimated from the last capture
	Deduped   int64 `json:"deduped"`   // bytes transferred but not stored again
	Written   int64 `json:"written"`   // compressed bytes added to the archive
	Down      int64 `json:"down"`      // visits that did not reach their host
}

// countsOf returns the counts of one visit.
func countsOf(r crawler.Report) Counts {
	c := Counts{
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

func (c Counts) plus(d Counts) Counts {
	return Counts{
		Visits: c.Visits + d.Visits, Versions: c.Versions + d.Versions, Unchanged: c.Unchanged + d.Unchanged,
		Unread: c.Unread + d.Unread, Failed: c.Failed + d.Failed, Refused: c.Refused + d.Refused, Found: c.Found + d.Found,
		Received: c.Received + d.Received, Spared: c.Spared + d.Spared, Deduped: c.Deduped + d.Deduped,
		Written: c.Written + d.Written, Down: c.Down + d.Down,
	}
}

// lastMinute counts each second of the last minute.
type lastMinute struct {
	slots [60]Counts
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
		m.slots[m.at%int64(len(m.slots))] = Counts{}
	}
}

func (m *lastMinute) add(now time.Time, c Counts) {
	m.turn(now)
	slot := &m.slots[m.at%int64(len(m.slots))]
	*slot = slot.plus(c)
}

func (m *lastMinute) sum(now time.Time) (c Counts) {
	m.turn(now)
	for _, slot := range m.slots {
		c = c.plus(slot)
	}
	return c
}
