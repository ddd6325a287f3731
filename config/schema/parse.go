package schema

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/uri"
)

// Span is a part of the day, in time since midnight. It goes across midnight if To is before From.
type Span struct{ From, To time.Duration }

// String returns the span as the file writes it: "06:00-23:00".
func (s Span) String() string {
	clock := func(d time.Duration) string { return fmt.Sprintf("%02d:%02d", int(d.Hours()), int(d.Minutes())%60) }
	return clock(s.From) + "-" + clock(s.To)
}

// ErrEmpty is the error for a span that ends where it begins.
var ErrEmpty = errors.New("is empty")

// ParseSpan reads a part of the day: "06:00-23:00". The end of the day is "24:00".
func ParseSpan(text string) (Span, error) {
	from, to, ok := strings.Cut(text, "-")
	begin, ok1 := parseClock(strings.TrimSpace(from))
	end, ok2 := parseClock(strings.TrimSpace(to))
	switch {
	case !ok || !ok1 || !ok2:
		return Span{}, errors.New("is not a part of the day")
	case begin == end, begin == 24*time.Hour:
		return Span{}, ErrEmpty
	}
	return Span{begin, end}, nil
}

// parseClock reads a time of day: "06:00".
func parseClock(s string) (time.Duration, bool) {
	if s == "24:00" {
		return 24 * time.Hour, true
	}
	t, err := time.Parse("15:04", s)
	if err != nil || len(s) != len("15:04") {
		return 0, false
	}
	return time.Duration(t.Hour())*time.Hour + time.Duration(t.Minute())*time.Minute, true
}

// weekdayNames are in the order of [time.Weekday].
var weekdayNames = []string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"}

// ParseWeekdays reads a weekday, "mon", or a range of weekdays, "fri-mon".
func ParseWeekdays(text string) ([]time.Weekday, bool) {
	from, to, isRange := strings.Cut(text, "-")
	if !isRange {
		to = from
	}
	first, last := slices.Index(weekdayNames, from), slices.Index(weekdayNames, to)
	if first < 0 || last < 0 {
		return nil, false
	}
	days := []time.Weekday{time.Weekday(first)}
	for day := first; day != last; {
		day = (day + 1) % 7
		days = append(days, time.Weekday(day))
	}
	return days, true
}

// hopNames are the names of the kinds of hops.
var hopNames = []struct {
	name string
	hop  uri.Hop
}{
	{"seed", 0},
	{"link", uri.Link},
	{"embed", uri.Embed},
	{"redirect", uri.Redirect},
	{"prerequisite", uri.Prereq},
	{"speculative", uri.Speculative},
	{"manifest", uri.Manifest},
	{"inferred", uri.Inferred},
}

// ParseHop reads the name of a kind of hop.
func ParseHop(name string) (uri.Hop, bool) {
	for _, k := range hopNames {
		if k.name == name {
			return k.hop, true
		}
	}
	return 0, false
}

// HopNames returns the names of all kinds of hops, separated by commas.
func HopNames() string {
	names := make([]string, len(hopNames))
	for i, k := range hopNames {
		names[i] = k.name
	}
	return strings.Join(names, ", ")
}
