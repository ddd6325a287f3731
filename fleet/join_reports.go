package fleet

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/admin/api"
)

// joinOverdue answers with the overdue URIs of the whole crawl.
func joinOverdue(x *exchange, to http.ResponseWriter, from *http.Request, p plan) {
	asked := from.URL.Query()
	limit, err := strconv.Atoi(cmp.Or(asked.Get("limit"), "100"))
	query := withValue(asked, "late", "true")
	valid := err == nil && limit > 0 && limit <= maxHosts // otherwise any node says what is wrong with it
	if valid && cmp.Or(asked.Get("by"), "host") != "host" {
		query.Set("limit", strconv.Itoa(maxHosts)) // all rows are needed, and there are few
	}
	if g, _, list, ok := ask[api.Overdue](x, to, from, p, query); ok {
		g.answer(to, list, nil)
	}
}

// gauges are the values of a series that are a state, and not counted in each step.
var gauges = map[string]func(a, b int64) int64{
	"uris": plus, "hosts": plus, "queued": plus, "due": plus, "in_progress": plus, "hosts_down": plus, "store": plus,
	"overdue": func(a, b int64) int64 { return max(a, b) }, "disk_free": func(a, b int64) int64 { return min(a, b) },
}

func plus(a, b int64) int64 { return a + b }

// addSeries adds the series of nodes, and notes which begin later than others.
func addSeries(j *joining, parts []api.Series, nodes []string) (api.Series, error) {
	out := api.Series{Step: parts[0].Step, Times: []int64{}, Values: map[string][]int64{}}
	steps, at := map[int64]int{}, make([]map[int64]int, len(parts)) // how many nodes have each time, and where
	for i, p := range parts {
		at[i] = map[int64]int{}
		for k, t := range p.Times {
			steps[t]++
			at[i][t] = k
		}
		for name := range p.Values {
			out.Values[name] = nil
		}
	}
	out.Times = slices.Sorted(maps.Keys(steps))
	for n := len(out.Times); n > 1 && steps[out.Times[n-1]] < len(parts); n-- { // some have not ended the last step yet
		out.Times = out.Times[:n-1]
	}
	for name := range out.Values {
		for _, t := range out.Times {
			have, complete := []int64{}, true
			for i, p := range parts {
				if k, known := at[i][t]; known && k < len(p.Values[name]) {
					have = append(have, p.Values[name][k])
				} else if len(p.Times) > 0 && p.Times[0] <= t {
					complete = false
				}
			}
			out.Values[name] = append(out.Values[name], addStep(gauges[name], have, complete))
		}
	}
	for i, p := range parts {
		if len(p.Times) > 0 && len(out.Times) > 0 && p.Times[0] > out.Times[0]+2*int64(time.Duration(out.Step).Seconds()) {
			j.notes = append(j.notes, fmt.Sprintf("node %s is counted since %s only",
				nodes[i], time.Unix(p.Times[0], 0).UTC().Format("2006-01-02 15:04 MST")))
		}
	}
	return out, nil
}

// addStep returns the value of a step of a series from the values of the nodes that have the step. gauge is nil for a
// number that is counted in each step. A gauge is unknown if a node does not know it, or if not all nodes that were
// counted before have the step.
func addStep(gauge func(a, b int64) int64, have []int64, complete bool) (all int64) {
	for i, v := range have {
		switch {
		case gauge == nil:
			all += max(v, 0)
		case v < 0 || !complete:
			return -1
		case i == 0:
			all = v
		default:
			all = gauge(all, v)
		}
	}
	return all
}

// joinDedup answers with a summary of deduplication: of the logs of all nodes.
func joinDedup(x *exchange, to http.ResponseWriter, from *http.Request, p plan) {
	asked := from.URL.Query()
	query := withValue(asked, "rows", strconv.Itoa(maxTallies))
	g, parts, out, ok := ask[api.DedupReport](x, to, from, p, query)
	if !ok {
		return
	}
	var since []string
	for i, dedupReport := range parts {
		since = append(since, fmt.Sprintf("node %s since %s", g.nodes[i], dedupReport.From.UTC().Format(time.DateTime)))
	}
	if !out.Complete {
		g.notes = append(g.notes, "only the ends of the logs are read, which begin at different times: "+strings.Join(since, ", "))
	}
	g.noteAway(x, from, "the log")
	g.answer(to, out, nil)
}

// maxTallies is the maximum number of rows that a node is asked for.
const maxTallies = 10_000

// addRows adds the rows of several nodes by their keys. A list that is full may lack a key: rows that it does not have
// are left out.
func addRows(j *joining, parts [][]api.DedupRow, _ []string) []api.DedupRow {
	limit, err := strconv.Atoi(j.asked().Get("rows"))
	if err != nil { // none is named
		limit = 100
	}
	of, in := map[string][]api.DedupRow{}, map[string]int{}
	full := 0
	for _, rows := range parts {
		isFull := len(rows) >= maxTallies
		if isFull {
			full++
		}
		for _, r := range rows {
			of[r.Key] = append(of[r.Key], r)
			if isFull {
				in[r.Key]++
			}
		}
	}
	out := []api.DedupRow{}
	for key, rows := range of {
		if in[key] == full {
			r, _ := join(&joining{}, rows, make([]string, len(rows))) // a test makes sure that all fields have tags
			out = append(out, r)
		}
	}
	slices.SortFunc(out, func(a, b api.DedupRow) int {
		return cmp.Or(cmp.Compare(b.Handled, a.Handled), cmp.Compare(a.Key, b.Key))
	})
	return out[:min(len(out), limit)]
}
