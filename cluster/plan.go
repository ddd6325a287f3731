package cluster

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/uri"
)

// plan says which shards answer a request. The zero value means that nothing in it says that.
type plan struct {
	shards []int
	// join, when set, makes one answer from the answers of the shards.
	join joinAnswers
	// bodies has what each shard is asked, if that is not the body of the request.
	bodies map[int][]byte
	whole  bool // it is about the crawl as a whole: the shard of a cookie answers instead
}

// bodyFor returns what a shard is asked, if body is the body of the request.
func (p plan) bodyFor(shard int, body []byte) []byte {
	if p.bodies != nil {
		return p.bodies[shard]
	}
	return body
}

// Requests whose parameter uri, or field uri of the body, names a URI.
var aboutURI = []string{
	"GET /uri", "GET /why", "GET /why-not", "GET /versions", "GET /record", "GET /compare", "GET /picture", "GET /history",
	"GET /fronts/month", "GET /fronts/day", "GET /fronts/moved", "GET /fronts/picture", "POST /fronts/picture",
	"POST /ignore/propose", "POST /ignore/suggest", "POST /ignore/preview",
}

// Requests whose parameter host, or field host of the body, may name a host.
var aboutHost = []string{
	"GET /overdue", "GET /reports/days", "GET /traps", "GET /new", "GET /search", "GET /noise", "POST /traps/release",
}

// joins has the other requests to all shards, and how the answers of the shards are joined.
func joins() map[string]joined {
	return map[string]joined{
		"GET /names": all[api.HostNames](), "GET /new": all[api.New](), "GET /alarms": all[api.Alarms](),
		"GET /audit": all[api.Audit](), "GET /traps": all[api.Traps](), "GET /config": all[api.Config](),
		"GET /packages": all[api.Packages](), "GET /fronts": all[api.Fronts](),
		"GET /hosts": all[api.Hosts]().with(joinHosts),

		"GET /status": all[api.Status](), "GET /status/sites": all[api.SitesStatus](), "GET /series": all[api.Series](),
		"GET /overdue":         all[api.Overdue]().with(joinOverdue),
		"GET /reports/days":    folded[api.DayReport](),
		"GET /reports/headers": folded[api.HeaderReport](),
		"GET /reports/dedup":   all[api.DedupReport]().with(joinDedup),

		"POST /capture": all[api.CaptureStarted](), "POST /capture/progress": all[api.CaptureProgress](),
	}
}

// aboutAll has the requests to all shards whose answers are not joined.
var aboutAll = map[string]joinAnswers{
	"POST /alarms/acknowledge": whoever,
	"GET /search":              chain, "GET /noise": chain,
	"POST /pause": everyone, "POST /resume": everyone,
}

// aboutWhole lists the requests about the crawl as a whole, which the shard of a cookie answers instead.
var aboutWhole = []string{
	"GET /status", "GET /series", "GET /overdue", "GET /reports/days", "GET /reports/headers",
	"POST /pause", "POST /resume",
}

// question holds the fields of requests that decide about shards.
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

// planOf returns the plan for a request.
func (x *exchange) planOf(r *http.Request) (p plan, err error) {
	path := strings.TrimPrefix(r.URL.Path, api.Base)
	name := r.Method + " " + path
	var q question
	if len(x.body) > 0 && json.Unmarshal(x.body, &q) != nil {
		return plan{}, nil // any shard says what is wrong with it
	}
	if r.Method == http.MethodGet {
		q.URI, q.Host = r.URL.Query().Get("uri"), r.URL.Query().Get("host")
	}
	if rest, is := strings.CutPrefix(path, "/hosts/"); is {
		q.Host, _, _ = strings.Cut(rest, "/")
		return x.ofHost(q.Host), nil
	}
	if slices.Contains(aboutURI, name) {
		return x.ofURI(q.URI), nil
	}
	if slices.Contains(aboutHost, name) && isOneHost(q.Host) {
		return x.ofHost(q.Host), nil
	}
	switch name {
	case "GET /view":
		if p := x.ofURI(q.URI); len(p.shards) == 1 && x.here[p.shards[0]] == nil {
			return plan{}, fmt.Errorf("the versions of this URI are shown by node %s, which crawls it: open its dashboard",
				x.Node(p.shards[0]))
		}
		return x.ofURI(q.URI), nil
	case "POST /frontier/list", "POST /frontier/count":
		return x.ofSelection(q.Host, q.URIs, x.body, "")
	case "POST /frontier/steer":
		return x.ofSelection(q.Select.Host, q.Select.URIs, x.body, "select")
	case "POST /frontier/hosts":
		if isOneHost(q.Pattern) {
			return x.ofHost(q.Pattern), nil
		}
		return plan{shards: x.all(), join: sum}, nil
	case "POST /frontier/import":
		return x.ofEntries(q.Entries)
	case "POST /capture", "POST /capture/progress":
		p, err := divide(x.body, "", "uris", q.URIs, x.shardOf)
		if len(p.shards) > 0 {
			p.join = joins()[name].answers
		}
		return p, err
	case "GET /reports/dedup":
		return plan{shards: x.ofNodes(), join: joinDedup, whole: true}, nil
	case "POST /packages":
		if q.URI != "" {
			return x.ofURI(q.URI), nil
		}
		return plan{shards: x.ofNodes(), join: orderPackages}, nil
	}
	return x.ofAll(name), nil
}

// ofAll returns the plan for a request to all shards; the zero value if it is about one shard.
func (x *exchange) ofAll(name string) plan {
	join := aboutAll[name]
	if how, is := joins()[name]; is {
		join = how.answers
	}
	if join == nil {
		return plan{}
	}
	return plan{shards: x.all(), join: join, whole: slices.Contains(aboutWhole, name)}
}

// all returns all shards.
func (x *exchange) all() (list []int) {
	for shard := range x.Shards {
		list = append(list, shard+1)
	}
	return list
}

// ofNodes returns one shard of each node, for what all shards of a node have in common.
func (x *exchange) ofNodes() (list []int) {
	known := map[string]bool{"": true}
	for _, shard := range x.all() {
		if node := x.Node(shard); !known[node] {
			known[node] = true
			list = append(list, shard)
		}
	}
	return list
}

// isOneHost reports whether a text names a single host, and not a pattern of hosts.
func isOneHost(text string) bool { return text != "" && !strings.ContainsAny(text, "*?[") }

// ofHost returns the plan for a question about a host.
func (x *exchange) ofHost(host string) plan {
	return plan{shards: []int{x.ShardOf(uri.Host(strings.ToLower(host)))}}
}

// ofURI returns the plan for a question about a URI. Any shard says what is wrong with one that cannot be parsed.
func (x *exchange) ofURI(text string) plan {
	if shard := x.shardOf(text); shard > 0 {
		return plan{shards: []int{shard}}
	}
	return plan{}
}

// ofSelection returns the plan for a selection of URIs, which is in a field of the body, or is the body. Selections of
// several shards are worked off one shard after the other: the cursor says where to continue.
func (x *exchange) ofSelection(host string, uris []string, body []byte, field string) (p plan, err error) {
	switch {
	case isOneHost(host):
		p = x.ofHost(host)
	case len(uris) > 0:
		p, err = divide(body, field, "uris", uris, x.shardOf)
		if err != nil {
			return plan{}, err
		}
	default:
		p = plan{shards: x.all()}
	}
	if len(p.shards) > 0 {
		p.join = chain
	}
	return p, nil
}

// shardOf returns the shard of a URI; 0 if the URI cannot be parsed.
func (x *exchange) shardOf(text string) int {
	u, err := uri.Parse(text)
	if err != nil {
		return 0
	}
	return x.ShardOf(u.Host())
}

// divide divides a list in a field of a body among shards; inside names the object that has the field, or "". Elements
// that belong to no shard go to the first one, which says why.
func divide[T any](body []byte, inside, field string, list []T, shardOf func(T) int) (p plan, err error) {
	of := map[int][]T{}
	for _, element := range list {
		shard := shardOf(element)
		of[shard] = append(of[shard], element)
	}
	faulty := of[0]
	if delete(of, 0); len(of) == 0 {
		return plan{}, nil
	}
	p = plan{shards: slices.Sorted(maps.Keys(of)), bodies: map[int][]byte{}}
	of[p.shards[0]] = append(of[p.shards[0]], faulty...)
	for shard, some := range of {
		if p.bodies[shard], err = with(body, inside, field, some); err != nil {
			return plan{}, err
		}
	}
	return p, nil
}

// ofEntries returns the plan for URIs with their histories, each of which goes to its shard.
func (x *exchange) ofEntries(entries []json.RawMessage) (plan, error) {
	faulty := false
	p, err := divide(x.body, "", "entries", entries, func(e json.RawMessage) int {
		var one struct {
			URI string `json:"uri"`
		}
		_ = json.Unmarshal(e, &one) // without a URI it is faulty
		shard := x.shardOf(one.URI)
		faulty = faulty || shard == 0
		return shard
	})
	if faulty || err != nil || len(p.shards) == 0 {
		return plan{}, err // any shard says what is wrong
	}
	p.join = sum
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
