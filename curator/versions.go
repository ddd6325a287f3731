package curator

import (
	"cmp"
	"net/http"
	"slices"
	"strings"

	"github.com/arcrawl/arcrawl/admin"
	"github.com/arcrawl/arcrawl/admin/access"
	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/archive/captures"
	"github.com/arcrawl/arcrawl/uri"
)

const atDoc = "timestamp of a version, 14 digits; the nearest one is taken; empty: the last one"

// versionRoutes returns the requests about archived versions.
func (c *curation) versionRoutes() []admin.Route {
	ofVersion := []admin.Param{
		{Name: "uri", Kind: "string", Doc: admin.URIDoc}, {Name: "at", Kind: "string", Doc: atDoc},
	}
	return []admin.Route{
		{
			Method: "GET", Path: api.Base + "/versions", Doc: "Returns the archived versions of a URI, newest first.",
			Answer: Versions{}, Params: []admin.Param{{Name: "uri", Kind: "string", Doc: admin.URIDoc}},
			Serve: ofURI(func(r *http.Request, u uri.URI) (any, error) {
				return c.catalog.List(access.CallerOf(r.Context()).Role, u, c.o.Now())
			}),
		},
		{
			Method: "GET", Path: api.Base + "/view", Doc: "Returns where a browser can see an archived version of a URI.",
			Answer: View{}, Params: ofVersion,
			Serve: ofURI(func(r *http.Request, u uri.URI) (any, error) {
				return c.catalog.View(r, u, r.FormValue("at"), c.o.Now())
			}),
		},
		{
			Method: "GET", Path: api.Base + "/record", Heavy: true,
			Doc:    "Returns the records of an archived version of a URI as the WARC file has them.",
			Answer: Record{}, Params: ofVersion,
			Serve: ofURI(func(r *http.Request, u uri.URI) (any, error) {
				return c.catalog.Record(r.Context(), access.CallerOf(r.Context()).Role, u, r.FormValue("at"), c.o.Now())
			}),
		},
		{
			Method: "GET", Path: api.Base + "/compare", Heavy: true, Doc: "Compares two archived versions of a URI.",
			Answer: Comparison{}, Params: []admin.Param{
				{Name: "uri", Kind: "string", Doc: admin.URIDoc},
				{Name: "before", Kind: "string", Doc: "timestamp of the first version, 14 digits; empty: the version before the second"},
				{Name: "at", Kind: "string", Doc: "timestamp of the second version; empty: the last one"},
				{Name: "what", Kind: "string", Doc: "text (as a reader sees it, the default), source or headers"},
			},
			Serve: ofURI(func(r *http.Request, u uri.URI) (any, error) { return c.compare(r, u) }),
		},
	}
}

// ofURI returns the function that serves a request about versions of a URI.
func ofURI(do func(r *http.Request, u uri.URI) (any, error)) func(*admin.Window, *http.Request) (any, error) {
	return func(_ *admin.Window, r *http.Request) (any, error) {
		u, err := admin.ReadURI(r)
		if err != nil {
			return nil, err
		}
		v, err := do(r, u)
		if isMissing(err) {
			return nil, admin.Unknown("no version of " + u.String())
		}
		return v, err
	}
}

// compare compares two versions. One comparison runs at a time, because each needs memory for two pages.
func (c *curation) compare(r *http.Request, u uri.URI) (out Comparison, err error) {
	kinds := captures.Kinds()
	what := cmp.Or(r.FormValue("what"), kinds[0])
	if !slices.Contains(kinds, what) {
		return out, admin.Fault("unknown what %q; valid values: %s", what, strings.Join(kinds, ", "))
	}
	c.window.ReadingVersions().Lock()
	defer c.window.ReadingVersions().Unlock()
	role := access.CallerOf(r.Context()).Role
	return c.catalog.Compare(r.Context(), role, u, r.FormValue("before"), r.FormValue("at"), what, c.o.Now())
}

// pictureOf names the newest picture of a rendered page, if the archive has one.
func (c *curation) pictureOf(role access.Role, page string) (*SitePicture, error) {
	at, err := c.catalog.Rendered(role, page, c.o.Now())
	if err != nil || at == "" {
		return nil, err
	}
	return &SitePicture{URI: page, At: at}, nil
}

// picture serves the picture of a version, if it is one. With rendered=true it is how a browser has shown the version,
// with late=true the picture that was made later of the archived page. size=thumb and size=sheet are small ones of
// these. It is no page: its policy allows nothing.
func (c *curation) picture(to http.ResponseWriter, r *http.Request) {
	u, err := admin.ReadURI(r)
	var content []byte
	var mime string
	if err == nil {
		content, mime, err = c.pictureAsked(r, u)
	}
	if isMissing(err) {
		err = admin.Unknown(err.Error())
	}
	if err != nil {
		c.window.Refuse(to, r, err)
		return
	}
	to.Header().Set("Content-Type", mime)
	to.Header().Set("Content-Security-Policy", "default-src 'none'; sandbox")
	_, _ = to.Write(content)
}

// pictureAsked returns the picture that a request asks for.
func (c *curation) pictureAsked(r *http.Request, u uri.URI) (content []byte, mime string, err error) {
	q := shotAsked{page: u, at: r.FormValue("at"), late: r.FormValue("late") == "true"}
	q.rendered = q.late || r.FormValue("rendered") == "true"
	role := access.CallerOf(r.Context()).Role
	switch name := r.FormValue("size"); {
	case name == "":
		return c.large(r.Context(), q, role)
	case !q.rendered || name != thumbSize.name && name != sheetSize.name:
		return nil, "", admin.Fault("size %q: write thumb or sheet, and rendered=true or late=true", name)
	case name == thumbSize.name:
		content, err = c.small(r.Context(), thumbSize, q, role)
	default:
		content, err = c.small(r.Context(), sheetSize, q, role)
	}
	return content, "image/jpeg", err
}
