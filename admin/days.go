package admin

import (
	"cmp"
	"slices"
	"time"

	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/hosts"
	"github.com/arcrawl/arcrawl/uri"
)

// This file has what the state of a crawl and reports on its days have in common.

// DayRow returns the row of a day of a host.
func DayRow(day, host string, d evaluators.Captured) api.DayRow {
	r := api.DayRow{
		Day: day, Host: host, Requests: d.Requests, Seen: d.Seen, Versions: d.Versions(), Share: d.Share(),
		Fewer: d.Fewer, More: d.More, Text: d.String(),
	}
	if low, high, ok := d.Range(); ok {
		r.Low, r.High = low, high
	}
	if d.Seen > 0 {
		r.Each = float64(d.Requests) / float64(d.Seen)
	}
	return r
}

// today returns the requests and versions of today, of the hosts that only selects; nil selects all. The estimate of
// each host is corrected by all that is known of its day.
func today(store *hosts.Daily, only Choice, now time.Time) (api.DayRow, error) {
	of := map[uri.Host]evaluators.Day{}
	err := store.Each("", now.UTC().Truncate(24*time.Hour), time.Time{}, func(at hosts.HostDay, d evaluators.Day) error {
		if only == nil || only(at.Host) {
			d.Versions = max(d.Versions, float64(d.Seen))
			of[at.Host] = of[at.Host].Plus(d)
		}
		return nil
	})
	var all evaluators.Captured
	for _, d := range of {
		all = all.Plus(d.Captured())
	}
	return DayRow("", "", all), err
}

// SortPace sorts hosts that are below their targets, most lost versions first.
func SortPace(list []api.HostPace) {
	slices.SortFunc(list, func(a, b api.HostPace) int {
		return cmp.Or(cmp.Compare(b.Lost, a.Lost), cmp.Compare(a.Host, b.Host))
	})
}

// MaxDayHosts is the maximum number of hosts in a report.
const MaxDayHosts = 1000

// MaxDayRows is the maximum number of rows in a report.
const MaxDayRows = 10_000

// SortDays sorts the days of a report, and its hosts, of which only the first are kept.
func SortDays(out *api.DayReport) {
	slices.SortFunc(out.Days, func(a, b api.DayRow) int { return cmp.Compare(a.Day, b.Day) })
	slices.SortFunc(out.Hosts, func(a, b api.DayRow) int {
		return cmp.Or(cmp.Compare(b.Versions-float64(b.Seen), a.Versions-float64(a.Seen)), cmp.Compare(a.Host, b.Host))
	})
	if len(out.Hosts) > MaxDayHosts {
		out.Hosts, out.More = out.Hosts[:MaxDayHosts], true
	}
}

// SortDayRows sorts rows by host, then by day.
func SortDayRows(rows []api.DayRow) {
	slices.SortFunc(rows, func(a, b api.DayRow) int {
		return cmp.Or(cmp.Compare(a.Host, b.Host), cmp.Compare(a.Day, b.Day))
	})
}
