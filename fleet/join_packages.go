package fleet

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/arcrawl/arcrawl/admin/api"
)

// orderPackages orders a package at each node, which has only its own part of the archive. The answer is the first one.
func orderPackages(x *exchange, to http.ResponseWriter, from *http.Request, p plan) {
	var g gathered
	var first *answer
	var done []string
	for _, node := range p.nodes {
		a, why := x.ask(from, node, from.URL.Query(), x.body)
		if why == "" && a.status != http.StatusOK {
			why = a.why()
		}
		switch {
		case why == "":
			first, done = cmp.Or(first, a), append(done, node)
		case a != nil && a.status < http.StatusInternalServerError && first == nil: // all would refuse it
			a.write(to)
			return
		default:
			g.notes = append(g.notes, fmt.Sprintf("not ordered at node %s: %s", node, why))
		}
	}
	if first == nil {
		problem(to, http.StatusBadGateway, cmp.Or(strings.Join(g.notes, "; "), "no node crawls now"))
		return
	}
	g.notes = append(g.notes, fmt.Sprintf("each of the nodes %s makes a package of its archive", strings.Join(done, ", ")))
	g.noteAway(x, from, "the archive")
	var one api.Package
	g.answer(to, &one, json.Unmarshal(first.body.Bytes(), &one))
}

// noteAway notes that something of the nodes that are away is not in an answer.
func (g *gathered) noteAway(x *exchange, from *http.Request, what string) {
	all, err := x.nodes.AllNames(from.Context())
	if err != nil {
		g.notes = append(g.notes, fmt.Sprintf("%s of nodes that are away is not in this answer; their names cannot be read: %v", what, err))
		return
	}
	away := slices.DeleteFunc(slices.Clone(all), func(name string) bool { return slices.Contains(x.names, name) })
	if len(away) > 0 {
		g.notes = append(g.notes, fmt.Sprintf("not in this answer: %s of node %s, which is away", what,
			strings.Join(away, ", ")))
	}
}
