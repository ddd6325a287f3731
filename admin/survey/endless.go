package survey

import (
	"cmp"
	"maps"
	"slices"

	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/aspects/spaces"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/uri"
)

// EndlessWaiting counts the known URIs of paths that may be endless, by host and path.
type EndlessWaiting map[uri.Host]map[string]*api.EndlessPath

// NewEndlessWaiting returns a count of nothing for the paths of a host that have a budget, or of all hosts if it is
// empty. A nil store has none.
func NewEndlessWaiting(budgets *spaces.Store, only uri.Host) (EndlessWaiting, error) {
	w := EndlessWaiting{}
	if budgets == nil {
		return w, nil
	}
	see := func(h uri.Host, list []spaces.Pattern) error {
		if len(list) > 0 {
			w[h] = map[string]*api.EndlessPath{}
		}
		for _, p := range list {
			w[h][p.Key] = &api.EndlessPath{Path: p.Key}
		}
		return nil
	}
	if only == "" {
		return w, budgets.EachPattern(see)
	}
	list, err := budgets.Patterns(only)
	if err != nil {
		return w, err
	}
	return w, see(only, list)
}

// Add adds a URI that is visited with a frequency, in visits per second.
func (w EndlessWaiting) Add(x frontier.SurveyedURI, demand float64) {
	paths := w[x.Host]
	if len(paths) == 0 || x.Held || x.Due.IsZero() {
		return
	}
	p := paths[spaces.PatternOf(x.URI)]
	if p == nil {
		return
	}
	p.URIs++
	p.Demand += demand * 3600
	if x.LastVisit.IsZero() {
		p.Waiting++
	}
}

// Of returns the paths of a host, the ones with most URIs first.
func (w EndlessWaiting) Of(h uri.Host) []api.EndlessPath {
	var list []api.EndlessPath
	for _, key := range slices.Sorted(maps.Keys(w[h])) {
		if p := w[h][key]; p.URIs > 0 {
			list = append(list, *p)
		}
	}
	slices.SortStableFunc(list, func(a, b api.EndlessPath) int { return cmp.Compare(b.URIs, a.URIs) })
	return list
}

// CountEndless counts the URIs of a host, or of all hosts if it is empty. It reads the rows of hosts that have a
// budget.
func CountEndless(f *frontier.Frontier, budgets *spaces.Store, only uri.Host) (EndlessWaiting, error) {
	w, err := NewEndlessWaiting(budgets, only)
	for h := range w {
		for from := frontier.Cursor(""); err == nil; {
			if from, err = f.Survey(h, from, func(x frontier.SurveyedURI) { w.Add(x, 0) }); from == "" {
				break
			}
		}
	}
	return w, err
}
