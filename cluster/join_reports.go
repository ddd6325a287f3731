package cluster

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
	valid := err == nil && limit > 0 && limit <= maxHosts // otherwise any shard says what is wrong with it
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

// addSeries adds the series of shards, and notes which begin later than others: their nodes have taken them over since.
// The highest overdue time and the least free space count; all else is added. A gauge is unknown at times when a shard
// has none.
func addSeries(g *joining, parts []api.Series, places []int) (api.Series, error) {
	out := api.Series{Step: parts[0].Step, Times: []int64{}, Values: map[string][]int64{}}
	steps := map[int64]int{} // how many shards have each time
	for _, p := range parts {
		for _, t := range p.Times {
			steps[t]++
		}
	}
	out.Times = slices.Sorted(maps.Keys(steps))
	for n := len(out.Times); n > 1 && steps[out.Times[n-1]] < len(parts); n-- { // some have not ended the last step yet
		out.Times = out.Times[:n-1]
	}
	at := map[int64]int{}
	for i, t := range out.Times {
		at[t] = i
	}
	for i, p := range parts {
		for name, values := range p.Values {
			if out.Values[name] == nil {
				out.Values[name] = make([]int64, len(out.Times))
			}
			join, all := gauges[name], out.Values[name]
			for j, v := range values[:min(len(values), len(p.Times))] {
				k, known := at[p.Times[j]]
				switch {
				case !known:
				case join == nil:
					all[k] += max(v, 0)
				case v < 0 || all[k] < 0 || steps[p.Times[j]] < len(parts):
					all[k] = -1
				case i == 0:
					all[k] = v
				default:
					all[k] = join(all[k], v)
				}
			}
		}
		if len(p.Times) > 0 && len(out.Times) > 0 && p.Times[0] > out.Times[0]+2*int64(time.Duration(out.Step).Seconds()) {
			g.notes = append(g.notes, fmt.Sprintf("shard %d is counted since %s only: node %s has no earlier counts of it",
				g.shards[places[i]], time.Unix(p.Times[0], 0).UTC().Format("2006-01-02 15:04 MST"), g.nodes[places[i]]))
		}
	}
	return out, nil
}

// joinDedup answers with a summary of deduplication: of the logs of all nodes, each of which is the log of all shards
// of the node.
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
	g.noteIdle(x, from, "the log")
	g.answer(to, out, nil)
}

// maxTallies is the maximum number of rows that a node is asked for.
const maxTallies = 10_000

// addRows adds the rows of several nodes by their keys. A list that is full may lack a key: rows that it does not have
// are left out.
func addRows(j *joining, parts [][]api.DedupRow, _ []int) []api.DedupRow {
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
			r, _ := join(&joining{}, rows) // a test makes sure that all fields have tags
			out = append(out, r)
		}
	}
	slices.SortFunc(out, func(a, b api.DedupRow) int {
		return cmp.Or(cmp.Compare(b.Handled, a.Handled), cmp.Compare(a.Key, b.Key))
	})
	return out[:min(len(out), limit)]
}
