// Package reports is the wing that answers what happened on past days: in crawl.log, and in the counts that the store
// keeps of each host and day. It adds the reports to the dashboard, the visits to the page of a URI, the command
// report, and a line in the log each day. A crawl needs none of it. The package logs reads and counts crawl logs.
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
			Files: scripts, Script: "reports.js", Menu: []admin.Entry{{Page: "days", Title: "Reports", Before: "config"}},
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
