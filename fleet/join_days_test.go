package fleet

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/arcrawl/arcrawl/admin"
	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/evaluators"
)

// hostDays holds days by host and date.
type hostDays map[[2]string]evaluators.Day

// report returns a report as a daemon makes it. The estimates of each host are corrected by all its days together.
func (all hostDays) report() api.DayReport {
	out := api.DayReport{Pace: []api.HostPace{}, Days: []api.DayRow{}, Hosts: []api.DayRow{}, Rows: []api.DayRow{}}
	days, hosts := map[string]evaluators.Captured{}, map[string]evaluators.Day{}
	for at, d := range all {
		host, day := at[0], at[1]
		days[day], hosts[host] = days[day].Plus(d.Captured()), hosts[host].Plus(d)
		out.Rows = append(out.Rows, admin.DayRow(day, host, d.Captured()))
	}
	for day, d := range days {
		out.Days = append(out.Days, admin.DayRow(day, "", d))
	}
	var sum evaluators.Captured
	for host, d := range hosts {
		sum = sum.Plus(d.Captured())
		out.Hosts = append(out.Hosts, admin.DayRow("", host, d.Captured()))
	}
	out.All = admin.DayRow("", "", sum)
	admin.SortDays(&out)
	admin.SortDayRows(out.Rows)
	return out
}

// TestAJoinedReportIsTheReportOfAll reports on the days of some hosts at once, and in three parts that are joined one
// after the other. Some hosts have versions that nobody saw, whose number is an estimate with bounds.
func TestAJoinedReportIsTheReportOfAll(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	all, parts := hostDays{}, []hostDays{{}, {}, {}}
	for host := range 30 {
		for day := range 5 {
			d := evaluators.Day{Requests: random.IntN(50)}
			for n := range random.IntN(3) {
				d = d.Plus(evaluators.Found(random.Float64(), 10*n, 0))
			}
			at := [2]string{fmt.Sprintf("h%02d.example", host), fmt.Sprintf("2026-01-0%d", day+1)}
			all[at], parts[host%3][at] = d, d
		}
	}
	joined := joinDays([]api.DayReport{parts[0].report()})
	for _, p := range parts[1:] {
		joined = joinDays([]api.DayReport{joined, p.report()})
	}
	want := all.report()
	if got := text(t, joined); got != text(t, want) || want.All.High == 0 || len(want.Hosts) != 30 {
		t.Errorf("joined:\n%s\nwant:\n%s", got, text(t, want))
	}
}

// text returns a report with rounded numbers.
func text(t *testing.T, r api.DayReport) string {
	t.Helper()
	rows := []*api.DayRow{&r.All}
	for _, list := range [][]api.DayRow{r.Days, r.Weeks, r.Hosts, r.Rows} {
		for i := range list {
			rows = append(rows, &list[i])
		}
	}
	for _, d := range rows {
		for _, f := range []*float64{&d.Versions, &d.Share, &d.Low, &d.High, &d.Fewer, &d.More} {
			*f = math.Round(*f * 1e6)
		}
	}
	out, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}
