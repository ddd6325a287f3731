package admin

import (
	"net/http"

	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/curator/collection"
	"github.com/arcrawl/arcrawl/uri"
)

// collectionRoutes returns the requests about sites and URIs of the collection.
func collectionRoutes() []Route {
	return []Route{
		{
			Method: "GET", Path: api.Base + "/search", Heavy: true, Answer: api.Found{},
			Doc: "Returns hosts and URIs with a text in them, and captures with it in their titles. It searches for a bounded time; repeat with cursor until next is empty.",
			Params: filtered(
				Param{"q", "string", "part of a host, URI or title; case does not matter"},
				Param{"host", "string", "only this host, or *.example.org for a domain"},
				Param{"cursor", "string", "next of the last answer"},
				Param{"limit", "integer", "maximum number of URIs, 1 to 500 (default 50)"},
			),
			Serve: func(w *Window, r *http.Request) (any, error) {
				limit, err := number(r, "limit", 50, 1, 500)
				q := collection.Query{
					Host: r.FormValue("host"), Cursor: r.FormValue("cursor"), Limit: limit, Chosen: w.chooses(filterOf(r)),
				}
				if err == nil {
					q.Text, err = partOf(r)
				}
				if err == nil && q.Text == "" {
					err = fault("q is empty; write a part of a host or URI")
				}
				if err != nil {
					return nil, err
				}
				return collection.Search(w.o.Frontier, w.captures, q, w.o.Now)
			},
		},
		{
			Method: "GET", Path: api.Base + "/hosts/{host}/site", Heavy: true, Answer: api.Site{},
			Doc:    "Returns what curators wrote about a host, its seeds, feeds and sitemaps with their next visits, and the settings that files set.",
			Params: []Param{{"host", "string", hostDoc}},
			Serve: func(w *Window, r *http.Request) (any, error) {
				return collection.SiteOf(w.o.Config().Config, w.o.Frontier, w.captures, uri.Host(r.PathValue("host")), w.o.Now())
			},
		},
	}
}
