package curator

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/admin"
	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/archive/changes"
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
			admin.Param{Name: "change", Kind: "string", Doc: "only versions with a change of this kind, or of one of several as headline,withdrawn: any, withdrawn, moved, wall, returned, headline, text, links, pictures, around, nothing"},
			admin.Param{Name: "removed", Kind: "integer", Doc: "only versions whose article lost at least this number of words"},
			admin.Param{Name: "uri", Kind: "string", Doc: "only changes of this URI"},
			admin.Param{Name: "since", Kind: "string", Doc: "only changes that were found at this time or later, as 2026-11-29T06:00:00Z; days before the last ones are searched too"},
			admin.Param{Name: "before", Kind: "string", Doc: "only changes that were noted before this time: noted of the last change of the answer before"},
			admin.Param{Name: "after", Kind: "string", Doc: "only changes that were noted after this time"},
			admin.Param{Name: "limit", Kind: "integer", Doc: "maximum number of captures, 1 to 500 (default 50)"},
		),
		Serve: func(_ *admin.Window, r *http.Request) (any, error) {
			f, err := newFilter(r)
			if err != nil {
				return nil, err
			}
			f.Embargo = c.window.Embargo(r)
			return c.whatIsNew(f, admin.FilterOf(r))
		},
	}}
}

// newFilter reads which captures or changes a request selects.
func newFilter(r *http.Request) (f changeFilter, err error) {
	f.captureFilter = captureFilter{Host: r.FormValue("host"), Kind: r.FormValue("kind"), Type: r.FormValue("type")}
	f.URI = r.FormValue("uri")
	kinds := []string{api.CaptureFirst, api.CaptureChanged, api.CaptureChecked}
	if f.Kind != "" && !slices.Contains(kinds, f.Kind) {
		return f, admin.Fault("unknown kind %q; valid kinds: %s", f.Kind, strings.Join(kinds, ", "))
	}
	var bad string
	if f.Changes, bad = kindsIn(r.FormValue("change")); bad != "" {
		return f, admin.Fault("unknown change %q; valid kinds: %s", bad, strings.Join(changeKinds(), ", "))
	}
	for name, at := range map[string]*time.Time{"since": &f.Since, "before": &f.Before, "after": &f.After} {
		if text := r.FormValue(name); text != "" {
			if *at, err = time.Parse(time.RFC3339Nano, text); err != nil {
				return f, admin.Fault("%s: %q is not a time as 2026-11-29T06:00:00Z", name, text)
			}
		}
	}
	if f.Text, err = admin.PartOf(r); err != nil {
		return f, err
	}
	if f.Removed, err = admin.Number(r, "removed", 0, 0, 1_000_000); err != nil {
		return f, err
	}
	f.Limit, err = admin.Number(r, "limit", 50, 1, 500)
	return f, err
}

// changeKinds returns the kinds of changes that can be asked for.
func changeKinds() []string {
	valid := []string{anyChange}
	for _, k := range changes.Kinds() {
		valid = append(valid, string(k))
	}
	return valid
}

// kindsIn returns the kinds of changes in a text such as "headline,withdrawn", and the first one that is unknown.
func kindsIn(text string) (kinds []string, bad string) {
	if text == "" {
		return nil, ""
	}
	kinds = strings.Split(text, ",")
	if i := slices.IndexFunc(kinds, func(k string) bool { return !slices.Contains(changeKinds(), k) }); i >= 0 {
		bad = kinds[i]
	}
	return kinds, bad
}

// maxMissing is the maximum number of hosts in each list of what is missing.
const maxMissing = 20

// maxFind is how long changes are searched.
const maxFind = 3 * time.Second

// whatIsNew returns the selected captures, and what is missing on the hosts that a filter selects.
func (c *curation) whatIsNew(f changeFilter, sites config.Filter) (api.New, error) {
	now := c.o.Now()
	inForce := c.o.Config().Config
	chosen := c.window.Chooses(sites)
	is := func(host string) bool { return host != "" && (chosen == nil || chosen(uri.Host(host))) }
	if chosen != nil {
		f.Sites = is
	}
	out := api.New{Silent: c.window.Silent(is, maxMissing), Names: inForce.Sites().Names(), Sites: map[string]string{}}
	others := func(v frontier.HostView) bool { return !is(string(v.Host)) }
	here := func(host string) bool { return is(host) && (f.Host == "" || f.Host == host) }
	out.Seeds = c.window.SeedsWithout(here, maxMissing)
	out.Down = c.window.Unreachable(slices.DeleteFunc(c.o.Frontier.Hosts(now), others))
	short, asOf := c.window.KnownShort(sites)
	out.Short, out.AsOf = short[:min(len(short), maxMissing)], api.Moment(asOf)
	out.Uncompared = c.changes.Uncompared()
	if f.isSet() {
		out.Captures, out.More = c.changes.store.Find(f, maxFind, c.o.Now)
	} else {
		out.Captures, out.More = c.captures.Select(f.captureFilter)
		if f.Kind == "" || f.Kind == api.CaptureChanged {
			out.Captures = c.changes.store.Join(out.Captures, f)
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
