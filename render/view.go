package render

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/arcrawl/arcrawl/aspects"
	"github.com/arcrawl/arcrawl/aspects/scope"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/discover"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/internal/panics"
	"github.com/arcrawl/arcrawl/render/chromium"
	"github.com/arcrawl/arcrawl/uri"
	"github.com/arcrawl/arcrawl/warcout"
)

const (
	maxBody   = 32 << 20        // bytes of an answer; the request for a longer one fails
	lookEvery = 2 * time.Second // pause between two looks at a URI that a request waits for
	maxLinks  = 5000            // of a rendered page
)

// view is one rendering of a page.
type view struct {
	l      *Pool
	page   page
	record frontier.Record
	config *config.Config
	reach  reach

	partial atomic.Bool // a request was not answered in time, so the page may lack a part that it has another time

	mu    sync.Mutex // guards scope and asked
	scope *scope.Scope
	asked map[uri.URI]*asked
}

// asked is a request of the page that is answered once for all requests of its URI.
type asked struct {
	once   sync.Once
	answer chromium.Answer
}

// answer answers a request of the page. A panic fails the request: the browser asks in a goroutine of its own.
func (v *view) answer(ctx context.Context, q chromium.Request) chromium.Answer {
	a, err := panics.Catch(func() (chromium.Answer, error) { return v.look(ctx, q), nil })
	if err != nil {
		v.partial.Store(true)
		v.l.logFault(err, v.page.uri.String(), "could not answer a request of a page: the page is rendered without it")
	}
	return a
}

// look returns the answer to a request. A URI that is requested several times is looked up and visited once.
func (v *view) look(ctx context.Context, q chromium.Request) chromium.Answer {
	if q.Main {
		return v.stored(v.record, target{uri: v.page.uri})
	}
	u, err := uri.Parse(q.URI)
	if err != nil {
		v.l.counts.refused.Add(1)
		return chromium.Answer{}
	}
	v.mu.Lock()
	one := v.asked[u]
	if one == nil && q.Stored {
		v.mu.Unlock()
		return v.findStored(u)
	}
	if one == nil {
		one = new(asked)
		v.asked[u] = one
	}
	v.mu.Unlock()
	one.once.Do(func() { one.answer = v.find(ctx, u, q.Kind) })
	return one.answer
}

// findStored returns the last capture of a URI, however old it is, if the page can reach it.
func (v *view) findStored(u uri.URI) chromium.Answer {
	r, known, err := v.known(u)
	if err != nil {
		return v.without(u, err)
	}
	to := v.reach.target(u, r, v.record.Hops.Then(uri.Embed), v.l.p.Now())
	if !known || !v.reach.permits(to) || !v.reach.isPublic(to, v.serverOf(to, r)) || !v.reach.isAsIs(to, r) {
		v.l.counts.refused.Add(1)
		return chromium.Answer{}
	}
	v.l.counts.fromArchive.Add(1)
	return v.stored(r, to)
}

// find returns the answer to a request: a fresh capture, or else the capture of a visit that it waits for.
func (v *view) find(ctx context.Context, u uri.URI, kind chromium.Kind) chromium.Answer {
	now := v.l.p.Now()
	r, known, err := v.known(u)
	if err != nil {
		return v.without(u, err)
	}
	to := v.reach.target(u, r, v.record.Hops.Then(uri.Embed), now)
	server := v.serverOf(to, r)
	if !v.reach.permits(to) || !v.reach.isPublic(to, server) {
		v.l.counts.refused.Add(1)
		return chromium.Answer{}
	}
	known = known && v.reach.isAsIs(to, r)
	if known && now.Sub(r.LastVisit) <= v.page.settings.Age {
		v.l.counts.fromArchive.Add(1)
		return v.stored(r, to)
	}
	cand, ok := v.candidate(u, server, hopsOf(kind)...)
	if !ok || v.isTrapped(cand, now) {
		v.l.counts.refused.Add(1)
		return chromium.Answer{}
	}
	cand.Sooner = !r.URI.IsZero()
	added, err := v.l.p.Frontier.Add(now, cand)
	if err != nil {
		return v.without(u, err)
	}
	if added.Refused > 0 {
		v.l.counts.refused.Add(1)
		return chromium.Answer{}
	}
	v.l.counts.found.Add(int64(added.New))
	v.l.p.Wake()
	if r, ok = v.await(ctx, u, now); !ok {
		v.l.counts.gaveUp.Add(1)
		if !isRefused(r, now) || r.Why == aspects.Unreached {
			v.partial.Store(true)
		}
		if !known {
			return chromium.Answer{}
		}
		return v.stored(r, to) // an old capture is better than none
	}
	v.l.counts.visited.Add(1)
	return v.stored(r, to)
}

// known returns the record of a URI, or of the URI that is visited instead of it.
func (v *view) known(u uri.URI) (frontier.Record, bool, error) {
	r, ok, err := v.l.p.Frontier.Get(u)
	if ok || err != nil {
		return r, ok, err
	}
	other, ok, err := v.l.p.Frontier.VisitedInstead(u)
	if !ok || err != nil {
		return frontier.Record{}, false, err
	}
	return v.l.p.Frontier.Get(other)
}

// await waits until a URI is visited, refused, or will not be visited in time. It reports whether it was visited since.
func (v *view) await(ctx context.Context, u uri.URI, since time.Time) (frontier.Record, bool) {
	since = since.Truncate(time.Millisecond) // as records have it
	settled, forget := v.l.expect(u)
	defer forget()
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		r, known, err := v.known(u)
		switch {
		case err != nil, !known:
			return r, false
		case !r.LastVisit.Before(since):
			return r, true
		case isRefused(r, since):
			return r, false
		}
		if v.l.p.Held() != "" || v.rests(u, since) {
			return r, false
		}
		select {
		case <-ctx.Done():
			return r, false
		case <-settled:
		case <-tick.C:
		}
	}
}

// isRefused reports whether the crawl has refused to visit a URI, and will not try again at once.
func isRefused(r frontier.Record, since time.Time) bool {
	return (r.LastStatus == aspects.StatusForbidden || r.LastStatus == aspects.StatusOutOfScope) && r.Due.After(since)
}

// rests reports whether the host of a URI rests for longer than the rendering may take.
func (v *view) rests(u uri.URI, since time.Time) bool {
	h, ok := v.l.p.Frontier.Host(u.Host(), v.l.p.Now())
	return ok && (!h.Paused.IsZero() || h.Rest.After(since.Add(v.page.settings.Limit)))
}

// expect returns a channel that is closed when a URI was visited. The caller calls forget when it no longer waits.
func (l *Pool) expect(u uri.URI) (settled <-chan struct{}, forget func()) {
	c := make(chan struct{}, 1)
	l.mu.Lock()
	l.waiters[u] = append(l.waiters[u], c)
	l.mu.Unlock()
	l.waiting.Add(1)
	return c, func() {
		l.waiting.Add(-1)
		l.mu.Lock()
		defer l.mu.Unlock()
		rest := slices.DeleteFunc(l.waiters[u], func(w chan struct{}) bool { return w == c })
		if l.waiters[u] = rest; len(rest) == 0 {
			delete(l.waiters, u)
		}
	}
}

// wake wakes the requests that wait for a URI.
func (l *Pool) wake(u uri.URI) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range l.waiters[u] {
		select {
		case c <- struct{}{}:
		default:
		}
	}
}

// stored returns the last capture of a URI as an answer. A URI without a capture is answered with its last status.
func (v *view) stored(r frontier.Record, to target) chromium.Answer {
	if r.Origin.IsZero() || r.Status == 0 {
		if r.LastStatus < http.StatusOK {
			return chromium.Answer{}
		}
		return chromium.Answer{Status: r.LastStatus, Header: http.Header{}}
	}
	a, server, err := v.read(r)
	if err != nil {
		return v.without(r.URI, err)
	}
	if !v.reach.isPublic(to, server) { // the host has moved there since it was asked for
		v.l.counts.refused.Add(1)
		return chromium.Answer{}
	}
	return a
}

// serverOf returns the server that sent the last capture of a URI, if that decides whether the page can reach it. Zero
// = not known.
func (v *view) serverOf(to target, r frontier.Record) netip.Addr {
	if len(to.means.Networks) == 0 || r.Origin.URI != r.URI.String() {
		return netip.Addr{}
	}
	head, body, err := v.l.p.Open(r.Origin)
	if err != nil {
		return netip.Addr{} // reading it later reports the fault
	}
	if err := body.Close(); err != nil {
		return netip.Addr{}
	}
	return head.Server
}

// without reports a fault of the store or the archive. Its answer says that there is none.
func (v *view) without(u uri.URI, err error) chromium.Answer {
	v.l.p.Log.Warn().Err(err).Stringer("uri", u).Stringer("page", v.page.uri).
		Msg("could not read a capture for a rendering: the page is rendered without it")
	return chromium.Answer{}
}

// read reads the last capture of a URI, and returns which server sent it. The payload may be stored with the head of
// another URI. Then the server is not known, and the head permits no other origin to read the payload.
func (v *view) read(r frontier.Record) (a chromium.Answer, server netip.Addr, err error) {
	head, body, err := v.l.p.Open(r.Origin)
	if err != nil {
		return a, server, err
	}
	defer func() { err = errors.Join(err, body.Close()) }()
	content, err := head.Decode(body)
	if err != nil {
		return a, server, err
	}
	var b bytes.Buffer
	n, err := io.Copy(&b, io.LimitReader(content, maxBody+1))
	switch {
	case err != nil:
		return a, server, fmt.Errorf("decode: %w", err)
	case n > maxBody:
		return a, server, fmt.Errorf("longer than %d bytes", maxBody)
	}
	a, server = chromium.Answer{Status: r.Status, Header: head.Header(), Body: b.Bytes()}, head.Server
	if r.Location != "" {
		a.Header.Set("Location", r.Location)
	}
	if r.Origin.URI != r.URI.String() {
		server = netip.Addr{}
		a.Header.Del("Access-Control-Allow-Origin")
		a.Header.Del("Timing-Allow-Origin")
	}
	return a, server, nil
}

// hopsOf returns the hops by which a request may lead to a URI; the first that the scope accepts holds. What a script
// requests is a part of the page if it is not a guess that the scope accepts.
func hopsOf(k chromium.Kind) []uri.Hop {
	switch k {
	case chromium.Leave:
		return []uri.Hop{uri.Link}
	case chromium.Script:
		return []uri.Hop{uri.Speculative, uri.Embed}
	}
	return []uri.Hop{uri.Embed}
}

// candidate returns a URI that the page requested or names as a candidate. It reports false if it is out of scope, or
// if the page cannot reach it. server sent its last capture; zero = not known.
func (v *view) candidate(u uri.URI, server netip.Addr, hops ...uri.Hop) (frontier.Candidate, bool) {
	now := v.l.p.Now()
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.scope == nil {
		v.scope = config.ScopeOf(v.config, v.record.Seed, v.record.URI, now, v.l.p.Frontier)
	}
	for _, hop := range hops {
		path := v.record.Hops.Then(hop)
		to := v.reach.target(u, frontier.Record{}, path, now)
		accepted := v.scope.Accepts(scope.Discovery{URI: u, Hops: path, Via: v.record.URI})
		if accepted && v.reach.permits(to) && v.reach.isPublic(to, server) {
			return frontier.Candidate{URI: u, Hops: path, Via: v.record.URI.String(), Seed: v.record.Seed, Due: now}, true
		}
	}
	return frontier.Candidate{}, false
}

// isTrapped reports whether a candidate is part of a trap.
func (v *view) isTrapped(c frontier.Candidate, now time.Time) bool {
	return v.l.p.IsTrapped != nil && v.l.p.IsTrapped(c.URI, v.record.URI, c.Hops, now)
}

// addFound adds what a rendered page requested or names, and returns how many URIs are new.
func (v *view) addFound(ctx context.Context, r chromium.Result) (found int, err error) {
	now := v.l.p.Now()
	var list []frontier.Candidate
	add := func(u uri.URI, hops ...uri.Hop) {
		if cand, ok := v.candidate(u, netip.Addr{}, hops...); ok && !v.isTrapped(cand, now) {
			list = append(list, cand)
		}
	}
	for _, f := range r.Found {
		if u, err := uri.Parse(f.URI); err == nil {
			add(u, hopsOf(f.Kind)...)
		}
	}
	base, err := uri.Parse(r.URI)
	if err != nil {
		base = v.page.uri
	}
	doc := discover.Document{
		URI: base, Status: http.StatusOK, Header: http.Header{"Content-Type": {"text/html; charset=utf-8"}},
	}
	links, err := discover.Links(ctx, doc, bytes.NewReader(r.DOM), discover.Bounds{MaxLinks: maxLinks})
	if err != nil {
		return 0, fmt.Errorf("find the links of the rendered page: %w", err)
	}
	for _, link := range links.Links {
		add(link.URI, link.Hop)
	}
	added, err := v.l.p.Frontier.Add(now, list...)
	if err != nil {
		return 0, err
	}
	v.l.counts.found.Add(int64(added.New))
	if added.New > 0 {
		v.l.p.Wake()
	}
	return added.New, nil
}

// keep archives the page as the browser showed it, as far as its settings say.
func (v *view) keep(r chromium.Result) error {
	var list []warcout.Resource
	now, name := v.l.p.Now(), v.page.uri.String()
	if k := v.page.settings.Keep; k == config.KeepText || k == config.KeepAll {
		list = append(list,
			warcout.Resource{URI: "urn:text:" + name, ContentType: textType, Content: []byte(r.Text)},
			warcout.Resource{URI: "urn:dom:" + name, ContentType: "text/html; charset=utf-8", Content: r.DOM},
			warcout.Resource{URI: "urn:fullPage:" + name, ContentType: "image/png", Content: r.Picture})
	}
	for _, resource := range list {
		if len(resource.Content) == 0 {
			continue
		}
		resource.Date, resource.Series = now, v.page.series
		w, err := v.l.p.Archive.WriteResource(now, resource)
		if err != nil {
			return err
		}
		v.l.p.Index(w.Origin, resource.ContentType)
	}
	return nil
}
