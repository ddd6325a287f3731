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
		Fewer: d.Fewer, More: d.More, Blind: d.Blind, Unknown: d.Unknown(), Text: d.String(),
	}
	r.Low, r.High = d.Range()
	if d.Seen > 0 {
		r.Each = float64(d.Requests) / float64(d.Seen)
	}
	return r
}

// today returns the requests and versions of today, of the hosts that only selects; nil selects all. The estimate of
// each host follows from all that is known of its day.
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

// CapturedIn returns what a row was made of.
func CapturedIn(r api.DayRow) evaluators.Captured {
	return evaluators.Captured{
		Requests: r.Requests, Seen: r.Seen, Missed: max(r.Versions-float64(r.Seen), 0), Fewer: r.Fewer, More: r.More,
		Blind: r.Blind,
	}
}

// weeksOf returns the sums of the weeks of sorted days, from Monday. A week whose first days are kept no more is left
// out.
func weeksOf(days []api.DayRow) []api.DayRow {
	weeks, sum := []api.DayRow{}, evaluators.Captured{}
	for i, d := range days {
		day, err := time.Parse(time.DateOnly, d.Day)
		last, err2 := time.Parse(time.DateOnly, days[len(days)-1].Day)
		monday := day.AddDate(0, 0, -(int(day.Weekday())+6)%7)
		if err != nil || err2 != nil || !monday.After(last.AddDate(0, 0, -hosts.MaxDays)) {
			continue
		}
		begin := monday.Format(time.DateOnly)
		if n := len(weeks); n == 0 || weeks[n-1].Day != begin {
			weeks, sum = append(weeks, api.DayRow{}), evaluators.Captured{}
		}
		sum = sum.Plus(CapturedIn(days[i]))
		weeks[len(weeks)-1] = DayRow(begin, "", sum)
	}
	return weeks
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

// SortDays sorts the days of a report, adds them up by weeks, and sorts its hosts, of which only the first are kept.
func SortDays(out *api.DayReport) {
	slices.SortFunc(out.Days, func(a, b api.DayRow) int { return cmp.Compare(a.Day, b.Day) })
	out.Weeks = weeksOf(out.Days)
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
