package admin

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/crawllog/stats"
	"github.com/arcrawl/arcrawl/uri"
)

// Queue holds the next URIs of a host.
type Queue struct {
	URIs []Waiting `json:"uris"` // earliest due first
}

// Waiting is a URI in a queue.
type Waiting struct {
	URI        string    `json:"uri"`
	Due        time.Time `json:"due"`
	Wait       Seconds   `json:"wait_seconds"`
	Visits     int       `json:"visits"`
	Versions   int       `json:"versions"`
	LastStatus int       `json:"last_status"`
}

// Past holds the visits to a URI from the crawl log.
type Past struct {
	Visits   []PastVisit `json:"visits"`   // oldest first, at most 1,000
	Complete bool        `json:"complete"` // the whole log was read
}

// PastVisit is one visit from the crawl log.
type PastVisit struct {
	At      time.Time `json:"at"`
	Status  int       `json:"status"`
	State   string    `json:"state"` // "changed", "unchanged", "unknown" or "failed"
	Size    int64     `json:"size"`  // bytes of the body; -1 if there was none
	Wait    Seconds   `json:"wait_seconds"`
	Overdue Seconds   `json:"overdue_seconds"`
	Notes   string    `json:"notes,omitempty"` // other annotations of the log line
}

// DedupReport summarizes deduplication, from the current crawl log.
type DedupReport struct {
	From  time.Time  `json:"from"` // time of the first line
	All   DedupRow   `json:"all"`
	Hosts []DedupRow `json:"hosts"` // hosts with the most visits, at most 100
	Types []DedupRow `json:"types"` // the same for MIME types
}

// DedupRow summarizes deduplication for a host or a MIME type.
type DedupRow struct {
	Key            string `json:"key,omitempty"`
	Handled        int64  `json:"handled"` // responses whose payload was looked up
	Bytes          int64  `json:"bytes"`   // of these responses
	New            int64  `json:"new"`
	Duplicates     int64  `json:"duplicates"`
	Exact          int64  `json:"exact"`      // in the archive under the same URI
	Equivalent     int64  `json:"equivalent"` // under an equivalent URI
	Other          int64  `json:"other"`      // under another URI
	DiscardedBytes int64  `json:"discarded_bytes"`
}

// Bounds of one reading of the log.
const (
	reportRows = 100
	pastVisits = 1_000
	pastBytes  = 256 << 20
)

// pastRoutes returns the requests about queues and past visits.
func pastRoutes() []route {
	return []route{
		{
			method: "GET", path: api + "/hosts/{host}/queue", doc: "Returns the next URIs of a host.", answer: Queue{},
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
			method: "GET", path: api + "/history", doc: "Returns the visits to a URI, from the last 256 MiB of the crawl log.", answer: Past{},
			params: []param{{"uri", "string", uriDoc}},
			serve:  func(w *Window, r *http.Request) (any, error) { return w.past(r.Context(), r.FormValue("uri")) },
		},
		{
			method: "GET", path: api + "/reports/dedup", doc: "Summarizes deduplication, from the current crawl log.", answer: DedupReport{},
			serve: func(w *Window, r *http.Request) (any, error) { return w.dedupReport(r.Context()) },
		},
	}
}

// dedupReport summarizes the log. Some hundred megabytes take a second.
func (w *Window) dedupReport(ctx context.Context) (DedupReport, error) {
	w.reading.Lock()
	defer w.reading.Unlock()
	read, err := stats.Read(ctx, []string{w.o.Config().Config.Storage.Log}, stats.Options{By: []stats.Dimension{stats.ByHost, stats.ByMIME}})
	if err != nil {
		return DedupReport{}, err
	}
	sum := read.Summaries[0]
	return DedupReport{
		From: sum.First, All: dedupRow("", sum.All), Hosts: dedupRows(sum.Rows(stats.ByHost)), Types: dedupRows(sum.Rows(stats.ByMIME)),
	}, nil
}

func dedupRows(rows []stats.Row) []DedupRow {
	out := []DedupRow{}
	for _, r := range rows {
		if len(out) < reportRows && r.Dedup.Handled > 0 {
			out = append(out, dedupRow(r.Key, r.Tally))
		}
	}
	return out
}

func dedupRow(key string, t stats.Tally) DedupRow {
	d := t.Dedup
	return DedupRow{
		Key: key, Handled: d.Handled, Bytes: d.Bytes, New: d.New, Duplicates: d.Duplicates, Exact: d.Exact, Equivalent: d.Equivalent, Other: d.Other,
		DiscardedBytes: d.DiscardedBytes,
	}
}

func (w *Window) queue(host uri.Host, n int) (Queue, error) {
	list, err := w.o.Frontier.Upcoming(host, n)
	q := Queue{URIs: make([]Waiting, len(list))}
	for i, r := range list {
		q.URIs[i] = Waiting{
			URI: r.URI.String(), Due: r.Due, Wait: Seconds(r.Wait), Visits: r.Visits, Versions: r.Versions, LastStatus: r.LastStatus,
		}
	}
	return q, err
}

// past reads the log for the visits to a URI. Only one request reads the log at a time.
func (w *Window) past(ctx context.Context, text string) (Past, error) {
	u, err := uri.Parse(text)
	if err != nil {
		return Past{}, fault("uri %q: %v", text, err)
	}
	w.reading.Lock()
	defer w.reading.Unlock()
	visits, complete, err := stats.Find(ctx, w.o.Config().Config.Storage.Log, u.String(), pastVisits, pastBytes)
	if err != nil {
		return Past{}, fmt.Errorf("search the log for %s: %w", u, err)
	}
	p := Past{Visits: make([]PastVisit, len(visits)), Complete: complete}
	for i, v := range visits {
		p.Visits[i] = PastVisit{
			At: v.At, Status: v.Status, State: v.State, Size: v.Size, Wait: Seconds(v.Wait), Overdue: Seconds(v.Overdue), Notes: strings.Join(v.Notes, ", "),
		}
	}
	return p, nil
}
