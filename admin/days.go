package admin

import (
	"cmp"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/arcrawl/arcrawl/admin/api"

	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/hosts/daily"
	"github.com/arcrawl/arcrawl/uri"
)

func rowOf(day, host string, d evaluators.Day) api.DayRow {
	r := api.DayRow{
		Day:      day,
		Host:     host,
		Requests: d.Requests,
		Seen:     d.Seen,
		Versions: max(d.Versions, float64(d.Seen)),
		Share:    d.Share(),
		Text:     d.String(),
	}
	if d.Seen > 0 {
		r.Each = float64(d.Requests) / float64(d.Seen)
	}
	return r
}

// dayHosts is the maximum number of hosts in a report.
const dayHosts = 1000

// DayTally adds up days of hosts. Its zero value is empty.
type DayTally struct {
	all         evaluators.Day
	days, hosts map[string]evaluators.Day
	rows        []api.DayRow
	more        bool
}

// Add adds the requests and versions of a host on a day.
func (t *DayTally) Add(host, day string, d evaluators.Day) {
	if t.days == nil {
		t.days, t.hosts = map[string]evaluators.Day{}, map[string]evaluators.Day{}
	}
	d.Versions = max(d.Versions, float64(d.Seen))
	t.all = t.all.Plus(d)
	t.days[day] = t.days[day].Plus(d)
	t.hosts[host] = t.hosts[host].Plus(d)
	if t.more = t.more || len(t.rows) >= maxRows; !t.more {
		t.rows = append(t.rows, rowOf(day, host, d))
	}
}

// Report returns the report of everything added.
func (t *DayTally) Report() api.DayReport {
	out := api.DayReport{
		All:   rowOf("", "", t.all),
		Days:  []api.DayRow{},
		Hosts: []api.DayRow{},
		Rows:  t.rows,
		More:  t.more,
		Pace:  []api.HostPace{},
	}
	for day, d := range t.days {
		out.Days = append(out.Days, rowOf(day, "", d))
	}
	for host, d := range t.hosts {
		out.Hosts = append(out.Hosts, rowOf("", host, d))
	}
	slices.SortFunc(out.Days, func(a, b api.DayRow) int { return cmp.Compare(a.Day, b.Day) })
	slices.SortFunc(out.Hosts, func(a, b api.DayRow) int {
		return cmp.Or(cmp.Compare(b.Versions-float64(b.Seen), a.Versions-float64(a.Seen)), cmp.Compare(a.Host, b.Host))
	})
	if len(out.Hosts) > dayHosts {
		out.Hosts, out.More = out.Hosts[:dayHosts], true
	}
	if out.Rows == nil {
		out.Rows = []api.DayRow{}
	}
	return out
}

// ByHostAndDay sorts rows by host, then by day.
func ByHostAndDay(rows []api.DayRow) {
	slices.SortFunc(
		rows,
		func(a, b api.DayRow) int { return cmp.Or(cmp.Compare(a.Host, b.Host), cmp.Compare(a.Day, b.Day)) },
	)
}

// Days reports on the days of a host, or of all hosts if it is empty. The days start at or after from and before to.
func Days(store *daily.Store, host uri.Host, from, to time.Time) (api.DayReport, error) {
	var t DayTally
	err := store.Each(host, from, to, func(d daily.HostDay, day evaluators.Day) error {
		t.Add(string(d.Host), d.Time().Format(time.DateOnly), day)
		return nil
	})
	return t.Report(), err
}

// dayRoutes returns the requests about days.
func dayRoutes() []route {
	return []route{{
		method: "GET", path: api.Base + "/reports/days",
		doc: "Returns requests, captured versions and estimated versions by host and day, and what hosts would need to meet their capture targets.",
		params: []param{
			{"host", "string", "only this host"},
			{"days", "integer", "number of UTC days up to today, 1 to 92 (default 7)"},
		},
		answer: api.DayReport{},
		serve: func(w *Window, r *http.Request) (any, error) {
			n, err := number(r, "days", 7, 1, daily.MaxDays)
			if err != nil {
				return nil, err
			}
			return w.days(uri.Host(r.FormValue("host")), n)
		},
	}}
}

func (w *Window) days(host uri.Host, n int) (api.DayReport, error) {
	if w.o.Accounts == nil {
		return api.DayReport{}, unknown("the record of days")
	}
	if _, known := w.o.Frontier.Host(host, w.o.Now()); host != "" && !known {
		return api.DayReport{}, unknown("the host " + string(host))
	}
	report, err := Days(w.o.Accounts, host, w.o.Now().UTC().Truncate(24*time.Hour).AddDate(0, 0, 1-n), time.Time{})
	if err == nil {
		report.Pace, err = w.belowTarget(host)
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
	report, err := Days(w.o.Accounts, "", yesterday, today)
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
	short, err := w.belowTarget("")
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
	otherwise := now.UTC().AddDate(0, 0, -1).Format(time.DateOnly)
	if dir == "" {
		return otherwise
	}
	var t loggedDay
	text, err := os.ReadFile(filepath.Join(dir, loggedDayFile))
	if err == nil {
		err = json.Unmarshal(text, &t)
	}
	if err != nil || t.Day == "" {
		return otherwise
	}
	return t.Day
}

func round(f float64) float64 { return float64(int64(f*10+0.5)) / 10 }
