package reports

import (
	"time"

	"github.com/arcrawl/arcrawl/admin"
	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/hosts"
	"github.com/arcrawl/arcrawl/uri"
)

// dayTally adds up days of hosts. Its zero value is empty.
type dayTally struct {
	brief bool // no rows of each host and day

	days  map[string]evaluators.Captured
	hosts map[string]evaluators.Day
	rows  []api.DayRow
	more  bool
}

// Add adds the requests and versions of a host on a day.
func (t *dayTally) Add(host, day string, d evaluators.Day) {
	if t.days == nil {
		t.days, t.hosts = map[string]evaluators.Captured{}, map[string]evaluators.Day{}
	}
	d.Versions = max(d.Versions, float64(d.Seen))
	t.days[day] = t.days[day].Plus(d.Captured())
	t.hosts[host] = t.hosts[host].Plus(d)
	if t.more = t.more || len(t.rows) >= admin.MaxDayRows; !t.more && !t.brief {
		t.rows = append(t.rows, admin.DayRow(day, host, d.Captured()))
	}
}

// Report returns the report of everything added. The estimate of each host follows from all its days together.
func (t *dayTally) Report() api.DayReport {
	out := api.DayReport{
		Days: []api.DayRow{}, Hosts: []api.DayRow{}, Rows: t.rows, More: t.more, Pace: []api.HostPace{},
	}
	for day, d := range t.days {
		out.Days = append(out.Days, admin.DayRow(day, "", d))
	}
	var all evaluators.Captured
	for host, d := range t.hosts {
		all = all.Plus(d.Captured())
		out.Hosts = append(out.Hosts, admin.DayRow("", host, d.Captured()))
	}
	out.All = admin.DayRow("", "", all)
	admin.SortDays(&out)
	if out.Rows == nil {
		out.Rows = []api.DayRow{}
	}
	return out
}

// dayReport reports on the days of a host, or of all hosts that only selects if it is empty. The days start at or after
// from and before to.
func dayReport(
	store *hosts.Daily, host uri.Host, only func(uri.Host) bool, from, to time.Time,
) (api.DayReport, error) {
	return dayTally{}.of(store, host, only, from, to)
}

// daySums reports as [dayReport] does up to today, without rows of each host and day.
func daySums(store *hosts.Daily, host uri.Host, only func(uri.Host) bool, from time.Time) (api.DayReport, error) {
	return dayTally{brief: true}.of(store, host, only, from, time.Time{})
}

// of adds the days of a store.
func (t dayTally) of(
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
