package admin

import (
	"context"
	"net/http"
)

// Whole asks all windows of a crawl, for a page of one of them that shows the whole crawl. path is the one of a GET
// request of the API, which gets the caller and the parameters of the request for the page. The joined answer is
// decoded into answer.
type Whole func(page *http.Request, path string, answer any) error

type wholeKey struct{}

// WithWhole returns a context for requests to a page of a window, which then shows the whole crawl.
func WithWhole(ctx context.Context, ask Whole) context.Context {
	return context.WithValue(ctx, wholeKey{}, ask)
}

// WholeOf returns what asks all windows of a crawl; nil if this window is the only one, or is meant alone.
func WholeOf(ctx context.Context) Whole {
	ask, _ := ctx.Value(wholeKey{}).(Whole)
	return ask
}
