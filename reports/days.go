package reports

import (
	"time"

	"github.com/arcrawl/arcrawl/admin"
	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/uri"
)

// days reports on the last n days of a host, or of all hosts that a filter selects if it is empty. A brief report needs
// no survey, and has no rows.
func days(w *admin.Window, host uri.Host, f config.Filter, n int, brief bool) (api.DayReport, error) {
	o := w.Options()
	if o.Accounts == nil {
		return api.DayReport{}, admin.Unknown("the record of days")
	}
	if _, known := o.Frontier.Host(host, o.Now()); host != "" && !known {
		return api.DayReport{}, admin.Unknown("the host " + string(host))
	}
	from := o.Now().UTC().Truncate(24*time.Hour).AddDate(0, 0, 1-n)
	if brief {
		report, err := daySums(o.Accounts, host, w.Ours(w.Chooses(f)), from)
		report.Pace, _ = w.KnownShort(f)
		return report, err
	}
	report, err := dayReport(o.Accounts, host, w.Ours(w.Chooses(f)), from, time.Time{})
	if err == nil {
		report.Pace, err = w.Pace(host, f)
	}
	return report, err
}
