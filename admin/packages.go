package admin

import (
	"net/http"

	"github.com/arcrawl/arcrawl/admin/access"
	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/curator/pack"
	"github.com/arcrawl/arcrawl/uri"
)

// packRoutes returns the requests about WACZ packages.
func packRoutes() []Route {
	return []Route{
		{
			Method: "GET", Path: api.Base + "/packages", Answer: api.Packages{},
			Doc:   "Returns the WACZ packages that were made, newest first. GET /packages/NAME returns the file of one.",
			Serve: func(w *Window, _ *http.Request) (any, error) { return w.packs.List(), nil },
		},
		{
			Method: "POST", Path: api.Base + "/packages", Needs: access.Curate, Body: api.PackOrder{}, Answer: api.Package{},
			Doc: "Makes a WACZ package in the background: of one version with what it shows, or of a collection and a period.",
			Serve: func(w *Window, r *http.Request) (any, error) {
				o, err := read[api.PackOrder](r)
				if err != nil {
					return nil, err
				}
				p, err := w.packs.Order(o)
				if err != nil {
					return nil, badRequest{err}
				}
				return p, nil
			},
		},
	}
}

// openPacks returns the store of packages.
func (w *Window) openPacks() *pack.Store {
	return pack.Open(pack.Options{
		Dir: w.o.Dir, Archive: w.o.Versions.Archive, Config: func() *config.Config { return w.o.Config().Config },
		Hosts: func() (all []uri.Host) {
			for _, v := range w.o.Frontier.Hosts(w.o.Now()) {
				all = append(all, v.Host)
			}
			return all
		},
		Free: w.o.FreeSpace, Now: w.o.Now, Software: "arcrawl/" + w.o.Version, Node: w.o.Machine,
	})
}

// packageFile serves the file of a package.
func (w *Window) packageFile(to http.ResponseWriter, r *http.Request) {
	if name := r.PathValue("name"); !w.packs.ServeFile(to, r, name) {
		w.refuse(to, r, unknown("the package "+name))
	}
}
