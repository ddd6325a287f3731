package index

import (
	"fmt"
	"sort"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/archive/warc"
)

// Version names the captures of a URI in a period: not before From, and before To.
type Version struct {
	URI      string
	From, To time.Time // zero = the latest capture
}

// ParseVersion parses URI@date. The date is 20261121090000 or 2026-11-21T09:00:00Z, or a beginning of one of them from
// the year on. The T may be a space, and the Z may be left out: all times are UTC. If no date follows the last @, the
// whole text is a URI, and the version is its latest capture.
func ParseVersion(s string) Version {
	i := strings.LastIndexByte(s, '@')
	if i < 0 {
		return Version{URI: s}
	}
	from, to, ok := parsePeriod(s[i+1:])
	if !ok {
		return Version{URI: s}
	}
	return Version{URI: s[:i], From: from, To: to}
}

// ParsePeriod parses a date, or the beginning of a date, as the period that it covers: "2026-11" is a month.
func ParsePeriod(s string) (from, to time.Time, err error) {
	from, to, ok := parsePeriod(s)
	if !ok {
		return from, to, fmt.Errorf("date %q: want 2026-11-21T09:00:00Z, 20261121090000, or a beginning of one of them", s)
	}
	return from, to, nil
}

func parsePeriod(s string) (from, to time.Time, ok bool) {
	for _, p := range []struct {
		layout              string
		years, months, days int
		rest                time.Duration
	}{
		{layout: "2006", years: 1},
		{layout: "200601", months: 1},
		{layout: "2006-01", months: 1},
		{layout: "20060102", days: 1},
		{layout: "2006-01-02", days: 1},
		{layout: "2006010215", rest: time.Hour},
		{layout: "200601021504", rest: time.Minute},
		{layout: "2006-01-02T15", rest: time.Hour},
		{layout: "2006-01-02T15:04", rest: time.Minute},
		{layout: DateLayout, rest: time.Second},
		{layout: "2006-01-02T15:04:05", rest: time.Second},
	} {
		t, err := time.Parse(p.layout, strings.Replace(strings.TrimSuffix(s, "Z"), " ", "T", 1))
		if err != nil {
			continue
		}
		if strings.Contains(s, ".") { // time.Parse accepts a fraction of a second
			return t, t.Add(time.Nanosecond), true
		}
		return t, t.AddDate(p.years, p.months, p.days).Add(p.rest), true
	}
	return from, to, false
}

// Choose returns the last capture in the period of a version. If there is none, it returns the last one before the
// period, which is what an archive would have replayed at that time, and exact is false. Captures are oldest first.
func (v Version) Choose(captures []Capture) (c Capture, exact bool, err error) {
	all := captures
	if !v.To.IsZero() {
		captures = captures[:sort.Search(len(captures), func(i int) bool { return !captures[i].Date.Before(v.To) })]
	}
	if len(captures) == 0 {
		if v.To.IsZero() {
			return Capture{}, false, fmt.Errorf("%w: %s", warc.ErrNotFound, v.URI)
		}
		first := ""
		if len(all) > 0 {
			first = "; the first is of " + all[0].Date.Format(time.RFC3339)
		}
		return Capture{}, false, fmt.Errorf("%w: %s before %s%s", warc.ErrNotFound, v.URI, v.To.Format(time.RFC3339), first)
	}
	c = captures[len(captures)-1]
	return c, !c.Date.Before(v.From), nil
}
