package fleet

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/arcrawl/arcrawl/crawllog"

	"github.com/arcrawl/arcrawl/admin"
	"github.com/arcrawl/arcrawl/admin/api"
)

// sumOverdue returns the overdue URIs of a whole crawl from the answers of its parts, which have the classes of
// the parameter late.
func sumOverdue(parts []api.Overdue, limit int) (out api.Overdue, err error) {
	out = parts[0]
	out.All, out.Rows, out.More = api.Backlog{Name: "all"}, []api.Backlog{}, 0
	var all crawllog.Histogram
	rows, late := map[string]api.Backlog{}, map[string]*crawllog.Histogram{}
	others := othersOf(parts)
	for _, p := range parts {
		if p.AsOf.IsZero() { // not every part was surveyed
			return p, nil
		}
		if p.AsOf.Before(out.AsOf) {
			out.AsOf = p.AsOf
		}
		out.Age, out.Took, out.More = max(out.Age, p.Age), max(out.Took, p.Took), out.More+p.More
		if out.All, err = plusBacklog(out.All, p.All, &all); err != nil {
			return out, err
		}
		for _, b := range p.Rows {
			if out.By == "host" {
				out.Rows = append(out.Rows, b)
				continue
			}
			if others(b.Name) {
				b.Name = admin.OtherTypes
			}
			if late[b.Name] == nil {
				late[b.Name] = new(crawllog.Histogram)
			}
			if rows[b.Name], err = plusBacklog(rows[b.Name], b, late[b.Name]); err != nil {
				return out, err
			}
		}
	}
	for _, b := range rows {
		out.Rows = append(out.Rows, b)
	}
	slices.SortFunc(out.Rows, func(a, b api.Backlog) int {
		return cmp.Or(cmp.Compare(b.Most, a.Most), cmp.Compare(b.Due, a.Due), cmp.Compare(a.Name, b.Name))
	})
	if more := len(out.Rows) - max(limit, 0); more > 0 {
		out.Rows, out.More = out.Rows[:len(out.Rows)-more], out.More+more
	}
	return out, nil
}

// othersOf returns a function that reports whether a row counts with the others in the whole: if some part has no row
// for it, but has others, which may have some of it.
func othersOf(parts []api.Overdue) func(name string) bool {
	var having []map[string]bool
	for _, p := range parts {
		names := map[string]bool{}
		for _, b := range p.Rows {
			names[b.Name] = true
		}
		if names[admin.OtherTypes] {
			having = append(having, names)
		}
	}
	return func(name string) bool {
		return slices.ContainsFunc(having, func(names map[string]bool) bool { return !names[name] })
	}
}

// plusBacklog returns the sum of two backlogs. all has the overdue times of the first one, and gets the ones of the
// second.
func plusBacklog(a, b api.Backlog, all *crawllog.Histogram) (api.Backlog, error) {
	switch {
	case b.Late != nil:
		more, err := crawllog.FromClasses(b.Late.First, b.Late.Counts, time.Duration(b.Most).Round(time.Millisecond))
		if err != nil {
			return a, fmt.Errorf("overdue times of %s: %w", b.Name, err)
		}
		all.Merge(more)
	case b.Due > 0:
		return a, fmt.Errorf("the overdue times of %s are not counted", b.Name)
	}
	return api.Backlog{
		Name: b.Name, URIs: a.URIs + b.URIs, Due: a.Due + b.Due, Demand: a.Demand + b.Demand, Most: max(a.Most, b.Most),
		P50: api.Seconds(all.Quantile(0.5)), P90: api.Seconds(all.Quantile(0.9)), P99: api.Seconds(all.Quantile(0.99)),
	}, nil
}
