package admin

import (
	"net/http"
	"time"

	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/hosts"
	"github.com/arcrawl/arcrawl/uri"
)

// dayRoutes returns the requests about days.
func dayRoutes() []Route {
	return []Route{{
		Method: "GET", Path: api.Base + "/reports/days",
		Doc: "Returns requests, captured versions and estimated versions by host and day, and what hosts would need to meet their capture targets.",
		Params: Filtered(
			Param{"host", "string", "only this host"},
			Param{"days", "integer", "number of UTC days up to today, 1 to 92 (default 7)"},
			Param{"brief", "boolean", "true: answer at once: without rows, and with the pace of the last survey of all hosts"},
		),
		Answer: api.DayReport{},
		Serve: func(w *Window, r *http.Request) (any, error) {
			n, err := Number(r, "days", 7, 1, hosts.MaxDays)
			if err != nil {
				return nil, err
			}
			return w.days(uri.Host(r.FormValue("host")), FilterOf(r), n, r.FormValue("brief") == "true")
		},
	}}
}

func (w *Window) days(host uri.Host, f config.Filter, n int, brief bool) (api.DayReport, error) {
	if w.o.Accounts == nil {
		return api.DayReport{}, Unknown("the record of days")
	}
	if _, known := w.o.Frontier.Host(host, w.o.Now()); host != "" && !known {
		return api.DayReport{}, Unknown("the host " + string(host))
	}
	from := w.o.Now().UTC().Truncate(24*time.Hour).AddDate(0, 0, 1-n)
	if brief {
		report, err := daySums(w.o.Accounts, host, w.ours(w.Chooses(f)), from)
		report.Pace, _ = w.survey.knownShort(f)
		return report, err
	}
	report, err := DayReport(w.o.Accounts, host, w.ours(w.Chooses(f)), from, time.Time{})
	if err == nil {
		report.Pace, err = w.survey.belowTarget(host, f)
	}
	return report, err
}

// loggedDay is the content of the file with the last day whose summary was logged.
type loggedDay struct {
	Day string `json:"day"`
}

const (
	loggedDayFile  = "day.json"
	loggedDayAfter = 5 * time.Minute // after midnight, so that visits of the day before have ended
	loggedDayHosts = 10              // maximum number of hosts below their target that are logged
)

// logDay logs the summary of yesterday once, and the hosts that cannot meet their capture targets.
func (w *Window) logDay(now time.Time) error {
	if w.o.Accounts == nil {
		return nil
	}
	today := now.Add(-loggedDayAfter).UTC().Truncate(24 * time.Hour)
	yesterday := today.AddDate(0, 0, -1)
	day := yesterday.Format(time.DateOnly)
	if w.loggedDay >= day { // also if the clock was set back
		return nil
	}
	w.loggedDay = day
	report, err := DayReport(w.o.Accounts, "", w.ours(nil), yesterday, today)
	if err != nil {
		return err
	}
	w.o.Log.Info().
		Str("day", day).
		Int("hosts", len(report.Hosts)).
		Int("requests", report.All.Requests).
		Int("versions_seen", report.All.Seen).
		Float64("versions_estimated", round(report.All.Versions)).
		Msg("summary of a day: " + report.All.Text)
	short, err := w.survey.belowTarget("", config.Filter{})
	if err != nil {
		return err
	}
	for _, b := range short[:min(len(short), loggedDayHosts)] {
		w.o.Log.Warn().Str("host", b.Host).Msg(b.Promise)
	}
	if more := len(short) - loggedDayHosts; more > 0 {
		w.o.Log.Warn().Int("hosts", more).Msg("more hosts cannot meet their capture targets; arcrawl overdue lists them")
	}
	return saveJSON(w.o.Dir, loggedDayFile, loggedDay{day})
}

// loadLoggedDay returns the last day whose summary an earlier run logged. For a new crawl it is yesterday, because
// there is nothing to log of the day before its start.
func loadLoggedDay(dir string, now time.Time) string {
	if t := (loggedDay{}); loadJSON(dir, loggedDayFile, &t) && t.Day != "" {
		return t.Day
	}
	return now.UTC().AddDate(0, 0, -1).Format(time.DateOnly)
}

func round(f float64) float64 { return float64(int64(f*10+0.5)) / 10 }
