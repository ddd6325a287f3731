package curator

import (
	"net/http"
	"slices"
	"strings"

	"github.com/arcrawl/arcrawl/admin"
	"github.com/arcrawl/arcrawl/admin/alarm"
	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/uri"
)

// newRoutes returns the request for what is new.
func (c *curation) newRoutes() []admin.Route {
	return []admin.Route{{
		Method: "GET", Path: api.Base + "/new", Answer: api.New{},
		Doc: "Returns the latest captures, the hosts with nothing new for unusually long, seeds without a page, unreachable hosts, and hosts that cannot meet their capture targets.",
		Params: admin.Filtered(
			admin.Param{Name: "host", Kind: "string", Doc: "only captures of this host"},
			admin.Param{Name: "kind", Kind: "string", Doc: "only captures of this kind: first, changed or checked (visited on demand, and unchanged)"},
			admin.Param{Name: "type", Kind: "string", Doc: "only captures whose media type begins so, as text/html or image/"},
			admin.Param{Name: "q", Kind: "string", Doc: "only captures with this text in URI or title"},
			admin.Param{Name: "limit", Kind: "integer", Doc: "maximum number of captures, 1 to 500 (default 50)"},
		),
		Serve: func(_ *admin.Window, r *http.Request) (any, error) {
			f := captureFilter{
				Host: r.FormValue("host"), Kind: r.FormValue("kind"), Type: r.FormValue("type"),
			}
			kinds := []string{api.CaptureFirst, api.CaptureChanged, api.CaptureChecked}
			if f.Kind != "" && !slices.Contains(kinds, f.Kind) {
				return nil, admin.Fault("unknown kind %q; valid kinds: %s", f.Kind, strings.Join(kinds, ", "))
			}
			var err error
			if f.Text, err = admin.PartOf(r); err != nil {
				return nil, err
			}
			if f.Limit, err = admin.Number(r, "limit", 50, 1, 500); err != nil {
				return nil, err
			}
			return c.whatIsNew(f, admin.FilterOf(r))
		},
	}}
}

// maxMissing is the maximum number of hosts in each list of what is missing.
const maxMissing = 20

// whatIsNew returns the selected captures, and what is missing on the hosts that a filter selects.
func (c *curation) whatIsNew(f captureFilter, sites config.Filter) (api.New, error) {
	now := c.o.Now()
	inForce := c.o.Config().Config
	chosen := c.window.Chooses(sites)
	is := func(host string) bool { return host != "" && (chosen == nil || chosen(uri.Host(host))) }
	if chosen != nil {
		f.Sites = is
	}
	out := api.New{Silent: []api.Alarm{}, Names: inForce.Sites().Names(), Sites: map[string]string{}}
	others := func(v frontier.HostView) bool { return !is(string(v.Host)) }
	here := func(host string) bool { return is(host) && (f.Host == "" || f.Host == host) }
	out.Seeds = c.window.SeedsWithout(here, maxMissing)
	out.Down = c.window.Unreachable(slices.DeleteFunc(c.o.Frontier.Hosts(now), others))
	short, asOf := c.window.KnownShort(sites)
	out.Short, out.AsOf = short[:min(len(short), maxMissing)], api.Moment(asOf)
	out.Captures, out.More = c.captures.Select(f)
	for _, a := range c.window.AlarmsOf(nil).Alarms {
		if (a.Kind == alarm.Silence || a.Kind == alarm.FrontPage) && is(a.Host) && len(out.Silent) < maxMissing {
			out.Silent = append(out.Silent, a)
		}
	}
	entitle(&out, func(host string) string { return inForce.Site(uri.Host(host)).Title })
	return out, nil
}

// entitle fills in the titles of the hosts that an answer names.
func entitle(n *api.New, title func(host string) string) {
	var hosts []string
	for _, x := range n.Captures {
		hosts = append(hosts, x.Host)
	}
	for _, x := range n.Silent {
		hosts = append(hosts, x.Host)
	}
	for _, x := range n.Seeds {
		hosts = append(hosts, x.Host)
	}
	for _, x := range n.Down {
		hosts = append(hosts, x.Host)
	}
	for _, x := range n.Short {
		hosts = append(hosts, x.Host)
	}
	for _, h := range hosts {
		if t := title(h); t != "" {
			n.Sites[h] = t
		}
	}
}
