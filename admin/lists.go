package admin

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/aspects/spaces"
	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/hosts"
	"github.com/arcrawl/arcrawl/uri"
)

// hostChoice reports whether a host is chosen.
type hostChoice = func(uri.Host) bool

// errEnough ends a listing at its maximum length.
var errEnough = errors.New("enough")

// headerPredictions counts the predictions of all validators on all hosts, by prediction and result.
type headerPredictions struct {
	ChangeRight, ChangeFalse, SameRight, SameFalse, Missing int64
}

// headersPredicted adds up the predictions in a store, about the hosts that only selects; nil selects all.
func headersPredicted(store *hosts.Reputation, only hostChoice) (p headerPredictions, err error) {
	err = store.Each(func(h uri.Host, r evaluators.Reputation) error {
		if only != nil && !only(h) {
			return nil
		}
		for _, standings := range r {
			for _, s := range standings {
				p.ChangeRight += s.ChangeRight
				p.ChangeFalse += s.ChangeWrong
				p.SameRight += s.SameRight
				p.SameFalse += s.SameWrong
				p.Missing += s.Missing
			}
		}
		return nil
	})
	return p, err
}

// maxTrapRows is the maximum number of traps, and of budgets, in a list.
const maxTrapRows = 10_000

// listedRows calls see with what a store has of a host, or of all hosts if it is empty, until see returns [errEnough].
func listedRows[T any](
	only uri.Host, get func(uri.Host) ([]T, error), each func(func(uri.Host, []T) error) error,
	see func(uri.Host, []T) error,
) (err error) {
	if only == "" {
		err = each(see)
	} else {
		var list []T
		if list, err = get(only); err == nil {
			err = see(only, list)
		}
	}
	if errors.Is(err, errEnough) {
		return nil
	}
	return err
}

// TrapList returns the traps and budgets of a host, or of all hosts if it is empty. A nil store has none. count counts
// the URIs that wait; it is only called if there is a budget.
func TrapList(store *spaces.Store, only uri.Host, count func() (EndlessWaiting, error)) (api.Traps, error) {
	out := api.Traps{Traps: []api.Trap{}}
	if store == nil {
		return out, nil
	}
	if err := addBudgets(&out, store, only, count); err != nil {
		return out, err
	}
	err := listedRows(only, store.Get, store.Each, func(h uri.Host, list []spaces.Trap) error {
		for _, t := range list {
			if out.More = len(out.Traps) >= maxTrapRows; out.More {
				return errEnough
			}
			out.Traps = append(out.Traps, trapOf(h, t))
		}
		return nil
	})
	return out, err
}

// addBudgets adds the budgets of a host, or of all hosts.
func addBudgets(out *api.Traps, store *spaces.Store, only uri.Host, count func() (EndlessWaiting, error)) error {
	err := listedRows(only, store.Patterns, store.EachPattern, func(h uri.Host, list []spaces.Pattern) error {
		for _, p := range list {
			if len(out.Budgets) >= maxTrapRows {
				out.More = true
				return errEnough
			}
			out.Budgets = append(out.Budgets, api.Budget{
				Host: string(h), Pattern: p, Examples: append([]string{}, p.Examples...),
			})
		}
		return nil
	})
	if err != nil || len(out.Budgets) == 0 {
		return err
	}
	waiting, err := count()
	for i := range out.Budgets {
		b := &out.Budgets[i]
		if p := waiting[uri.Host(b.Host)][b.Key]; p != nil {
			b.Waiting = p.Waiting
		}
	}
	return err
}

func trapOf(h uri.Host, t spaces.Trap) api.Trap {
	out := api.Trap{Host: string(h), Trap: t, Examples: append([]string{}, t.Examples...), Rule: t.Rule()}
	if t.Kind == spaces.Calendar && t.From != 0 {
		day := func(n int) string { return time.Unix(int64(n)*24*60*60, 0).UTC().Format(time.DateOnly) }
		out.FreeFrom, out.FreeUntil = day(t.From), day(t.To)
	}
	return out
}

// EndlessWaiting counts the known URIs of paths that may be endless, by host and path.
type EndlessWaiting map[uri.Host]map[string]*api.EndlessPath

// newEndlessWaiting returns a count of nothing for the paths of a host that have a budget, or of all hosts if it is
// empty. A nil store has none.
func newEndlessWaiting(budgets *spaces.Store, only uri.Host) (EndlessWaiting, error) {
	w := EndlessWaiting{}
	if budgets == nil {
		return w, nil
	}
	return w, listedRows(only, budgets.Patterns, budgets.EachPattern, func(h uri.Host, list []spaces.Pattern) error {
		if len(list) > 0 {
			w[h] = map[string]*api.EndlessPath{}
		}
		for _, p := range list {
			w[h][p.Key] = &api.EndlessPath{Path: p.Key}
		}
		return nil
	})
}

// add adds a URI that is visited with a frequency, in visits per second.
func (w EndlessWaiting) add(x frontier.SurveyedURI, demand float64) {
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

// of returns the paths of a host, the ones with most URIs first.
func (w EndlessWaiting) of(h uri.Host) []api.EndlessPath {
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
	w, err := newEndlessWaiting(budgets, only)
	for h := range w {
		for from := frontier.Cursor(""); err == nil; {
			if from, err = f.Survey(h, from, func(x frontier.SurveyedURI) { w.add(x, 0) }); from == "" {
				break
			}
		}
	}
	return w, err
}
