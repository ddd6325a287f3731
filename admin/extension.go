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
	// Handlers answer requests outside the API. The keys are patterns of [http.ServeMux].
	Handlers map[string]http.HandlerFunc
	// Open is called once, before all other functions and before any request.
	Open func(w *Window) error
	// Observe is called with each settled visit, by many goroutines. It does not block.
	Observe func(r crawler.Report)
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
