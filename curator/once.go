package curator

import (
	"errors"
	"net/http"

	"github.com/arcrawl/arcrawl/admin"
	"github.com/arcrawl/arcrawl/admin/access"
	"github.com/arcrawl/arcrawl/admin/api"
)

// onceRoutes returns the requests that capture URIs at once.
func (c *curation) onceRoutes() []admin.Route {
	return []admin.Route{
		{
			Method: "POST", Path: api.Base + "/capture", Needs: access.Curate,
			Body: CaptureOrder{}, Answer: api.CaptureStarted{},
			Doc: "Orders visits of URIs now. New URIs are added if their host is one of the configuration.",
			Serve: admin.Served(func(_ *admin.Window, o CaptureOrder) (api.CaptureStarted, error) {
				started, err := c.startCaptures(o)
				c.captures.Demand(started.URIs)
				c.o.Crawler.Wake()
				return started, tooMany(err)
			}),
		},
		{
			Method: "POST", Path: api.Base + "/capture/progress", Asks: true, Heavy: true,
			Body: api.CaptureQuestion{}, Answer: api.CaptureProgress{},
			Doc: "Returns how far captures are. For a single URI it also returns the embeds of the archived page.",
			Serve: func(_ *admin.Window, r *http.Request) (any, error) {
				q, err := admin.Read[api.CaptureQuestion](r)
				if err != nil {
					return nil, err
				}
				rows, err := c.captureProgress(r.Context(), q)
				return api.CaptureProgress{Condition: c.window.Condition(), URIs: rows}, tooMany(err)
			},
		},
	}
}

// tooMany makes the request responsible for an error about its length.
func tooMany(err error) error {
	if errors.Is(err, errTooMany) {
		return admin.BadRequest(err)
	}
	return err
}
