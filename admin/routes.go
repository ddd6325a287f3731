package admin

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/admin/access"
	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/admin/survey"
	"github.com/arcrawl/arcrawl/admin/whynot"
	"github.com/arcrawl/arcrawl/aspects/scope"
	"github.com/arcrawl/arcrawl/config/about"
	"github.com/arcrawl/arcrawl/curator/seedlist"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/uri"
)

// route is one request of the API. The OpenAPI document is generated from the same table.
type route struct {
	method, path string
	doc          string
	params       []param
	asks         bool        // it changes nothing, although it is a POST
	needs        access.Role // that a caller needs; None is Read, which is enough for questions only
	heavy        bool        // it takes much memory or time: few are answered at the same time
	private      bool        // its answer is recorded instead of its body, which readers of the audit log may not see
	body         any         // a zero value of the request body; nil for none
	answer       any         // a zero value of the answer; nil for no content
	serve        func(w *Window, r *http.Request) (any, error)
}

// param is a parameter of the query, or of the path if the path names it in braces.
type param struct{ name, kind, doc string }

// Descriptions of parameters that several requests have.
const (
	hostDoc = "host name, with the port if it is not the default port"
	uriDoc  = "the URI; it is converted to canonical form"
)

// routes returns every request of the API.
func routes() []route {
	return slices.Concat(
		crawlRoutes(),
		siteRoutes(),
		lookRoutes(),
		whyRoutes(),
		pastRoutes(),
		dayRoutes(),
		queueRoutes(),
		orderRoutes(),
		reloadRoutes(),
		auditRoutes(),
		alarmRoutes(),
		trapRoutes(),
		versionRoutes(),
		packRoutes(),
		ignoreRoutes(),
		editRoutes(),
		onceRoutes(),
		seedRoutes(),
		newRoutes(),
		collectionRoutes(),
	)
}

// crawlRoutes returns the requests about the crawl as a whole.
func crawlRoutes() []route {
	return []route{
		{
			method: "GET", path: api.Base + "/status", doc: "Returns the state of the crawl.", answer: api.Status{},
			serve: func(w *Window, _ *http.Request) (any, error) { return w.Status(), nil },
		},
		{
			method: "GET", path: api.Base + "/me", doc: "Returns who sends the request, and what the caller may do.",
			answer: api.Me{},
			serve: func(_ *Window, r *http.Request) (any, error) {
				c := access.CallerOf(r.Context())
				return api.Me{Name: c.Name, Way: c.Way, Role: c.Role.String()}, nil
			},
		},
		{
			method: "GET", path: api.Base + "/series",
			doc: "Returns what happened in a period: in steps of 5 seconds, by minute up to a day, by hour above.", answer: api.Series{},
			params: []param{{"span", "string", "10m, 1h, 1d, 7d or 90d (default 1d)"}},
			serve: func(w *Window, r *http.Request) (any, error) {
				span := r.FormValue("span")
				if span == "" {
					span = "1d"
				}
				return w.seriesOf(span)
			},
		},
		{
			method: "GET", path: api.Base + "/config",
			doc: "Returns the configuration in force, and the faults of the last reload.", answer: api.Config{},
			serve: func(w *Window, _ *http.Request) (any, error) { return w.config(), nil },
		},
		{
			method: "GET", path: api.Base + "/reports/headers",
			doc:    "Returns how reliable ETag, Last-Modified, 304 and the dates of feeds and sitemaps are on each host.",
			params: filtered(), answer: api.HeaderReport{},
			serve: func(w *Window, r *http.Request) (any, error) { return w.headers(w.ours(w.chooses(filterOf(r)))) },
		},
		{
			method: "POST", path: api.Base + "/archive/lost", needs: access.Operate,
			body: api.LostFiles{}, answer: api.LostAnswer{},
			doc:   "Records that WARC files are lost, moved or found. Payloads of lost files are archived again.",
			serve: served(func(w *Window, o api.LostFiles) (api.LostAnswer, error) { return w.o.Lose(o) }),
		},
	}
}

// lookRoutes returns the requests about hosts and URIs.
func lookRoutes() []route {
	return []route{
		{
			method: "GET", path: api.Base + "/hosts", doc: "Returns a page of the list of hosts.", answer: api.Hosts{},
			params: hostParams,
			serve: func(w *Window, r *http.Request) (any, error) {
				q, err := readHostQuery(r)
				if err != nil {
					return nil, err
				}
				return w.hosts(q), nil
			},
		},
		{
			method: "GET", path: api.Base + "/names",
			doc:    "Returns the hosts that are shown differently: with a name in Unicode, or without the host file that they had.",
			answer: api.HostNames{},
			serve:  func(w *Window, _ *http.Request) (any, error) { return w.hostNames(), nil },
		},
		{
			method: "GET", path: api.Base + "/hosts/{host}", doc: "Returns the state of one host.", answer: api.Host{},
			params: []param{{"host", "string", hostDoc}},
			serve: func(w *Window, r *http.Request) (any, error) {
				v, ok := w.o.Frontier.Host(uri.Host(r.PathValue("host")), w.o.Now())
				if !ok {
					return nil, unknown("the host " + r.PathValue("host"))
				}
				return w.hostOf(v, w.o.Now()), nil
			},
		},
		{
			method: "GET", path: api.Base + "/uri", doc: "Returns the history of a URI.", answer: api.URI{},
			params: []param{{"uri", "string", uriDoc}},
			serve:  func(w *Window, r *http.Request) (any, error) { return w.uri(r.FormValue("uri")) },
		},
	}
}

// whyRoutes returns the requests that explain.
func whyRoutes() []route {
	return []route{
		{
			method: "GET", path: api.Base + "/overdue",
			doc:    "Returns the overdue URIs and when the backlog will clear. Reads every URI unless the last survey is recent.",
			params: overdueParams, answer: api.Overdue{},
			serve: func(w *Window, r *http.Request) (any, error) {
				q, err := readOverdueQuery(r)
				if err != nil {
					return nil, err
				}
				if _, known := w.o.Frontier.Host(q.Host, w.o.Now()); q.Host != "" && !known {
					return nil, unknown("the host " + string(q.Host))
				}
				return w.survey.Overdue(q)
			},
		},
		{
			method: "GET", path: api.Base + "/why", doc: "Explains the state of a URI and its next visit.", answer: api.Why{},
			params: []param{{"uri", "string", uriDoc}},
			serve:  func(w *Window, r *http.Request) (any, error) { return w.why(r.FormValue("uri")) },
		},
		{
			method: "GET", path: api.Base + "/why-not", doc: "Returns which rule keeps a URI out of the crawl, if any.",
			answer: api.WhyNot{},
			params: []param{
				{"uri", "string", uriDoc},
				{"via", "string", "assume that the URI was found on this page"},
				{"hop", "string", "assume this kind of hop: L link, E embed, R redirect, M feed or sitemap, X guess, I implied"},
			},
			serve: func(w *Window, r *http.Request) (any, error) {
				text := r.FormValue("uri")
				if reason, ok := scope.OtherScheme(text); ok {
					return whynot.Of(text, []scope.Reason{reason}), nil
				}
				q, err := whynot.Read(r)
				if err != nil {
					return nil, badRequest{err}
				}
				return w.whyNot(q)
			},
		},
	}
}

// orderRoutes returns the requests that change what the crawl does.
func orderRoutes() []route {
	return []route{
		{
			method: "POST", path: api.Base + "/pause", needs: access.Operate,
			doc:  "Pauses the crawl, optionally for a given time. Visits in progress end normally. A pause survives a restart.",
			body: api.Reason{}, answer: api.Condition{},
			serve: func(w *Window, r *http.Request) (any, error) {
				why, err := read[api.Reason](r)
				if err != nil {
					return nil, err
				}
				err = w.pause(why)
				return w.condition(), err
			},
		},
		{
			method: "POST", path: api.Base + "/resume", needs: access.Operate,
			doc: "Ends a pause.", answer: api.Condition{},
			serve: func(w *Window, _ *http.Request) (any, error) { err := w.resume(); return w.condition(), err },
		},
		{
			method: "POST", path: api.Base + "/seeds", needs: access.Curate,
			doc:  "Adds URIs on hosts of the configuration, due now.",
			body: api.Seeds{}, answer: api.Added{},
			serve: func(w *Window, r *http.Request) (any, error) {
				list, err := read[api.Seeds](r)
				if err != nil {
					return nil, err
				}
				return w.addSeeds(list)
			},
		},
	}
}

// hostQuery selects hosts.
type hostQuery struct {
	part, state, sort string
	limit, offset     int
	only              about.Filter
}

var (
	hostParams = filtered(
		param{"q", "string", "part of the name"},
		param{
			"state",
			"string",
			"ready, snoozed, busy, idle, paused; overdue: has due URIs; down: was unreachable at the last visit",
		},
		param{"sort", "string", "name, overdue, uris or failures; largest first except names"},
		param{"limit", "integer", "maximum number of hosts, 1 to 1000 (default 100)"},
		param{"offset", "integer", "number of hosts to skip"},
	)
	hostStates = []string{"", "ready", "snoozed", "busy", "idle", "paused", "overdue", "down"}
	hostSorts  = []string{"", "name", "overdue", "uris", "failures"}
)

func readHostQuery(r *http.Request) (q hostQuery, err error) {
	q = hostQuery{part: strings.ToLower(r.FormValue("q")), state: r.FormValue("state"), sort: r.FormValue("sort")}
	q.only = filterOf(r)
	if !slices.Contains(hostStates, q.state) {
		return q, fault("unknown state %q; valid states:%s", q.state, strings.Join(hostStates, " "))
	}
	if !slices.Contains(hostSorts, q.sort) {
		return q, fault("unknown sort %q; valid values:%s", q.sort, strings.Join(hostSorts, " "))
	}
	if q.limit, err = number(r, "limit", 100, 1, 1000); err != nil {
		return q, err
	}
	q.offset, err = number(r, "offset", 0, 0, 1_000_000_000)
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
	overdueParams = filtered(
		param{"by", "string", "one row for each host, mime, wait or, with a host, path (default host)"},
		param{"host", "string", "only this host"},
		param{"limit", "integer", "maximum number of rows, 1 to 1000 (default 100)"},
		param{"max_age", "integer", "maximum age of the last survey in seconds (default 60)"},
		param{"late", "boolean", "true: count how many URIs are overdue for how long, of all, and of rows but hosts"},
		param{"latest", "boolean", "true: answer at once from the last survey of all hosts, and renew it in the background; as_of is of the year 1 if there was none"},
	)
	overdueRows = []string{"host", "mime", "wait", "path"}
)

func readOverdueQuery(r *http.Request) (q survey.Query, err error) {
	q = survey.Query{By: cmp.Or(r.FormValue("by"), "host"), Host: uri.Host(r.FormValue("host")), Only: filterOf(r)}
	if !slices.Contains(overdueRows, q.By) {
		return q, fault("unknown by %q; valid values: %s", q.By, strings.Join(overdueRows, ", "))
	}
	if q.By == "path" && q.Host == "" {
		return q, fault("rows by path need a host; name one with host=")
	}
	age, err := number(r, "max_age", 60, 0, 24*60*60)
	if err != nil {
		return q, err
	}
	q.MaxAge, q.Latest = time.Duration(age)*time.Second, r.FormValue("latest") == "true"
	if q.Latest && (q.Host != "" || !q.Only.IsZero() && q.By != "host") {
		return q, fault("latest is for all hosts together; leave out host, and label, collection and owner unless by is host")
	}
	q.Late = r.FormValue("late") == "true"
	q.Limit, err = number(r, "limit", 100, 1, 1000)
	return q, err
}

// number parses a whole number of the query and checks its bounds. A missing parameter has the default value.
func number(r *http.Request, name string, byDefault, minimum, maximum int) (int, error) {
	text := r.FormValue(name)
	if text == "" {
		return byDefault, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < minimum || n > maximum {
		return 0, fault("%s %q is not a number from %d to %d", name, text, minimum, maximum)
	}
	return n, nil
}

// maxBody is the maximum size of a request body in bytes. A list of seeds fits, also if JSON escapes much of it.
const maxBody = 2*seedlist.MaxSize + 1<<20

// read decodes the JSON body of a request. An empty body is the zero value.
func read[T any](r *http.Request) (v T, err error) {
	if t := r.Header.Get("Content-Type"); t != "" && !strings.HasPrefix(t, "application/json") {
		return v, fault("Content-Type %s: want application/json", t)
	}
	from := json.NewDecoder(http.MaxBytesReader(nil, r.Body, maxBody))
	from.DisallowUnknownFields()
	if err := from.Decode(&v); err != nil && !errors.Is(err, io.EOF) {
		return v, fault("read the request: %w", err)
	}
	return v, nil
}

// badRequest is the error of a request that is not valid.
type badRequest struct{ error }

func (b badRequest) Unwrap() error { return b.error }

func fault(format string, args ...any) error { return badRequest{fmt.Errorf(format, args...)} }
