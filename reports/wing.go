// Package reports is the wing that answers what happened on past days: in crawl.log, and in the counts that the store
// keeps of each host and day. It adds the reports to the dashboard, the visits to the page of a URI, the command
// report, and a line in the log each day. A crawl needs none of it.
//
// # Reading logs
//
// [Read] reads any number of logs once, of arcrawl or of Heritrix, compressed or not, on all processors. It returns a
// [Summary] for each requested period. A [Follower] reads the lines of a log that is being written, across rotations,
// and from the position where an earlier one stopped. [Find] returns the visits to one URI.
//
// A line counts as one of these:
//
//   - not tried: the status is -5000 or below, such as -9998 for a URI that robots.txt forbids;
//   - failed: there was no response, or one that refuses (401, 403, 407, 408, 425, 429, 5xx), or another page than the
//     requested one;
//   - unchanged: the line says so;
//   - a version: the content state is "changed". Logs of twelve columns do not have it. There, any other response to a
//     scheduled visit is a version, except 404 and 410. That includes the visits after a change of the scrubbing rules;
//   - other: the rest.
//
// Bytes received are bytes of bodies. Bytes spared were not transferred, because the headers showed no change. Bytes
// deduplicated were transferred and not stored again.
//
// Overdue times are counted in classes of at most six percent; the longest is exact.
//
// Memory is bounded: a [Summary] has a row for at most [MaxKeys] hosts, seeds, types and days, and one for all others.
// A line that is longer than any of a crawl log is skipped and counted.
package reports

import (
	"embed"
	"io/fs"
	"sync"
	"time"

	"github.com/arcrawl/arcrawl/admin"
	"github.com/arcrawl/arcrawl/daemon"
)

// Wing returns what reports on a running crawl.
func Wing() daemon.Wing {
	return daemon.Wing{Name: "reports", Extend: func(*daemon.Daemon) admin.Extension {
		return new(reporter).extension()
	}}
}

// reporter answers the requests of a window. Its methods are safe for concurrent use, except tick.
type reporter struct {
	window  *admin.Window
	reading sync.Mutex // held while the log is read
	days    dayLog
}

// openAPI describes the requests.
//
//go:embed openapi.json
var openAPI string

// files holds the scripts of the dashboard.
//
//go:embed dashboard
var files embed.FS

// extension returns what the wing adds to the API and to the dashboard.
func (r *reporter) extension() admin.Extension {
	scripts, err := fs.Sub(files, "dashboard")
	if err != nil {
		scripts = nil // cannot happen: the folder is embedded
	}
	return admin.Extension{
		Routes: r.routes(), OpenAPI: openAPI, Open: r.open, Tick: r.tick,
		Pages: admin.Pages{
			Files: scripts, Script: "reports.js", Menu: []admin.Entry{{Page: "days", Title: "Reports", Before: "operations"}},
		},
	}
}

// open continues the daily summaries of an earlier run.
func (r *reporter) open(w *admin.Window) error {
	o := w.Options()
	r.window, r.days.last = w, loadLoggedDay(o.Dir, o.Now())
	return nil
}

// tick logs the summary of a day that has ended.
func (r *reporter) tick(now time.Time) {
	if err := r.days.write(r.window, now); err != nil {
		log := r.window.Options().Log
		log.Error().Err(err).Msg("could not log the summary of a day")
	}
}
