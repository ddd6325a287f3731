package admin

import (
	"errors"
	"net/http"
	"slices"
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

// openExtensions opens what the wings add.
func (w *Window) openExtensions() error {
	for _, added := range w.o.Extensions {
		if added.Open == nil {
			continue
		}
		if err := added.Open(w); err != nil {
			return err
		}
	}
	return nil
}

// observeExtensions passes a settled visit on.
func (w *Window) observeExtensions(r crawler.Report) {
	for _, added := range w.o.Extensions {
		if added.Observe != nil {
			added.Observe(r)
		}
	}
}

// notifyOrdered passes on which URIs somebody has ordered to be visited now.
func (w *Window) notifyOrdered(uris []string) {
	for _, added := range w.o.Extensions {
		if added.Ordered != nil {
			added.Ordered(uris)
		}
	}
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

// wrap lets the wings serve requests before the handler.
func (w *Window) wrap(h http.Handler) http.Handler {
	for _, added := range w.o.Extensions {
		if added.Wrap != nil {
			h = added.Wrap(h)
		}
	}
	return h
}

// tickExtensions lets the wings do what is done from time to time.
func (w *Window) tickExtensions(now time.Time) {
	for _, added := range w.o.Extensions {
		if added.Tick != nil {
			added.Tick(now)
		}
	}
}

// closeExtensions closes what the wings added, the last opened first.
func (w *Window) closeExtensions(now time.Time) (err error) {
	for _, added := range slices.Backward(w.o.Extensions) {
		if added.Close != nil {
			err = errors.Join(err, added.Close(now))
		}
	}
	return err
}
