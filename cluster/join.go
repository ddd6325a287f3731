package cluster

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/arcrawl/arcrawl/admin/api"
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

// ask asks all shards of a plan, and returns their answers, and these joined. If that fails, it answers the client
// itself, and ok is false.
func ask[A any](
	x *exchange, to http.ResponseWriter, from *http.Request, p plan, query url.Values,
) (g gathered, parts []A, all A, ok bool) {
	if g, ok = x.gather(to, from, p, query); !ok {
		return g, nil, all, false
	}
	parts, err := decode[A](g.parts)
	if err == nil {
		all, err = joinGathered(x, &g, from, parts)
	}
	if err != nil {
		g.answer(to, nil, err)
	}
	return g, parts, all, err == nil
}

// joinGathered joins the answers of the shards of a plan.
func joinGathered[A any](x *exchange, g *gathered, from *http.Request, parts []A) (A, error) {
	j := joining{nodes: g.nodes, shards: g.shards, named: true, from: from, body: x.body}
	all, err := join(&j, parts)
	g.notes = append(g.notes, j.notes...)
	return all, err
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

// joinAnswers makes one answer from the answers of the shards of a plan.
type joinAnswers func(x *exchange, to http.ResponseWriter, from *http.Request, p plan)

// joined is how answers of one type are joined.
type joined struct {
	answers joinAnswers
	check   func() error // returns an error unless each field of the type says how it is joined
}

// all returns how the answers of all shards of a plan are joined.
func all[A any]() joined {
	return joined{
		answers: func(x *exchange, to http.ResponseWriter, from *http.Request, p plan) {
			if g, _, all, ok := ask[A](x, to, from, p, from.URL.Query()); ok {
				g.answer(to, all, nil)
			}
		},
		check: func() error { return declared(reflect.TypeFor[A]()) },
	}
}

// folded returns how an answer is made of long lists: each is joined with the sum of the earlier ones, so that no more
// than two are in memory.
func folded[A any]() joined {
	how := all[A]()
	how.answers = func(x *exchange, to http.ResponseWriter, from *http.Request, p plan) {
		var sum []A
		var faults []error
		g, ok := x.gatherEach(to, from, p, from.URL.Query(), func(part []byte) {
			var one A
			faults = append(faults, json.Unmarshal(part, &one))
			two := append(sum, one)
			j := joining{nodes: make([]string, len(two)), shards: make([]int, len(two))}
			next, err := join(&j, two)
			sum, faults = []A{next}, append(faults, err)
		})
		if ok {
			g.answer(to, sum[0], errors.Join(faults...))
		}
	}
	return how
}

// with returns how answers are joined that need other questions or notes than the others.
func (h joined) with(a joinAnswers) joined {
	h.answers = a
	return h
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
