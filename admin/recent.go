package admin

import (
	"time"

	"github.com/arcrawl/arcrawl/admin/api"
)

// minuteCounts counts the visits that ended in each second of the last minute. Visits may be reported in any order.
type minuteCounts [60]secondCounts

type secondCounts struct {
	second int64 // since 1970
	counts api.Counts
}

// within reports whether a second is one of the last minute. A second after now is not: the clock was set back.
func (m *minuteCounts) within(second int64, now time.Time) bool {
	age := now.Unix() - second
	return age >= 0 && age < int64(len(m))
}

// Add counts visits that ended at a given time. It ignores those that ended more than a minute ago.
func (m *minuteCounts) Add(now, ended time.Time, c api.Counts) {
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

// Sum returns the counts of the minute before now.
func (m *minuteCounts) Sum(now time.Time) (c api.Counts) {
	for _, slot := range m {
		if m.within(slot.second, now) {
			c = c.Plus(slot.counts)
		}
	}
	return c
}
