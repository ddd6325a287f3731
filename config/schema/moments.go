package schema

import (
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

// ReadSpan reads a part of the day: "06:00-23:00". The end of the day is "24:00".
func ReadSpan(f Field) (span Span, ok bool) {
	const example = `write for example "06:00-23:00", or "22:00-06:00" across midnight`
	s, ok := f.Text(`for example "06:00-23:00"`)
	if !ok {
		return span, false
	}
	from, to, cut := strings.Cut(s, "-")
	begin, ok1 := parseClock(strings.TrimSpace(from))
	end, ok2 := parseClock(strings.TrimSpace(to))
	switch {
	case !cut || !ok1 || !ok2:
		f.Fault("is not a part of the day", example)
	case begin == end, begin == 24*time.Hour:
		f.Fault("is empty", example+"; remove the key for the whole day")
	default:
		return Span{begin, end}, true
	}
	return span, false
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

// ReadWeekdays reads a list of weekdays and ranges of weekdays.
func ReadWeekdays(f Field) (all []time.Weekday, ok bool) {
	f.Texts(`for example ["mon", "tue"] or ["mon-fri"]`, func(e Field, s string) {
		days, ok := parseWeekdays(s)
		if !ok {
			e.Fault("is not a weekday", "accepted: mon, tue, wed, thu, fri, sat, sun, or a range as in mon-fri")
			return
		}
		all = append(all, days...)
	})
	if list, ok := f.Value.([]any); ok && len(list) == 0 {
		f.Fault("is empty", "remove the key for every day")
	}
	return all, len(all) > 0
}

// parseWeekdays reads a weekday, "mon", or a range of weekdays, "fri-mon".
func parseWeekdays(text string) ([]time.Weekday, bool) {
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

// ReadHops reads a list of kinds of hops.
func ReadHops(f Field) (hops []uri.Hop, ok bool) {
	f.Texts(`for example ["embed"]`, func(e Field, s string) {
		for _, k := range hopNames {
			if k.name == s {
				hops = append(hops, k.hop)
				return
			}
		}
		e.Fault("is not a kind of hop", "accepted: "+HopNames())
	})
	return hops, len(hops) > 0
}

// HopNames returns the names of all kinds of hops, separated by commas.
func HopNames() string {
	names := make([]string, len(hopNames))
	for i, k := range hopNames {
		names[i] = k.name
	}
	return strings.Join(names, ", ")
}

// ReadZone reads the name of a time zone.
func ReadZone(f Field) (zone *time.Location, ok bool) {
	s, ok := f.Text(`for example "Europe/Copenhagen"`)
	if !ok {
		return nil, false
	}
	zone, err := time.LoadLocation(s)
	if err != nil || s == "" || s == "Local" {
		f.Fault("is not a time zone", `write for example "Europe/Copenhagen" or "UTC"`)
		return nil, false
	}
	return zone, true
}
