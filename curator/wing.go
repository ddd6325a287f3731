// Package curator is the wing for those who care for the collection: it shows in the dashboard what is new and what is
// archived, compares versions, captures pages at once, makes packages, and changes the files of the configuration.
//
// # Versions
//
// A catalog answers questions about archived versions from the archive that is being written. A player shows them as
// pages, on an address of its own.
//
// # Changes
//
// A comparer compares each archived version of a page with the version before it, in the background, and says what a
// reader sees that changed. The changes are in files, one for each day. What is too much at once is counted and left
// out; the files can be made again from the archive.
//
// # Front pages
//
// The pictures of rendered pages are shown by day. Small ones are made once, one at a time, and kept in a folder whose
// files and bytes are bounded. They can be made again from the archive.
//
// # Packages
//
// Packages in WACZ are for people with a browser: one version with what it shows, or the captures of a collection and a
// period. They are made in the background, one at a time, and the last ones are kept. The captures and bytes of a
// package are bounded, the packages that wait, and those that are kept. What is too large is refused with the command
// that makes it.
//
// # Files of the configuration
//
// An editor changes one file in a browser, or settings in several host files. A file that somebody else has changed in
// between is never written: the answer has both texts. A list of seeds, CSV or plain text, is compared with the
// configuration: the plan has what is new, changed, known and faulty, and the new texts of the host files. Their old
// texts are stored before, so that the change can be undone.
package curator

import (
	_ "embed"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/arcrawl/arcrawl/admin"
	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/crawler"
	"github.com/arcrawl/arcrawl/daemon"
)

// openAPI describes the requests of the wing.
//
//go:embed openapi.json
var openAPI string

// Wing returns the pages and requests for curators, and what they work with. It makes no pictures of archived pages.
func Wing() daemon.Wing { return WithBrowser(nil)() }

// WithBrowser returns a function that returns the wing with a browser that makes pictures of archived pages.
func WithBrowser(open OpenBrowser) func() daemon.Wing {
	return func() daemon.Wing { return (&viewer{browser: open}).wing() }
}

// curation holds what curators work with.
type curation struct {
	window   *admin.Window
	o        admin.Options // of the window
	catalog  catalog
	archive  func(series, uri, about string, content []byte) error // writes a note in JSON about a record; nil = nowhere
	captures *captureStore
	changes  *comparer
	packs    *packStore
	shots    *shots
	browser  OpenBrowser // nil: no pictures are made later
	painter  *painter
}

// extension returns what the wing adds to the API of its daemon.
func (c *curation) extension() admin.Extension {
	return admin.Extension{
		Routes: c.routes(), OpenAPI: openAPI,
		Handlers: map[string]http.HandlerFunc{
			"GET " + api.Base + "/picture":         c.picture,
			"GET " + api.Base + "/film":            c.film,
			"GET " + api.Base + "/packages/{name}": c.packageFile,
			"GET /feed.atom":                       c.feed,
		},
		Pages: pages(),
		Wrap:  withLinks, Frames: func(r *http.Request) string { return c.catalog.Frames(r) },
		Open: c.open, Close: c.close,
		Observe:     func(r crawler.Report) { c.captures.Add(r); c.changes.Observe(r) },
		Ordered:     func(uris []string) { c.captures.Demand(uris) },
		Changes:     c.subscribed,
		EachCapture: func(since time.Time, use func(api.Capture)) (from time.Time) { return c.captures.Each(since, use) },
	}
}

// open opens the wing for the window of its daemon.
func (c *curation) open(w *admin.Window) (err error) {
	c.window, c.o = w, w.Options()
	c.catalog.Config = func() *config.Config { return c.o.Config().Config }
	c.packs, c.changes, c.shots = c.openPacks(), c.openComparer(), newShots(c.o.Dir, c.o.Now)
	c.painter = c.openPainter()
	if c.captures, err = openCaptures(c.o.Dir); err != nil {
		c.o.Log.Warn().Err(err).Msg("could not open the list of captures: the page What is new forgets them at a restart")
	}
	return nil
}

// close closes the wing, and ends the making of packages.
func (c *curation) close(time.Time) error {
	c.packs.Close()
	c.painter.Close()
	return errors.Join(c.changes.Close(), c.captures.Close())
}

// routes returns the requests that the wing adds to the API.
func (c *curation) routes() []admin.Route {
	return slices.Concat(
		c.versionRoutes(),
		c.packRoutes(),
		c.editRoutes(),
		c.onceRoutes(),
		c.seedRoutes(),
		c.newRoutes(),
		c.collectionRoutes(),
		c.frontRoutes(),
		c.shotRoutes(),
	)
}
