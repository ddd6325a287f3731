package survey

import (
	"errors"
	"time"

	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/aspects/spaces"
	"github.com/arcrawl/arcrawl/uri"
)

// maxTrapRows is the maximum number of traps, and of budgets, in a list.
const maxTrapRows = 10_000

// errEnoughTraps ends a listing at its maximum length.
var errEnoughTraps = errors.New("enough")

// Traps returns the traps and budgets of a host, or of all hosts if it is empty. A nil store has none. count counts the
// URIs that wait; it is only called if there is a budget.
func Traps(store *spaces.Store, only uri.Host, count func() (EndlessWaiting, error)) (api.Traps, error) {
	out := api.Traps{Traps: []api.Trap{}}
	if store == nil {
		return out, nil
	}
	if err := addBudgets(&out, store, only, count); err != nil {
		return out, err
	}
	see := func(h uri.Host, list []spaces.Trap) error {
		for _, t := range list {
			if out.More = len(out.Traps) >= maxTrapRows; out.More {
				return errEnoughTraps
			}
			out.Traps = append(out.Traps, trapOf(h, t))
		}
		return nil
	}
	if only != "" {
		list, err := store.Get(only)
		if err != nil {
			return out, err
		}
		return out, see(only, list) // a host has far fewer than the maximum
	}
	if err := store.Each(see); !errors.Is(err, errEnoughTraps) {
		return out, err
	}
	return out, nil
}

// addBudgets adds the budgets of a host, or of all hosts.
func addBudgets(out *api.Traps, store *spaces.Store, only uri.Host, count func() (EndlessWaiting, error)) error {
	if err := listBudgets(out, store, only); err != nil || len(out.Budgets) == 0 {
		return err
	}
	waiting, err := count()
	for i := range out.Budgets {
		b := &out.Budgets[i]
		if p := waiting[uri.Host(b.Host)][b.Pattern]; p != nil {
			b.Waiting = p.Waiting
		}
	}
	return err
}

// listBudgets lists the budgets of a host, or of all hosts.
func listBudgets(out *api.Traps, store *spaces.Store, only uri.Host) error {
	see := func(h uri.Host, list []spaces.Pattern) error {
		for _, p := range list {
			if len(out.Budgets) >= maxTrapRows {
				out.More = true
				return errEnoughTraps
			}
			out.Budgets = append(out.Budgets, api.Budget{
				Host: string(h), Pattern: p.Key, Visited: p.Visits, SomeNew: p.Rich, Allowed: p.Allowance, PutOff: p.Held,
				Examples: append([]string{}, p.Examples...),
			})
		}
		return nil
	}
	if only != "" {
		list, err := store.Patterns(only)
		if err != nil {
			return err
		}
		return see(only, list)
	}
	if err := store.EachPattern(see); !errors.Is(err, errEnoughTraps) {
		return err
	}
	return nil
}

func trapOf(h uri.Host, t spaces.Trap) api.Trap {
	out := api.Trap{
		Host: string(h),
		Kind: t.Kind.String(), Pattern: t.Pattern, Why: t.Why, Found: t.Found, Visited: t.Visited, Kept: t.Kept,
		Released: t.Released, Examples: append([]string{}, t.Examples...), Rule: t.Rule(),
	}
	if t.Kind == spaces.Calendar && t.From != 0 {
		day := func(n int) string { return time.Unix(int64(n)*24*60*60, 0).UTC().Format(time.DateOnly) }
		out.FreeFrom, out.FreeUntil = day(t.From), day(t.To)
	}
	return out
}
