package admin

import (
	"cmp"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/archive/compare"
	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/curator/record"
	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/uri"
)

const atDoc = "timestamp of a version, 14 digits; the nearest one is taken; empty: the last one"

// versionRoutes returns the requests about archived versions.
func versionRoutes() []Route {
	return []Route{
		{
			Method: "GET", Path: api.Base + "/versions", Doc: "Returns the archived versions of a URI, newest first.",
			Answer: api.Versions{}, Params: []Param{{"uri", "string", uriDoc}},
			Serve: ofURI(func(w *Window, _ *http.Request, u uri.URI) (any, error) {
				return w.o.Versions.List(u, w.o.Now())
			}),
		},
		{
			Method: "GET", Path: api.Base + "/view", Doc: "Returns where a browser can see an archived version of a URI.",
			Answer: api.View{}, Params: []Param{{"uri", "string", uriDoc}, {"at", "string", atDoc}},
			Serve: ofURI(func(w *Window, r *http.Request, u uri.URI) (any, error) {
				return w.o.Versions.View(r, u, r.FormValue("at"), w.o.Now())
			}),
		},
		{
			Method: "GET", Path: api.Base + "/record", Heavy: true,
			Doc:    "Returns the records of an archived version of a URI as the WARC file has them.",
			Answer: api.Record{}, Params: []Param{{"uri", "string", uriDoc}, {"at", "string", atDoc}},
			Serve: ofURI(func(w *Window, r *http.Request, u uri.URI) (any, error) {
				return record.Of(r.Context(), w.o.Versions.Archive, u, r.FormValue("at"), w.o.Now())
			}),
		},
		{
			Method: "GET", Path: api.Base + "/compare", Heavy: true, Doc: "Compares two archived versions of a URI.",
			Answer: api.Comparison{}, Params: []Param{
				{"uri", "string", uriDoc},
				{"before", "string", "timestamp of the first version, 14 digits; empty: the version before the second"},
				{"at", "string", "timestamp of the second version; empty: the last one"},
				{"what", "string", "text (as a reader sees it, the default), source or headers"},
			},
			Serve: ofURI(func(w *Window, r *http.Request, u uri.URI) (any, error) { return w.compare(r, u) }),
		},
	}
}

// ofURI returns the function that serves a request about versions of a URI.
func ofURI(do func(w *Window, r *http.Request, u uri.URI) (any, error)) func(*Window, *http.Request) (any, error) {
	return func(w *Window, r *http.Request) (any, error) {
		u, err := readURI(r)
		if err != nil {
			return nil, err
		}
		v, err := do(w, r, u)
		if errors.Is(err, warc.ErrNotFound) {
			return nil, unknown("no version of " + u.String())
		}
		return v, err
	}
}

// compare compares two versions. One comparison runs at a time, because each needs memory for two pages.
func (w *Window) compare(r *http.Request, u uri.URI) (out api.Comparison, err error) {
	what := cmp.Or(r.FormValue("what"), compare.Text)
	if !slices.Contains(compare.Kinds(), what) {
		return out, fault("unknown what %q; valid values: %s", what, strings.Join(compare.Kinds(), ", "))
	}
	rules, err := scrubbing(w.o.Config().Config, u, w.o.Now())
	if err != nil {
		return out, err
	}
	w.comparing.Lock()
	defer w.comparing.Unlock()
	return w.o.Versions.Compare(r.Context(), u, r.FormValue("before"), r.FormValue("at"), what, rules, w.o.Now())
}

// scrubbing compiles the scrubbing rules of a URI. Without rules, nothing is hidden.
func scrubbing(c *config.Config, u uri.URI, now time.Time) (*digest.Rules, error) {
	change := c.For(config.About{URI: u, Now: now}).Change
	return digest.Compile(digest.Spec{Regexes: change.Scrub, Selectors: change.ScrubCSS})
}

// picture serves the picture of a version, if it is one. It is no page: its policy allows nothing.
func (w *Window) picture(to http.ResponseWriter, r *http.Request) {
	u, err := readURI(r)
	var content []byte
	mime := ""
	if err == nil {
		content, mime, err = w.o.Versions.Picture(r.Context(), u, r.FormValue("at"), w.o.Now())
	}
	if errors.Is(err, warc.ErrNotFound) || errors.Is(err, compare.ErrNoPicture) {
		err = unknown(err.Error())
	}
	if err != nil {
		w.refuse(to, r, err)
		return
	}
	to.Header().Set("Content-Type", mime)
	to.Header().Set("Content-Security-Policy", "default-src 'none'; sandbox")
	_, _ = to.Write(content)
}

// readURI returns the URI of a request.
func readURI(r *http.Request) (uri.URI, error) {
	return parseURI(r.FormValue("uri"))
}

// parseURI parses the URI of a request.
func parseURI(text string) (uri.URI, error) {
	u, err := uri.Parse(text)
	if err != nil {
		return uri.URI{}, fault("uri %q: %v", text, err)
	}
	return u, nil
}
