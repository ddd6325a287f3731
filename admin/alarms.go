package admin

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/admin/access"
	"github.com/arcrawl/arcrawl/admin/alarm"
	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/uri"
)

// alarmFile is the name of the file with the raised alarms.
const alarmFile = "alarms.json"

// maxNote is the maximum length of a note in bytes.
const maxNote = 1000

// alarmRoutes returns the requests about alarms.
func alarmRoutes() []Route {
	return []Route{
		{
			Method: "GET", Path: api.Base + "/alarms", Answer: api.Alarms{}, Params: Filtered(),
			Doc: "Returns the raised alarms, newest first. With a filter of hosts, alarms about the crawl as a whole are left out.",
			Serve: func(w *Window, r *http.Request) (any, error) {
				return w.AlarmsOf(w.Chooses(FilterOf(r))), nil
			},
		},
		{
			Method: "POST", Path: api.Base + "/alarms/acknowledge", Needs: access.Curate,
			Doc:  "Records that somebody knows of raised alarms. They are no longer shown on top, until they end and are raised again.",
			Body: api.Acknowledge{}, Answer: api.Acknowledged{},
			Serve: func(w *Window, r *http.Request) (any, error) {
				o, err := Read[api.Acknowledge](r)
				if err != nil {
					return nil, err
				}
				return w.acknowledge(o, access.CallerOf(r.Context()).Name)
			},
		},
	}
}

// AlarmsOf returns the raised alarms about chosen hosts; all if chosen is nil.
func (w *Window) AlarmsOf(chosen Choice) api.Alarms {
	out := w.alarmsRaised()
	if chosen != nil {
		out.Alarms = slices.DeleteFunc(out.Alarms, func(a api.Alarm) bool {
			return a.Host == "" || !chosen(uri.Host(a.Host))
		})
	}
	return out
}

// acknowledge records who knows of raised alarms.
func (w *Window) acknowledge(o api.Acknowledge, who string) (api.Acknowledged, error) {
	switch {
	case !slices.Contains(alarm.Kinds(), o.Kind):
		kinds := strings.Join(alarm.Kinds(), ", ")
		return api.Acknowledged{}, Fault("unknown kind of alarm %q; valid kinds: %s", o.Kind, kinds)
	case len(o.Note) > maxNote:
		return api.Acknowledged{}, Fault("the note has %d bytes; the maximum is %d", len(o.Note), maxNote)
	}
	w.mu.Lock()
	n := w.alarms.Acknowledge(o, who, w.o.Now())
	raised := w.alarms.Raised()
	w.mu.Unlock()
	if n == 0 {
		what := strings.TrimSpace(o.Kind + " " + o.About)
		return api.Acknowledged{}, Unknown("an alarm " + what + " that this would change")
	}
	w.saveAlarms(raised)
	return api.Acknowledged{Changed: n}, nil
}

// notice returns the announcement of a changed alarm.
func (w *Window) notice(c alarm.Change, now time.Time) alarm.Notice {
	cfg := w.o.Config().Config
	n := alarm.Notice{
		Alarm: c.Alarm, Raised: c.Raised, At: now.UTC(), Instance: cfg.Instance(),
		Institution: cfg.Operator.Name, Link: dashboardLink(cfg.Admin.URL, c.Alarm),
	}
	if c.Host != "" {
		site := cfg.Site(uri.Host(c.Host))
		n.Labels, n.Collections, n.Owners = site.Labels, site.Collections, site.Owners
	}
	return n
}

// dashboardLink returns the address of the page about an alarm; "" if the address of the dashboard is not known.
func dashboardLink(base string, a api.Alarm) string {
	switch {
	case base == "":
		return ""
	case strings.Contains(a.About, "://"):
		return base + "#/uri?u=" + url.QueryEscape(a.About)
	case a.Host != "":
		return base + "#/host/" + url.PathEscape(a.Host)
	}
	return base
}

// saveAlarms stores the raised alarms for the next run.
func (w *Window) saveAlarms(raised []api.Alarm) {
	if err := saveJSON(w.o.Dir, alarmFile, raised); err != nil {
		w.o.Log.Error().Err(err).Msg("could not store the raised alarms: a restart forgets who acknowledged them")
	}
}
