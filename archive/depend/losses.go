package depend

import (
	"slices"
	"strings"
	"time"
)

// losses counts lost captures by host and period.
type losses struct {
	period string // layout of time.Format
	sums   map[[2]string]*Loss
}

// newLosses returns empty counts. period is a layout of time.Format, for example "2006-01" for months.
func newLosses(period string) *losses { return &losses{period, map[[2]string]*Loss{}} }

// Add counts a lost capture of a date.
func (s *losses) Add(l Lost, date time.Time) {
	at := [2]string{HostOf(l.URI), date.UTC().Format(s.period)}
	if s.sums[at] == nil {
		s.sums[at] = &Loss{Host: at[0], Period: at[1]}
	}
	s.sums[at].Captures++
	if l.Original != "" {
		s.sums[at].Revisits++
	}
	if l.Saved {
		s.sums[at].Saved++
	}
}

// List returns the counts, sorted by host and period.
func (s *losses) List() []Loss {
	list := make([]Loss, 0, len(s.sums))
	for _, l := range s.sums {
		list = append(list, *l)
	}
	slices.SortFunc(list, func(a, b Loss) int { return strings.Compare(a.Host+"\x00"+a.Period, b.Host+"\x00"+b.Period) })
	return list
}
