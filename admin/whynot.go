package admin

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/aspects/scope"
	"github.com/arcrawl/arcrawl/crawler/whatif"
	"github.com/arcrawl/arcrawl/uri"
)

// WhyNot returns the answer for a URI with these results of the rules.
func WhyNot(uri string, reasons []scope.Reason) api.WhyNot {
	out := api.WhyNot{URI: uri, Rules: []api.Rule{}}
	for _, r := range reasons {
		out.Rules = append(out.Rules, api.Rule{Opinion: r.Opinion.String(), Rule: r.Rule, Why: r.Why, Where: r.Where})
		if r.Opinion == scope.Rejects {
			out.Rule = r.Rule
			out.Out = fmt.Sprintf("kept out by %s: %s", r.Rule, r.Why)
		}
	}
	return out
}

// OtherScheme returns the answer for a URI that is never crawled because of its scheme. It reports false for any other
// text.
func OtherScheme(text string) (out api.WhyNot, ok bool) {
	reason, ok := scope.OtherScheme(text)
	return WhyNot(text, []scope.Reason{reason}), ok
}

// readWhyNot parses the question of a request.
func readWhyNot(r *http.Request) (q whatif.Question, err error) {
	var bad error
	if q.URI, err = uri.Parse(r.FormValue("uri")); err != nil {
		return q, err
	}
	if via := r.FormValue("via"); via != "" {
		q.Via, bad = uri.Parse(via)
	}
	if hop := r.FormValue("hop"); hop != "" {
		if q.Hop = uri.Hop(hop[0]); len(hop) != 1 {
			bad = errors.Join(bad, fmt.Errorf("hop %q is not one letter", hop))
		}
	}
	if bad != nil {
		return q, bad
	}
	return q, nil
}
