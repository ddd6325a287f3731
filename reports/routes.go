package reports

import (
	"net/http"

	"github.com/arcrawl/arcrawl/admin"
	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/hosts"
	"github.com/arcrawl/arcrawl/uri"
)

// routes returns the requests about past visits and days.
func (r *reporter) routes() []admin.Route {
	return append(append(storeRoutes(), logRoute()), r.logRoutes()...)
}

// storeRoutes returns the requests about what the store keeps of each host.
func storeRoutes() []admin.Route {
	return []admin.Route{
		{
			Method: "GET", Path: api.Base + "/reports/days",
			Doc: "Returns requests, captured versions and estimated versions by host and day, and what hosts would need to meet their capture targets.",
			Params: admin.Filtered(
				admin.Param{Name: "host", Kind: "string", Doc: "only this host"},
				admin.Param{Name: "days", Kind: "integer", Doc: "number of UTC days up to today, 1 to 92 (default 7)"},
				admin.Param{
					Name: "brief", Kind: "boolean",
					Doc: "true: answer at once: without rows, and with the pace of the last survey of all hosts",
				},
			),
			Answer: api.DayReport{},
			Serve: func(w *admin.Window, r *http.Request) (any, error) {
				n, err := admin.Number(r, "days", 7, 1, hosts.MaxDays)
				if err != nil {
					return nil, err
				}
				return days(w, uri.Host(r.FormValue("host")), admin.FilterOf(r), n, r.FormValue("brief") == "true")
			},
		},
		{
			Method: "GET", Path: api.Base + "/reports/headers",
			Doc:    "Returns how reliable ETag, Last-Modified, 304 and the dates of feeds and sitemaps are on each host.",
			Params: admin.Filtered(), Answer: api.HeaderReport{},
			Serve: func(w *admin.Window, r *http.Request) (any, error) {
				o := w.Options()
				return headerReport(o.Trust, o.Config().Config, w.Ours(w.Chooses(admin.FilterOf(r))), o.Now())
			},
		},
	}
}

// logRoutes returns the requests that read the crawl log.
func (r *reporter) logRoutes() []admin.Route {
	return []admin.Route{
		{
			Method: "GET", Path: api.Base + "/history",
			Doc:    "Returns the visits to a URI, from the last 256 MiB of the crawl log at most. Who only reads gets none under an embargo.",
			Answer: Past{},
			Params: []admin.Param{{Name: "uri", Kind: "string", Doc: admin.URIDoc}, admin.SecondsParam},
			Serve: func(w *admin.Window, q *http.Request) (any, error) {
				within, err := admin.ReadSeconds(q)
				if err != nil {
					return nil, err
				}
				return r.past(q.Context(), q.FormValue("uri"), within, w.Embargo(q))
			},
		},
		{
			Method: "GET", Path: api.Base + "/reports/dedup", Doc: "Summarizes deduplication, from the end of the current crawl log.",
			Answer: api.DedupReport{},
			Params: admin.Filtered(
				admin.Param{Name: "all", Kind: "boolean", Doc: "true: from the whole log; 100 MB take a second"},
				admin.Param{Name: "rows", Kind: "integer", Doc: "maximum number of hosts, and of types, 1 to 10000 (default 100)"},
			),
			Serve: func(_ *admin.Window, q *http.Request) (any, error) {
				rows, err := admin.Number(q, "rows", 100, 1, 10_000)
				if err != nil {
					return nil, err
				}
				return r.dedup(q.Context(), admin.FilterOf(q), q.FormValue("all") == "true", rows)
			},
		},
	}
}
