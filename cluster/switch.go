package cluster

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/arcrawl/arcrawl/admin"
	"github.com/arcrawl/arcrawl/admin/access"
	"github.com/arcrawl/arcrawl/admin/api"
)

// shardHeader is the header of a request that names a shard.
const shardHeader = "Arcrawl-Shard"

// The parameter and the cookie that name a shard.
const (
	parameter = "shard"
	cookie    = "arcrawl-shard"
	allShards = "all" // instead of a number
)

// maxOrder is the maximum size of an order to all shards, in bytes.
const maxOrder = 1 << 20

// switchboard passes requests on to shards. The zero value has none. It is safe for concurrent use.
type switchboard struct {
	mu      sync.Mutex // guards the fields below
	serve   map[int]*served
	cluster peers // the zero value knows no other nodes
}

// served makes the handlers of a shard, one for each address. The lock of its switch guards its fields.
type served struct {
	serve    func(access.Options) http.Handler
	metrics  admin.Metrics
	requests map[*context.CancelFunc]struct{} // in progress
	removed  bool
	idle     chan struct{} // is closed when it is removed and has no requests
}

// Set passes the requests for a shard on to what serve returns.
func (s *switchboard) Set(shard int, serve func(access.Options) http.Handler) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.serve == nil {
		s.serve = map[int]*served{}
	}
	s.serve[shard] = &served{
		serve: serve, requests: map[*context.CancelFunc]struct{}{}, idle: make(chan struct{}),
	}
}

// Remove passes no more requests on to a shard. idle is closed when none is in progress any more, and end ends the
// contexts of those that are.
func (s *switchboard) Remove(shard int) (idle <-chan struct{}, end func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	one := s.serve[shard]
	delete(s.serve, shard)
	if one.removed = true; len(one.requests) == 0 {
		close(one.idle)
	}
	return one.idle, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		for cancel := range one.requests {
			(*cancel)()
		}
	}
}

// begin begins a request to a shard, and reports whether the shard is still here. Call end in any case.
func (s *switchboard) begin(one *served, parent context.Context) (ctx context.Context, end func(), here bool) {
	ctx, cancel := context.WithCancel(parent)
	s.mu.Lock()
	defer s.mu.Unlock()
	if one.removed {
		return ctx, cancel, false
	}
	one.requests[&cancel] = struct{}{}
	return ctx, func() {
		defer cancel()
		s.mu.Lock()
		defer s.mu.Unlock()
		if delete(one.requests, &cancel); one.removed && len(one.requests) == 0 {
			close(one.idle)
		}
	}, true
}

// pass passes a request on to a handler of a shard, unless the shard was removed meanwhile.
func (s *switchboard) pass(one *served, h http.Handler, to http.ResponseWriter, from *http.Request) {
	ctx, end, here := s.begin(one, from.Context())
	defer end()
	if !here {
		http.Error(to, "this shard has just been handed over: try again", http.StatusServiceUnavailable)
		return
	}
	h.ServeHTTP(to, from.WithContext(ctx))
}

// handlers returns the handlers of all shards for an address. made keeps them.
func (s *switchboard) handlers(o access.Options, made map[*served]http.Handler) (shards map[int]http.Handler) {
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.DeleteFunc(made, func(shard *served, _ http.Handler) bool { return shard.removed })
	shards = map[int]http.Handler{}
	for n, shard := range s.serve {
		if made[shard] == nil {
			made[shard] = shard.serve(o)
		}
		h := made[shard]
		shards[n] = http.HandlerFunc(func(to http.ResponseWriter, from *http.Request) { s.pass(shard, h, to, from) })
	}
	return shards
}

// Handler returns a handler of requests to all shards. The options decide who is served.
func (s *switchboard) Handler(o access.Options) http.Handler {
	made := map[*served]http.Handler{}
	everywhere := access.Guard(http.HandlerFunc(serveExchange), o)
	measured := access.Guard(s.metricsHandler(), o)
	return http.HandlerFunc(func(to http.ResponseWriter, from *http.Request) {
		shards, cluster := s.handlers(o, made), s.clusterFor(o)
		if cluster.Shards > 0 {
			x := &exchange{peers: cluster, here: shards, down: map[string]string{}}
			from = x.within(from)
			if strings.HasPrefix(from.URL.Path, api.Base+"/") {
				everywhere.ServeHTTP(to, from)
				return
			}
		}
		if from.URL.Path == "/metrics" && !isExplicit(from) {
			measured.ServeHTTP(to, from)
			return
		}
		numbers := slices.Sorted(maps.Keys(shards))
		if len(numbers) == 0 {
			http.Error(to, "this node crawls no shard now; arcrawl status --cluster shows which node crawls which",
				http.StatusServiceUnavailable)
			return
		}
		named, err := nameOf(from)
		if isChoice(from) && named == 0 && err == nil {
			http.SetCookie(to, cookieFor(o, 0))
		}
		if named > 0 && named <= cluster.Shards && shards[named] == nil && from.URL.Path != "/metrics" {
			if isChoice(from) { // the pages are the same everywhere, and ask another node for what they show
				http.SetCookie(to, cookieFor(o, named))
			}
			shards[numbers[0]].ServeHTTP(to, from)
			return
		}
		if named > 0 && shards[named] == nil && isLostPage(from) {
			http.SetCookie(to, cookieFor(o, 0))
			named = 0
		}
		switch {
		case err != nil:
			http.Error(to, err.Error(), http.StatusBadRequest)
		case named == 0 && (isForAll(from) || isHealth(from)):
			toAll(to, from, numbers, func(shard int) http.Handler { return shards[shard] })
		case named == 0:
			shards[numbers[0]].ServeHTTP(to, from)
		case shards[named] == nil:
			text := fmt.Sprintf("this node does not crawl shard %d; it crawls %v", named, numbers)
			http.Error(to, text, http.StatusMisdirectedRequest)
		default:
			if isChoice(from) {
				http.SetCookie(to, cookieFor(o, named))
			}
			shards[named].ServeHTTP(to, from)
		}
	})
}

// within returns a request whose context has the exchange. A page for it shows the whole crawl, unless it names a
// shard.
func (x *exchange) within(from *http.Request) *http.Request {
	ctx := context.WithValue(from.Context(), exchangeKey{}, x)
	if !isExplicit(from) {
		ctx = admin.WithWhole(ctx, askWhole)
	}
	return from.WithContext(ctx)
}

// cookieFor returns the cookie that names a shard; 0 removes it.
func cookieFor(o access.Options, shard int) *http.Cookie {
	c := &http.Cookie{
		Name: cookie, Value: strconv.Itoa(shard), Path: "/", HttpOnly: true, Secure: o.TLS, SameSite: http.SameSiteStrictMode,
	}
	if shard == 0 {
		c.MaxAge = -1
	}
	return c
}

// isChoice reports whether a request chooses the shard for those that follow. Pages of other sites choose nothing.
func isChoice(r *http.Request) bool {
	from := r.Header.Get("Sec-Fetch-Site")
	return r.Method == http.MethodGet && r.URL.Query().Has(parameter) &&
		(from == "" || from == "none" || from == "same-origin")
}

// isLostPage reports whether a browser opens the dashboard with the cookie of a shard, which another node may crawl by
// now. Other requests with this cookie are refused: an order must not reach another shard.
func isLostPage(r *http.Request) bool {
	return r.Method == http.MethodGet && r.URL.Path == "/" && r.Header.Get(shardHeader) == "" &&
		!r.URL.Query().Has(parameter)
}

// nameOf returns the shard that a request names; 0 = none.
func nameOf(r *http.Request) (int, error) {
	text := r.Header.Get(shardHeader)
	if text == "" {
		text = r.URL.Query().Get(parameter)
	}
	if c, err := r.Cookie(cookie); text == "" && err == nil {
		if n, err := strconv.Atoi(c.Value); err == nil && n > 0 {
			return n, nil
		}
		return 0, nil // a page cannot correct it
	}
	if text == "" || text == allShards {
		return 0, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		return 0, fmt.Errorf("%q is not the number of a shard", text)
	}
	return n, nil
}

// isForAll reports whether a request is an order to all shards, unless it names one.
func isForAll(r *http.Request) bool {
	return r.Method == http.MethodPost &&
		slices.Contains([]string{api.Base + "/pause", api.Base + "/resume", api.Base + "/reload"}, r.URL.Path)
}

// isHealth reports whether a request asks if the process is well, which it is only if all its shards are.
func isHealth(r *http.Request) bool { return r.URL.Path == "/healthz" || r.URL.Path == "/readyz" }

// toAll passes an order on to all shards. It answers with the first refusal, or else as the lowest shard does.
func toAll(to http.ResponseWriter, from *http.Request, numbers []int, serve func(int) http.Handler) {
	body, err := io.ReadAll(http.MaxBytesReader(to, from.Body, maxOrder))
	if err != nil {
		http.Error(to, "read the order: "+err.Error(), http.StatusBadRequest)
		return
	}
	var answers []*answer
	for _, n := range numbers {
		one := from.Clone(from.Context())
		one.Body = io.NopCloser(bytes.NewReader(body))
		a := &answer{header: http.Header{}, status: http.StatusOK}
		serve(n).ServeHTTP(a, one)
		answers = append(answers, a)
	}
	first := answers[max(0, slices.IndexFunc(answers, func(a *answer) bool { return a.status >= http.StatusBadRequest }))]
	maps.Copy(to.Header(), first.header)
	to.WriteHeader(first.status)
	_, _ = to.Write(first.body.Bytes()) // an error means that the client has gone
}

// why returns the reason of a refusal.
func (a *answer) why() string {
	var p api.Problem
	if json.Unmarshal(a.body.Bytes(), &p) == nil && p.Error != "" {
		return p.Error
	}
	return strings.TrimSpace(a.body.String())
}

// answer keeps the answer of a shard.
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
