package admin

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/arcrawl/arcrawl/admin/access"
	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/frontier"
)

// Handler returns the handler of the API, the metrics and the dashboard. The options decide who is served.
func (w *Window) Handler(o access.Options) http.Handler {
	mux := http.NewServeMux()
	all := Routes()
	for _, added := range w.o.Extensions {
		all = append(all, added.Routes...)
		for pattern, handler := range added.Handlers {
			mux.HandleFunc(pattern, handler)
		}
	}
	for _, r := range all {
		mux.HandleFunc(r.Method+" "+r.Path, func(to http.ResponseWriter, from *http.Request) {
			answer, err := w.ServeRoute(r, from)
			if err != nil {
				w.Refuse(to, from, err)
				return
			}
			w.answer(to, http.StatusOK, answer)
		})
	}
	mux.Handle("GET /metrics", w.metricsHandler())
	mux.HandleFunc("GET /healthz", w.health)
	mux.HandleFunc("GET /readyz", w.ready)
	mux.HandleFunc("GET /openapi.json", w.serveOpenAPI)
	pages := Dashboard(w.o.Extensions...)
	for _, page := range []string{"/{$}", "/{file}", "/uplot/{file}"} {
		mux.Handle("GET "+page, pages)
	}
	mux.HandleFunc("/", func(to http.ResponseWriter, from *http.Request) {
		text := from.Method + " " + from.URL.Path + " does not exist; see /openapi.json"
		w.answer(to, http.StatusNotFound, api.Problem{Error: text})
	})
	o.Frames, o.Report = w.frames, w.recordSignIn
	o.Crawl = func() string { return w.o.Config().Config.Instance() }
	h := http.Handler(mux)
	for _, added := range w.o.Extensions {
		if added.Wrap != nil {
			h = added.Wrap(h)
		}
	}
	return access.Guard(h, o)
}

// answer writes a value as JSON. It ignores errors, which mean that the client has gone.
func (w *Window) answer(to http.ResponseWriter, status int, v any) {
	to.Header().Set("Content-Type", "application/json")
	to.WriteHeader(status)
	e := json.NewEncoder(to)
	e.SetEscapeHTML(false)
	_ = e.Encode(v)
}

// Refuse answers a failed request with the reason. It logs errors of our own.
func (w *Window) Refuse(to http.ResponseWriter, from *http.Request, err error) {
	status := http.StatusInternalServerError
	var bad badRequest
	switch {
	case errors.As(err, &bad), errors.Is(err, frontier.ErrInvalid):
		status = http.StatusBadRequest
	case errors.Is(err, errNotHere):
		status = http.StatusNotFound
	case errors.Is(err, errBusy):
		status = http.StatusServiceUnavailable
		to.Header().Set("Retry-After", "5")
	case errors.Is(err, ErrRole):
		status = http.StatusForbidden
	default:
		w.o.Log.Error().Err(err).Str("request", from.Method+" "+from.URL.Path).Msg("could not answer a request")
	}
	w.answer(to, status, api.Problem{Error: err.Error()})
}

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
