package admin

import (
	"errors"
	"net/http"

	"github.com/arcrawl/arcrawl/admin/access"
	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/curator/once"
)

// onceRoutes returns the requests that capture URIs at once.
func onceRoutes() []Route {
	return []Route{
		{
			Method: "POST", Path: api.Base + "/capture", Needs: access.Curate,
			Body: api.CaptureOrder{}, Answer: api.CaptureStarted{},
			Doc: "Orders visits of URIs now. New URIs are added if their host is one of the configuration.",
			Serve: served(func(w *Window, o api.CaptureOrder) (api.CaptureStarted, error) {
				started, err := w.capturing().Start(o)
				w.captures.Demand(started.URIs)
				w.o.Crawler.Wake()
				return started, tooMany(err)
			}),
		},
		{
			Method: "POST", Path: api.Base + "/capture/progress", Asks: true, Heavy: true,
			Body: api.CaptureQuestion{}, Answer: api.CaptureProgress{},
			Doc: "Returns how far captures are. For a single URI it also returns the embeds of the archived page.",
			Serve: func(w *Window, r *http.Request) (any, error) {
				q, err := read[api.CaptureQuestion](r)
				if err != nil {
					return nil, err
				}
				rows, err := w.capturing().Progress(r.Context(), q)
				return api.CaptureProgress{Condition: w.condition(), URIs: rows}, tooMany(err)
			},
		},
	}
}

func (w *Window) capturing() once.Work {
	return once.Work{Frontier: w.o.Frontier, Archive: w.o.Versions.Archive, Add: w.addSeeds, Now: w.o.Now()}
}

// tooMany makes the request responsible for an error about its length.
func tooMany(err error) error {
	if errors.Is(err, once.ErrTooMany) {
		return badRequest{err}
	}
	return err
}
