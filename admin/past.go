package admin

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/crawler"
	"github.com/arcrawl/arcrawl/reports/logs"
	"github.com/arcrawl/arcrawl/uri"
)

// Bounds of one reading of the log.
const (
	pastVisits = 1_000
	pastBytes  = 256 << 20
	dedupBytes = 8 << 20                // about 50,000 visits
	readTime   = 100 * time.Millisecond // of a request that does not say how long it may read
)

// pastRoutes returns the requests about queues and past visits.
func pastRoutes() []Route {
	return []Route{
		{
			Method: "GET", Path: api.Base + "/hosts/{host}/queue", Answer: api.Queue{}, Heavy: true,
			Doc: "Returns a page of the queue of a host.",
			Params: []Param{
				{"host", "string", HostDoc},
				{"q", "string", "only URIs with this text; case does not matter"},
				{"sort", "string", "due (the default), uri, wait, visits, versions or status; largest first except due and uri"},
				{"limit", "integer", "maximum number of URIs, 1 to 1000 (default 50)"},
				{"offset", "integer", "number of URIs to skip"},
				secondsParam,
			},
			Serve: func(w *Window, r *http.Request) (any, error) {
				q, err := readQueueQuery(r)
				if err != nil {
					return nil, err
				}
				return queuePage(w.o.Frontier, q, w.o.Now)
			},
		},
		{
			Method: "GET", Path: api.Base + "/history",
			Doc: "Returns the visits to a URI, from the last 256 MiB of the crawl log at most.", Answer: api.Past{},
			Params: []Param{
				{"uri", "string", URIDoc},
				secondsParam,
			},
			Serve: func(w *Window, r *http.Request) (any, error) {
				within, err := readSeconds(r)
				if err != nil {
					return nil, err
				}
				return w.past(r.Context(), r.FormValue("uri"), within)
			},
		},
		{
			Method: "GET", Path: api.Base + "/reports/dedup", Doc: "Summarizes deduplication, from the end of the current crawl log.",
			Answer: api.DedupReport{},
			Params: Filtered(
				Param{"all", "boolean", "true: from the whole log; 100 MB take a second"},
				Param{"rows", "integer", "maximum number of hosts, and of types, 1 to 10000 (default 100)"},
			),
			Serve: func(w *Window, r *http.Request) (any, error) {
				rows, err := Number(r, "rows", 100, 1, 10_000)
				if err != nil {
					return nil, err
				}
				return w.dedupReport(r.Context(), FilterOf(r), r.FormValue("all") == "true", rows)
			},
		},
	}
}

var secondsParam = Param{"seconds", "integer", "how long is read, 1 to 30 seconds (default: a tenth of a second)"}

// readSeconds returns how long a request may read.
func readSeconds(r *http.Request) (time.Duration, error) {
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
	q.Within, err = readSeconds(r)
	return q, err
}

// dedupReport summarizes the end of the log, or all of it.
func (w *Window) dedupReport(ctx context.Context, f config.Filter, all bool, rows int) (api.DedupReport, error) {
	w.reading.Lock()
	defer w.reading.Unlock()
	by := logs.Options{By: []logs.Dimension{logs.ByHost, logs.ByMIME}, Last: dedupBytes}
	if all {
		by.Last = 0
	}
	if chosen := w.Chooses(f); chosen != nil {
		by.Host = func(h string) bool { return chosen(uri.Host(h)) }
	}
	read, err := logs.Read(ctx, []string{w.o.Config().Config.Storage.Log}, by)
	if err != nil {
		return api.DedupReport{}, err
	}
	sum := read.Summaries[0]
	return api.DedupReport{
		From: sum.First, Complete: read.Left == 0, All: dedupRow("", sum.All), Hosts: dedupRows(sum.Rows(logs.ByHost), rows),
		Types: dedupRows(sum.Rows(logs.ByMIME), rows),
	}, nil
}

func dedupRows(rows []logs.Row, limit int) []api.DedupRow {
	out := []api.DedupRow{}
	for _, r := range rows {
		if len(out) < limit && r.Dedup.Handled > 0 {
			out = append(out, dedupRow(r.Key, r.Tally))
		}
	}
	return out
}

func dedupRow(key string, t logs.Tally) api.DedupRow {
	d := t.Dedup
	return api.DedupRow{
		Key: key, Handled: d.Handled, Bytes: d.Bytes, New: d.New, Duplicates: d.Duplicates, Exact: d.Exact,
		Equivalent: d.Equivalent, Other: d.Other, DiscardedBytes: d.DiscardedBytes,
	}
}

// past searches the log for the visits to a URI, for a bounded time. Only one request reads the log at a time.
func (w *Window) past(ctx context.Context, text string, within time.Duration) (api.Past, error) {
	u, err := ParseURI(text)
	if err != nil {
		return api.Past{}, err
	}
	w.reading.Lock()
	defer w.reading.Unlock()
	end := w.o.Now().Add(within)
	found, err := logs.Find(ctx, w.o.Config().Config.Storage.Log, u.String(), logs.Bounds{
		Visits: pastVisits, Bytes: pastBytes, Stop: func() bool { return w.o.Now().After(end) },
	})
	if err != nil {
		return api.Past{}, fmt.Errorf("search the log for %s: %w", u, err)
	}
	p := api.Past{Visits: make([]api.PastVisit, len(found.Visits)), Complete: found.Complete}
	p.Since = api.Moment(found.Since)
	for i, v := range found.Visits {
		p.Visits[i] = api.PastVisit{
			At: v.At, Status: v.Status, State: v.State, Size: v.Size, Wait: api.Seconds(v.Wait),
			Overdue: api.Seconds(v.Overdue), Notes: strings.Join(v.Notes, ", "),
		}
		for _, note := range v.Notes {
			if text := crawler.Words(note); text != "" {
				p.Visits[i].Words = append(p.Visits[i].Words, text)
			}
		}
	}
	return p, nil
}
