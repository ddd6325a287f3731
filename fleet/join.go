package fleet

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"

	"github.com/arcrawl/arcrawl/admin/api"
)

// chain answers a request that is repeated with a cursor. It asks one node; the cursor names the next one.
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
		name, after, cut := strings.Cut(cursor, cursorMark)
		node, err := url.QueryUnescape(name)
		if at, rest = slices.Index(p.nodes, node), after; err != nil || !cut || at < 0 {
			problem(to, http.StatusBadRequest, fmt.Sprintf("%q is not the next of an answer to this request, or its node does "+
				"not answer now: begin again", cursor))
			return
		}
	}
	node := p.nodes[at]
	if from.Method == http.MethodPost {
		var err error
		if body, err = with(nonEmpty(p.bodyFor(node, body)), inside, "cursor", rest); err != nil {
			problem(to, http.StatusBadRequest, err.Error())
			return
		}
	} else {
		query = withValue(query, "cursor", rest)
	}
	a, why := x.ask(from, node, query, body)
	if why != "" {
		problem(to, http.StatusBadGateway, why+"; what the other nodes have is not shown")
		return
	}
	if a.status == http.StatusOK {
		next := ""
		if at+1 < len(p.nodes) {
			next = cursorAt(p.nodes[at+1], "")
		}
		a.continueAt(node, next)
	}
	a.write(to)
}

// cursorMark is between the name of a node and the rest of a cursor. An encoded name does not have it.
const cursorMark = ":"

// cursorAt returns the cursor of the rest of a node.
func cursorAt(node, rest string) string { return url.QueryEscape(node) + cursorMark + rest }

// continueAt makes the cursor of the rest of a node one for all nodes. next is the one after this node.
func (a *answer) continueAt(node, next string) {
	all := map[string]json.RawMessage{}
	var rest string
	if json.Unmarshal(a.body.Bytes(), &all) != nil || all["next"] != nil && json.Unmarshal(all["next"], &rest) != nil {
		return
	}
	if rest != "" {
		next = cursorAt(node, rest)
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

// answerWith answers the client with a value that was made of the answers of nodes.
func answerWith(to http.ResponseWriter, value any) {
	a := &answer{header: http.Header{"Content-Type": {"application/json"}}, status: http.StatusOK}
	a.encode(value)
	a.write(to)
}

// sum passes an order on to all nodes of a plan, and adds the counts in their answers.
func sum(x *exchange, to http.ResponseWriter, from *http.Request, p plan) {
	g, ok := x.order(to, from, p)
	if !ok {
		return
	}
	total := map[string]int64{}
	all, err := decode[map[string]int64](g.parts)
	for _, counts := range all {
		for name, n := range counts {
			total[name] += n
		}
	}
	g.answer(to, total, err)
}

// everyone passes an order about the condition of the crawl on to all nodes, and answers with it.
func everyone(x *exchange, to http.ResponseWriter, from *http.Request, p plan) {
	g, ok := x.order(to, from, p)
	if !ok {
		return
	}
	var out api.Condition
	have, err := decode[api.Condition](g.parts)
	if err == nil {
		out = joinConditions(nil, have, g.nodes)
	}
	g.answer(to, out, err)
}

// order passes an order on to all nodes of a plan, also if one of them refuses it or cannot be asked. Then it answers
// the client with an error that says which nodes have the order, and ok is false; the order may be repeated.
func (x *exchange) order(to http.ResponseWriter, from *http.Request, p plan) (g gathered, ok bool) {
	var failed []string
	for _, node := range p.nodes {
		a, why := x.ask(from, node, from.URL.Query(), p.bodyFor(node, x.body))
		switch {
		case why != "":
			failed = append(failed, why)
		case a.status == http.StatusOK:
			g.parts, g.nodes = append(g.parts, a.body.Bytes()), append(g.nodes, node)
		case len(g.nodes)+len(failed) == 0:
			a.write(to) // the order is wrong, or the caller may not give it
			return g, false
		default:
			failed = append(failed, fmt.Sprintf("node %s refuses: %s", node, a.why()))
		}
	}
	if len(failed) == 0 {
		return g, true
	}
	where := "done on no node"
	if len(g.nodes) > 0 {
		where = "done on node " + strings.Join(g.nodes, ", ")
	}
	problem(to, http.StatusBadGateway, strings.Join(failed, "; ")+"; "+where+"; repeat it for the others")
	return g, false
}

// whoever passes an order on to all nodes of a plan, of which at least one must know what it is about. The answer is
// the first good one, or else the first refusal.
func whoever(x *exchange, to http.ResponseWriter, from *http.Request, p plan) {
	var first *answer
	for _, node := range p.nodes {
		a, why := x.ask(from, node, from.URL.Query(), x.body)
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

// gathered holds what the nodes of a plan answered.
type gathered struct {
	parts [][]byte
	nodes []string // of the parts
	notes []string // what is missing
}

// gather asks all nodes of a plan, and keeps their answers.
func (x *exchange) gather(
	to http.ResponseWriter, from *http.Request, p plan, query url.Values,
) (g gathered, ok bool) {
	var parts [][]byte
	g, ok = x.gatherEach(to, from, p, query, func(part []byte) { parts = append(parts, part) })
	g.parts = parts
	return g, ok
}

// ask asks all nodes of a plan, and returns their answers, and these joined. If that fails, it answers the client
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

// joinGathered joins the answers of the nodes of a plan.
func joinGathered[A any](x *exchange, g *gathered, from *http.Request, parts []A) (A, error) {
	j := joining{from: from, body: x.body}
	all, err := join(&j, parts, g.nodes)
	g.notes = append(g.notes, j.notes...)
	return all, err
}

// gatherEach asks all nodes of a plan, and calls see with each answer. If one refuses, or an order cannot be passed on,
// it answers the client itself, and ok is false. A node that is just starting or stopping is missing.
func (x *exchange) gatherEach(
	to http.ResponseWriter, from *http.Request, p plan, query url.Values, see func(part []byte),
) (g gathered, ok bool) {
	for _, node := range p.nodes {
		a, why := x.ask(from, node, query, p.bodyFor(node, x.body))
		if why == "" && a.status == http.StatusServiceUnavailable {
			why = fmt.Sprintf("node %s has no answer now: %s", node, a.why())
		}
		switch {
		case why != "" && from.Method == http.MethodPost:
			problem(to, http.StatusBadGateway, why)
			return g, false
		case why != "":
			g.notes = append(g.notes, "not in this answer: "+why)
		case a.status != http.StatusOK:
			a.write(to)
			return g, false
		default:
			see(a.body.Bytes())
			g.nodes = append(g.nodes, node)
		}
	}
	if len(g.nodes) == 0 {
		problem(to, http.StatusBadGateway, strings.Join(g.notes, "; "))
		return g, false
	}
	return g, true
}

// answer answers the client with a list, or with the error of joining it, and says what is not in it.
func (g gathered) answer(to http.ResponseWriter, list any, err error) {
	if err != nil {
		problem(to, http.StatusBadGateway, "join the answers of all nodes: "+err.Error()+"; do all nodes have one version?")
		return
	}
	addMissing(to, g.notes...)
	answerWith(to, list)
}

// joinAnswers makes one answer from the answers of the nodes of a plan.
type joinAnswers func(x *exchange, to http.ResponseWriter, from *http.Request, p plan)

// joined is how one answer is made of the answers to a request.
type joined struct {
	answers joinAnswers
	check   func() error // returns an error unless each field of the type says how it is joined; nil = no fields are
	whole   bool         // see plan
}

// all returns how the answers of all nodes of a plan are joined. away says what is missing of nodes that are away.
func all[A any](away ...string) joined {
	return joined{
		answers: func(x *exchange, to http.ResponseWriter, from *http.Request, p plan) {
			if g, _, all, ok := ask[A](x, to, from, p, from.URL.Query()); ok {
				for _, what := range away {
					g.noteAway(x, from, what)
				}
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
			next, err := join(&joining{}, two, make([]string, len(two)))
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

// ofWhole returns how answers are joined that are about the crawl as a whole.
func (h joined) ofWhole() joined {
	h.whole = true
	return h
}

// decode returns the answers of the nodes as values.
func decode[A any](parts [][]byte) ([]A, error) {
	list := make([]A, len(parts))
	for i, p := range parts {
		if err := json.Unmarshal(p, &list[i]); err != nil {
			return nil, err
		}
	}
	return list, nil
}
