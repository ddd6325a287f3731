package shards

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
	"github.com/arcrawl/arcrawl/admin/headers"
	"github.com/arcrawl/arcrawl/admin/survey"
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
	g, parts, ok := gatherAs[api.Overdue](x, to, from, p, query)
	if !ok {
		return
	}
	list, err := survey.Join(parts, limit)
	g.answer(to, list, err)
}

// joinSeries answers with what happened in a period. The highest overdue time and the least free space count; all
// else is added. A gauge is unknown at times when a shard has none.
func joinSeries(x *exchange, to http.ResponseWriter, from *http.Request, p plan) {
	g, parts, ok := gatherAs[api.Series](x, to, from, p, from.URL.Query())
	if !ok {
		return
	}
	g.answer(to, addSeries(&g, parts), nil)
}

// gauges are the values of a series that are a state, and not counted in each step.
var gauges = map[string]func(a, b int64) int64{
	"uris": plus, "hosts": plus, "queued": plus, "due": plus, "in_progress": plus, "hosts_down": plus, "store": plus,
	"overdue": func(a, b int64) int64 { return max(a, b) }, "disk_free": func(a, b int64) int64 { return min(a, b) },
}

func plus(a, b int64) int64 { return a + b }

// addSeries adds the series of shards, and notes which begin later than others: their nodes have taken them over since.
func addSeries(g *gathered, parts []api.Series) api.Series {
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
				g.shards[i], time.Unix(p.Times[0], 0).UTC().Format("2006-01-02 15:04 MST"), g.nodes[i]))
		}
	}
	return out
}

// joinDedup answers with a summary of deduplication: of the logs of all nodes, each of which is the log of all shards
// of the node.
func joinDedup(x *exchange, to http.ResponseWriter, from *http.Request, p plan) {
	asked := from.URL.Query()
	g, parts, ok := gatherAs[api.DedupReport](x, to, from, p, withValue(asked, "rows", strconv.Itoa(maxTallies)))
	if !ok {
		return
	}
	rows, err := strconv.Atoi(asked.Get("rows"))
	if err != nil { // none is named
		rows = 100
	}
	out := api.DedupReport{Complete: true}
	var hosts, types [][]api.DedupRow
	var since []string
	for i, p := range parts {
		out.From, out.Complete = earlier(out.From, p.From), out.Complete && p.Complete
		out.All = out.All.Plus(p.All)
		hosts, types = append(hosts, p.Hosts), append(types, p.Types)
		since = append(since, fmt.Sprintf("node %s since %s", g.nodes[i], p.From.UTC().Format(time.DateTime)))
	}
	out.Hosts, out.Types = addRows(hosts, rows), addRows(types, rows)
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
func addRows(parts [][]api.DedupRow, limit int) []api.DedupRow {
	sum, in := map[string]api.DedupRow{}, map[string]int{}
	full := 0
	for _, rows := range parts {
		isFull := len(rows) >= maxTallies
		if isFull {
			full++
		}
		for _, r := range rows {
			sum[r.Key] = sum[r.Key].Plus(r)
			if isFull {
				in[r.Key]++
			}
		}
	}
	out := []api.DedupRow{}
	for key, r := range sum {
		if in[key] == full {
			r.Key = key
			out = append(out, r)
		}
	}
	slices.SortFunc(out, func(a, b api.DedupRow) int {
		return cmp.Or(cmp.Compare(b.Handled, a.Handled), cmp.Compare(a.Key, b.Key))
	})
	return out[:min(len(out), limit)]
}

// joinHeaders joins the tables of validators and dates.
func joinHeaders(parts []api.HeaderReport) api.HeaderReport {
	out := api.HeaderReport{Rows: []api.HeaderTrust{}, Dates: []api.DateTrust{}}
	for _, p := range parts {
		out.Rows, out.Dates, out.More = append(out.Rows, p.Rows...), append(out.Dates, p.Dates...), out.More || p.More
	}
	slices.SortStableFunc(out.Rows, func(a, b api.HeaderTrust) int { return cmp.Compare(a.Host, b.Host) })
	slices.SortStableFunc(out.Dates, func(a, b api.DateTrust) int { return cmp.Compare(a.Host, b.Host) })
	out.More = out.More || len(out.Rows) > headers.MaxRows || len(out.Dates) > headers.MaxRows
	out.Rows, out.Dates = out.Rows[:min(len(out.Rows), headers.MaxRows)], out.Dates[:min(len(out.Dates), headers.MaxRows)]
	return out
}
