package human

import (
	"fmt"
	"strings"
	"time"
)

// ParsePeriod parses a date, or the beginning of a date, as the period that it covers: "2026-11" is a month.
// The time to is not part of the period. The forms are 2026-11-21T09:00:00Z and 20261121090000. The T may be a space,
// and the Z may be missing: all times are UTC. Three further digits are milliseconds, as in an index.
func ParsePeriod(s string) (from, to time.Time, err error) {
	const second, millisecond = len("20060102150405"), len("20060102150405000")
	if len(s) == millisecond && strings.Trim(s, "0123456789") == "" {
		t, err := time.Parse("20060102150405", s[:second]+"."+s[second:])
		return t, t.Add(time.Millisecond), err
	}
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
		{layout: "20060102150405", rest: time.Second},
		{layout: "2006-01-02T15:04:05", rest: time.Second},
	} {
		t, err := time.Parse(p.layout, strings.Replace(strings.TrimSuffix(s, "Z"), " ", "T", 1))
		if err != nil {
			continue
		}
		if strings.Contains(s, ".") { // time.Parse accepts a fraction of a second
			return t, t.Add(time.Nanosecond), nil
		}
		return t, t.AddDate(p.years, p.months, p.days).Add(p.rest), nil
	}
	return from, to, fmt.Errorf("date %q: want 2026-11-21T09:00:00Z, 20261121090000, or a beginning of one of them", s)
}
