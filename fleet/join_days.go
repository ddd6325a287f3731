package fleet

import (
	"github.com/arcrawl/arcrawl/admin"
	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/evaluators"
)

// joinDays returns the report of a whole crawl from the reports of its parts. A host that has moved may be in several.
func joinDays(parts []api.DayReport) api.DayReport {
	out := api.DayReport{Pace: []api.HostPace{}}
	var all evaluators.Captured
	type key struct{ host, day string }
	sums := map[key]evaluators.Captured{}
	add := func(list []api.DayRow) {
		for _, r := range list {
			at := key{r.Host, r.Day}
			sums[at] = sums[at].Plus(admin.CapturedIn(r))
		}
	}
	for _, p := range parts {
		all, out.More = all.Plus(admin.CapturedIn(p.All)), out.More || p.More
		add(p.Days)
		add(p.Hosts)
		add(p.Rows)
		out.Pace = append(out.Pace, p.Pace...)
	}
	out.All, out.Days, out.Hosts, out.Rows = admin.DayRow("", "", all), []api.DayRow{}, []api.DayRow{}, []api.DayRow{}
	for at, sum := range sums {
		list := &out.Rows
		switch {
		case at.host == "":
			list = &out.Days
		case at.day == "":
			list = &out.Hosts
		}
		*list = append(*list, admin.DayRow(at.day, at.host, sum))
	}
	admin.SortDayRows(out.Rows)
	admin.SortDays(&out)
	if len(out.Rows) > admin.MaxDayRows {
		out.Rows, out.More = out.Rows[:admin.MaxDayRows], true
	}
	admin.SortPace(out.Pace)
	out.Pace = out.Pace[:min(len(out.Pace), admin.MaxDayHosts)]
	return out
}

// joinToday returns the row of a day.
func joinToday(_ *joining, all []api.DayRow, _ []string) api.DayRow {
	reports := make([]api.DayReport, len(all))
	for i, row := range all {
		reports[i].All = row
	}
	return joinDays(reports).All
}
