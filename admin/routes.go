package admin

import (
	"cmp"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/admin/access"
	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/uri"
)

// Route is one request of the API. The OpenAPI document is generated from the same table.
type Route struct {
	Method, Path string
	Doc          string
	Params       []Param
	Asks         bool        // it changes nothing, although it is a POST
	Needs        access.Role // that a caller needs; None is Read, which is enough for questions only
	Heavy        bool        // it takes much memory or time: few are answered at the same time
	Private      bool        // its answer is recorded instead of its body, which readers of the audit log may not see
	Body         any         // a zero value of the request body; nil for none
	Answer       any         // a zero value of the answer; nil for no content
	Serve        func(w *Window, r *http.Request) (any, error)
}

// Param is a parameter of the query, or of the path if the path names it in braces.
type Param struct{ Name, Kind, Doc string }

// Routes returns the requests of the API without wings.
func Routes() []Route {
	return slices.Concat(
		crawlRoutes(),
		siteRoutes(),
		lookRoutes(),
		whyRoutes(),
		queuePageRoutes(),
		queueRoutes(),
		orderRoutes(),
		reloadRoutes(),
		auditRoutes(),
		userRoutes(),
		alarmRoutes(),
		trapRoutes(),
	)
}

// crawlRoutes returns the requests about the crawl as a whole.
func crawlRoutes() []Route {
	return []Route{
		{
			Method: "GET", Path: api.Base + "/status", Doc: "Returns the state of the crawl.", Answer: api.Status{},
			Serve: func(w *Window, _ *http.Request) (any, error) { return w.Status(), nil },
		},
		{
			Method: "GET", Path: api.Base + "/me", Doc: "Returns who sends the request, and what the caller may do.",
			Answer: api.Me{},
			Serve: func(_ *Window, r *http.Request) (any, error) {
				c := access.CallerOf(r.Context())
				return api.Me{Name: c.Name, Way: c.Way, Role: c.Role.String()}, nil
			},
		},
		{
			Method: "GET", Path: api.Base + "/series",
			Doc: "Returns what happened in a period: in steps of 5 seconds, by minute up to a day, by hour above.", Answer: api.Series{},
			Params: []Param{{"span", "string", "10m, 1h, 1d, 7d or 90d (default 1d)"}},
			Serve: func(w *Window, r *http.Request) (any, error) {
				span := r.FormValue("span")
				if span == "" {
					span = "1d"
				}
				return w.seriesOf(span)
			},
		},
		{
			Method: "GET", Path: api.Base + "/config",
			Doc: "Returns the configuration in force, and the faults of the last reload.", Answer: api.Config{},
			Serve: func(w *Window, _ *http.Request) (any, error) { return w.config(), nil },
		},
		{
			Method: "POST", Path: api.Base + "/archive/lost", Needs: access.Operate,
			Body: api.LostFiles{}, Answer: api.LostAnswer{},
			Doc:   "Records that WARC files are lost, moved or found. Payloads of lost files are archived again.",
			Serve: Served(func(w *Window, o api.LostFiles) (api.LostAnswer, error) { return w.o.Lose(o) }),
		},
	}
}

// lookRoutes returns the requests about hosts and URIs.
func lookRoutes() []Route {
	return []Route{
		{
			Method: "GET", Path: api.Base + "/hosts", Doc: "Returns a page of the list of hosts.", Answer: api.Hosts{},
			Params: hostParams,
			Serve: func(w *Window, r *http.Request) (any, error) {
				q, err := readHostQuery(r)
				if err != nil {
					return nil, err
				}
				return w.hosts(q), nil
			},
		},
		{
			Method: "GET", Path: api.Base + "/names",
			Doc:    "Returns the hosts that are shown differently: with a name in Unicode, or without the host file that they had.",
			Answer: api.HostNames{},
			Serve:  func(w *Window, _ *http.Request) (any, error) { return w.hostNames(), nil },
		},
		{
			Method: "GET", Path: api.Base + "/hosts/{host}", Doc: "Returns the state of one host.", Answer: api.Host{},
			Params: []Param{{"host", "string", HostDoc}},
			Serve: func(w *Window, r *http.Request) (any, error) {
				v, ok := w.o.Frontier.Host(uri.Host(r.PathValue("host")), w.o.Now())
				if !ok {
					return nil, Unknown("the host " + r.PathValue("host"))
				}
				return w.hostOf(v, w.o.Now()), nil
			},
		},
		{
			Method: "GET", Path: api.Base + "/uri", Doc: "Returns the history of a URI.", Answer: api.URI{},
			Params: []Param{{"uri", "string", URIDoc}},
			Serve: func(w *Window, r *http.Request) (any, error) {
				u, err := w.uri(r.FormValue("uri"))
				u.Title = TitleUnder(w.Embargo(r), u.Title, u.URI, u.ContentType)
				return u, err
			},
		},
	}
}

// whyRoutes returns the requests that explain.
func whyRoutes() []Route {
	return []Route{
		{
			Method: "GET", Path: api.Base + "/overdue",
			Doc:    "Returns the overdue URIs and when the backlog will clear. Reads every URI unless the last survey is recent.",
			Params: overdueParams, Answer: api.Overdue{},
			Serve: func(w *Window, r *http.Request) (any, error) {
				q, err := readOverdueQuery(r)
				if err != nil {
					return nil, err
				}
				if _, known := w.o.Frontier.Host(q.Host, w.o.Now()); q.Host != "" && !known {
					return nil, Unknown("the host " + string(q.Host))
				}
				return w.survey.overdueFor(q)
			},
		},
		{
			Method: "GET", Path: api.Base + "/why", Doc: "Explains the state of a URI and its next visit.", Answer: api.Why{},
			Params: []Param{{"uri", "string", URIDoc}},
			Serve: func(w *Window, r *http.Request) (any, error) {
				y, err := w.why(r.FormValue("uri"))
				y.URI.Title = TitleUnder(w.Embargo(r), y.URI.Title, y.URI.URI, y.URI.ContentType)
				return y, err
			},
		},
		{
			Method: "GET", Path: api.Base + "/why-not", Doc: "Returns which rule keeps a URI out of the crawl, if any.",
			Answer: api.WhyNot{},
			Params: []Param{
				{"uri", "string", URIDoc},
				{"via", "string", "assume that the URI was found on this page"},
				{"hop", "string", "assume this kind of hop: L link, E embed, R redirect, M feed or sitemap, X guess, I implied"},
			},
			Serve: func(w *Window, r *http.Request) (any, error) {
				text := r.FormValue("uri")
				if out, ok := OtherScheme(text); ok {
					return out, nil
				}
				q, err := readWhyNot(r)
				if err != nil {
					return nil, badRequest{err}
				}
				return w.whyNot(q)
			},
		},
	}
}

// orderRoutes returns the requests that change what the crawl does.
func orderRoutes() []Route {
	return []Route{
		{
			Method: "POST", Path: api.Base + "/pause", Needs: access.Operate,
			Doc:  "Pauses the crawl, optionally for a given time. Visits in progress end normally. A pause survives a restart.",
			Body: api.Reason{}, Answer: api.Condition{},
			Serve: Served(func(w *Window, why api.Reason) (api.Condition, error) {
				err := w.pause(why)
				return w.Condition(), err
			}),
		},
		{
			Method: "POST", Path: api.Base + "/resume", Needs: access.Operate,
			Doc: "Ends a pause.", Answer: api.Condition{},
			Serve: func(w *Window, _ *http.Request) (any, error) { err := w.resume(); return w.Condition(), err },
		},
		{
			Method: "POST", Path: api.Base + "/seeds", Needs: access.Curate,
			Doc:  "Adds URIs on hosts of the configuration, due now.",
			Body: api.Seeds{}, Answer: api.Added{}, Serve: Served((*Window).AddSeeds),
		},
	}
}

// hostQuery selects hosts.
type hostQuery struct {
	part, state, sort string
	limit, offset     int
	only              config.Filter
}

var (
	hostParams = Filtered(
		Param{"q", "string", "part of the name"},
		Param{
			"state",
			"string",
			"ready, snoozed, busy, idle, paused; overdue: has due URIs; down: was unreachable at the last visit",
		},
		Param{"sort", "string", "name, overdue, uris or failures; largest first except names"},
		Param{"limit", "integer", "maximum number of hosts, 1 to 1000 (default 100)"},
		Param{"offset", "integer", "number of hosts to skip"},
	)
	hostStates = []string{"", "ready", "snoozed", "busy", "idle", "paused", "overdue", "down"}
	hostSorts  = []string{"", "name", "overdue", "uris", "failures"}
)

func readHostQuery(r *http.Request) (q hostQuery, err error) {
	q = hostQuery{part: strings.ToLower(r.FormValue("q")), state: r.FormValue("state"), sort: r.FormValue("sort")}
	q.only = FilterOf(r)
	if !slices.Contains(hostStates, q.state) {
		return q, Fault("unknown state %q; valid states:%s", q.state, strings.Join(hostStates, " "))
	}
	if !slices.Contains(hostSorts, q.sort) {
		return q, Fault("unknown sort %q; valid values:%s", q.sort, strings.Join(hostSorts, " "))
	}
	if q.limit, err = Number(r, "limit", 100, 1, 1000); err != nil {
		return q, err
	}
	q.offset, err = Number(r, "offset", 0, 0, 1_000_000_000)
	return q, err
}

func (q hostQuery) matches(v frontier.HostView, now time.Time) bool {
	if !strings.Contains(string(v.Host), q.part) {
		return false
	}
	switch q.state {
	case "":
		return true
	case "overdue":
		return late(v.Oldest, now) > 0
	case "down":
		return v.Failures > 0
	}
	return v.State.String() == q.state
}

var (
	overdueParams = Filtered(
		Param{"by", "string", "one row for each host, mime, wait or, with a host, path (default host)"},
		Param{"host", "string", "only this host"},
		Param{"limit", "integer", "maximum number of rows, 1 to 1000 (default 100)"},
		Param{"max_age", "integer", "maximum age of the last survey in seconds (default 60)"},
		Param{"late", "boolean", "true: count how many URIs are overdue for how long, of all, and of rows but hosts"},
		Param{"latest", "boolean", "true: answer at once from the last survey of all hosts, and renew it in the background; as_of is of the year 1 if there was none"},
	)
	overdueRows = []string{"host", "mime", "wait", "path"}
)

func readOverdueQuery(r *http.Request) (q overdueQuery, err error) {
	q = overdueQuery{By: cmp.Or(r.FormValue("by"), "host"), Host: uri.Host(r.FormValue("host")), Only: FilterOf(r)}
	if !slices.Contains(overdueRows, q.By) {
		return q, Fault("unknown by %q; valid values: %s", q.By, strings.Join(overdueRows, ", "))
	}
	if q.By == "path" && q.Host == "" {
		return q, Fault("rows by path need a host; name one with host=")
	}
	age, err := Number(r, "max_age", 60, 0, 24*60*60)
	if err != nil {
		return q, err
	}
	q.MaxAge, q.Latest = time.Duration(age)*time.Second, r.FormValue("latest") == "true"
	if q.Latest && (q.Host != "" || !q.Only.IsZero() && q.By != "host") {
		return q, Fault("latest is for all hosts together; leave out host, and label, collection and owner unless by is host")
	}
	q.Late = r.FormValue("late") == "true"
	q.Limit, err = Number(r, "limit", 100, 1, 1000)
	return q, err
}
