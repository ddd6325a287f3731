package shards

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/admin/audit"
)

// chain answers a request that is repeated with a cursor. It asks one shard; the cursor names the next one.
func chain(x *exchange, to http.ResponseWriter, from *http.Request, p plan) {
	query, body, inside := from.URL.Query(), x.body, ""
	cursor := query.Get("cursor")
	if from.Method == http.MethodPost {
		var q struct {
			Cursor string `json:"cursor"`
			Select struct {
				Cursor string `json:"cursor"`
			} `json:"select"`
		}
		if len(body) > 0 && json.Unmarshal(body, &q) != nil {
			problem(to, http.StatusBadRequest, "the request is not valid JSON")
			return
		}
		if cursor = q.Cursor; strings.HasSuffix(from.URL.Path, "/steer") {
			cursor, inside = q.Select.Cursor, "select"
		}
	}
	at, rest := 0, ""
	if cursor != "" {
		number, after, cut := strings.Cut(cursor, ".")
		shard, err := strconv.Atoi(number)
		if at, rest = slices.Index(p.shards, shard), after; err != nil || !cut || at < 0 {
			problem(to, http.StatusBadRequest, fmt.Sprintf("%q is not the next of an answer to this request", cursor))
			return
		}
	}
	shard := p.shards[at]
	if from.Method == http.MethodPost {
		var err error
		if body, err = with(nonEmpty(p.bodyFor(shard, body)), inside, "cursor", rest); err != nil {
			problem(to, http.StatusBadRequest, err.Error())
			return
		}
	} else {
		query = withValue(query, "cursor", rest)
	}
	a, why := x.ask(from, shard, query, body)
	if why != "" {
		problem(to, http.StatusBadGateway, why+"; what the other shards have is not shown")
		return
	}
	if a.status == http.StatusOK {
		next := ""
		if at+1 < len(p.shards) {
			next = fmt.Sprintf("%d.", p.shards[at+1])
		}
		a.continueAt(shard, next)
	}
	a.write(to)
}

// continueAt makes the cursor of the rest of a shard one for all shards. next is the one after this shard.
func (a *answer) continueAt(shard int, next string) {
	all := map[string]json.RawMessage{}
	var rest string
	if json.Unmarshal(a.body.Bytes(), &all) != nil || all["next"] != nil && json.Unmarshal(all["next"], &rest) != nil {
		return
	}
	if rest != "" {
		next = fmt.Sprintf("%d.%s", shard, rest)
	}
	all["next"], _ = json.Marshal(next) // a string is always encoded
	a.encode(all)
}

func nonEmpty(body []byte) []byte {
	if len(body) == 0 {
		return []byte("{}")
	}
	return body
}

// encode replaces the body of an answer.
func (a *answer) encode(v any) {
	a.body.Reset()
	e := json.NewEncoder(&a.body)
	e.SetEscapeHTML(false)
	_ = e.Encode(v) // values that were decoded before can be encoded
}

// write writes an answer to the client.
func (a *answer) write(to http.ResponseWriter) {
	copyHeader(to.Header(), a.header)
	to.WriteHeader(a.status)
	_, _ = to.Write(a.body.Bytes()) // an error means that the client has gone
}

// answerWith answers the client with a value that was made of the answers of shards.
func answerWith(to http.ResponseWriter, value any) {
	a := &answer{header: http.Header{"Content-Type": {"application/json"}}, status: http.StatusOK}
	a.encode(value)
	a.write(to)
}

// sum passes an order on to all shards of a plan, and adds the counts in their answers. If one shard refuses it or
// cannot be asked, the answer is an error that says so; the order may be repeated.
func sum(x *exchange, to http.ResponseWriter, from *http.Request, p plan) {
	total := map[string]int64{}
	var done []string
	for _, shard := range p.shards {
		a, why := x.ask(from, shard, from.URL.Query(), p.bodyFor(shard, x.body))
		if why == "" && a.status == http.StatusOK {
			counts := map[string]int64{}
			if err := json.Unmarshal(a.body.Bytes(), &counts); err != nil {
				why = fmt.Sprintf("the answer of shard %d cannot be read; do all nodes have one version? %v", shard, err)
			}
			for name, n := range counts {
				total[name] += n
			}
		}
		switch {
		case why != "" && len(done) > 0:
			text := fmt.Sprintf("%s; done in the shards %s; repeat it for the others", why, strings.Join(done, ", "))
			problem(to, http.StatusBadGateway, text)
			return
		case why != "":
			problem(to, http.StatusBadGateway, why+"; nothing is done in any shard")
			return
		case a.status != http.StatusOK:
			a.write(to)
			return
		}
		done = append(done, strconv.Itoa(shard))
	}
	answerWith(to, total)
}

// whoever passes an order on to all shards of a plan, of which at least one must know what it is about. The answer is
// the first good one, or else the first refusal.
func whoever(x *exchange, to http.ResponseWriter, from *http.Request, p plan) {
	var first *answer
	for _, shard := range p.shards {
		a, why := x.ask(from, shard, from.URL.Query(), x.body)
		if why != "" {
			problem(to, http.StatusBadGateway, why+"; repeat it when that node answers")
			return
		}
		if first == nil || first.status != http.StatusOK && a.status == http.StatusOK {
			first = a
		}
	}
	first.write(to)
}

// joiner makes one list from the lists of several shards. asked is what the client asked for.
type joiner func(parts [][]byte, asked url.Values, body []byte) (any, error)

// gathered holds what the shards of a plan answered.
type gathered struct {
	parts   [][]byte
	shards  []int               // of the parts
	nodes   []string            // that crawl these shards
	missing map[string][]string // shards that could not be asked, by the reason
	notes   []string            // what else is missing
}

// gather asks all shards of a plan, and keeps their answers.
func (x *exchange) gather(
	to http.ResponseWriter, from *http.Request, p plan, query url.Values,
) (g gathered, ok bool) {
	var parts [][]byte
	g, ok = x.gatherEach(to, from, p, query, func(part []byte) { parts = append(parts, part) })
	g.parts = parts
	return g, ok
}

// gatherAs asks all shards of a plan, and returns their answers as values. If that fails, it answers the client itself,
// and ok is false.
func gatherAs[A any](
	x *exchange, to http.ResponseWriter, from *http.Request, p plan, query url.Values,
) (g gathered, parts []A, ok bool) {
	if g, ok = x.gather(to, from, p, query); !ok {
		return g, nil, false
	}
	parts, err := decode[A](g.parts)
	if err != nil {
		g.answer(to, nil, err)
	}
	return g, parts, err == nil
}

// gatherEach asks all shards of a plan, and calls see with each answer. If one refuses, or an order cannot be passed
// on, it answers the client itself, and ok is false. A shard that is just being handed over is missing.
func (x *exchange) gatherEach(
	to http.ResponseWriter, from *http.Request, p plan, query url.Values, see func(part []byte),
) (g gathered, ok bool) {
	g.missing = map[string][]string{}
	for _, shard := range p.shards {
		node := x.Node(shard)
		a, why := x.ask(from, shard, query, p.bodyFor(shard, x.body))
		if why == "" && a.status == http.StatusServiceUnavailable {
			why = fmt.Sprintf("node %s has no answer now: %s", node, a.why())
		}
		switch {
		case why != "" && from.Method == http.MethodPost:
			problem(to, http.StatusBadGateway, why)
			return g, false
		case why != "":
			g.missing[why] = append(g.missing[why], strconv.Itoa(shard))
		case a.status != http.StatusOK:
			a.write(to)
			return g, false
		default:
			see(a.body.Bytes())
			g.shards, g.nodes = append(g.shards, shard), append(g.nodes, node)
		}
	}
	if len(g.shards) == 0 {
		problem(to, http.StatusBadGateway, slices.Sorted(maps.Keys(g.missing))[0])
		return g, false
	}
	return g, true
}

// answer answers the client with a list, or with the error of joining it, and names the shards that are not in it.
func (g gathered) answer(to http.ResponseWriter, list any, err error) {
	if err != nil {
		problem(to, http.StatusBadGateway, "join the answers of all shards: "+err.Error()+"; do all nodes have one version?")
		return
	}
	var texts []string
	for _, why := range slices.Sorted(maps.Keys(g.missing)) {
		texts = append(texts, fmt.Sprintf("not in this answer: shard %s: %s", strings.Join(g.missing[why], ", "), why))
	}
	if texts = append(texts, g.notes...); len(texts) > 0 {
		to.Header().Set(api.MissingHeader, oneLine(strings.Join(texts, "; ")))
	}
	answerWith(to, list)
}

// joinLists answers with a list that is joined from the lists of all shards of a plan.
func joinLists(x *exchange, to http.ResponseWriter, from *http.Request, p plan) {
	asked := from.URL.Query()
	g, ok := x.gather(to, from, p, asked)
	if !ok {
		return
	}
	list, err := p.lists(g.parts, asked, x.body)
	g.answer(to, list, err)
}

// oneLine makes a text fit for a header.
func oneLine(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return ' '
		}
		return r
	}, s)
	return s[:min(len(s), 2000)]
}

// lists has the lists that are joined, by request.
var lists = map[string]joiner{
	"GET /names":  decoded(joinNames),
	"GET /new":    decoded(joinNew),
	"GET /alarms": decoded(joinAlarms),
	"GET /audit":  decoded(joinAudit),
	"GET /traps":  decoded(joinTraps),
	"GET /config": decoded(joinConfigs),

	"GET /status/sites": decoded(joinSites),
}

// answers makes one answer from the answers of the shards of a plan.
type answers func(x *exchange, to http.ResponseWriter, from *http.Request, p plan)

// folded returns how an answer is made of long lists: each is joined with the sum of the earlier ones, so that no more
// than two are in memory.
func folded[A any](join func(parts []A) A) answers {
	return func(x *exchange, to http.ResponseWriter, from *http.Request, p plan) {
		var all []A
		var faults []error
		g, ok := x.gatherEach(to, from, p, from.URL.Query(), func(part []byte) {
			var one A
			faults = append(faults, json.Unmarshal(part, &one))
			all = []A{join(append(all, one))}
		})
		if ok {
			g.answer(to, all[0], errors.Join(faults...))
		}
	}
}

// decoded returns the function of a joiner that gets the answers of the shards as values.
func decoded[A any](join func(parts []A, asked url.Values) A) joiner {
	return func(parts [][]byte, asked url.Values, _ []byte) (any, error) {
		list, err := decode[A](parts)
		if err != nil {
			return nil, err
		}
		return join(list, asked), nil
	}
}

// decode returns the answers of the shards as values.
func decode[A any](parts [][]byte) ([]A, error) {
	list := make([]A, len(parts))
	for i, p := range parts {
		if err := json.Unmarshal(p, &list[i]); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// maxNames is the maximum number of hosts that are shown differently from their names.
const maxNames = 10_000

func joinNames(parts []api.HostNames, _ url.Values) api.HostNames {
	out := api.HostNames{Hosts: map[string]api.HostName{}}
	for _, p := range parts {
		out.More = out.More || p.More
		for host, name := range p.Hosts {
			if len(out.Hosts) >= maxNames {
				out.More = true
				break
			}
			out.Hosts[host] = name
		}
		out.Sites = out.Sites.Over(p.Sites)
	}
	return out
}

// maxMissing is the maximum number of hosts in each list of what is missing.
const maxMissing = 20

func joinNew(parts []api.New, asked url.Values) api.New {
	out := parts[0]
	for i, p := range parts[1:] {
		out.Captures = append(out.Captures, p.Captures...)
		out.Silent, out.Down = append(out.Silent, p.Silent...), append(out.Down, p.Down...)
		out.Short = append(out.Short, p.Short...)
		out.More += p.More
		if out.AsOf == nil || p.AsOf == nil {
			out.AsOf = nil // not every shard was surveyed
		} else if p.AsOf.Before(*out.AsOf) {
			out.AsOf = parts[i+1].AsOf
		}
		maps.Copy(out.Sites, p.Sites)
	}
	slices.SortStableFunc(out.Captures, func(a, b api.Capture) int { return b.At.Compare(a.At) })
	limit := 50
	if n, err := strconv.Atoi(asked.Get("limit")); err == nil && n > 0 {
		limit = n
	}
	if n := len(out.Captures) - limit; n > 0 {
		out.Captures, out.More = out.Captures[:limit], out.More+n
	}
	slices.SortStableFunc(out.Down, func(a, b api.Unreachable) int { return b.Failures - a.Failures })
	slices.SortFunc(out.Short, func(a, b api.HostPace) int {
		return cmp.Or(cmp.Compare(b.Lost, a.Lost), cmp.Compare(a.Host, b.Host))
	})
	slices.SortStableFunc(out.Silent, func(a, b api.Alarm) int { return b.Since.Compare(a.Since) })
	out.Silent = out.Silent[:min(len(out.Silent), maxMissing)]
	out.Down, out.Short = out.Down[:min(len(out.Down), maxMissing)], out.Short[:min(len(out.Short), maxMissing)]
	return out
}

// joinAlarms joins alarms, newest first. All shards of a node raise the alarms about the node: they are shown once.
func joinAlarms(parts []api.Alarms, _ url.Values) api.Alarms {
	out := api.Alarms{Alarms: []api.Alarm{}}
	known := map[[3]string]bool{}
	for _, p := range parts {
		for _, a := range p.Alarms {
			if key := [3]string{a.Kind, a.About, a.Text}; !known[key] {
				known[key] = true
				out.Alarms = append(out.Alarms, a)
			}
		}
	}
	slices.SortStableFunc(out.Alarms, func(a, b api.Alarm) int { return b.Since.Compare(a.Since) })
	return out
}

// joinAudit joins the entries of audit logs, newest first.
func joinAudit(parts []api.Audit, asked url.Values) api.Audit {
	out := api.Audit{Entries: []audit.Entry{}}
	for _, p := range parts {
		out.Entries = append(out.Entries, p.Entries...)
	}
	slices.SortStableFunc(out.Entries, func(a, b audit.Entry) int { return b.Time.Compare(a.Time) })
	limit := 100
	if n, err := strconv.Atoi(asked.Get("limit")); err == nil {
		limit = n // the shards have checked it
	}
	out.Entries = out.Entries[:min(limit, len(out.Entries))]
	return out
}

// maxTraps is the maximum number of rows in each list of traps.
const maxTraps = 10_000

func joinTraps(parts []api.Traps, _ url.Values) api.Traps {
	out := api.Traps{Traps: []api.Trap{}}
	for _, p := range parts {
		out.Traps, out.Budgets = append(out.Traps, p.Traps...), append(out.Budgets, p.Budgets...)
		out.More = out.More || p.More
	}
	slices.SortStableFunc(out.Traps, func(a, b api.Trap) int { return cmp.Compare(a.Host, b.Host) })
	slices.SortStableFunc(out.Budgets, func(a, b api.Budget) int { return cmp.Compare(a.Host, b.Host) })
	out.More = out.More || len(out.Traps) > maxTraps
	out.Traps, out.Budgets = out.Traps[:min(len(out.Traps), maxTraps)], out.Budgets[:min(len(out.Budgets), maxTraps)]
	return out
}

// captures joins what shards say of captures, in the order in which the URIs were asked for.
func captures(parts [][]byte, asked url.Values, body []byte) (any, error) {
	var q api.CaptureQuestion
	if err := json.Unmarshal(body, &q); err != nil {
		return nil, err
	}
	if !bytes.Contains(parts[0], []byte(`"condition"`)) {
		return decoded(joinStarted)(parts, asked, nil)
	}
	return decoded(func(parts []api.CaptureProgress, _ url.Values) api.CaptureProgress {
		out := parts[0]
		for _, p := range parts[1:] {
			out.URIs = append(out.URIs, p.URIs...)
		}
		at := func(r api.CaptureRow) int {
			if i := slices.Index(q.URIs, r.URI); i >= 0 {
				return i
			}
			return len(q.URIs)
		}
		slices.SortStableFunc(out.URIs, func(a, b api.CaptureRow) int { return at(a) - at(b) })
		return out
	})(parts, asked, nil)
}

func joinStarted(parts []api.CaptureStarted, _ url.Values) api.CaptureStarted {
	out := parts[0]
	for _, p := range parts[1:] {
		if p.Since.Before(out.Since) {
			out.Since = p.Since
		}
		out.URIs, out.Outside = append(out.URIs, p.URIs...), append(out.Outside, p.Outside...)
		out.Faults = append(out.Faults, p.Faults...)
	}
	return out
}
