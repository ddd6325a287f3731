package admin

import (
	"cmp"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/crawler"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/uri"
)

// queuePageRoutes returns the request for the queue of a host.
func queuePageRoutes() []Route {
	return []Route{{
		Method: "GET", Path: api.Base + "/hosts/{host}/queue", Answer: api.Queue{}, Heavy: true,
		Doc: "Returns a page of the queue of a host.",
		Params: []Param{
			{"host", "string", HostDoc},
			{"q", "string", "only URIs with this text; case does not matter"},
			{"sort", "string", "due (the default), uri, wait, visits, versions or status; largest first except due and uri"},
			{"limit", "integer", "maximum number of URIs, 1 to 1000 (default 50)"},
			{"offset", "integer", "number of URIs to skip"},
			SecondsParam,
		},
		Serve: func(w *Window, r *http.Request) (any, error) {
			q, err := readQueueQuery(r)
			if err != nil {
				return nil, err
			}
			page, err := queuePage(w.o.Frontier, q, w.o.Now)
			embargo := w.Embargo(r)
			for i, u := range page.URIs {
				page.URIs[i].Title = TitleUnder(embargo, u.Title, u.URI, "text/html")
			}
			return page, err
		},
	}}
}

// readTime is how long a request reads that does not say it.
const readTime = 100 * time.Millisecond

// SecondsParam is the parameter of requests that read for a bounded time; see [ReadSeconds].
var SecondsParam = Param{"seconds", "integer", "how long is read, 1 to 30 seconds (default: a tenth of a second)"}

// ReadSeconds returns how long a request may read.
func ReadSeconds(r *http.Request) (time.Duration, error) {
	n, err := Number(r, "seconds", 0, 0, 30)
	if err != nil || n == 0 {
		return readTime, err
	}
	return time.Duration(n) * time.Second, nil
}

func readQueueQuery(r *http.Request) (q queueQuery, err error) {
	q = queueQuery{
		Host: uri.Host(r.PathValue("host")), Sort: cmp.Or(r.FormValue("sort"), "due"),
	}
	if q.Text, err = PartOf(r); err != nil {
		return q, err
	}
	if sorts := queueSorts(); !slices.Contains(sorts, q.Sort) {
		return q, Fault("unknown sort %q; valid values: %s", q.Sort, strings.Join(sorts, ", "))
	}
	if q.Limit, err = Number(r, "limit", 50, 1, 1000); err != nil {
		return q, err
	}
	if q.Offset, err = Number(r, "offset", 0, 0, 1_000_000_000); err != nil {
		return q, err
	}
	q.Within, err = ReadSeconds(r)
	return q, err
}

// queueQuery selects a page of the queue of a host.
type queueQuery struct {
	Host          uri.Host
	Text          string // part of the URI; case does not matter
	Sort          string // one of queueSorts
	Limit, Offset int
	Within        time.Duration // how long URIs are read
}

// queueSorts returns the orders of a queue. Numbers begin with the largest one.
func queueSorts() []string { return []string{"due", "uri", "wait", "visits", "versions", "status"} }

// maxQueue is the maximum number of URIs that are sorted for a page, and upcoming how many of them the frontier has in
// order.
const (
	maxQueue = 200_000
	upcoming = 1000
)

// queuePage returns a page of the queue of a host. The order of due times is the queue's own. For another order, for a
// text and for pages further behind it reads the URIs of the host, for a bounded time; the answer says whether it read
// all.
func queuePage(f *frontier.Frontier, q queueQuery, now func() time.Time) (api.Queue, error) {
	out := api.Queue{URIs: []api.Waiting{}, Complete: true}
	if q.Sort == "due" && q.Text == "" && q.Offset+q.Limit < upcoming {
		list, err := f.Upcoming(q.Host, q.Offset+q.Limit+1)
		for i, r := range list {
			if i >= q.Offset && i < q.Offset+q.Limit {
				out.URIs = append(out.URIs, waitingOf(r))
			}
		}
		out.More = len(list) > q.Offset+q.Limit
		return out, err
	}
	list, complete, err := queuedURIs(f, q, now)
	if err != nil {
		return out, err
	}
	slices.SortFunc(list, func(a, b api.Waiting) int {
		return cmp.Or(byQueueSort(q.Sort, a, b), a.Due.Compare(b.Due), cmp.Compare(a.URI, b.URI))
	})
	out.Found, out.Complete, out.More = len(list), complete, len(list) > q.Offset+q.Limit
	out.URIs = append(out.URIs, list[min(q.Offset, len(list)):min(q.Offset+q.Limit, len(list))]...)
	return out, nil
}

// queuedURIs reads the URIs of a host that wait and have a text, in no order.
func queuedURIs(
	f *frontier.Frontier, q queueQuery, now func() time.Time,
) (list []api.Waiting, complete bool, err error) {
	sel := frontier.Selection{Host: string(q.Host)}
	if q.Text != "" {
		sel.Match = regexp.MustCompile("(?i)" + regexp.QuoteMeta(strings.ToValidUTF8(q.Text, "")))
	}
	cursor := frontier.Cursor("")
	for end := now().Add(q.Within); ; {
		rows, next, err := f.List(now(), sel, cursor, upcoming)
		if err != nil {
			return nil, false, err
		}
		for _, e := range rows {
			if !e.Due.IsZero() && !e.Held && !e.InProgress {
				list = append(list, waitingOf(e.Record))
			}
		}
		if cursor = next; next == "" || len(list) >= maxQueue || now().After(end) {
			return list, next == "", nil
		}
	}
}

// byQueueSort compares two URIs of a queue.
func byQueueSort(sort string, a, b api.Waiting) int {
	switch sort {
	case "uri":
		return cmp.Compare(a.URI, b.URI)
	case "wait":
		return cmp.Compare(b.Wait, a.Wait)
	case "visits":
		return cmp.Compare(b.Visits, a.Visits)
	case "versions":
		return cmp.Compare(b.Versions, a.Versions)
	case "status":
		return cmp.Compare(b.LastStatus, a.LastStatus)
	}
	return 0
}

func waitingOf(r frontier.Record) api.Waiting {
	return api.Waiting{
		URI: r.URI.String(), Title: r.Title, Due: r.Due, Wait: api.Seconds(r.Wait), Visits: r.Visits, Versions: r.Versions,
		LastStatus: r.LastStatus, Out: crawler.KeptOut(r),
	}
}
