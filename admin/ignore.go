package admin

import (
	"errors"
	"net/http"
	"path/filepath"
	"strings"

	"github.com/arcrawl/arcrawl/admin/access"
	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/admin/noise"
	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/noise/ignore"
	"github.com/arcrawl/arcrawl/uri"
)

// ignoreRoutes returns the requests that turn a difference into a scrubbing rule.
func ignoreRoutes() []Route {
	return []Route{
		{
			Method: "POST", Path: api.Base + "/ignore/propose", Asks: true, Heavy: true,
			Body: api.IgnoreWish{}, Answer: api.IgnoreProposal{},
			Doc: "Returns scrubbing rules that hide a row of a comparison, and no main content. It writes nothing.",
			Serve: ignoring(func(w ignore.Work, r *http.Request, o api.IgnoreWish, u uri.URI) (any, error) {
				return w.Propose(r.Context(), u, o)
			}, func(o api.IgnoreWish) string { return o.URI }),
		},
		{
			Method: "GET", Path: api.Base + "/noise", Heavy: true, Answer: api.Noise{},
			Doc: "Returns pages that differ at each fetch without being new. It reads for a bounded time; repeat with cursor until next is empty.",
			Params: Filtered(
				Param{"host", "string", "only this host, or *.example.org for a domain"},
				Param{"cursor", "string", "next of the last answer"},
			),
			Serve: func(w *Window, r *http.Request) (any, error) {
				host, from := strings.ToLower(r.FormValue("host")), frontier.Cursor(r.FormValue("cursor"))
				return noise.List(w.o.Frontier, host, w.Chooses(FilterOf(r)), from, w.o.Now)
			},
		},
		{
			Method: "POST", Path: api.Base + "/ignore/suggest", Asks: true, Heavy: true,
			Body: api.IgnorePage{}, Answer: api.IgnoreProposal{},
			Doc: "Returns scrubbing rules that silence a page which differs at each fetch, from its newest versions. It writes nothing.",
			Serve: ignoring(func(w ignore.Work, r *http.Request, _ api.IgnorePage, u uri.URI) (any, error) {
				return w.Suggest(r.Context(), u)
			}, func(o api.IgnorePage) string { return o.URI }),
		},
		{
			Method: "POST", Path: api.Base + "/ignore/preview", Asks: true, Heavy: true,
			Body: api.IgnoreRules{}, Answer: api.IgnorePreview{},
			Doc: "Returns what rules would have hidden in the newest versions of a URI, and the change of the host file.",
			Serve: ignoring(func(w ignore.Work, r *http.Request, o api.IgnoreRules, u uri.URI) (any, error) {
				return w.Preview(r.Context(), u, o)
			}, func(o api.IgnoreRules) string { return o.URI }),
		},
		{
			Method: "POST", Path: api.Base + "/ignore", Needs: access.Curate, Body: api.IgnoreRules{}, Answer: api.IgnoreSaved{},
			Doc: "Adds scrubbing rules to the file of a URI's host, if the file is as in the preview and stays valid.",
			Serve: Writing(func(w *Window, r *http.Request) (any, error) {
				answer, err := w.saveRules(r)
				if saved, ok := answer.(api.IgnoreSaved); ok && err == nil {
					name := filepath.Base(saved.File)
					saved.Committed = w.Commit(r, filepath.Dir(saved.File), name+": scrubbing rules added in the dashboard", name)
					return saved, nil
				}
				return answer, err
			}),
		},
	}
}

// saveRules writes rules into a host file. Its caller holds w.writing.
func (w *Window) saveRules(r *http.Request) (any, error) {
	return ignoring(func(w ignore.Work, _ *http.Request, o api.IgnoreRules, u uri.URI) (any, error) {
		return w.Save(u, o)
	}, func(o api.IgnoreRules) string { return o.URI })(w, r)
}

// ignoring returns the function that serves a request about a URI. of returns the URI in its body.
func ignoring[T any](
	do func(w ignore.Work, r *http.Request, o T, u uri.URI) (any, error), of func(T) string,
) func(*Window, *http.Request) (any, error) {
	return func(w *Window, r *http.Request) (any, error) {
		o, err := Read[T](r)
		if err != nil {
			return nil, err
		}
		u, err := ParseURI(of(o))
		if err != nil {
			return nil, err
		}
		plan := func(s api.Staged) (api.Plan, error) {
			p, err := w.o.Crawler.Plan(api.StagedOf(s), w.o.Now())
			return api.PlanOf(p), err
		}
		answer, err := do(ignore.Work{
			Archive: w.o.Index, Config: w.o.Config().Config, Plan: plan, Reading: &w.comparing,
			Now: w.o.Now(), Clock: w.o.Now,
		}, r, o, u)
		var refusal ignore.Refusal
		switch {
		case errors.Is(err, warc.ErrNotFound):
			return nil, Unknown("no version of " + u.String())
		case errors.As(err, &refusal):
			return nil, badRequest{err}
		}
		return answer, err
	}
}
