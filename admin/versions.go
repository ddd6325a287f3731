package admin

import (
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/uri"
)

const atDoc = "timestamp of a version, 14 digits; the nearest one is taken; empty: the last one"

// versionRoutes returns the requests about archived versions.
func versionRoutes() []route {
	return []route{
		{
			method: "GET", path: api.Base + "/versions", doc: "Returns the archived versions of a URI, newest first.",
			answer: api.Versions{}, params: []param{{"uri", "string", uriDoc}},
			serve: func(w *Window, r *http.Request) (any, error) {
				u, err := readURI(r)
				if err != nil {
					return nil, err
				}
				return w.o.Versions.List(u, w.o.Now())
			},
		},
		{
			method: "GET", path: api.Base + "/view", doc: "Returns where a browser can see an archived version of a URI.",
			answer: api.View{}, params: []param{{"uri", "string", uriDoc}, {"at", "string", atDoc}},
			serve: func(w *Window, r *http.Request) (any, error) {
				u, err := readURI(r)
				if err != nil {
					return nil, err
				}
				v, err := w.o.Versions.View(r, u, r.FormValue("at"), w.o.Now())
				if errors.Is(err, warc.ErrNotFound) {
					return nil, unknown("no version of " + u.String())
				}
				return v, err
			},
		},
	}
}

// readURI returns the URI of a request.
func readURI(r *http.Request) (uri.URI, error) {
	text := r.FormValue("uri")
	u, err := uri.Parse(text)
	if err != nil {
		return uri.URI{}, fault("uri %q: %v", text, err)
	}
	return u, nil
}

// withViews leads /view/TIMESTAMP/URI to the page of the version. The address has a whole URI, so it must not be
// cleaned as [http.ServeMux] does.
func withViews(next http.Handler) http.Handler {
	return http.HandlerFunc(func(to http.ResponseWriter, from *http.Request) {
		rest, ok := strings.CutPrefix(from.URL.RequestURI(), "/view/")
		at, address, _ := strings.Cut(rest, "/")
		if !ok || from.Method != http.MethodGet {
			next.ServeHTTP(to, from)
			return
		}
		http.Redirect(to, from, "/#/view?u="+url.QueryEscape(address)+"&at="+url.QueryEscape(at), http.StatusSeeOther)
	})
}
