package curator

import (
	"fmt"
	"net/http"

	"github.com/arcrawl/arcrawl/admin"
	"github.com/arcrawl/arcrawl/admin/access"
	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/uri"
)

// packRoutes returns the requests about WACZ packages.
func (c *curation) packRoutes() []admin.Route {
	return []admin.Route{
		{
			Method: "GET", Path: api.Base + "/packages", Answer: api.Packages{},
			Doc: "Returns the WACZ packages that were made, newest first. GET /packages/NAME returns the file of one; while a series is under an embargo, to curators only.",
			Serve: func(w *admin.Window, r *http.Request) (any, error) {
				list := c.packs.List()
				if w.Embargo(r) != nil {
					for i := range list.Packages {
						list.Packages[i].Link = ""
					}
				}
				return list, nil
			},
		},
		{
			Method: "POST", Path: api.Base + "/packages", Needs: access.Curate, Body: PackOrder{}, Answer: api.Package{},
			Doc: "Makes a WACZ package in the background: of one version with what it shows, or of a collection and a period.",
			Serve: func(_ *admin.Window, r *http.Request) (any, error) {
				o, err := admin.Read[PackOrder](r)
				if err != nil {
					return nil, err
				}
				p, err := c.packs.Order(o)
				if err != nil {
					return nil, admin.BadRequest(err)
				}
				return p, nil
			},
		},
	}
}

// openPacks returns the store of packages.
func (c *curation) openPacks() *packStore {
	return openPackStore(packOptions{
		Dir: c.o.Dir, Archive: c.catalog.Archive, Config: func() *config.Config { return c.o.Config().Config },
		Hosts: func() (all []uri.Host) {
			for _, v := range c.o.Frontier.Hosts(c.o.Now()) {
				all = append(all, v.Host)
			}
			return all
		},
		Free: c.o.FreeSpace, Now: c.o.Now, Software: "arcrawl/" + c.o.Version, Node: c.o.Node,
	})
}

// packageFile serves the file of a package.
func (c *curation) packageFile(to http.ResponseWriter, r *http.Request) {
	if c.window.Embargo(r) != nil {
		c.window.Refuse(to, r, fmt.Errorf("%w: a series is under an embargo, so packages are for curators", admin.ErrRole))
		return
	}
	if name := r.PathValue("name"); !c.packs.ServeFile(to, r, name) {
		c.window.Refuse(to, r, admin.Unknown("the package "+name))
	}
}
