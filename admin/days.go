package admin

import (
	"cmp"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/hosts/daily"
	"github.com/arcrawl/arcrawl/uri"
)

// DayReport is what the days of a time brought, going by what was counted at each visit.
type DayReport struct {
	All   DayRow    `json:"all"`
	Days  []DayRow  `json:"days"`  // all hosts together, oldest first
	Hosts []DayRow  `json:"hosts"` // all days together, at most 1,000; those of which most versions were missed first
	Rows  []DayRow  `json:"rows"`  // each host and day, at most 10,000
	More  bool      `json:"more"`  // there are others
	Pace  []HostBid `json:"pace"`  // hosts whose pace cannot keep their capture target, at most 1,000; most versions lost first
}

// DayRow is a day, a host, or a host on a day.
type DayRow struct {
	Day      string  `json:"day,omitempty"` // of UTC, such as 2026-11-21
	Host     string  `json:"host,omitempty"`
	Requests int     `json:"requests"`
	Seen     int     `json:"versions_seen"`
	Versions float64 `json:"versions_estimated"` // that came into being, as is thought; at least those seen
	Share    float64 `json:"share"`              // of them that was seen; 1 if there were none
	Each     float64 `json:"requests_per_version"`
	Text     string  `json:"text"` // the same in words
}

// HostBid is what a host would need for its capture target.
type HostBid struct {
	Host    string  `json:"host"`
	Promise string  `json:"promise"`        // in words
	Share   float64 `json:"captured_share"` // that can be captured at present
	Lost    float64 `json:"versions_lost"`  // a day, of those that the target asks for
}

func rowOf(day, host string, d evaluators.Day) DayRow {
	r := DayRow{Day: day, Host: host, Requests: d.Requests, Seen: d.Seen, Versions: max(d.Versions, float64(d.Seen)), Share: d.Share(), Text: d.String()}
	if d.Seen > 0 {
		r.Each = float64(d.Requests) / float64(d.Seen)
	}
	return r
}

// dayHosts bounds the hosts of a report.
const dayHosts = 1000

// DayTally sums up days of hosts. Its zero value is empty.
type DayTally struct {
	all         evaluators.Day
	days, hosts map[string]evaluators.Day
	rows        []DayRow
	more        bool
}

// Add takes in what a host brought on a day.
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

// Report is what was taken in.
func (t *DayTally) Report() DayReport {
	out := DayReport{All: rowOf("", "", t.all), Days: []DayRow{}, Hosts: []DayRow{}, Rows: t.rows, More: t.more, Pace: []HostBid{}}
	for day, d := range t.days {
		out.Days = append(out.Days, rowOf(day, "", d))
	}
	for host, d := range t.hosts {
		out.Hosts = append(out.Hosts, rowOf("", host, d))
	}
	slices.SortFunc(out.Days, func(a, b DayRow) int { return cmp.Compare(a.Day, b.Day) })
	slices.SortFunc(out.Hosts, func(a, b DayRow) int {
		return cmp.Or(cmp.Compare(b.Versions-float64(b.Seen), a.Versions-float64(a.Seen)), cmp.Compare(a.Host, b.Host))
	})
	if len(out.Hosts) > dayHosts {
		out.Hosts, out.More = out.Hosts[:dayHosts], true
	}
	if out.Rows == nil {
		out.Rows = []DayRow{}
	}
	return out
}

// ByHostAndDay puts rows into the order of their hosts, and of the days of each.
func ByHostAndDay(rows []DayRow) {
	slices.SortFunc(rows, func(a, b DayRow) int { return cmp.Or(cmp.Compare(a.Host, b.Host), cmp.Compare(a.Day, b.Day)) })
}

// Days reports on the days of a host, or of all if it is empty, that begin no earlier than from and before to.
func Days(book *daily.Store, host uri.Host, from, to time.Time) (DayReport, error) {
	var t DayTally
	err := book.Each(host, from, to, func(d daily.HostDay, day evaluators.Day) error {
		t.Add(string(d.Host), d.Time().Format(time.DateOnly), day)
		return nil
	})
	return t.Report(), err
}

// dayRoutes tell of days.
func dayRoutes() []route {
	return []route{{
		method: "GET", path: api + "/reports/days", doc: "Requests, versions seen, and versions that are thought to have come into being, by host and day; and what hosts would need to keep their capture targets.",
		params: []param{
			{"host", "string", "of this host only"},
			{"days", "integer", "of so many days of UTC up to today, 1 to 92; 7 if it is not given"},
		},
		answer: DayReport{},
		serve: func(w *Window, r *http.Request) (any, error) {
			n, err := number(r, "days", 7, 1, daily.MaxDays)
			if err != nil {
				return nil, err
			}
			return w.days(uri.Host(r.FormValue("host")), n)
		},
	}}
}

func (w *Window) days(host uri.Host, n int) (DayReport, error) {
	if w.o.Accounts == nil {
		return DayReport{}, unknown("the accounts of days")
	}
	if _, known := w.o.Frontier.Host(host, w.o.Now()); host != "" && !known {
		return DayReport{}, unknown("the host " + string(host))
	}
	report, err := Days(w.o.Accounts, host, w.o.Now().UTC().Truncate(24*time.Hour).AddDate(0, 0, 1-n), time.Time{})
	if err == nil {
		report.Pace, err = w.outbid(host)
	}
	return report, err
}

// told is the last day whose account stands in the log.
type told struct {
	Day string `json:"day"`
}

const (
	toldFile  = "day.json"
	toldAfter = 5 * time.Minute // past midnight, so that visits that began before it have ended
	toldHosts = 10              // of those that cannot keep their targets
)

// tellDay writes the account of yesterday into the log, once, and which hosts cannot keep their capture targets.
func (w *Window) tellDay(now time.Time) error {
	if w.o.Accounts == nil {
		return nil
	}
	today := now.Add(-toldAfter).UTC().Truncate(24 * time.Hour)
	yesterday := today.AddDate(0, 0, -1)
	day := yesterday.Format(time.DateOnly)
	if w.told >= day { // also where the clock was set back
		return nil
	}
	w.told = day
	report, err := Days(w.o.Accounts, "", yesterday, today)
	if err != nil {
		return err
	}
	w.o.Log.Info().Str("day", day).Int("hosts", len(report.Hosts)).Int("requests", report.All.Requests).Int("versions_seen", report.All.Seen).
		Float64("versions_estimated", round(report.All.Versions)).Msg("a day's account: " + report.All.Text)
	short, err := w.outbid("")
	if err != nil {
		return err
	}
	for _, b := range short[:min(len(short), toldHosts)] {
		w.o.Log.Warn().Str("host", b.Host).Msg(b.Promise)
	}
	if more := len(short) - toldHosts; more > 0 {
		w.o.Log.Warn().Int("hosts", more).Msg("more hosts cannot keep their capture targets; arcrawl overdue lists them")
	}
	return keepJSON(w.o.Dir, toldFile, told{day})
}

// loadTold is the last day that an earlier run told of. A new crawl has nothing to tell of the day before it.
func loadTold(dir string, now time.Time) string {
	otherwise := now.UTC().AddDate(0, 0, -1).Format(time.DateOnly)
	if dir == "" {
		return otherwise
	}
	var t told
	text, err := os.ReadFile(filepath.Join(dir, toldFile))
	if err == nil {
		err = json.Unmarshal(text, &t)
	}
	if err != nil || t.Day == "" {
		return otherwise
	}
	return t.Day
}

func round(f float64) float64 { return float64(int64(f*10+0.5)) / 10 }
