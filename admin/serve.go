package admin

import (
	_ "embed"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/arcrawl/arcrawl/admin/access"
	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/curator/feed"
	"github.com/arcrawl/arcrawl/curator/replay"
	"github.com/arcrawl/arcrawl/frontier"
)

// OpenAPI is the OpenAPI document of the API.
//
//go:embed openapi.json
var OpenAPI string

// Handler returns the handler of the API, the metrics and the dashboard. The options decide who is served.
func (w *Window) Handler(o access.Options) http.Handler {
	mux := http.NewServeMux()
	all := routes()
	for _, added := range w.o.Extensions {
		all = append(all, added.Routes...)
		for pattern, handler := range added.Handlers {
			mux.HandleFunc(pattern, handler)
		}
	}
	for _, r := range all {
		mux.HandleFunc(r.Method+" "+r.Path, func(to http.ResponseWriter, from *http.Request) {
			answer, err := w.serveRoute(r, from)
			if err != nil {
				w.refuse(to, from, err)
				return
			}
			w.answer(to, http.StatusOK, answer)
		})
	}
	mux.Handle("GET /metrics", w.metricsHandler())
	mux.HandleFunc("GET "+api.Base+"/picture", w.picture)
	mux.HandleFunc("GET "+api.Base+"/packages/{name}", w.packageFile)
	mux.HandleFunc("GET /feed.atom", feed.Handler(feed.Source{
		New: func(r *http.Request) (any, error) {
			if ask := WholeOf(r.Context()); ask != nil {
				var all api.New
				err := ask(r, "/new", &all)
				return all, err
			}
			return w.serveRoute(newRoutes()[0], r)
		},
		Base: func() string { return w.o.Config().Config.Admin.URL }, Now: w.o.Now, Refuse: w.refuse,
	}))
	mux.HandleFunc("GET /healthz", w.health)
	mux.HandleFunc("GET /readyz", w.ready)
	mux.HandleFunc("GET /openapi.json", func(to http.ResponseWriter, _ *http.Request) {
		to.Header().Set("Content-Type", "application/json")
		_, _ = to.Write([]byte(OpenAPI))
	})
	for _, page := range []string{"/{$}", "/{file}", "/uplot/{file}"} {
		mux.Handle("GET "+page, dashboard())
	}
	mux.HandleFunc("/", func(to http.ResponseWriter, from *http.Request) {
		text := from.Method + " " + from.URL.Path + " does not exist; see /openapi.json"
		w.answer(to, http.StatusNotFound, api.Problem{Error: text})
	})
	o.Frames, o.Report = w.o.Versions.Frames, w.recordSignIn
	return access.Guard(replay.WithLinks(mux), o)
}

// answer writes a value as JSON. It ignores errors, which mean that the client has gone.
func (w *Window) answer(to http.ResponseWriter, status int, v any) {
	to.Header().Set("Content-Type", "application/json")
	to.WriteHeader(status)
	e := json.NewEncoder(to)
	e.SetEscapeHTML(false)
	_ = e.Encode(v)
}

// refuse answers a failed request with the reason. It logs errors of our own.
func (w *Window) refuse(to http.ResponseWriter, from *http.Request, err error) {
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
	case errors.Is(err, errRole):
		status = http.StatusForbidden
	default:
		w.o.Log.Error().Err(err).Str("request", from.Method+" "+from.URL.Path).Msg("could not answer a request")
	}
	w.answer(to, status, api.Problem{Error: err.Error()})
}
