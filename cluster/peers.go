package cluster

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/arcrawl/arcrawl/admin/access"
	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/uri"
)

// peers says which nodes crawl the shards of a divided crawl, and asks them.
type peers struct {
	Shards  int                // of the crawl
	ShardOf func(uri.Host) int // of a host

	// Node returns the name of the node that crawls a shard, or "".
	Node func(shard int) string
	// Nodes returns the names of all nodes, also of those that crawl nothing or do not answer.
	Nodes func(context.Context) ([]string, error)
	// Ask sends a request to the node that crawls a shard. The path of the request is the one of the API.
	Ask func(r *http.Request, shard int) (*http.Response, error)
}

// The bounds of one request, in bytes. An answer that is passed on needs no memory.
const (
	maxBody = 48 << 20 // of an order; the largest list of seeds fits
	maxPart = 32 << 20 // of the answer of one shard that is joined with others
)

// Join lets requests reach the shards that other nodes crawl.
func (s *switchboard) Join(c peers) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cluster = c
}

// clusterFor returns the nodes and shards that requests at an address may reach. What another node has passed on goes
// no further, so no request goes in circles.
func (s *switchboard) clusterFor(o access.Options) peers {
	s.mu.Lock()
	defer s.mu.Unlock()
	if o.Caller != nil {
		return peers{}
	}
	return s.cluster
}

// exchange answers one request to the whole crawl.
type exchange struct {
	peers
	here map[int]http.Handler // shards of this node
	body []byte               // of the request
	down map[string]string    // nodes that did not answer, and why
}

type exchangeKey struct{}

// serveExchange serves a request whose context has an exchange, when its caller is known.
func serveExchange(to http.ResponseWriter, from *http.Request) {
	x, _ := from.Context().Value(exchangeKey{}).(*exchange)
	named, err := nameOf(from)
	if err == nil && from.Method == http.MethodPost {
		x.body, err = io.ReadAll(http.MaxBytesReader(to, from.Body, maxBody))
	}
	if err != nil {
		problem(to, http.StatusBadRequest, err.Error())
		return
	}
	explicit := named > 0 && isExplicit(from)
	var p plan
	if !explicit {
		if p, err = x.planOf(from); err != nil {
			problem(to, http.StatusBadRequest, err.Error())
			return
		}
	}
	switch {
	case p.join != nil && (!p.whole || named == 0):
		p.join(x, to, from, p)
	case len(p.shards) == 1:
		x.pass(to, from, p.shards[0])
	case named > 0:
		x.note(to, from, named, explicit)
		x.pass(to, from, named)
	case isForAll(from) && len(x.here) > 0:
		x.note(to, from, 0, false)
		from.Body = io.NopCloser(bytes.NewReader(x.body))
		toAll(to, from, slices.Sorted(maps.Keys(x.here)), func(shard int) http.Handler { return x.here[shard] })
	default:
		shard := 1
		if len(x.here) > 0 {
			shard = slices.Min(slices.Collect(maps.Keys(x.here)))
		}
		x.note(to, from, shard, false)
		x.pass(to, from, shard)
	}
}

// askWhole answers a question that a page of a shard has about the whole crawl; see [admin.Whole].
func askWhole(page *http.Request, path string, value any) error {
	from := page.Clone(page.Context())
	from.URL.Path = api.Base + path
	a := &answer{header: http.Header{}, status: http.StatusOK}
	serveExchange(a, from)
	if a.status != http.StatusOK {
		return fmt.Errorf("ask all shards: %s", a.why())
	}
	return json.Unmarshal(a.body.Bytes(), value)
}

// isExplicit reports whether a request names a shard itself, and not only with the cookie of an earlier choice.
func isExplicit(r *http.Request) bool {
	return r.Header.Get(shardHeader) != "" || r.URL.Query().Get(parameter) != ""
}

// ofNode lists the requests that concern the node and not a shard. The configuration is the same on all nodes.
var ofNode = []string{
	"/me", "/users", "/edit/files", "/edit/file", "/edit/plan", "/edit/save",
	"/edit/many/plan", "/edit/many/save", "/ignore",
}

// note says in the header of an answer which shards it leaves out, if it does. shard 0 means all shards of this node.
func (x *exchange) note(to http.ResponseWriter, from *http.Request, shard int, explicit bool) {
	if explicit || slices.Contains(ofNode, strings.TrimPrefix(from.URL.Path, api.Base)) {
		return
	}
	only := fmt.Sprintf("shard %d of %d", shard, x.Shards)
	if shard == 0 {
		only = "the shards of this node"
		if len(x.here) == x.Shards {
			return
		}
	}
	to.Header().Set(api.MissingHeader, oneLine(fmt.Sprintf("this is for %s only; name another one with --shard N, "+
		"or in the address with ?shard=N, or ?shard=all: %s", only, x.owners())))
}

// owners returns which node crawls which shards, for people.
func (x *exchange) owners() string {
	var order []string
	list := map[string][]string{}
	for shard := 1; shard <= x.Shards; shard++ {
		name := x.Node(shard)
		if list[name] == nil {
			order = append(order, name)
		}
		list[name] = append(list[name], fmt.Sprint(shard))
	}
	for i, name := range order {
		text := strings.Join(list[name], ", ")
		if order[i] = "node " + name + " crawls " + text; name == "" {
			order[i] = "nobody crawls " + text
		}
	}
	return strings.Join(order, "; ")
}

// pass passes a request on to one shard, and its answer to the client.
func (x *exchange) pass(to http.ResponseWriter, from *http.Request, shard int) {
	if h := x.here[shard]; h != nil {
		if from.Method == http.MethodPost {
			from.Body = io.NopCloser(bytes.NewReader(x.body))
		}
		h.ServeHTTP(to, from)
		return
	}
	got, why := x.send(from, shard, from.URL.Query(), x.body)
	if why != "" {
		problem(to, http.StatusBadGateway, why)
		return
	}
	defer func() { _ = got.Body.Close() }() // it was only read
	copyHeader(to.Header(), got.Header)
	if got.ContentLength >= 0 {
		to.Header().Set("Content-Length", strconv.FormatInt(got.ContentLength, 10))
	}
	to.WriteHeader(got.StatusCode)
	if _, err := io.Copy(to, got.Body); err != nil {
		panic(http.ErrAbortHandler) // so that nobody takes what was sent for the whole answer
	}
}

// send sends a request to the node of a shard. why says why there is no answer.
func (x *exchange) send(
	from *http.Request, shard int, query url.Values, body []byte,
) (got *http.Response, why string) {
	node := x.Node(shard)
	if shard < 1 || shard > x.Shards {
		return nil, fmt.Sprintf("there is no shard %d: the crawl has %d", shard, x.Shards)
	}
	if node == "" {
		return nil, fmt.Sprintf("no node crawls shard %d now: try again in a minute, or start another node", shard)
	}
	if why := x.down[node]; why != "" {
		return nil, why
	}
	query.Del(parameter)
	r := &http.Request{
		Method: from.Method, URL: &url.URL{Path: from.URL.Path, RawQuery: query.Encode()},
		Header: http.Header{shardHeader: {fmt.Sprint(shard)}},
	}
	r = r.WithContext(from.Context())
	if from.Method == http.MethodPost {
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	}
	for _, name := range []string{"Content-Type", "Accept"} {
		if value := from.Header.Get(name); value != "" {
			r.Header.Set(name, value)
		}
	}
	introduce(access.CallerOf(from.Context()), r.Header)
	got, err := x.Ask(r, shard)
	switch {
	case err != nil:
		why = fmt.Sprintf("node %s, which crawls shard %d, cannot be asked: %v", node, shard, err)
		x.down[node] = why
		return nil, why
	case got.StatusCode == http.StatusMisdirectedRequest:
		_ = got.Body.Close() // nothing of it is used
		return nil, fmt.Sprintf("shard %d has just moved from node %s to another one: try again in a few seconds", shard, node)
	}
	return got, ""
}

// copyHeader copies what an answer of another node says about its content.
func copyHeader(to, from http.Header) {
	for _, name := range []string{"Content-Type", "Content-Disposition", "Content-Security-Policy", "Retry-After"} {
		if value := from.Get(name); value != "" {
			to.Set(name, value)
		}
	}
}

// ask asks one shard, here or elsewhere, and returns its answer. why says why there is none.
func (x *exchange) ask(from *http.Request, shard int, query url.Values, body []byte) (a *answer, why string) {
	if h := x.here[shard]; h != nil {
		one := from.Clone(context.WithValue(from.Context(), exchangeKey{}, nil))
		one.URL.RawQuery, one.Form, one.PostForm = query.Encode(), nil, nil
		one.Body, one.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		a = &answer{header: http.Header{}, status: http.StatusOK}
		h.ServeHTTP(a, one)
		return a, ""
	}
	got, why := x.send(from, shard, query, body)
	if why != "" {
		return nil, why
	}
	defer func() { _ = got.Body.Close() }() // it was only read
	a = &answer{header: got.Header, status: got.StatusCode}
	n, err := a.body.ReadFrom(io.LimitReader(got.Body, maxPart+1))
	if err != nil || n > maxPart {
		return nil, fmt.Sprintf("the answer of node %s for shard %d broke off, or has more than %d bytes",
			x.Node(shard), shard, maxPart)
	}
	return a, ""
}

// problem answers with an error.
func problem(to http.ResponseWriter, status int, why string) {
	to.Header().Set("Content-Type", "application/json")
	to.WriteHeader(status)
	_ = json.NewEncoder(to).Encode(api.Problem{Error: why}) // an error means that the client has gone
}
