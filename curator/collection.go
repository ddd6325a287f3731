package curator

import (
	"net/http"

	"github.com/arcrawl/arcrawl/admin"
	"github.com/arcrawl/arcrawl/admin/access"
	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/uri"
)

// collectionRoutes returns the requests about sites and URIs of the collection.
func (c *curation) collectionRoutes() []admin.Route {
	return []admin.Route{
		{
			Method: "GET", Path: api.Base + "/search", Heavy: true, Answer: Found{},
			Doc: "Returns hosts and URIs with a text in them, and captures with it in their titles. It searches for a bounded time; repeat with cursor until next is empty.",
			Params: admin.Filtered(
				admin.Param{Name: "q", Kind: "string", Doc: "part of a host, URI or title; case does not matter"},
				admin.Param{Name: "host", Kind: "string", Doc: "only this host, or *.example.org for a domain"},
				admin.Param{Name: "cursor", Kind: "string", Doc: "next of the last answer"},
				admin.Param{Name: "limit", Kind: "integer", Doc: "maximum number of URIs, 1 to 500 (default 50)"},
			),
			Serve: func(_ *admin.Window, r *http.Request) (any, error) {
				limit, err := admin.Number(r, "limit", 50, 1, 500)
				q := searchQuery{
					Host: r.FormValue("host"), Cursor: r.FormValue("cursor"), Limit: limit,
					Chosen: c.window.Chooses(admin.FilterOf(r)), Embargo: c.window.Embargo(r),
				}
				if err == nil {
					q.Text, err = admin.PartOf(r)
				}
				if err == nil && q.Text == "" {
					err = admin.Fault("q is empty; write a part of a host or URI")
				}
				if err != nil {
					return nil, err
				}
				return search(c.o.Frontier, c.captures, q, c.o.Now)
			},
		},
		{
			Method: "GET", Path: api.Base + "/hosts/{host}/site", Heavy: true, Answer: SiteDetails{},
			Doc:    "Returns what curators wrote about a host, its seeds, feeds and sitemaps with their next visits, the settings that files set, and a picture of its front page if one was rendered.",
			Params: []admin.Param{{Name: "host", Kind: "string", Doc: admin.HostDoc}},
			Serve: func(_ *admin.Window, r *http.Request) (any, error) {
				site, err := siteOf(c.o.Config().Config, c.o.Frontier, c.captures, uri.Host(r.PathValue("host")), c.o.Now)
				embargo := c.window.Embargo(r)
				for i, s := range site.Seeds {
					site.Seeds[i].Title = admin.TitleUnder(embargo, s.Title, s.URI, "text/html")
				}
				if err == nil && len(site.Seeds) > 0 {
					site.Picture, err = c.pictureOf(access.CallerOf(r.Context()).Role, site.Seeds[0].URI)
				}
				return site, err
			},
		},
	}
}
