package schema

import (
	"errors"
	"time"

	"github.com/arcrawl/arcrawl/uri"
)

// ReadHops reads a list of kinds of hops.
func ReadHops(f Field) (hops []uri.Hop, ok bool) {
	f.Texts(`for example ["embed"]`, func(e Field, s string) {
		hop, ok := ParseHop(s)
		if !ok {
			e.Fault("is not a kind of hop", "accepted: "+HopNames())
			return
		}
		hops = append(hops, hop)
	})
	return hops, len(hops) > 0
}

// ReadSpan reads a part of the day.
func ReadSpan(f Field) (span Span, ok bool) {
	const example = `write for example "06:00-23:00", or "22:00-06:00" across midnight`
	s, ok := f.Text(`for example "06:00-23:00"`)
	if !ok {
		return span, false
	}
	span, err := ParseSpan(s)
	switch {
	case errors.Is(err, ErrEmpty):
		f.Fault(err.Error(), example+"; remove the key for the whole day")
	case err != nil:
		f.Fault(err.Error(), example)
	}
	return span, err == nil
}

// ReadWeekdays reads a list of weekdays and ranges of weekdays.
func ReadWeekdays(f Field) (all []time.Weekday, ok bool) {
	f.Texts(`for example ["mon", "tue"] or ["mon-fri"]`, func(e Field, s string) {
		days, ok := ParseWeekdays(s)
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
