package fleet

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/uri"
)

// plan says which nodes answer a request. The zero value means that nothing in it says that.
type plan struct {
	nodes []string
	// join, when set, makes one answer from the answers of the nodes.
	join joinAnswers
	// bodies has what each node is asked, if that is not the body of the request.
	bodies map[string][]byte
	all    bool // it is about the hosts of all nodes
	whole  bool // it is about the crawl as a whole: the node of a cookie answers instead
}

// bodyFor returns what a node is asked, if body is the body of the request.
func (p plan) bodyFor(node string, body []byte) []byte {
	if p.bodies != nil {
		return p.bodies[node]
	}
	return body
}

// Requests whose parameter uri, or field uri of the body, names a URI.
var aboutURI = []string{
	"GET /uri", "GET /why", "GET /why-not", "GET /versions", "GET /record", "GET /compare", "GET /picture", "GET /history",
	"GET /view", "GET /fronts/month", "GET /fronts/day", "GET /fronts/moved", "GET /fronts/picture",
	"POST /fronts/picture", "POST /ignore/propose", "POST /ignore/suggest", "POST /ignore/preview",
}

// Requests whose parameter host, or field host of the body, may name a host.
var aboutHost = []string{
	"GET /overdue", "GET /reports/days", "GET /traps", "GET /new", "GET /search", "GET /noise", "POST /traps/release",
}

// joins has the other requests to all nodes, and how one answer is made of theirs.
func joins() map[string]joined {
	return map[string]joined{
		"GET /names": all[api.HostNames](), "GET /new": all[api.New](), "GET /alarms": all[api.Alarms](),
		"GET /audit": all[api.Audit](), "GET /traps": all[api.Traps](), "GET /config": all[api.Config](),
		"GET /packages": all[api.Packages](), "GET /fronts": all[api.Fronts](), "GET /log": all[api.Log]("the log"),
		"GET /hosts":  all[api.Hosts]().with(joinHosts),
		"GET /search": {answers: chain}, "GET /noise": {answers: chain},

		"GET /status": all[api.Status]().ofWhole(), "GET /status/sites": all[api.SitesStatus](),
		"GET /series":          all[api.Series]("the counts").ofWhole(),
		"GET /overdue":         all[api.Overdue]().with(joinOverdue).ofWhole(),
		"GET /reports/days":    folded[api.DayReport]().ofWhole(),
		"GET /reports/headers": folded[api.HeaderReport]().ofWhole(),
		"GET /reports/dedup":   all[api.DedupReport]().with(joinDedup).ofWhole(),

		"POST /pause": joined{answers: everyone}.ofWhole(), "POST /resume": joined{answers: everyone}.ofWhole(),
		"POST /capture": all[api.CaptureStarted](), "POST /capture/progress": all[api.CaptureProgress](),
		"POST /frontier/hosts": {answers: sum}, "POST /alarms/acknowledge": {answers: whoever},
		"POST /packages": {answers: orderPackages},
	}
}

// question holds the fields of requests that decide about nodes.
type question struct {
	URI     string   `json:"uri"`
	Host    string   `json:"host"`
	Pattern string   `json:"pattern"`
	URIs    []string `json:"uris"`
	Select  struct {
		Host string   `json:"host"`
		URIs []string `json:"uris"`
	} `json:"select"`
	Entries []json.RawMessage `json:"entries"`
}

// errNobody means that no node crawls a host.
var errNobody = errors.New("try again in half a minute")

// planOf returns the plan for a request. The error is [errNobody] if no node crawls a host that it is about.
func (x *exchange) planOf(r *http.Request) (p plan, err error) {
	path := strings.TrimPrefix(r.URL.Path, api.Base)
	name := r.Method + " " + path
	var q question
	if len(x.body) > 0 && json.Unmarshal(x.body, &q) != nil {
		return plan{}, nil // any node says what is wrong with it
	}
	if r.Method == http.MethodGet {
		q.URI, q.Host = r.URL.Query().Get("uri"), r.URL.Query().Get("host")
	}
	if rest, is := strings.CutPrefix(path, "/hosts/"); is {
		q.Host, _, _ = strings.Cut(rest, "/")
		return x.ofHost(q.Host)
	}
	switch {
	case name == "POST /packages" && q.URI != "", slices.Contains(aboutURI, name):
		p, err = x.ofURI(q.URI)
		if name == "GET /view" && len(p.nodes) == 1 && p.nodes[0] != x.nodes.Name() {
			err = fmt.Errorf("the versions of this URI are shown by node %s, which crawls it: open its dashboard", p.nodes[0])
		}
		return p, err
	case slices.Contains(aboutHost, name) && isOneHost(q.Host):
		return x.ofHost(q.Host)
	}
	switch name {
	case "POST /frontier/list", "POST /frontier/count":
		return x.ofSelection(q.Host, q.URIs, x.body, "")
	case "POST /frontier/steer":
		return x.ofSelection(q.Select.Host, q.Select.URIs, x.body, "select")
	case "POST /frontier/hosts":
		if isOneHost(q.Pattern) {
			return x.ofHost(q.Pattern)
		}
	case "POST /frontier/import":
		return x.ofEntries(q.Entries)
	case "POST /capture", "POST /capture/progress":
		p, err := divide(x.body, "", "uris", q.URIs, x.nodeOf)
		if len(p.nodes) > 0 {
			p.join = joins()[name].answers
		}
		return p, err
	}
	if how, is := joins()[name]; is {
		return plan{nodes: x.names, join: how.answers, all: true, whole: how.whole}, nil
	}
	return plan{}, nil
}

// isOneHost reports whether a text names a single host, and not a pattern of hosts.
func isOneHost(text string) bool { return text != "" && !strings.ContainsAny(text, "*?[") }

// crawler returns the node that crawls a host.
func (x *exchange) crawler(h uri.Host) (string, error) {
	node := x.nodes.Crawler(h)
	if node == "" {
		return "", fmt.Errorf("no node crawls %s now: %w", h, errNobody)
	}
	return node, nil
}

// nodeOf returns the node that crawls a URI; "" if the URI cannot be parsed.
func (x *exchange) nodeOf(text string) (string, error) {
	u, err := uri.Parse(text)
	if err != nil {
		return "", nil
	}
	return x.crawler(u.Host())
}

// ofHost returns the plan for a question about a host.
func (x *exchange) ofHost(host string) (plan, error) {
	node, err := x.crawler(uri.Host(strings.ToLower(host)))
	return plan{nodes: []string{node}}, err
}

// ofURI returns the plan for a question about a URI. Any node says what is wrong with one that cannot be parsed.
func (x *exchange) ofURI(text string) (plan, error) {
	node, err := x.nodeOf(text)
	if node == "" {
		return plan{}, err
	}
	return plan{nodes: []string{node}}, nil
}

// ofSelection returns the plan for a selection of URIs, which is in a field of the body, or is the body. Selections on
// several nodes are worked off one node after the other: the cursor says where to continue.
func (x *exchange) ofSelection(host string, uris []string, body []byte, field string) (p plan, err error) {
	switch {
	case isOneHost(host):
		p, err = x.ofHost(host)
	case len(uris) > 0:
		p, err = divide(body, field, "uris", uris, x.nodeOf)
	default:
		p = plan{nodes: x.names, all: true}
	}
	if err == nil && len(p.nodes) > 0 {
		p.join = chain
	}
	return p, err
}

// ofEntries returns the plan for URIs with their histories, each of which goes to its node.
func (x *exchange) ofEntries(entries []json.RawMessage) (plan, error) {
	faulty := false
	p, err := divide(x.body, "", "entries", entries, func(e json.RawMessage) (string, error) {
		var one struct {
			URI string `json:"uri"`
		}
		_ = json.Unmarshal(e, &one) // without a URI it is faulty
		node, err := x.nodeOf(one.URI)
		faulty = faulty || node == ""
		return node, err
	})
	if err != nil || faulty || len(p.nodes) == 0 {
		return plan{}, err // any node says what is wrong
	}
	p.join = sum
	return p, nil
}

// divide divides a list in a field of a body among nodes; inside names the object that has the field, or "". Elements
// that belong to no node go to the first one, which says why.
func divide[T any](
	body []byte, inside, field string, list []T, nodeOf func(T) (string, error),
) (p plan, err error) {
	of := map[string][]T{}
	for _, element := range list {
		node, err := nodeOf(element)
		if err != nil {
			return plan{}, err
		}
		of[node] = append(of[node], element)
	}
	faulty := of[""]
	if delete(of, ""); len(of) == 0 {
		return plan{}, nil
	}
	p = plan{nodes: slices.Sorted(maps.Keys(of)), bodies: map[string][]byte{}}
	of[p.nodes[0]] = append(of[p.nodes[0]], faulty...)
	for node, some := range of {
		if p.bodies[node], err = with(body, inside, field, some); err != nil {
			return plan{}, err
		}
	}
	return p, nil
}

// with returns a JSON object with another value of a field; inside names the object in it that has the field, or "".
func with(body []byte, inside, field string, value any) ([]byte, error) {
	all := map[string]json.RawMessage{}
	if err := json.Unmarshal(body, &all); err != nil {
		return nil, fmt.Errorf("read the request: %w", err)
	}
	var err error
	if inside != "" {
		inner := all[inside]
		if inner == nil {
			inner = json.RawMessage("{}")
		}
		all[inside], err = with(inner, "", field, value)
	} else {
		all[field], err = json.Marshal(value)
	}
	if err != nil {
		return nil, err
	}
	return json.Marshal(all)
}

// withValue returns a copy of a query with another value.
func withValue(q url.Values, name, value string) url.Values {
	out := maps.Clone(q)
	out.Set(name, value)
	return out
}
