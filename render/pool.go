// Package render lets browsers load captured pages, and makes the crawl visit what they request.
//
//	visit settled ──▶ Observe ──▶ queue ──▶ worker: browser without a network
//	      ▲                                   │ request
//	      │                                   ▼
//	  the crawl ◀── frontier ◀── not captured ── archive ──▶ answer
//
// A request is answered from the archive. If the archive has no fresh capture, the URI becomes a candidate like any
// other, and the request waits until the crawl has visited it. So scope, robots.txt and politeness are decided where
// they always are. Rendering never delays a visit: a full queue drops pages, and a page that takes too long is taken as
// it is.
package render

import (
	"context"
	"errors"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/aspects/noise"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/crawler"
	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/internal/panics"
	"github.com/arcrawl/arcrawl/render/chromium"
	"github.com/arcrawl/arcrawl/uri"
	"github.com/arcrawl/arcrawl/warcout"
)

const (
	maxQueue      = 1000
	maxRemembered = 100_000 // pages whose last rendering is remembered
	niceness      = 10
	startRest     = time.Minute // after a browser that could not be started
)

// Parts holds what a pool needs.
type Parts struct {
	Config   *config.Live
	Frontier *frontier.Frontier
	Archive  *warcout.Writer
	// IsTrapped reports whether a URI that the page via names is part of a trap; nil knows of no traps.
	IsTrapped func(u, via uri.URI, hops uri.HopPath, now time.Time) bool
	// Open opens a record of the archive.
	Open func(digest.Origin) (warc.Head, io.ReadCloser, error)
	// Index adds a record to the index of the archive. It logs its errors.
	Index func(record digest.Origin, contentType string)
	// Held returns why the crawl does not run; empty if it does.
	Held func() string
	// Wake makes the crawl look for due URIs.
	Wake func()
	Now  func() time.Time
	Log  zerolog.Logger
	// Browser, when set, makes the browsers instead of [render.NewBrowser].
	Browser func() Browser
}

// Browser renders pages. A [render.Browser] does.
type Browser interface {
	Render(context.Context, chromium.Job) (chromium.Result, error)
	Close()
}

// Pool renders captured pages in the background. Its methods are safe for concurrent use.
type Pool struct {
	p       Parts
	queue   chan uri.URI
	waiting atomic.Int64 // requests that wait for a visit
	inForce atomic.Pointer[inForce]
	counts  counts
	running sync.WaitGroup
	stop    context.CancelFunc

	mu       sync.Mutex // guards the fields below
	missing  bool       // there is no browser, and that was logged
	queued   map[uri.URI]page
	waiters  map[uri.URI][]chan struct{}
	rendered map[uri.URI]time.Time
	day      int64 // since 1970, of perHost
	perHost  map[uri.Host]int
	lists    map[uri.URI]map[string]chromium.Entries // that steps have clicked through, by their names
}

// page is a captured page in the queue.
type page struct {
	uri      uri.URI
	series   string // of the files that get what is kept of it
	settings config.Rendering
	visit    *Facts // of the last one; nil unless the rendered text may decide about the next
}

// counts are totals since the start.
type counts struct {
	done, late, failed, dropped           atomic.Int64 // pages
	fromArchive, visited, refused, gaveUp atomic.Int64 // requests
	found                                 atomic.Int64 // new URIs
}

// Start starts a pool of browsers. A browser process is started when the first page is to be rendered.
func Start(ctx context.Context, p Parts, pool config.BrowserPool) *Pool {
	l := &Pool{
		p: p, queue: make(chan uri.URI, maxQueue), queued: map[uri.URI]page{}, waiters: map[uri.URI][]chan struct{}{},
		rendered: map[uri.URI]time.Time{}, perHost: map[uri.Host]int{},
		lists: map[uri.URI]map[string]chromium.Entries{},
	}
	ctx, l.stop = context.WithCancel(ctx)
	for range pool.Workers {
		l.running.Go(func() { l.work(ctx, pool) })
	}
	return l
}

// Close ends all browsers. Pages in the queue are not rendered.
func (l *Pool) Close() {
	l.stop()
	l.running.Wait()
}

// Status returns the state of the pool, for metrics and arcrawl status.
func (l *Pool) Status() api.Rendering {
	c := &l.counts
	l.mu.Lock()
	missing := l.missing
	l.mu.Unlock()
	return api.Rendering{
		Queue: int64(len(l.queue)), NoBrowser: missing,
		Done: c.done.Load(), Late: c.late.Load(), Failed: c.failed.Load(), Dropped: c.dropped.Load(),
		FromArchive: c.fromArchive.Load(), Visited: c.visited.Load(), Refused: c.refused.Load(), GaveUp: c.gaveUp.Load(),
		Found: c.found.Load(),
	}
}

// Observe notes a settled visit: requests may wait for it, and its page may be one to render. It does not block.
func (l *Pool) Observe(r crawler.Report) {
	if l.waiting.Load() > 0 {
		l.wake(r.URI)
	}
	if r.Failed || r.Block != "" || r.Fault != "" || r.Verdict.State == evaluators.Unknown && !r.Verdict.First {
		return
	}
	if r.Status != http.StatusOK && r.Status != http.StatusNotModified {
		return
	}
	l.offer(r)
}

// inForce holds whether a configuration renders pages of any host.
type inForce struct {
	config  *config.Config
	renders bool
}

// isAsked reports whether a configuration may have pages of any host rendered, at any time.
func isAsked(c *config.Config) bool {
	return c.Anywhere(func(s *config.Settings) bool { return s.Render.On }, func(tables map[string]any) bool {
		table, _ := tables["render"].(map[string]any)
		pages, set := table["pages"]
		return set && pages != "off"
	})
}

// isDue reports whether a page is rendered after a visit. rendered is when it was rendered last; zero = never.
func isDue(s config.Rendering, changed bool, rendered, now time.Time) bool {
	switch {
	case !s.On:
		return false
	case s.Every == 0:
		return changed
	default:
		return now.Sub(rendered) >= s.Every
	}
}

// renders reports whether a configuration renders any pages. Most render none; then visits cost nothing here.
func (l *Pool) renders(c *config.Config) bool {
	a := l.inForce.Load()
	if a == nil || a.config != c {
		a = &inForce{c, isAsked(c)}
		l.inForce.Store(a)
	}
	return a.renders
}

// offer puts a page into the queue if its settings ask for that.
func (l *Pool) offer(r crawler.Report) {
	c := l.p.Config.Current()
	if !l.renders(c) {
		return
	}
	about := config.About{URI: r.URI, Hops: r.Hops, ContentType: r.Type, Now: r.Finished}
	all := c.For(about)
	s := all.Render
	changed := r.Verdict.First || r.Verdict.State == evaluators.Changed
	if !s.On || !digest.IsHTML(r.Type) && (r.Status == http.StatusOK || r.Type != "") {
		return
	}
	facts, _ := r.Rendered.(*Facts)
	l.mu.Lock()
	defer l.mu.Unlock()
	if waiting, ok := l.queued[r.URI]; ok {
		waiting.visit = facts // the capture of this visit is the one that is rendered
		l.queued[r.URI] = waiting
		return
	}
	if !isDue(s, changed, l.rendered[r.URI], r.Finished) {
		return
	}
	if day := r.Finished.Unix() / 86400; day != l.day {
		l.day = day
		clear(l.perHost)
	}
	if l.perHost[r.URI.Host()] >= s.MaxPerDay {
		l.counts.dropped.Add(1)
		return
	}
	select {
	case l.queue <- r.URI:
		l.queued[r.URI] = page{r.URI, all.Dedup.Series, s, facts}
		l.perHost[r.URI.Host()]++
		l.remember(r.URI, r.Finished)
	default:
		l.counts.dropped.Add(1)
	}
}

// remember notes when a page was rendered. The caller holds mu.
func (l *Pool) remember(u uri.URI, now time.Time) {
	if len(l.rendered) >= maxRemembered {
		for known := range l.rendered { // any: a page that is forgotten is rendered once more
			delete(l.rendered, known)
			if len(l.rendered) < maxRemembered*9/10 {
				break
			}
		}
	}
	l.rendered[u] = now
}

// work renders pages until ctx ends.
func (l *Pool) work(ctx context.Context, pool config.BrowserPool) {
	var b Browser
	var resting time.Time // no browser is started before
	defer func() {
		if b != nil {
			b.Close()
		}
	}()
	for ctx.Err() == nil { // of a stop and a page in the queue, select takes any
		select {
		case <-ctx.Done():
			return
		case u := <-l.queue:
			l.mu.Lock()
			pg := l.queued[u]
			delete(l.queued, u)
			l.mu.Unlock()
			if b == nil {
				b = l.browser(pool)
			}
			if b == nil || l.p.Held() != "" || l.p.Now().Before(resting) {
				l.counts.dropped.Add(1)
				continue
			}
			if err := l.render(ctx, b, pg); errors.Is(err, chromium.ErrStart) {
				resting = l.p.Now().Add(startRest)
			}
		}
	}
}

// browser returns a browser, or nil if there is none. It logs that once.
func (l *Pool) browser(pool config.BrowserPool) Browser {
	if l.p.Browser != nil {
		return l.p.Browser()
	}
	program, err := chromium.Find(pool.Browser)
	l.mu.Lock()
	defer l.mu.Unlock()
	if err != nil {
		if !l.missing {
			l.p.Log.Error().Err(err).Msg("no page is rendered; everything else works")
		}
		l.missing = true
		return nil
	}
	l.missing = false
	return chromium.NewBrowser(chromium.Options{
		Program: program, Memory: pool.Memory, Pages: pool.Pages, Niceness: niceness,
	})
}

// render renders a page, and adds what it found. The error is logged, also a panic.
func (l *Pool) render(ctx context.Context, b Browser, pg page) error {
	_, err := panics.Catch(func() (struct{}, error) { return struct{}{}, l.renderPage(ctx, b, pg) })
	if err != nil && ctx.Err() == nil {
		l.counts.failed.Add(1)
		l.logFault(err, pg.uri.String(), "could not render a page: what its scripts load is not found until the next rendering")
	}
	return err
}

// logFault logs an error, and the stack of a panic.
func (l *Pool) logFault(err error, page, message string) {
	line := l.p.Log.Warn()
	if p := (*panics.Error)(nil); errors.As(err, &p) {
		line = l.p.Log.Error().Bytes("stack", p.Stack)
	}
	line.Err(err).Str("uri", page).Msg(message)
}

// renderPage renders a page, and adds what it found.
func (l *Pool) renderPage(ctx context.Context, b Browser, pg page) error {
	record, known, err := l.p.Frontier.Get(pg.uri)
	switch {
	case err != nil:
		return err
	case !known:
		return errors.New("it is not known any more")
	}
	if !digest.IsHTML(record.ContentType) {
		return nil // the answer that confirmed it did not say so
	}
	v := &view{l: l, page: pg, record: record, config: l.p.Config.Current(), asked: map[uri.URI]*asked{}}
	began := l.p.Now()
	about := config.About{URI: pg.uri, Hops: record.Hops, ContentType: record.ContentType, Now: began}
	visits := v.config.For(about)
	change := config.Own[noise.Options](&visits)
	v.reach = reach{config: v.config, page: pg.uri, means: v.config.MeansOf(about)}
	v.reach.server = v.serverOf(target{pg.uri, v.reach.means}, record)
	r, err := b.Render(ctx, chromium.Job{
		URI: pg.uri.String(), Answer: v.answer, Limit: pg.settings.Limit, MaxRequests: pg.settings.MaxRequests,
		Picture: pg.settings.Keep == config.KeepAll, Without: withoutOf(change),
		Steps: stepsOf(pg.settings.Do), Known: l.listsOf(pg.uri),
	})
	if err != nil {
		return err
	}
	v.noteSteps(r.Steps)
	found, err := v.addFound(ctx, r)
	if err == nil {
		err = v.keep(r)
	}
	if err == nil && change.Of == noise.OfRendered {
		err = v.compare(ctx, r, &visits)
	}
	if err != nil {
		return err
	}
	if l.counts.done.Add(1); r.Late {
		l.counts.late.Add(1)
	}
	l.counts.refused.Add(int64(r.Refused + r.Dropped))
	l.p.Log.Debug().Str("uri", pg.uri.String()).Int("requests", len(r.Found)).Int("new", found).Bool("late", r.Late).
		Dur("took", l.p.Now().Sub(began)).Msg("rendered a page")
	return nil
}
