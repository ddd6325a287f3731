package admin

import (
	"net/http"
	"slices"
	"strings"

	"github.com/arcrawl/arcrawl/admin/alarm"
	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/admin/survey"
	"github.com/arcrawl/arcrawl/config/about"
	"github.com/arcrawl/arcrawl/curator/captures"
	"github.com/arcrawl/arcrawl/uri"
)

// newRoutes returns the request for what is new.
func newRoutes() []Route {
	return []Route{{
		Method: "GET", Path: api.Base + "/new", Answer: api.New{},
		Doc: "Returns the latest captures, the hosts with nothing new for unusually long, unreachable hosts, and hosts that cannot meet their capture targets.",
		Params: filtered(
			Param{"host", "string", "only captures of this host"},
			Param{"kind", "string", "only captures of this kind: first, changed or checked (visited on demand, and unchanged)"},
			Param{"type", "string", "only captures whose media type begins so, as text/html or image/"},
			Param{"q", "string", "only captures with this text in URI or title"},
			Param{"limit", "integer", "maximum number of captures, 1 to 500 (default 50)"},
		),
		Serve: func(w *Window, r *http.Request) (any, error) {
			f := captures.Filter{
				Host: r.FormValue("host"), Kind: r.FormValue("kind"), Type: r.FormValue("type"),
			}
			if kinds := captures.Kinds(); f.Kind != "" && !slices.Contains(kinds, f.Kind) {
				return nil, fault("unknown kind %q; valid kinds: %s", f.Kind, strings.Join(kinds, ", "))
			}
			var err error
			if f.Text, err = partOf(r); err != nil {
				return nil, err
			}
			if f.Limit, err = number(r, "limit", 50, 1, 500); err != nil {
				return nil, err
			}
			return w.whatIsNew(f, filterOf(r))
		},
	}}
}

// maxMissing is the maximum number of hosts in each list of what is missing.
const maxMissing = 20

// whatIsNew returns the selected captures, and what is missing on the hosts that a filter selects.
func (w *Window) whatIsNew(f captures.Filter, sites about.Filter) (api.New, error) {
	now := w.o.Now()
	c := w.o.Config().Config
	chosen := w.chooses(sites)
	is := func(host string) bool { return host != "" && (chosen == nil || chosen(uri.Host(host))) }
	if chosen != nil {
		f.Sites = is
	}
	out := api.New{Silent: []api.Alarm{}, Down: []api.Unreachable{}, Names: c.Sites().Names(), Sites: map[string]string{}}
	for _, v := range w.o.Frontier.Hosts(now) {
		if v.Failures > 0 && is(string(v.Host)) {
			out.Down = append(out.Down, api.Unreachable{
				Host: string(v.Host), Failures: v.Failures, Error: v.Reason, Removed: w.names.Removed(v.Host),
			})
		}
	}
	slices.SortStableFunc(out.Down, func(a, b api.Unreachable) int { return b.Failures - a.Failures })
	out.Down = out.Down[:min(len(out.Down), maxMissing)]
	short, asOf := w.survey.KnownShort(sites)
	out.Short, out.AsOf = short[:min(len(short), maxMissing)], api.Moment(asOf)
	w.mu.Lock()
	defer w.mu.Unlock()
	out.Captures, out.More = w.captures.Select(f)
	for _, a := range w.alarms.Raised() {
		if (a.Kind == alarm.Silence || a.Kind == alarm.FrontPage) && is(a.Host) && len(out.Silent) < maxMissing {
			out.Silent = append(out.Silent, a)
		}
	}
	out.Entitle(func(host string) string { return c.Site(uri.Host(host)).Title })
	return out, nil
}

// Captures returns the latest captures.
func (w *Window) Captures() *captures.Store { return w.captures }

// Survey returns the surveys of the frontier.
func (w *Window) Survey() *survey.Reader { return w.survey }
