package fleet

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"github.com/arcrawl/arcrawl/admin/api"
)

// The bounds of a page of hosts in the whole crawl.
const (
	maxHosts   = 1000   // of one answer
	hostsAsked = 100    // without a limit
	deepest    = 20_000 // end of the last page
)

// page returns the parameters of a page of hosts.
func page(asked url.Values) (limit, offset int, err error) {
	limit = hostsAsked
	if text := asked.Get("limit"); text != "" {
		if limit, err = strconv.Atoi(text); err != nil || limit < 1 || limit > maxHosts {
			return 0, 0, fmt.Errorf("limit %q is not a number from 1 to %d", text, maxHosts)
		}
	}
	if text := asked.Get("offset"); text != "" {
		if offset, err = strconv.Atoi(text); err != nil || offset < 0 || limit+offset > deepest {
			return 0, 0, fmt.Errorf("offset %q is not a number from 0, or ends after %d hosts, the maximum for all nodes of "+
				"a cluster: narrow the list with q or state, or name a node", text, deepest)
		}
	}
	return limit, offset, nil
}

// joinHosts answers with a page of the hosts of all nodes. It asks each node for its hosts up to the end of the page.
func joinHosts(x *exchange, to http.ResponseWriter, from *http.Request, p plan) {
	asked := from.URL.Query()
	limit, offset, err := page(asked)
	if err != nil {
		problem(to, http.StatusBadRequest, err.Error())
		return
	}
	out := api.Hosts{Hosts: []api.Host{}}
	var notes []string
	for begin := 0; begin < limit+offset && len(p.nodes) > 0; begin += maxHosts {
		query := withValue(asked, "limit", strconv.Itoa(min(maxHosts, limit+offset-begin)))
		g, ok := x.gather(to, from, p, withValue(query, "offset", strconv.Itoa(begin)))
		if !ok {
			return
		}
		notes = append(notes, g.notes...)
		var parts []api.Hosts
		if parts, err = decode[api.Hosts](g.parts); err != nil {
			break
		}
		var round api.Hosts
		if round, err = joinGathered(x, &g, from, parts); err != nil {
			break
		}
		hosts := append(out.Hosts, round.Hosts...)
		if begin == 0 {
			out = round
		}
		out.Hosts = hosts
		var more []string
		for i, part := range parts {
			if part.Total > begin+maxHosts {
				more = append(more, g.nodes[i])
			}
		}
		sortHosts(out.Hosts, asked.Get("sort"))
		out.Hosts, p.nodes = out.Hosts[:min(limit+offset, len(out.Hosts))], more
	}
	out.Hosts = out.Hosts[min(offset, len(out.Hosts)):]
	gathered{notes: notes}.answer(to, out, err)
}

// sortHosts sorts hosts as one node does.
func sortHosts(hosts []api.Host, by string) {
	larger := map[string]func(a, b api.Host) int{
		"overdue":  func(a, b api.Host) int { return cmp.Compare(b.Overdue, a.Overdue) },
		"uris":     func(a, b api.Host) int { return cmp.Compare(b.URIs, a.URIs) },
		"failures": func(a, b api.Host) int { return cmp.Compare(b.Failures, a.Failures) },
	}[by]
	slices.SortFunc(hosts, func(a, b api.Host) int {
		order := 0
		if larger != nil {
			order = larger(a, b)
		}
		return cmp.Or(order, cmp.Compare(a.Host, b.Host))
	})
}
