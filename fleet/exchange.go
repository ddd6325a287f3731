package fleet

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/arcrawl/arcrawl/admin/access"
	"github.com/arcrawl/arcrawl/admin/api"
)

// The bounds of one request, in bytes. An answer that is passed on needs no memory.
const (
	maxBody = 48 << 20 // of an order; the largest list of seeds fits
	maxPart = 32 << 20 // of the answer of one node that is joined with others
)

// exchange answers one request to the whole crawl.
type exchange struct {
	switchboard
	own   http.Handler      // answers for this node alone
	names []string          // of the nodes to ask about the whole crawl
	body  []byte            // of the request
	down  map[string]string // nodes that did not answer, and why
}

type exchangeKey struct{}

// serveExchange serves a request whose context has an exchange, when its caller is known.
func serveExchange(to http.ResponseWriter, from *http.Request) {
	x, _ := from.Context().Value(exchangeKey{}).(*exchange)
	named, explicit := nameOf(from)
	var p plan
	err := x.read(to, from)
	if err == nil && !explicit {
		p, err = x.planOf(from)
	}
	switch {
	case errors.Is(err, errNobody):
		problem(to, http.StatusBadGateway, err.Error())
	case err != nil:
		problem(to, http.StatusBadRequest, err.Error())
	case p.join != nil && (!p.whole || named == ""):
		if what := x.nodes.Uncrawled(); what != "" && p.all {
			addMissing(to, what)
		}
		p.join(x, to, from, p)
	case len(p.nodes) == 1:
		x.pass(to, from, p.nodes[0])
	default:
		node := cmp.Or(named, x.nodes.Name())
		if !explicit {
			x.note(to, from, node)
		}
		x.pass(to, from, node)
	}
}

// askWhole answers a question that a page of this node has about the whole crawl; see [admin.Whole].
func askWhole(page *http.Request, path string, value any) error {
	from := page.Clone(page.Context())
	from.URL.Path = api.Base + path
	a := &answer{header: http.Header{}, status: http.StatusOK}
	serveExchange(a, from)
	if a.status != http.StatusOK {
		return fmt.Errorf("ask all nodes: %s", a.why())
	}
	return json.Unmarshal(a.body.Bytes(), value)
}

// ofNode lists the requests that concern the node and not what it crawls. The configuration is the same on all nodes.
var ofNode = []string{
	"/me", "/users", "/edit/files", "/edit/file", "/edit/plan", "/edit/save",
	"/edit/many/plan", "/edit/many/save", "/ignore",
}

// note says in the header of an answer that it is the one of a single node, if there are others.
func (x *exchange) note(to http.ResponseWriter, from *http.Request, node string) {
	if len(x.names) > 1 && !slices.Contains(ofNode, strings.TrimPrefix(from.URL.Path, api.Base)) {
		addMissing(to, fmt.Sprintf("this is for node %s only; name another one with --node NAME, or in the address with "+
			"?node=NAME, or ?node=all: the nodes are %s", node, strings.Join(x.names, ", ")))
	}
}

// addMissing adds to the header of an answer what it does not have.
func addMissing(to http.ResponseWriter, texts ...string) {
	if before := to.Header().Get(api.MissingHeader); before != "" {
		texts = append([]string{before}, texts...)
	}
	if len(texts) > 0 {
		to.Header().Set(api.MissingHeader, oneLine(strings.Join(texts, "; ")))
	}
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

// pass passes a request on to one node, and its answer to the client.
func (x *exchange) pass(to http.ResponseWriter, from *http.Request, node string) {
	if node == x.nodes.Name() {
		if from.Method == http.MethodPost {
			from.Body = io.NopCloser(bytes.NewReader(x.body))
		}
		x.own.ServeHTTP(to, from)
		return
	}
	got, why := x.sendTo(node, from, from.URL.Query(), x.body)
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

// sendTo sends a request to another node. why says why there is no answer.
func (x *exchange) sendTo(
	node string, from *http.Request, query url.Values, body []byte,
) (got *http.Response, why string) {
	if !slices.Contains(x.names, node) {
		return nil, fmt.Sprintf("there is no node %s now; the nodes are %s", node, strings.Join(x.names, ", "))
	}
	if why := x.down[node]; why != "" {
		return nil, why
	}
	query.Del(parameter)
	r := &http.Request{
		Method: from.Method, URL: &url.URL{Path: from.URL.Path, RawQuery: query.Encode()}, Header: http.Header{},
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
	got, err := x.send(r, node)
	switch {
	case err != nil:
		why = fmt.Sprintf("node %s cannot be asked: %v", node, err)
		x.down[node] = why
		return nil, why
	case got.StatusCode == http.StatusMisdirectedRequest:
		_ = got.Body.Close() // nothing of it is used
		return nil, fmt.Sprintf("node %s does not crawl the host now: try again in a few seconds", node)
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

// ask asks one node, this one or another, and returns its answer. why says why there is none.
func (x *exchange) ask(from *http.Request, node string, query url.Values, body []byte) (a *answer, why string) {
	if node == x.nodes.Name() {
		one := from.Clone(context.WithValue(from.Context(), exchangeKey{}, nil))
		one.URL.RawQuery, one.Form, one.PostForm = query.Encode(), nil, nil
		one.Body, one.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		a = &answer{header: http.Header{}, status: http.StatusOK}
		x.own.ServeHTTP(a, one)
		return a, ""
	}
	got, why := x.sendTo(node, from, query, body)
	if why != "" {
		return nil, why
	}
	defer func() { _ = got.Body.Close() }() // it was only read
	a = &answer{header: got.Header, status: got.StatusCode}
	n, err := a.body.ReadFrom(io.LimitReader(got.Body, maxPart+1))
	if err != nil || n > maxPart {
		return nil, fmt.Sprintf("the answer of node %s broke off, or has more than %d bytes", node, maxPart)
	}
	return a, ""
}

// problem answers with an error.
func problem(to http.ResponseWriter, status int, why string) {
	to.Header().Set("Content-Type", "application/json")
	to.WriteHeader(status)
	_ = json.NewEncoder(to).Encode(api.Problem{Error: why}) // an error means that the client has gone
}

// answer keeps the answer of a node.
type answer struct {
	header http.Header
	status int
	body   bytes.Buffer
}

// Header returns the header of the answer.
func (a *answer) Header() http.Header { return a.header }

// WriteHeader sets the status of the answer.
func (a *answer) WriteHeader(status int) { a.status = status }

// Write adds to the body of the answer.
func (a *answer) Write(p []byte) (int, error) { return a.body.Write(p) }

// why returns the reason of a refusal.
func (a *answer) why() string {
	var p api.Problem
	if json.Unmarshal(a.body.Bytes(), &p) == nil && p.Error != "" {
		return p.Error
	}
	return strings.TrimSpace(a.body.String())
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
