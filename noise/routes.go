package noise

import (
	"embed"
	"errors"
	"io/fs"
	"net/http"
	"path/filepath"
	"strings"

	"github.com/arcrawl/arcrawl/admin"
	"github.com/arcrawl/arcrawl/admin/access"
	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/archive/captures"
	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/crawler/whatif"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/uri"
)

// openAPI describes the requests.
//
//go:embed openapi.json
var openAPI string

// files holds the scripts of the dashboard.
//
//go:embed dashboard
var files embed.FS

// extension returns what the wing adds to the API and to the dashboard.
func extension(archive *captures.LiveReader) admin.Extension {
	scripts, err := fs.Sub(files, "dashboard")
	if err != nil {
		scripts = nil // cannot happen: the folder is embedded
	}
	return admin.Extension{
		Routes: routes(archive), OpenAPI: openAPI, Pages: admin.Pages{Files: scripts, Script: "noise.js"},
	}
}

// routes returns the requests about pages that differ at each fetch, and about scrubbing rules. The versions of these
// pages are in archive; nil has none.
func routes(archive *captures.LiveReader) []admin.Route {
	return []admin.Route{
		{
			Method: "POST", Path: api.Base + "/ignore/propose", Asks: true, Heavy: true,
			Body: IgnoreWish{}, Answer: IgnoreProposal{},
			Doc: "Returns scrubbing rules that hide a row of a comparison, and no main content. It writes nothing.",
			Serve: ignoring(archive, func(w work, r *http.Request, o IgnoreWish, u uri.URI) (any, error) {
				return w.propose(r.Context(), u, o)
			}, func(o IgnoreWish) string { return o.URI }),
		},
		{
			Method: "GET", Path: api.Base + "/noise", Heavy: true, Answer: Noise{},
			Doc: "Returns pages that differ at each fetch without being new. It reads for a bounded time; repeat with cursor until next is empty.",
			Params: admin.Filtered(
				admin.Param{Name: "host", Kind: "string", Doc: "only this host, or *.example.org for a domain"},
				admin.Param{Name: "cursor", Kind: "string", Doc: "next of the last answer"},
			),
			Serve: func(w *admin.Window, r *http.Request) (any, error) {
				host, from := strings.ToLower(r.FormValue("host")), frontier.Cursor(r.FormValue("cursor"))
				return listPages(w.Options().Frontier, host, w.Chooses(admin.FilterOf(r)), from, w.Options().Now)
			},
		},
		{
			Method: "POST", Path: api.Base + "/ignore/suggest", Asks: true, Heavy: true,
			Body: IgnorePage{}, Answer: IgnoreProposal{},
			Doc: "Returns scrubbing rules that silence a page which differs at each fetch, from its newest versions. It writes nothing.",
			Serve: ignoring(archive, func(w work, r *http.Request, _ IgnorePage, u uri.URI) (any, error) {
				return w.suggest(r.Context(), u)
			}, func(o IgnorePage) string { return o.URI }),
		},
		{
			Method: "POST", Path: api.Base + "/ignore/preview", Asks: true, Heavy: true,
			Body: IgnoreRules{}, Answer: IgnorePreview{},
			Doc: "Returns what rules would have hidden in the newest versions of a URI, and the change of the host file.",
			Serve: ignoring(archive, func(w work, r *http.Request, o IgnoreRules, u uri.URI) (any, error) {
				return w.preview(r.Context(), u, o)
			}, func(o IgnoreRules) string { return o.URI }),
		},
		{
			Method: "POST", Path: api.Base + "/ignore", Needs: access.Curate, Body: IgnoreRules{}, Answer: IgnoreSaved{},
			Doc: "Adds scrubbing rules to the file of a URI's host, if the file is as in the preview and stays valid.",
			Serve: admin.Writing(func(w *admin.Window, r *http.Request) (any, error) {
				answer, err := save(archive)(w, r)
				if saved, ok := answer.(IgnoreSaved); ok && err == nil {
					name := filepath.Base(saved.File)
					saved.Committed = w.Commit(r, filepath.Dir(saved.File), name+": scrubbing rules added in the dashboard", name)
					return saved, nil
				}
				return answer, err
			}),
		},
	}
}

// save returns the function that writes rules into a host file. Its caller holds [admin.Window.WritingFiles].
func save(archive *captures.LiveReader) func(*admin.Window, *http.Request) (any, error) {
	return ignoring(archive, func(w work, _ *http.Request, o IgnoreRules, u uri.URI) (any, error) {
		return w.save(u, o)
	}, func(o IgnoreRules) string { return o.URI })
}

// ignoring returns the function that serves a request about a URI. of returns the URI in its body.
func ignoring[T any](
	archive *captures.LiveReader, do func(w work, r *http.Request, o T, u uri.URI) (any, error), of func(T) string,
) func(*admin.Window, *http.Request) (any, error) {
	return func(w *admin.Window, r *http.Request) (any, error) {
		o, err := admin.Read[T](r)
		if err != nil {
			return nil, err
		}
		u, err := admin.ParseURI(of(o))
		if err != nil {
			return nil, err
		}
		options := w.Options()
		plan := func(s api.Staged) (whatif.Plan, error) {
			return options.Crawler.Plan(api.StagedOf(s), options.Now())
		}
		answer, err := do(work{
			archive: archive, embargo: w.Embargo(r), config: options.Config().Config, plan: plan, reading: w.ReadingVersions(),
			now: options.Now(), clock: options.Now,
		}, r, o, u)
		if errors.Is(err, warc.ErrNotFound) {
			return nil, admin.Unknown("no version of " + u.String())
		}
		return answer, err
	}
}
