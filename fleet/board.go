package fleet

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/arcrawl/arcrawl/admin"
	"github.com/arcrawl/arcrawl/admin/access"
	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/uri"
)

// nodeHeader is the header of a request that names a node.
const nodeHeader = "Arcrawl-Node"

// The parameter and the cookie that name a node. The name in the cookie is encoded as in a query.
const (
	parameter = "node"
	cookie    = "arcrawl-node"
	allNodes  = "all" // instead of a name
)

// Nodes says which nodes share the crawl, as this node knows it now. The owner of a daemon's store can have it.
type Nodes interface {
	Name() string              // of this node
	Names() []string           // of the nodes to ask about the whole crawl, sorted
	Crawler(h uri.Host) string // name of the node that crawls a host; "" = none does
	Uncrawled() string         // says what no node crawls; "" = nothing

	// AllNames returns the names of all nodes, also of those that are away.
	AllNames(ctx context.Context) ([]string, error)

	// Announce lets the other nodes know where this process answers them, and the fingerprint of its certificate.
	Announce(address string, print []byte)
	// Door returns what a node has announced; the address is "" if it does not answer.
	Door(node string) (address string, print []byte)
	// Bearer returns the name of the node that has announced a fingerprint; "" if no node has that may act for the crawl.
	Bearer(print []byte) string
}

// switchboard answers requests to this node for all nodes.
type switchboard struct {
	nodes Nodes
	plain func(access.Options) http.Handler // answers for this node alone

	// send sends a request to another node. The path of the request is the one of the API.
	send func(r *http.Request, node string) (*http.Response, error)
}

// Handler returns the handler of requests of people and programs. The options decide who is served.
func (s *switchboard) Handler(o access.Options) http.Handler {
	own := s.plain(o)
	everywhere := access.Guard(http.HandlerFunc(serveExchange), o)
	return http.HandlerFunc(func(to http.ResponseWriter, from *http.Request) {
		x := &exchange{switchboard: *s, own: own, names: s.nodes.Names(), down: map[string]string{}}
		from = from.WithContext(admin.WithWhole(context.WithValue(from.Context(), exchangeKey{}, x), askWhole))
		if isOfAPI(from) {
			everywhere.ServeHTTP(to, from)
			return
		}
		x.servePage(to, from, o.TLS)
	})
}

// isOfAPI reports whether a request is one of the API, and not for a page or about the process.
func isOfAPI(r *http.Request) bool { return strings.HasPrefix(r.URL.Path, api.Base+"/") }

// servePage answers a request for a page of the dashboard, or about this process. Pages are the same on all nodes, and
// ask the API for what they show: a name of a node is kept in a cookie for that.
func (x *exchange) servePage(to http.ResponseWriter, from *http.Request, isTLS bool) {
	named, explicit := nameOf(from)
	isNode := slices.Contains(x.names, named)
	switch {
	case explicit && named != x.nodes.Name() && slices.Contains(ofProcess, from.URL.Path):
		http.Error(to, fmt.Sprintf("this is node %s; ask node %s itself for %s", x.nodes.Name(), named, from.URL.Path),
			http.StatusMisdirectedRequest)
		return
	case isChoice(from) && (isNode || named == ""):
		http.SetCookie(to, cookieFor(named, isTLS))
	case named != "" && !explicit && !isNode && from.Method == http.MethodGet && from.URL.Path == "/":
		http.SetCookie(to, cookieFor("", isTLS)) // a page cannot correct it
	}
	x.own.ServeHTTP(to, from)
}

// ofProcess lists what only the process itself can answer.
var ofProcess = []string{"/metrics", "/healthz", "/readyz"}

// cookieFor returns the cookie that names a node; "" removes it.
func cookieFor(node string, isTLS bool) *http.Cookie {
	c := &http.Cookie{
		Name: cookie, Value: url.QueryEscape(node), Path: "/", HttpOnly: true, Secure: isTLS,
		SameSite: http.SameSiteStrictMode,
	}
	if node == "" {
		c.MaxAge = -1
	}
	return c
}

// isChoice reports whether a request chooses the node for those that follow. Pages of other sites choose nothing.
func isChoice(r *http.Request) bool {
	from := r.Header.Get("Sec-Fetch-Site")
	return r.Method == http.MethodGet && r.URL.Query().Has(parameter) &&
		(from == "" || from == "none" || from == "same-origin")
}

// nameOf returns the node that a request names; "" = none, or all. explicit reports whether the request itself names
// it, and not only the cookie of an earlier choice.
func nameOf(r *http.Request) (node string, explicit bool) {
	node = cmp.Or(r.Header.Get(nodeHeader), r.URL.Query().Get(parameter))
	if c, err := r.Cookie(cookie); node == "" && err == nil {
		node, _ = url.QueryUnescape(c.Value) // a cookie of something else names none
		return node, false
	}
	if node == allNodes {
		node = ""
	}
	return node, node != ""
}

// ForNodes returns the handler of requests that other nodes pass on. They go no further, so no request goes in circles.
// An order about a host that this node does not crawl is refused: the host may have moved since the other node looked.
func (s *switchboard) ForNodes(o access.Options) http.Handler {
	own := s.plain(o)
	return http.HandlerFunc(func(to http.ResponseWriter, from *http.Request) {
		if from.Method == http.MethodPost {
			x := exchange{switchboard: *s, names: s.nodes.Names()}
			if err := x.read(to, from); err != nil {
				problem(to, http.StatusBadRequest, err.Error())
				return
			}
			p, err := x.planOf(from)
			isOther := func(node string) bool { return node != s.nodes.Name() }
			if errors.Is(err, errNobody) || !p.all && slices.ContainsFunc(p.nodes, isOther) {
				problem(to, http.StatusMisdirectedRequest, "this node does not crawl the host now")
				return
			}
			from.Body = io.NopCloser(bytes.NewReader(x.body))
		}
		own.ServeHTTP(to, from)
	})
}

// read reads the body of a request.
func (x *exchange) read(to http.ResponseWriter, from *http.Request) (err error) {
	if from.Method == http.MethodPost {
		x.body, err = io.ReadAll(http.MaxBytesReader(to, from.Body, maxBody))
	}
	return err
}
