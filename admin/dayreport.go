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

// dayRow returns the row of a day of a host.
func dayRow(day, host string, d evaluators.Captured) api.DayRow {
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

// SortPace sorts hosts that are below their targets, most lost versions first.
func SortPace(list []api.HostPace) {
	slices.SortFunc(list, func(a, b api.HostPace) int {
		return cmp.Or(cmp.Compare(b.Lost, a.Lost), cmp.Compare(a.Host, b.Host))
	})
}

// maxDayHosts is the maximum number of hosts in a report.
const maxDayHosts = 1000

// maxDayRows is the maximum number of rows in a report.
const maxDayRows = 10_000

// DayTally adds up days of hosts. Its zero value is empty.
type DayTally struct {
	brief bool // no rows of each host and day

	days  map[string]evaluators.Captured
	hosts map[string]evaluators.Day
	rows  []api.DayRow
	more  bool
}

// Add adds the requests and versions of a host on a day.
func (t *DayTally) Add(host, day string, d evaluators.Day) {
	if t.days == nil {
		t.days, t.hosts = map[string]evaluators.Captured{}, map[string]evaluators.Day{}
	}
	d.Versions = max(d.Versions, float64(d.Seen))
	t.days[day] = t.days[day].Plus(d.Captured())
	t.hosts[host] = t.hosts[host].Plus(d)
	if t.more = t.more || len(t.rows) >= maxDayRows; !t.more && !t.brief {
		t.rows = append(t.rows, dayRow(day, host, d.Captured()))
	}
}

// Report returns the report of everything added. The estimates of each host are corrected by all its days together.
func (t *DayTally) Report() api.DayReport {
	out := api.DayReport{
		Days: []api.DayRow{}, Hosts: []api.DayRow{}, Rows: t.rows, More: t.more, Pace: []api.HostPace{},
	}
	for day, d := range t.days {
		out.Days = append(out.Days, dayRow(day, "", d))
	}
	var all evaluators.Captured
	for host, d := range t.hosts {
		all = all.Plus(d.Captured())
		out.Hosts = append(out.Hosts, dayRow("", host, d.Captured()))
	}
	out.All = dayRow("", "", all)
	sortSums(&out)
	if out.Rows == nil {
		out.Rows = []api.DayRow{}
	}
	return out
}

// sortSums sorts the days of a report, and its hosts, of which only the first are kept.
func sortSums(out *api.DayReport) {
	slices.SortFunc(out.Days, func(a, b api.DayRow) int { return cmp.Compare(a.Day, b.Day) })
	slices.SortFunc(out.Hosts, func(a, b api.DayRow) int {
		return cmp.Or(cmp.Compare(b.Versions-float64(b.Seen), a.Versions-float64(a.Seen)), cmp.Compare(a.Host, b.Host))
	})
	if len(out.Hosts) > maxDayHosts {
		out.Hosts, out.More = out.Hosts[:maxDayHosts], true
	}
}

// SortDayRows sorts rows by host, then by day.
func SortDayRows(rows []api.DayRow) {
	slices.SortFunc(rows, func(a, b api.DayRow) int {
		return cmp.Or(cmp.Compare(a.Host, b.Host), cmp.Compare(a.Day, b.Day))
	})
}

// DayReport reports on the days of a host, or of all hosts that only selects if it is empty. The days start at or after
// from and before to.
func DayReport(
	store *hosts.Daily, host uri.Host, only func(uri.Host) bool, from, to time.Time,
) (api.DayReport, error) {
	return DayTally{}.of(store, host, only, from, to)
}

// daySums reports as [DayReport] does up to today, without rows of each host and day.
func daySums(store *hosts.Daily, host uri.Host, only func(uri.Host) bool, from time.Time) (api.DayReport, error) {
	return DayTally{brief: true}.of(store, host, only, from, time.Time{})
}

// of adds the days of a store.
func (t DayTally) of(
	store *hosts.Daily, host uri.Host, only func(uri.Host) bool, from, to time.Time,
) (api.DayReport, error) {
	dates := map[int32]string{}
	err := store.Each(host, from, to, func(d hosts.HostDay, day evaluators.Day) error {
		if only == nil || only(d.Host) {
			if dates[d.Day] == "" {
				dates[d.Day] = d.Time().Format(time.DateOnly)
			}
			t.Add(string(d.Host), dates[d.Day], day)
		}
		return nil
	})
	return t.Report(), err
}
