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

	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/scope"
	"github.com/arcrawl/arcrawl/uri"
)

// route is one thing that can be asked or ordered. The OpenAPI document is written from the same table.
type route struct {
	method, path string
	doc          string
	params       []param
	body         any // a zero value of what is read; nil reads nothing
	answer       any // a zero value of what is answered; nil answers with no content
	serve        func(w *Window, r *http.Request) (any, error)
}

// param is a parameter of the query or, when the path names it in braces, of the path.
type param struct{ name, kind, doc string }

const api = "/api/v1"

// routes is every request that the API knows.
func routes() []route {
	return slices.Concat(crawlRoutes(), lookRoutes(), whyRoutes(), pastRoutes(), dayRoutes(), queueRoutes(), orderRoutes(), reloadRoutes(), trapRoutes())
}

// crawlRoutes tell how the crawl is as a whole.
func crawlRoutes() []route {
	return []route{
		{
			method: "GET", path: api + "/status", doc: "How the crawl is.", answer: Status{},
			serve: func(w *Window, _ *http.Request) (any, error) { return w.status(), nil },
		},
		{
			method: "GET", path: api + "/series", doc: "What happened in a time: by minute up to a day, by hour beyond.", answer: Series{},
			params: []param{{"span", "string", "1h, 1d, 7d or 90d; 1d if it is not given"}},
			serve: func(w *Window, r *http.Request) (any, error) {
				span := r.FormValue("span")
				if span == "" {
					span = "1d"
				}
				return w.seriesOf(span)
			},
		},
		{
			method: "GET", path: api + "/config", doc: "The configuration in force, and what was wrong with the last attempt to load another.", answer: Config{},
			serve: func(w *Window, _ *http.Request) (any, error) { return w.config(), nil },
		},
		{
			method: "GET", path: api + "/alarms", doc: "The alarms that are raised, the newest first.", answer: Alarms{},
			serve: func(w *Window, _ *http.Request) (any, error) { return w.alarmsRaised(), nil },
		},
		{
			method: "GET", path: api + "/reports/headers", doc: "What ETag, Last-Modified, 304 and the dates of feeds and sitemaps have been worth on each host.", answer: HeaderReport{},
			serve: func(w *Window, _ *http.Request) (any, error) { return w.headers() },
		},
	}
}

// lookRoutes tell of hosts and URIs.
func lookRoutes() []route {
	return []route{
		{
			method: "GET", path: api + "/hosts", doc: "The hosts, a page at a time.", answer: Hosts{}, params: hostParams,
			serve: func(w *Window, r *http.Request) (any, error) {
				q, err := readHostQuery(r)
				if err != nil {
					return nil, err
				}
				return w.hosts(q), nil
			},
		},
		{
			method: "GET", path: api + "/hosts/{host}", doc: "How one host stands.", answer: Host{},
			params: []param{{"host", "string", "name, with the port when it is not the scheme's own"}},
			serve: func(w *Window, r *http.Request) (any, error) {
				v, ok := w.o.Frontier.Host(uri.Host(r.PathValue("host")), w.o.Now())
				if !ok {
					return nil, unknown("the host " + r.PathValue("host"))
				}
				return hostOf(v, w.o.Now()), nil
			},
		},
		{
			method: "GET", path: api + "/uri", doc: "What is remembered of a URI.", answer: URI{},
			params: []param{{"uri", "string", "the URI; it is brought into canonical form"}},
			serve:  func(w *Window, r *http.Request) (any, error) { return w.uri(r.FormValue("uri")) },
		},
	}
}

// whyRoutes explain.
func whyRoutes() []route {
	return []route{
		{
			method: "GET", path: api + "/overdue", doc: "What waits though its time has come, and when that will end. Looks at every URI unless the last look is recent enough.",
			params: overdueParams, answer: Overdue{},
			serve: func(w *Window, r *http.Request) (any, error) {
				q, err := readOverdueQuery(r)
				if err != nil {
					return nil, err
				}
				return w.overdue(q)
			},
		},
		{
			method: "GET", path: api + "/why", doc: "How a URI stands, why, and what comes next.", answer: Why{},
			params: []param{{"uri", "string", "the URI; it is brought into canonical form"}},
			serve:  func(w *Window, r *http.Request) (any, error) { return w.why(r.FormValue("uri")) },
		},
		{
			method: "GET", path: api + "/why-not", doc: "What keeps a URI out of the crawl, if anything does.", answer: WhyNot{},
			params: []param{
				{"uri", "string", "the URI; it is brought into canonical form"},
				{"via", "string", "the page that it would have been found on"},
				{"hop", "string", "how it would stand there: L link, E embed, R redirect, M feed or sitemap, X guess, I implied"},
			},
			serve: func(w *Window, r *http.Request) (any, error) {
				text := r.FormValue("uri")
				if reason, ok := scope.OtherScheme(text); ok {
					return WhyNotOf(text, []scope.Reason{reason}), nil
				}
				q, err := readWhyNot(r)
				if err != nil {
					return nil, err
				}
				return w.whyNot(q)
			},
		},
	}
}

// orderRoutes change what the crawl does.
func orderRoutes() []route {
	return []route{
		{
			method: "POST", path: api + "/pause", doc: "Claims nothing more until it is resumed, or for a while. Visits in progress go on to their end. Outlives a restart.",
			body: Reason{}, answer: Stand{},
			serve: func(w *Window, r *http.Request) (any, error) {
				why, err := read[Reason](r)
				if err != nil {
					return nil, err
				}
				err = w.pause(why)
				return w.stand(), err
			},
		},
		{
			method: "POST", path: api + "/resume", doc: "Ends a pause.", answer: Stand{},
			serve: func(w *Window, _ *http.Request) (any, error) { err := w.resume(); return w.stand(), err },
		},
		{
			method: "POST", path: api + "/seeds", doc: "Makes URIs known and due that are on hosts of the configuration.", body: Seeds{}, answer: Added{},
			serve: func(w *Window, r *http.Request) (any, error) {
				list, err := read[Seeds](r)
				if err != nil {
					return nil, err
				}
				return w.addSeeds(list)
			},
		},
	}
}

// hostQuery says which hosts are wanted.
type hostQuery struct {
	part, state, sort string
	limit, offset     int
}

var (
	hostParams = []param{
		{"q", "string", "part of the name"},
		{"state", "string", "ready, snoozed, busy, idle, paused; overdue: has something due; down: could not be reached the last time"},
		{"sort", "string", "name, overdue, uris or failures; the largest first but for names"},
		{"limit", "integer", "at most so many, 1 to 1000; 100 if it is not given"},
		{"offset", "integer", "passes over so many"},
	}
	hostStates = []string{"", "ready", "snoozed", "busy", "idle", "paused", "overdue", "down"}
	hostSorts  = []string{"", "name", "overdue", "uris", "failures"}
)

func readHostQuery(r *http.Request) (q hostQuery, err error) {
	q = hostQuery{part: strings.ToLower(r.FormValue("q")), state: r.FormValue("state"), sort: r.FormValue("sort")}
	if !slices.Contains(hostStates, q.state) {
		return q, fault("state %q: want one of%s", q.state, strings.Join(hostStates, " "))
	}
	if !slices.Contains(hostSorts, q.sort) {
		return q, fault("sort %q: want one of%s", q.sort, strings.Join(hostSorts, " "))
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
	overdueParams = []param{
		{"by", "string", "host, mime or wait: what the rows are of; host if it is not given"},
		{"host", "string", "looks at this host only"},
		{"limit", "integer", "rows, 1 to 1000; 100 if it is not given"},
		{"max_age", "integer", "how many seconds old the last look may be; 60 if it is not given"},
	}
	overdueRows = []string{"host", "mime", "wait"}
)

func readOverdueQuery(r *http.Request) (q overdueQuery, err error) {
	q = overdueQuery{by: cmp.Or(r.FormValue("by"), "host"), host: uri.Host(r.FormValue("host"))}
	if !slices.Contains(overdueRows, q.by) {
		return q, fault("by %q: want one of %s", q.by, strings.Join(overdueRows, ", "))
	}
	age, err := number(r, "max_age", 60, 0, 24*60*60)
	if err != nil {
		return q, err
	}
	q.maxAge = time.Duration(age) * time.Second
	q.limit, err = number(r, "limit", 100, 1, 1000)
	return q, err
}

// number reads a whole number of the query within bounds.
func number(r *http.Request, name string, missing, least, most int) (int, error) {
	text := r.FormValue(name)
	if text == "" {
		return missing, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < least || n > most {
		return 0, fault("%s %q: want a number from %d to %d", name, text, least, most)
	}
	return n, nil
}

// maxBody bounds what a request may bring.
const maxBody = 4 << 20

// read reads the JSON body of a request. An empty one is a zero value.
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

// badRequest is a request that cannot be understood.
type badRequest struct{ error }

func (b badRequest) Unwrap() error { return b.error }

func fault(format string, args ...any) error { return badRequest{fmt.Errorf(format, args...)} }

// errEnough ends a listing that has grown long enough.
var errEnough = errors.New("enough")
