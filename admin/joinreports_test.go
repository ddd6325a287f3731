package admin

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/evaluators"
)

// TestAJoinedReportIsTheReportOfAll reports on the days of some hosts at once, and in three parts that are joined one
// after the other. Some hosts have versions that nobody saw, whose number is an estimate with bounds.
func TestAJoinedReportIsTheReportOfAll(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	var all DayTally
	parts := make([]DayTally, 3)
	for host := range 30 {
		for day := range 5 {
			d := evaluators.Day{Requests: random.IntN(50), Seen: random.IntN(3), Versions: 5 * random.Float64()}
			for range d.Requests {
				d.Odds = d.Odds.Plus(evaluators.OddsOf(random.Float64(), random.IntN(3) == 0, random.IntN(4) == 0))
			}
			name, date := fmt.Sprintf("h%02d.example", host), fmt.Sprintf("2026-01-0%d", day+1)
			all.Add(name, date, d)
			parts[host%3].Add(name, date, d)
		}
	}
	joined := parts[0].Report()
	joined = JoinDays([]api.DayReport{joined})
	for _, p := range parts[1:] {
		joined = JoinDays([]api.DayReport{joined, p.Report()})
	}
	want := all.Report()
	SortDayRows(want.Rows)
	if got := text(t, joined); got != text(t, want) || want.All.High == 0 || len(want.Hosts) != 30 {
		t.Errorf("joined:\n%s\nwant:\n%s", got, text(t, want))
	}
}

// text returns a report with rounded numbers.
func text(t *testing.T, r api.DayReport) string {
	t.Helper()
	rows := []*api.DayRow{&r.All}
	for _, list := range [][]api.DayRow{r.Days, r.Hosts, r.Rows} {
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
