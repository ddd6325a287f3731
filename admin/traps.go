package admin

import (
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/admin/access"
	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/aspects/spaces"
	"github.com/arcrawl/arcrawl/uri"
)

// maxCountAge is the maximum age of the number of URIs that wait because a path may be endless.
const maxCountAge = 10 * time.Minute

// trapRoutes returns the requests about traps.
func trapRoutes() []Route {
	return []Route{
		{
			Method: "GET", Path: api.Base + "/traps",
			Doc: "Returns the traps: parts of hosts with endless URIs, which are kept out; and the budgets of paths that may be endless.", Answer: api.Traps{},
			Params: []Param{{"host", "string", "only this host"}},
			Serve: func(w *Window, r *http.Request) (any, error) {
				host := uri.Host(strings.ToLower(r.FormValue("host")))
				return TrapList(w.o.Traps, host, func() (EndlessWaiting, error) {
					return w.survey.endlessWaiting(host, maxCountAge)
				})
			},
		},
		{
			Method: "POST", Path: api.Base + "/traps/release", Needs: access.Curate,
			Doc:  "Releases a trap permanently: its URIs in the store become due, and its pattern is never recognized as a trap again.",
			Body: api.TrapRelease{}, Answer: api.TrapReleased{}, Serve: Served((*Window).releaseTrap),
		},
	}
}

// releaseTrap ends a trap.
func (w *Window) releaseTrap(o api.TrapRelease) (api.TrapReleased, error) {
	if w.o.Traps == nil {
		return api.TrapReleased{}, Unknown("a trap of " + o.Host)
	}
	host := uri.Host(strings.ToLower(o.Host))
	due, err := spaces.Release(w.o.Frontier, w.o.Traps, host, o.Pattern, w.o.Now())
	if errors.Is(err, spaces.ErrUnknown) {
		return api.TrapReleased{}, Unknown("a trap of " + o.Host + " with the pattern " + o.Pattern)
	}
	w.o.Crawler.Wake()
	return api.TrapReleased{Due: due}, err
}
