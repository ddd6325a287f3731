package admin

import (
	"net/http"
	"time"

	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/crawler"
)

// Extension holds what a wing adds to the API and the dashboard of a running crawl. A function that is nil adds
// nothing. The window calls its functions like its own methods of the same name.
type Extension struct {
	// Routes are further requests of the API.
	Routes []Route
	// OpenAPI describes the routes: a document whose paths and schemas are added to the one of the core; "" for none.
	OpenAPI string
	// Handlers answer requests outside the API. The keys are patterns of [http.ServeMux].
	Handlers map[string]http.HandlerFunc
	// Pages are added to the dashboard.
	Pages Pages
	// Wrap returns a handler that serves some requests before [http.ServeMux] cleans their paths, and passes the others
	// on.
	Wrap func(next http.Handler) http.Handler
	// Frames returns the origin whose pages a page of the dashboard may show in frames, or "".
	Frames func(r *http.Request) string
	// Open is called once, before all other functions and before any request.
	Open func(w *Window) error
	// Observe is called with each settled visit, by many goroutines. It does not block.
	Observe func(r crawler.Report)
	// Ordered is called with the URIs that somebody has ordered to be visited now.
	Ordered func(uris []string)
	// EachCapture calls use with the captures after a given time, newest first. from is the time before which captures are
	// not known any more; zero if all are.
	EachCapture func(since time.Time, use func(api.Capture)) (from time.Time)
	// Status adds to the state of the crawl.
	Status func(s *api.Status)
	// Tick is called a few times a minute, by one goroutine.
	Tick func(now time.Time)
	// Close is called once, when nothing else is called any more.
	Close func(now time.Time) error
}

// EachCapture calls use with the captures after a given time, newest first, if a wing knows them. from is the time
// before which captures are not known any more; zero if all are.
func (w *Window) EachCapture(since time.Time, use func(api.Capture)) (from time.Time) {
	for _, added := range w.o.Extensions {
		if added.EachCapture != nil {
			return added.EachCapture(since, use)
		}
	}
	return from
}

// frames returns the origin whose pages a page of the dashboard may show in frames, or "".
func (w *Window) frames(r *http.Request) string {
	for _, added := range w.o.Extensions {
		if added.Frames != nil {
			return added.Frames(r)
		}
	}
	return ""
}
