package shards

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/admin/days"
)

// The maximum numbers of rows of a status, as of one shard.
const (
	maxVisits = 100
	maxDown   = 20
)

// joinStatus answers with the state of the whole crawl: sums, and the state of each node.
func joinStatus(x *exchange, to http.ResponseWriter, from *http.Request, p plan) {
	g, parts, ok := gatherAs[api.Status](x, to, from, p, from.URL.Query())
	if !ok {
		return
	}
	g.answer(to, sumOf(parts, g.nodes, g.shards), nil)
}

// sumOf returns the state of a crawl from the states of shards, which nodes crawl. What concerns a node, as its disks
// and files, is taken from one of its shards.
func sumOf(parts []api.Status, nodes []string, numbers []int) api.Status {
	out := parts[0]
	out.LastMinute, out.LastHour, out.LastDay = api.Counts{}, api.Counts{}, api.Counts{}
	out.Hosts, out.Down, out.Workers = api.HostCounts{}, []api.Unreachable{}, api.Workers{Visits: []api.Visit{}}
	out.URIs, out.Rendering, out.Archive = api.URICounts{}, api.Rendering{}, api.Archive{Files: []api.WARCFile{}}
	var versions []string
	var alarms []api.Alarms
	var configs []api.Config
	states := map[string][]standing{}
	var all []standing
	for i, s := range parts {
		out.Uptime = max(out.Uptime, s.Uptime)
		out.Started, out.Now = earlier(out.Started, s.Started), later(out.Now, s.Now)
		out.LastMinute, out.LastHour = out.LastMinute.Plus(s.LastMinute), out.LastHour.Plus(s.LastHour)
		out.LastDay = out.LastDay.Plus(s.LastDay)
		out.Hosts, out.URIs = out.Hosts.Plus(s.Hosts), out.URIs.Plus(s.URIs)
		out.Down = append(out.Down, s.Down...)
		out.Workers.All, out.Workers.Busy = out.Workers.All+s.Workers.All, out.Workers.Busy+s.Workers.Busy
		out.Workers.Visits = append(out.Workers.Visits, s.Workers.Visits...)
		out.Rendering = out.Rendering.Plus(s.Rendering)
		out.Archive.Store = plusKnown(out.Archive.Store, s.Archive.Store)
		alarms, configs = append(alarms, api.Alarms{Alarms: s.Alarms}), append(configs, s.Config)
		if !slices.Contains(versions, s.Version) {
			versions = append(versions, s.Version)
		}
		at := standing{numbers[i], nodes[i], s.Condition}
		all, states[nodes[i]] = append(all, at), append(states[nodes[i]], at)
		out.Nodes = addNode(out.Nodes, nodes[i], numbers[i], s)
	}
	for i := range out.Nodes {
		n := &out.Nodes[i]
		n.Condition = joinConditions(states[n.Node])
		if i == 0 || n.Disk.Free < out.Disk.Free {
			out.Disk = n.Disk
		}
		addArchive(&out.Archive, n.Node, n.Archive)
	}
	out.Version, out.Condition = strings.Join(versions, ", "), joinConditions(all)
	out.Down, out.Workers.Visits = mostFailures(out.Down), longestVisits(out.Workers.Visits)
	out.Alarms, out.Config = joinAlarms(alarms, nil).Alarms, joinConfigs(configs, nil)
	return out
}

// addNode adds a shard to the list of nodes.
func addNode(list []api.NodeStatus, node string, shard int, s api.Status) []api.NodeStatus {
	i := slices.IndexFunc(list, func(n api.NodeStatus) bool { return n.Node == node })
	if i < 0 {
		return append(list, api.NodeStatus{
			Node: node, Shards: []int{shard}, Version: s.Version, Since: s.Started, Disk: s.Disk, Archive: s.Archive,
			Config: s.Config.Digest, Faults: len(s.Config.Faults),
		})
	}
	n := &list[i]
	n.Shards, n.Since = append(n.Shards, shard), later(n.Since, s.Started)
	n.Archive.Store = plusKnown(n.Archive.Store, s.Archive.Store)
	n.Archive.Lost = mostLost(n.Archive.Lost, s.Archive.Lost) // each shard counts files of the whole crawl
	n.Faults = max(n.Faults, len(s.Config.Faults))
	return list
}

// addArchive adds what a node has to the archive of the crawl.
func addArchive(a *api.Archive, node string, of api.Archive) {
	a.Files = append(a.Files, of.Files...)
	a.Database = cmp.Or(a.Database, of.Database)
	a.Lost = mostLost(a.Lost, of.Lost)
	failed := func(since **time.Time, text *string, of *time.Time, why string) {
		if of == nil {
			return
		}
		if *since == nil || of.Before(**since) {
			*since = of
		}
		if *text != "" {
			*text += "; "
		}
		*text += "node " + node + ": " + why
	}
	a.Handover.Waiting += of.Handover.Waiting
	failed(&a.Handover.Since, &a.Handover.Error, of.Handover.Since, of.Handover.Error)
	for _, f := range of.Offload.Folders {
		f.Path = "node " + node + ": " + f.Path
		a.Offload.Folders = append(a.Offload.Folders, f)
	}
	failed(&a.Offload.Since, &a.Offload.Error, of.Offload.Since, of.Offload.Error)
	if u := of.Offload.Upload; u != nil {
		if a.Offload.Upload == nil {
			a.Offload.Upload = &api.Upload{Bucket: u.Bucket}
		}
		all := a.Offload.Upload
		all.Done, all.Skipped, all.Earlier = all.Done+u.Done, all.Skipped+u.Skipped, all.Earlier+u.Earlier
		all.Waiting += u.Waiting
		failed(&all.Since, &all.Error, u.Since, u.Error)
	}
}

// mostLost returns the larger counts: two shards may count one file.
func mostLost(a, b api.Lost) api.Lost {
	return api.Lost{
		Absent: max(a.Absent, b.Absent), CutOff: max(a.CutOff, b.CutOff), Declared: max(a.Declared, b.Declared),
		Example: cmp.Or(a.Example, b.Example),
	}
}

// everyone passes an order on to all shards, also if one of them refuses it or cannot be asked, and answers with their
// condition. An error says which shards have the order; it may be repeated.
func everyone(x *exchange, to http.ResponseWriter, from *http.Request, p plan) {
	var have []standing
	var done, failed []string
	for _, shard := range p.shards {
		a, why := x.ask(from, shard, from.URL.Query(), x.body)
		switch {
		case why != "":
		case a.status != http.StatusOK && len(done)+len(failed) == 0:
			a.write(to) // the order is wrong, or the caller may not give it
			return
		case a.status != http.StatusOK:
			why = fmt.Sprintf("shard %d refuses: %s", shard, a.why())
		default:
			one := standing{shard: shard, node: x.Node(shard)}
			if err := json.Unmarshal(a.body.Bytes(), &one.Condition); err != nil {
				why = fmt.Sprintf("the answer of shard %d cannot be read; do all nodes have one version? %v", shard, err)
			}
			have = append(have, one)
		}
		if why != "" {
			failed = append(failed, why)
			continue
		}
		done = append(done, strconv.Itoa(shard))
	}
	if len(failed) > 0 {
		where := "done in no shard"
		if len(done) > 0 {
			where = "done in the shards " + strings.Join(done, ", ")
		}
		problem(to, http.StatusBadGateway, strings.Join(slices.Compact(failed), "; ")+"; "+where+"; repeat it for the others")
		return
	}
	answerWith(to, joinConditions(have))
}

// standing is the condition of a shard.
type standing struct {
	shard int
	node  string
	api.Condition
}

// joinConditions returns the condition of several shards. If they differ, it crawls if one of them does, and
// the reason names the shards that do not crawl.
func joinConditions(list []standing) api.Condition {
	out := list[0].Condition
	same := true
	for _, s := range list[1:] {
		same = same && s.State == out.State && s.Why == out.Why
		if s.Since != nil && (out.Since == nil || s.Since.Before(*out.Since)) {
			out.Since = s.Since
		}
		if s.Until == nil || out.Until != nil && s.Until.After(*out.Until) {
			out.Until = s.Until // not all crawl before
		}
	}
	if same {
		return out
	}
	where := map[string][]string{}
	for _, s := range list {
		if s.State != api.Crawling {
			text := strings.TrimSuffix(s.State+": "+s.Why, ": ")
			where[text] = append(where[text], fmt.Sprintf("%d of node %s", s.shard, s.node))
		}
	}
	var why []string
	for _, text := range slices.Sorted(maps.Keys(where)) {
		why = append(why, fmt.Sprintf("shard %s is %s", strings.Join(where[text], ", "), text))
	}
	out.Why = strings.Join(why, "; ")
	has := func(state string) bool {
		return slices.ContainsFunc(list, func(s standing) bool { return s.State == state })
	}
	switch {
	case has(api.Crawling):
		out.State, out.Since, out.Until = api.Crawling, nil, nil
	case has(api.Held):
		out.State, out.Until = api.Held, nil
	}
	return out
}

// mostFailures returns the hosts of a status that could not be reached.
func mostFailures(list []api.Unreachable) []api.Unreachable {
	slices.SortStableFunc(list, func(a, b api.Unreachable) int { return cmp.Compare(b.Failures, a.Failures) })
	return list[:min(len(list), maxDown)]
}

// longestVisits returns the visits of a status.
func longestVisits(list []api.Visit) []api.Visit {
	slices.SortStableFunc(list, func(a, b api.Visit) int { return cmp.Compare(b.Seconds, a.Seconds) })
	return list[:min(len(list), maxVisits)]
}

// joinConfigs returns the configuration in force. A host file applies to nothing only if no shard knows such a host, so
// a warning must be of all shards that have this configuration.
func joinConfigs(parts []api.Config, _ url.Values) api.Config {
	out := parts[0]
	out.Faults, out.Warnings = []api.Fault{}, []api.Fault{}
	of, warned := map[string]int{}, map[string]int{}
	for _, p := range parts {
		of[p.Digest]++
		out.Loaded = later(out.Loaded, p.Loaded)
		if p.Tried != nil && (out.Tried == nil || p.Tried.After(*out.Tried)) {
			out.Tried = p.Tried
		}
		for _, w := range p.Warnings {
			warned[p.Digest+fmt.Sprint(w)]++
		}
		for _, f := range p.Faults {
			if !slices.Contains(out.Faults, f) {
				out.Faults = append(out.Faults, f)
			}
		}
	}
	for _, p := range parts {
		for _, w := range p.Warnings {
			if warned[p.Digest+fmt.Sprint(w)] == of[p.Digest] && !slices.Contains(out.Warnings, w) {
				out.Warnings = append(out.Warnings, w)
			}
		}
	}
	return out
}

// joinSites returns the state of chosen hosts.
func joinSites(parts []api.SitesStatus, asked url.Values) api.SitesStatus {
	out := parts[0]
	var alarms []api.Alarms
	var today []api.DayReport
	var states []standing
	for i, s := range parts {
		alarms, today = append(alarms, api.Alarms{Alarms: s.Alarms}), append(today, api.DayReport{All: s.Today})
		states = append(states, standing{Condition: s.Condition})
		if i == 0 {
			continue
		}
		out.Now = later(out.Now, s.Now)
		out.Hosts, out.URIs, out.Busy = out.Hosts.Plus(s.Hosts), out.URIs.Plus(s.URIs), out.Busy+s.Busy
		out.Down, out.Visits = append(out.Down, s.Down...), append(out.Visits, s.Visits...)
	}
	out.Condition = joinConditions(states)
	out.Down, out.Visits = mostFailures(out.Down), longestVisits(out.Visits)
	out.Alarms, out.Today = joinAlarms(alarms, asked).Alarms, days.Join(today).All
	return out
}

// earlier returns the earlier one of two times, without zero ones.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// later returns the later one of two times.
func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// plusKnown returns a sum; -1 if a part is not known.
func plusKnown(a, b int64) int64 {
	if a < 0 || b < 0 {
		return -1
	}
	return a + b
}
