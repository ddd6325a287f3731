package fleet

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/admin"
	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/config"
)

// The maximum numbers of rows in an answer, as of one node.
const (
	maxVisits  = 100
	maxDown    = 20
	maxMissing = 20
	maxNames   = 10_000
	maxTraps   = 10_000
	maxHeaders = 10_000
	maxDue     = 100_000
)

// fieldRules returns the rules for single fields.
func fieldRules() map[string]ruleOfField {
	rules := map[string]ruleOfField{
		"condition":   values(joinConditions),
		"least free":  values(leastFree),
		"due":         values(addDue),
		"unreachable": sorted(maxDown, func(a, b api.Unreachable) int { return cmp.Compare(b.Failures, a.Failures) }),
		"longest":     sorted(maxVisits, func(a, b api.Visit) int { return cmp.Compare(b.Seconds, a.Seconds) }),
		"alarms":      values(joinAlarms),
		"silent":      sorted(maxMissing, func(a, b api.Alarm) int { return b.Since.Compare(a.Since) }),
		"short": values(func(_ *joining, all [][]api.HostPace, _ []string) []api.HostPace {
			list := concat(all)
			admin.SortPace(list)
			return first(list, maxMissing)
		}),
		"all known": values(earliestOfAll),
		"texts by":  values(joinMaps[string]),
		"positions": values(joinPositions),
		"log lines": values(joinLines),
		"faults":    values(differentFaults),
		"entries":   values(joinEntries),
		"rows":      values(addRows),
		"asked":     values(inOrder),
		"packages":  values(joinPackages),
		"fronts": values(func(_ *joining, all [][]api.FrontPage, _ []string) []api.FrontPage {
			return api.SortFronts(concat(all))
		}),
		"today": values(joinToday),
	}
	maps.Copy(rules, simpleRules())
	return rules
}

// answerRules returns the rules for several fields of an answer, which depend on each other.
func answerRules() map[string]ruleOfAnswer {
	return map[string]ruleOfAnswer{
		"wings":    parts(joinNodes),
		"warnings": parts(joinWarnings),
		"captures": parts(joinCaptures),
		"names":    parts(joinNames),
		"traps":    parts(joinTraps),
		"headers":  parts(joinHeaders),
		"series":   parts(addSeries),
		"days": parts(func(_ *joining, all []api.DayReport, _ []string) (api.DayReport, error) {
			return joinDays(all), nil
		}),
		"overdue": parts(func(j *joining, all []api.Overdue, _ []string) (api.Overdue, error) {
			return sumOverdue(all, j.limit(100))
		}),
	}
}

// values makes a rule for fields of one type.
func values[V any](join func(j *joining, all []V, nodes []string) V) ruleOfField {
	return func(j *joining, list []reflect.Value, nodes []string) reflect.Value {
		out := join(j, valuesOf[V](list), nodes)
		return reflect.ValueOf(&out).Elem()
	}
}

// sorted makes a rule for lists: their first elements in an order.
func sorted[V any](most int, compare func(a, b V) int) ruleOfField {
	return values(func(_ *joining, all [][]V, _ []string) []V {
		list := concat(all)
		slices.SortStableFunc(list, compare)
		return first(list, most)
	})
}

// parts makes a rule for answers of one type.
func parts[A any](join func(j *joining, all []A, nodes []string) (A, error)) ruleOfAnswer {
	return func(j *joining, list []reflect.Value, nodes []string) (reflect.Value, error) {
		out, err := join(j, valuesOf[A](list), nodes)
		return reflect.ValueOf(&out).Elem(), err
	}
}

func valuesOf[V any](list []reflect.Value) []V {
	all := make([]V, len(list))
	for i, v := range list {
		all[i] = v.Interface().(V)
	}
	return all
}

// asked returns the parameters of the request.
func (j *joining) asked() url.Values {
	if j.from == nil {
		return nil
	}
	return j.from.URL.Query()
}

// limit returns how many rows the request asks for; the nodes have checked the number.
func (j *joining) limit(otherwise int) int {
	if n, err := strconv.Atoi(j.asked().Get("limit")); err == nil {
		return n
	}
	return otherwise
}

// concat returns the elements of all lists; never nil.
func concat[V any](all [][]V) []V {
	list := []V{}
	for _, some := range all {
		list = append(list, some...)
	}
	return list
}

// first returns the first elements of a list.
func first[V any](list []V, most int) []V { return list[:min(len(list), most)] }

// joinConditions returns the condition of several nodes. If they differ, it crawls if one of them does, and the reason
// names the nodes that do not crawl.
func joinConditions(_ *joining, list []api.Condition, nodes []string) api.Condition {
	out := list[0]
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
	where, states := map[string][]string{}, map[string]bool{}
	for i, s := range list {
		if states[s.State] = true; s.State != api.Crawling {
			text := strings.TrimSuffix(s.State+": "+s.Why, ": ")
			where[text] = append(where[text], nodes[i])
		}
	}
	var why []string
	for _, text := range slices.Sorted(maps.Keys(where)) {
		why = append(why, fmt.Sprintf("node %s is %s", strings.Join(where[text], ", "), text))
	}
	out.Why = strings.Join(why, "; ")
	switch {
	case states[api.Crawling]:
		out.State, out.Since, out.Until = api.Crawling, nil, nil
	case states[api.Held]:
		out.State, out.Until = api.Held, nil
	}
	return out
}

// leastFree returns the disk with the least space.
func leastFree(_ *joining, all []api.Disk, _ []string) api.Disk {
	return slices.MinFunc(all, func(a, b api.Disk) int { return cmp.Compare(a.Free, b.Free) })
}

// addDue adds numbers of due URIs, which are counted to a limit; -1 = one is not known yet.
func addDue(_ *joining, all []int64, _ []string) (sum int64) {
	for _, n := range all {
		if n < 0 {
			return -1
		}
		sum = min(sum+n, maxDue)
	}
	return sum
}

// joinAlarms joins alarms, newest first. One that several nodes raise is shown once. The text of an alarm that not all
// nodes raise begins with the names of those that do.
func joinAlarms(_ *joining, all [][]api.Alarm, nodes []string) []api.Alarm {
	out := []api.Alarm{}
	by := map[[3]string][]string{}
	key := func(a api.Alarm) [3]string { return [3]string{a.Kind, a.About, a.Text} }
	for i, list := range all {
		for _, a := range list {
			if by[key(a)] == nil {
				out = append(out, a)
			}
			by[key(a)] = append(by[key(a)], nodes[i])
		}
	}
	for i, a := range out {
		if some := by[key(a)]; len(some) < len(all) {
			out[i].Text = "node " + strings.Join(some, ", ") + ": " + a.Text
		}
	}
	slices.SortStableFunc(out, func(a, b api.Alarm) int { return b.Since.Compare(a.Since) })
	return out
}

// earliestOfAll returns the earliest time; nil if one is not known.
func earliestOfAll(_ *joining, all []*time.Time, _ []string) (out *time.Time) {
	for i, t := range all {
		switch {
		case t == nil:
			return nil
		case i == 0, t.Before(*out):
			out = t
		}
	}
	return out
}

func joinMaps[V any](_ *joining, all []map[string]V, _ []string) map[string]V {
	out := map[string]V{}
	for _, m := range all {
		maps.Copy(out, m)
	}
	return out
}

// differentFaults returns each fault once.
func differentFaults(_ *joining, all [][]config.Fault, _ []string) []config.Fault {
	out := []config.Fault{}
	for _, f := range concat(all) {
		if !slices.Contains(out, f) {
			out = append(out, f)
		}
	}
	return out
}

// joinWarnings returns the warnings about the configuration in force. A host file applies to nothing only if no node
// knows such a host, so a warning must be of all nodes that have this configuration.
func joinWarnings(_ *joining, all []api.Config, _ []string) (api.Config, error) {
	out := api.Config{Warnings: []config.Fault{}}
	of, warned := map[string]int{}, map[string]int{}
	for _, p := range all {
		of[p.Digest]++
		for _, w := range p.Warnings {
			warned[p.Digest+fmt.Sprint(w)]++
		}
	}
	for _, p := range all {
		for _, w := range p.Warnings {
			if warned[p.Digest+fmt.Sprint(w)] == of[p.Digest] && !slices.Contains(out.Warnings, w) {
				out.Warnings = append(out.Warnings, w)
			}
		}
	}
	return out, nil
}

// joinCaptures joins what is new, newest first.
func joinCaptures(j *joining, all []api.New, _ []string) (out api.New, err error) {
	for _, p := range all {
		out.Captures, out.More = append(out.Captures, p.Captures...), out.More+p.More
	}
	slices.SortStableFunc(out.Captures, func(a, b api.Capture) int { return b.At.Compare(a.At) })
	limit := j.limit(0)
	if limit <= 0 {
		limit = 50
	}
	if n := len(out.Captures) - limit; n > 0 {
		out.Captures, out.More = out.Captures[:limit], out.More+n
	}
	return out, nil
}

// joinNames joins the hosts that are shown differently from their names.
func joinNames(_ *joining, all []api.HostNames, _ []string) (api.HostNames, error) {
	out := api.HostNames{Hosts: map[string]api.HostName{}}
	for _, p := range all {
		out.More, out.Sites = out.More || p.More, out.Sites.Over(p.Sites)
		for host, name := range p.Hosts {
			if len(out.Hosts) >= maxNames {
				out.More = true
				break
			}
			out.Hosts[host] = name
		}
	}
	return out, nil
}

// joinEntries joins the entries of audit logs, newest first.
func joinEntries(j *joining, all [][]api.AuditEntry, _ []string) []api.AuditEntry {
	list := concat(all)
	slices.SortStableFunc(list, func(a, b api.AuditEntry) int { return b.Time.Compare(a.Time) })
	return first(list, j.limit(100))
}

// joinLines joins lines of crawl logs, the oldest first: the newest ones, or all that follow an earlier answer.
func joinLines(j *joining, all [][]api.LogLine, _ []string) []api.LogLine {
	list := concat(all)
	slices.SortStableFunc(list, func(a, b api.LogLine) int { return a.At.Compare(b.At) })
	if j.asked().Has("after") {
		return list
	}
	return list[max(0, len(list)-j.limit(100)):]
}

// joinPositions adds the positions of nodes that are missing now, so that no line of theirs is lost.
func joinPositions(j *joining, all []map[string]json.RawMessage, nodes []string) map[string]json.RawMessage {
	before := map[string]json.RawMessage{}
	_ = json.Unmarshal([]byte(j.asked().Get("after")), &before) // the nodes have read it
	return joinMaps(j, append([]map[string]json.RawMessage{before}, all...), nodes)
}

// joinTraps joins lists of traps by host.
func joinTraps(_ *joining, all []api.Traps, _ []string) (api.Traps, error) {
	out := api.Traps{Traps: []api.Trap{}}
	for _, p := range all {
		out.Traps, out.Budgets = append(out.Traps, p.Traps...), append(out.Budgets, p.Budgets...)
		out.More = out.More || p.More
	}
	slices.SortStableFunc(out.Traps, func(a, b api.Trap) int { return cmp.Compare(a.Host, b.Host) })
	slices.SortStableFunc(out.Budgets, func(a, b api.Budget) int { return cmp.Compare(a.Host, b.Host) })
	out.More = out.More || len(out.Traps) > maxTraps
	out.Traps, out.Budgets = first(out.Traps, maxTraps), first(out.Budgets, maxTraps)
	return out, nil
}

// joinHeaders joins the tables of validators and dates.
func joinHeaders(_ *joining, all []api.HeaderReport, _ []string) (api.HeaderReport, error) {
	out := api.HeaderReport{Rows: []api.HeaderTrust{}, Dates: []api.DateTrust{}, Indexes: []api.IndexTrust{}}
	for _, p := range all {
		out.Rows, out.Dates, out.More = append(out.Rows, p.Rows...), append(out.Dates, p.Dates...), out.More || p.More
		out.Indexes = append(out.Indexes, p.Indexes...)
	}
	slices.SortStableFunc(out.Rows, func(a, b api.HeaderTrust) int { return cmp.Compare(a.Host, b.Host) })
	slices.SortStableFunc(out.Dates, func(a, b api.DateTrust) int { return cmp.Compare(a.Host, b.Host) })
	slices.SortStableFunc(out.Indexes, func(a, b api.IndexTrust) int { return cmp.Compare(a.Host, b.Host) })
	out.More = out.More || len(out.Rows) > maxHeaders || len(out.Dates) > maxHeaders || len(out.Indexes) > maxHeaders
	out.Rows, out.Dates = first(out.Rows, maxHeaders), first(out.Dates, maxHeaders)
	out.Indexes = first(out.Indexes, maxHeaders)
	return out, nil
}

// inOrder returns what nodes say of captures, in the order in which the URIs were asked for.
func inOrder(j *joining, all [][]api.CaptureRow, _ []string) []api.CaptureRow {
	var q api.CaptureQuestion
	_ = json.Unmarshal(j.body, &q) // the nodes have read it
	at := func(r api.CaptureRow) int {
		if i := slices.Index(q.URIs, r.URI); i >= 0 {
			return i
		}
		return len(q.URIs)
	}
	list := concat(all)
	slices.SortStableFunc(list, func(a, b api.CaptureRow) int { return at(a) - at(b) })
	return list
}

// joinPackages joins packages, newest first. Their links name the nodes.
func joinPackages(_ *joining, all [][]api.Package, nodes []string) []api.Package {
	out := []api.Package{}
	for i, list := range all {
		for _, pack := range list {
			if pack.Link != "" {
				pack.Link += "?" + parameter + "=" + url.QueryEscape(nodes[i])
			}
			out = append(out, pack)
		}
	}
	slices.SortStableFunc(out, func(a, b api.Package) int { return b.Ordered.Compare(a.Ordered) })
	return out
}
