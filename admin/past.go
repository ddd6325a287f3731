package admin

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/admin/api"

	"github.com/arcrawl/arcrawl/crawllog"
	"github.com/arcrawl/arcrawl/crawllog/stats"
	"github.com/arcrawl/arcrawl/uri"
)

// Bounds of one reading of the log.
const (
	reportRows = 100
	pastVisits = 1_000
	pastBytes  = 256 << 20
	pastTime   = 100 * time.Millisecond
)

// pastRoutes returns the requests about queues and past visits.
func pastRoutes() []route {
	return []route{
		{
			method: "GET", path: api.Base + "/hosts/{host}/queue", doc: "Returns the next URIs of a host.", answer: api.Queue{},
			params: []param{
				{"host", "string", hostDoc},
				{"limit", "integer", "maximum number of URIs, 1 to 1000 (default 50)"},
			},
			serve: func(w *Window, r *http.Request) (any, error) {
				n, err := number(r, "limit", 50, 1, 1000)
				if err != nil {
					return nil, err
				}
				return w.queue(uri.Host(r.PathValue("host")), n)
			},
		},
		{
			method: "GET", path: api.Base + "/history",
			doc: "Returns the visits to a URI, from the last 256 MiB of the crawl log at most.", answer: api.Past{},
			params: []param{
				{"uri", "string", uriDoc},
				{"seconds", "integer", "how long the log is searched, 1 to 30 (default: 0.1 seconds)"},
			},
			serve: func(w *Window, r *http.Request) (any, error) {
				within := pastTime
				if n, err := number(r, "seconds", 0, 0, 30); err != nil {
					return nil, err
				} else if n > 0 {
					within = time.Duration(n) * time.Second
				}
				return w.past(r.Context(), r.FormValue("uri"), within)
			},
		},
		{
			method: "GET", path: api.Base + "/reports/dedup", doc: "Summarizes deduplication, from the current crawl log.",
			answer: api.DedupReport{},
			serve:  func(w *Window, r *http.Request) (any, error) { return w.dedupReport(r.Context()) },
		},
	}
}

// dedupReport summarizes the log. Some hundred megabytes take a second.
func (w *Window) dedupReport(ctx context.Context) (api.DedupReport, error) {
	w.reading.Lock()
	defer w.reading.Unlock()
	by := stats.Options{By: []stats.Dimension{stats.ByHost, stats.ByMIME}}
	read, err := stats.Read(ctx, []string{w.o.Config().Config.Storage.Log}, by)
	if err != nil {
		return api.DedupReport{}, err
	}
	sum := read.Summaries[0]
	return api.DedupReport{
		From: sum.First, All: dedupRow("", sum.All), Hosts: dedupRows(sum.Rows(stats.ByHost)),
		Types: dedupRows(sum.Rows(stats.ByMIME)),
	}, nil
}

func dedupRows(rows []stats.Row) []api.DedupRow {
	out := []api.DedupRow{}
	for _, r := range rows {
		if len(out) < reportRows && r.Dedup.Handled > 0 {
			out = append(out, dedupRow(r.Key, r.Tally))
		}
	}
	return out
}

func dedupRow(key string, t stats.Tally) api.DedupRow {
	d := t.Dedup
	return api.DedupRow{
		Key: key, Handled: d.Handled, Bytes: d.Bytes, New: d.New, Duplicates: d.Duplicates, Exact: d.Exact,
		Equivalent: d.Equivalent, Other: d.Other, DiscardedBytes: d.DiscardedBytes,
	}
}

func (w *Window) queue(host uri.Host, n int) (api.Queue, error) {
	list, err := w.o.Frontier.Upcoming(host, n)
	q := api.Queue{URIs: make([]api.Waiting, len(list))}
	for i, r := range list {
		q.URIs[i] = api.Waiting{
			URI: r.URI.String(), Due: r.Due, Wait: api.Seconds(r.Wait), Visits: r.Visits, Versions: r.Versions,
			LastStatus: r.LastStatus,
		}
	}
	return q, err
}

// past searches the log for the visits to a URI, for a bounded time. Only one request reads the log at a time.
func (w *Window) past(ctx context.Context, text string, within time.Duration) (api.Past, error) {
	u, err := uri.Parse(text)
	if err != nil {
		return api.Past{}, fault("uri %q: %v", text, err)
	}
	w.reading.Lock()
	defer w.reading.Unlock()
	end := w.o.Now().Add(within)
	found, err := stats.Find(ctx, w.o.Config().Config.Storage.Log, u.String(), stats.Bounds{
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
			if text := crawllog.Words(note); text != "" {
				p.Visits[i].Words = append(p.Visits[i].Words, text)
			}
		}
	}
	return p, nil
}
