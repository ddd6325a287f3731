package reports

import (
	"encoding/json"
	"os"
	"path/filepath"
	"time"

	"github.com/arcrawl/arcrawl/admin"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/internal/fileio"
)

// loggedDay is the content of the file with the last day whose summary was logged.
type loggedDay struct {
	Day string `json:"day"`
}

const (
	loggedDayFile  = "day.json"
	loggedDayAfter = 5 * time.Minute // after midnight, so that visits of the day before have ended
	loggedDayHosts = 10              // maximum number of hosts below their target that are logged
)

// dayLog logs a summary of each day. Only the goroutine that calls Tick uses it.
type dayLog struct{ last string } // the last day whose summary was logged

// write logs the summary of yesterday once, and the hosts that cannot meet their capture targets.
func (d *dayLog) write(w *admin.Window, now time.Time) error {
	o := w.Options()
	if o.Accounts == nil {
		return nil
	}
	today := now.Add(-loggedDayAfter).UTC().Truncate(24 * time.Hour)
	yesterday := today.AddDate(0, 0, -1)
	day := yesterday.Format(time.DateOnly)
	if d.last >= day { // also if the clock was set back
		return nil
	}
	d.last = day
	report, err := dayReport(o.Accounts, "", w.Ours(nil), yesterday, today)
	if err != nil {
		return err
	}
	o.Log.Info().
		Str("day", day).
		Int("hosts", len(report.Hosts)).
		Int("requests", report.All.Requests).
		Int("versions_seen", report.All.Seen).
		Float64("versions_estimated", round(report.All.Versions)).
		Msg("summary of a day: " + report.All.Text)
	short, err := w.Pace("", config.Filter{})
	if err != nil {
		return err
	}
	for _, b := range short[:min(len(short), loggedDayHosts)] {
		o.Log.Warn().Str("host", b.Host).Msg(b.Promise)
	}
	if more := len(short) - loggedDayHosts; more > 0 {
		o.Log.Warn().Int("hosts", more).Msg("more hosts cannot meet their capture targets; arcrawl overdue lists them")
	}
	return saveLoggedDay(o.Dir, day)
}

// loadLoggedDay returns the last day whose summary an earlier run logged. For a new crawl it is yesterday, because
// there is nothing to log of the day before its start.
func loadLoggedDay(dir string, now time.Time) string {
	if dir != "" {
		var t loggedDay
		text, err := os.ReadFile(filepath.Join(dir, loggedDayFile))
		if err == nil && json.Unmarshal(text, &t) == nil && t.Day != "" {
			return t.Day
		}
	}
	return now.UTC().AddDate(0, 0, -1).Format(time.DateOnly)
}

// saveLoggedDay stores the last day whose summary was logged.
func saveLoggedDay(dir, day string) error {
	if dir == "" {
		return nil
	}
	text, err := json.Marshal(loggedDay{day})
	if err != nil {
		return err
	}
	return fileio.Write(filepath.Join(dir, loggedDayFile), text, 0o640)
}

func round(f float64) float64 { return float64(int64(f*10+0.5)) / 10 }
