package chromium

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/css"
	"github.com/chromedp/cdproto/dom"
	"github.com/chromedp/cdproto/emulation"
	cdpfetch "github.com/chromedp/cdproto/fetch"
	"github.com/chromedp/cdproto/input"
	cdplog "github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"
)

// The size of the window, in pixels.
const (
	width  = 1280
	height = 1024
)

const (
	quietTime  = 500 * time.Millisecond // without a request, after which a page is taken to be complete
	scrollRest = 150 * time.Millisecond // the same after a scroll
	lookEvery  = 25 * time.Millisecond
	readTime   = 10 * time.Second // maximum wait for the end of a document without a request
	workerTime = 15 * time.Second // maximum wait for a service worker
	maxScrolls = 40               // screens
	maxHeight  = 16384            // of a picture, in pixels
	maxText    = 4 << 20
)

// page is a page that is being rendered.
type page struct {
	p       *process
	job     Job
	ctx     context.Context // ends with the rendering
	tab     context.Context // of chromedp; it ends with the tab
	session *chromedp.Target
	target  target.ID // of the tab, and the id of its main frame

	mu       sync.Mutex // guards what follows
	running  sync.WaitGroup
	pending  int       // requests that are not answered yet
	last     time.Time // when the last request began or ended
	asked    int
	begun    bool // the page itself was requested
	found    []Found
	known    map[string]bool
	finished bool
	counters
	storedOnly bool // requests are answered from the archive or not at all
	clicks     bool // a step clicks: where the page is to go then is no link of it

	steps []Done
}

// render renders a page in a tab of its own, without what earlier pages stored. When ctx ends, so does the process: a
// browser that no longer answers would not close a tab either.
func (p *process) render(ctx context.Context, j Job) (r Result, err error) {
	tab, closeTab := chromedp.NewContext(p.ctx, chromedp.WithNewBrowserContext())
	defer closeTab()
	defer context.AfterFunc(ctx, p.kill)()
	if err := chromedp.Do(tab); err != nil {
		return r, errors.Join(ctx.Err(), err)
	}
	session := chromedp.FromContext(tab).Target
	answering, end := context.WithCancel(ctx)
	pg := &page{
		p: p, job: j, ctx: answering, tab: tab, session: session, target: session.TargetID, last: time.Now(),
		known: map[string]bool{j.URI: true},
	}
	p.current.Store(pg)
	defer func() {
		p.current.Store(nil)
		end()
		pg.wait()
	}()
	if err := prepare(tab, session); err != nil {
		return r, errors.Join(ctx.Err(), err)
	}
	if err := pg.prepareSteps(); err != nil {
		return r, errors.Join(ctx.Err(), err)
	}
	late, err := pg.load(ctx)
	if err != nil {
		return r, errors.Join(ctx.Err(), err)
	}
	pg.mu.Lock()
	r = Result{Found: pg.found, Refused: pg.refused, Dropped: pg.dropped, Late: late, Steps: pg.steps}
	pg.mu.Unlock()
	if err := pg.freeze(); err != nil {
		return r, errors.Join(ctx.Err(), fmt.Errorf("stop the scripts: %w", err))
	}
	if err := pg.read(&r); err != nil {
		return r, errors.Join(ctx.Err(), err)
	}
	return r, nil
}

// prepare switches off what chromedp needs for other purposes, and answers dialogs.
func prepare(tab context.Context, session *chromedp.Target) error {
	unused := []string{css.Disable.Method, dom.Disable.Method, network.Disable.Method, cdplog.Disable.Method}
	for _, method := range unused {
		if err := session.Call(tab, method, cdp.Empty{}, nil); err != nil {
			return fmt.Errorf("%s: %w", method, err)
		}
	}
	err := chromedp.Listen(tab, func(event any) {
		if _, ok := event.(*cdppage.EventJavascriptDialogOpening); ok {
			go func() {
				_, _ = cdp.Call(tab, session, cdppage.HandleJavaScriptDialog, cdppage.HandleJavaScriptDialogParams{})
			}()
		}
	})
	if err != nil {
		return err
	}
	_, err = cdp.Call(tab, session, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{
		Width: width, Height: height, DeviceScaleFactor: 1,
	})
	return err
}

// load opens the page, waits until it is quiet, does the steps, and scrolls to its end. It reports whether the limit
// ended that.
func (pg *page) load(ctx context.Context) (late bool, err error) {
	within, end := context.WithTimeout(ctx, pg.job.Limit)
	defer end()
	went := make(chan error, 1)
	go func() { went <- pg.navigate() }()
	select {
	case err := <-went:
		if err != nil {
			return false, fmt.Errorf("open the page: %w", err)
		}
	case <-within.Done():
		return true, errors.New("open the page: no answer in time")
	}
	if !pg.quiet(within, quietTime) {
		return true, ctx.Err()
	}
	installed, err := pg.awaitWorkers()
	if err != nil {
		return false, fmt.Errorf("wait for the service worker: %w", err)
	}
	if installed && !pg.quiet(within, quietTime) {
		return true, ctx.Err()
	}
	if err := pg.moveMouse(); err != nil {
		return false, fmt.Errorf("move the mouse: %w", err)
	}
	if len(pg.job.Steps) > 0 {
		if pg.quiet(within, scrollRest) {
			pg.runSteps(within)
		}
		pg.skipSteps()
		_, _ = evaluateIn[bool](within, pg, pg.mainFrame(), scrollUp) // clicks have scrolled
	}
	quiet, err := pg.scroll(within)
	if err != nil {
		return false, fmt.Errorf("scroll: %w", err)
	}
	return !quiet || !pg.quiet(within, quietTime), ctx.Err()
}

// awaitWorkers waits for a service worker that is being installed, and reports whether there is one. A page may have
// replaced the functions that this needs.
func (pg *page) awaitWorkers() (installed bool, err error) {
	within, end := context.WithTimeout(pg.tab, workerTime)
	defer end()
	installed, err = evaluate[bool](within, pg.session, awaitWorkers)
	if err != nil && pg.tab.Err() == nil {
		return false, nil
	}
	return installed, err
}

// navigate opens the page in the tab.
func (pg *page) navigate() error {
	res, err := cdp.Call(pg.tab, pg.session, cdppage.Navigate, cdppage.NavigateParams{URL: pg.job.URI})
	if err == nil && res.ErrorText != "" {
		err = errors.New(res.ErrorText)
	}
	return err
}

// scroll scrolls to the end of the page, and back. It reports false if ctx ended first, or if the page does not answer.
func (pg *page) scroll(ctx context.Context) (quiet bool, err error) {
	for range maxScrolls {
		more, err := evaluateIn[bool](ctx, pg, pg.mainFrame(), scrollDown)
		switch {
		case errors.Is(err, errScript):
			return true, nil // the document is gone
		case errors.Is(err, errHung):
			return false, nil
		case err != nil:
			return false, err
		}
		if !pg.quiet(ctx, scrollRest) {
			return false, nil
		}
		if more {
			continue
		}
		if more, err = evaluateIn[bool](ctx, pg, pg.mainFrame(), hasMore); err != nil || !more {
			break
		}
	}
	_, err = evaluateIn[bool](ctx, pg, pg.mainFrame(), scrollUp)
	return err == nil, pg.tab.Err()
}

// freeze stops the scripts of the page and what it is loading, so that it does not change while it is read.
func (pg *page) freeze() error {
	off := emulation.SetScriptExecutionDisabledParams{Value: true}
	if _, err := cdp.Call(pg.tab, pg.session, emulation.SetScriptExecutionDisabled, off); err != nil {
		return err
	}
	_, err := cdp.Call(pg.tab, pg.session, cdppage.StopLoading, cdp.Empty{})
	return err
}

// moveMouse moves the mouse a little. Many pages load their scripts at the first sign of a reader.
func (pg *page) moveMouse() error {
	_, err := cdp.Call(pg.tab, pg.session, input.DispatchMouseEvent, input.DispatchMouseEventParams{
		Type: input.DispatchMouseEventTypeMouseMoved, X: width / 2, Y: height / 2,
	})
	return err
}

// The scripts of a rendering. idle ends when the script that is running has ended, and returns whether
// the page was read to its end. awaitWorkers waits for a service
// worker that is being installed, and returns whether there is one. scrollDown opens lazy pictures and scrolls by a
// screen. It and hasMore return whether there is more below.
const (
	idle         = `location.protocol != "about:" && document.readyState != "loading"`
	awaitWorkers = `(async () => {
	try {
		const all = await navigator.serviceWorker.getRegistrations();
		if (!all.length) return false;
		await Promise.race([navigator.serviceWorker.ready, new Promise(done => setTimeout(done, 10000))]);
		return true;
	} catch { return false }
})()`
	scrollDown = `(() => {
	const open = root => {
		for (const e of root.querySelectorAll("[loading=lazy]")) e.loading = "eager";
		for (const e of root.querySelectorAll("*")) if (e.shadowRoot) open(e.shadowRoot);
	};
	open(document);
	const s = document.scrollingElement || document.documentElement;
	const before = s.scrollTop;
	window.scrollBy({top: innerHeight * 0.9, behavior: "instant"});
	for (const f of document.querySelectorAll("iframe")) {
		try { open(f.contentDocument); f.contentWindow.scrollBy({top: f.contentWindow.innerHeight, behavior: "instant"}) } catch {}
	}
	for (const e of document.querySelectorAll("main, section, div, ul")) {
		if (e.scrollHeight > e.clientHeight + 100 && /auto|scroll/.test(getComputedStyle(e).overflowY)) e.scrollTop += e.clientHeight;
		if (e.scrollWidth > e.clientWidth + 100 && /auto|scroll/.test(getComputedStyle(e).overflowX)) e.scrollLeft += e.clientWidth;
	}
	if (s.scrollTop == before) for (const t of [window, document]) t.dispatchEvent(new Event("scroll"));
	return s.scrollTop + innerHeight < s.scrollHeight - 2;
})()`
	hasMore  = `(() => { const s = document.scrollingElement || document.documentElement; return s.scrollTop + innerHeight < s.scrollHeight - 2 })()`
	scrollUp = `(window.scrollTo({top: 0, behavior: "instant"}), true)`
)

// quiet waits until there was no request for d, and no script is running. It reports false if ctx ended first.
func (pg *page) quiet(ctx context.Context, d time.Duration) bool {
	from := time.Now()
	var confirmed time.Time // when the last request ended at which no script was running afterwards
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return false
		case now := <-tick.C:
			pg.mu.Lock()
			last, pending := pg.last, pg.pending
			pg.mu.Unlock()
			if pending > 0 || now.Sub(last) < d || now.Sub(from) < d {
				continue
			}
			if confirmed.Equal(last) {
				return true
			}
			within, end := pg.bounded(ctx, pg.job.Limit)
			read, err := evaluate[bool](within, pg.session, idle)
			end()
			if err != nil {
				return false
			}
			if read || now.Sub(from) > readTime { // some pages never end their document
				confirmed = last
			}
		}
	}
}

// wait waits for the answers in progress. No further ones begin.
func (pg *page) wait() {
	pg.mu.Lock()
	pg.finished = true
	pg.mu.Unlock()
	pg.running.Wait()
}

// request handles a request of the page. It does not block.
func (pg *page) request(e *cdpfetch.EventRequestPaused) {
	pg.mu.Lock()
	defer pg.mu.Unlock()
	q, verdict := pg.judge(e)
	if (verdict == note || verdict == answer) && !pg.known[q.URI] {
		pg.known[q.URI] = true
		pg.distinct++
		if !q.Stored {
			pg.found = append(pg.found, Found{q.URI, q.Kind})
		}
	}
	switch {
	case pg.finished:
		pg.p.refused.add(e.RequestID)
		return
	case verdict == permit:
		go pg.p.fulfill(e, preflight(e))
		return
	case verdict != answer:
		pg.p.refused.add(e.RequestID)
		return
	}
	pg.pending++
	pg.last = time.Now()
	pg.running.Go(func() {
		defer pg.done()
		a := pg.job.Answer(pg.ctx, q)
		if a.Status == 0 {
			pg.miss(q)
			pg.p.fail(e.RequestID)
			return
		}
		pg.p.fulfill(e, a)
	})
}

// miss counts a request that only the archive could answer, and that it has not.
func (pg *page) miss(q Request) {
	if q.Stored {
		pg.mu.Lock()
		pg.missing++
		pg.mu.Unlock()
	}
}

func (pg *page) done() {
	pg.mu.Lock()
	pg.pending--
	pg.last = time.Now()
	pg.mu.Unlock()
}

// verdict says what is done with a request.
type verdict uint8

const (
	refuse verdict = iota // it fails
	note                  // it fails, but its URI was found
	answer
	permit // it asks whether another request is permitted; it is answered here
)

// judge decides about a request. The caller holds mu.
func (pg *page) judge(e *cdpfetch.EventRequestPaused) (Request, verdict) {
	q := Request{URI: e.Request.URL, Kind: kindOf(e.ResourceType), Stored: pg.storedOnly}
	web := strings.HasPrefix(q.URI, "https://") || strings.HasPrefix(q.URI, "http://")
	if e.Request.Method == "OPTIONS" && web {
		return q, permit
	}
	if e.Request.Method != "GET" || !web || isEndless(e) {
		pg.refused++
		return q, refuse
	}
	if most := pg.job.MaxRequests; most > 0 && pg.asked >= most {
		pg.dropped++
		return q, refuse
	}
	pg.asked++
	if e.ResourceType == network.ResourceTypeDocument && string(e.FrameID) == string(pg.target) {
		if pg.begun || q.URI != pg.job.URI {
			if pg.left++; pg.clicks { // a form that was to be submitted is no link
				return q, refuse
			}
			q.Kind = Leave
			return q, note
		}
		pg.begun, q.Main = true, true
	}
	return q, answer
}

// isEndless reports whether the answer to a request would not end, or is not read.
func isEndless(e *cdpfetch.EventRequestPaused) bool {
	switch e.ResourceType {
	case network.ResourceTypeEventSource, network.ResourceTypeWebSocket, network.ResourceTypePing,
		network.ResourceTypeCSPViolationReport:
		return true
	}
	return false
}

// kindOf returns the kind of a request.
func kindOf(t network.ResourceType) Kind {
	switch t {
	case network.ResourceTypeXHR, network.ResourceTypeFetch, network.ResourceTypePrefetch, network.ResourceTypeOther:
		return Script
	}
	return Embed
}
