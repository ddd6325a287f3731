package admin

import (
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/admin/api"
)

// TestWeeksAddUpTheirDays adds up 92 days with a change each, of which the last two weeks are of pages that changed at
// every visit.
func TestWeeksAddUpTheirDays(t *testing.T) {
	t.Parallel()
	last := time.Date(2026, 11, 25, 0, 0, 0, 0, time.UTC) // a Wednesday
	var report api.DayReport
	for i := range 92 {
		row := api.DayRow{Day: last.AddDate(0, 0, -i).Format(time.DateOnly), Requests: 10, Seen: 1, Versions: 2}
		if i < 10 {
			row.Blind = 1
		}
		report.Days = append(report.Days, row)
	}
	SortDays(&report)
	weeks := report.Weeks
	if len(weeks) != 13 || weeks[0].Day != "2026-08-31" || weeks[0].Requests != 70 || weeks[0].Share != 0.5 {
		t.Fatalf("%d weeks: %+v; want 13 from Monday 2026-08-31, the first with 70 requests and a share of 50 %%", len(weeks), weeks)
	}
	if w := weeks[12]; w.Day != "2026-11-23" || w.Requests != 30 || w.Unknown == "" {
		t.Errorf("the last week is %+v, want three days from 2026-11-23 with an unknown share", w)
	}
	if w := weeks[11]; w.Seen != 7 || w.Blind != 7 || w.Share != 0 {
		t.Errorf("the week before is %+v, want 7 changes, all of pages that changed at every visit", w)
	}
}
