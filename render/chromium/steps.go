package chromium

import (
	"cmp"
	"context"
	_ "embed" // the functions that run in pages
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/chromedp/cdproto/cdp"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
)

// Step is something that the browser does on a page before the page is taken as it is. One of Scroll, Wait and Store is
// set, or else Click or Texts.
type Step struct {
	Name   string            // for [Done]
	Click  []string          // CSS selectors of what to click, the preferred one first
	Texts  []string          // in small letters: a button that begins with one of them is clicked too
	Scroll bool              // to the end of the page
	Wait   string            // CSS selector of what must be there
	Store  map[string]string // values for the local storage of the page, set before its scripts run
	Times  int               // maximum number of clicks or of screens to scroll; zero is one click, or [maxScrolls]
	Limit  time.Duration     // of the step; zero is a minute
}

// Done says what came of a step.
type Done struct {
	Step     string        // its name
	Times    int           // clicks or screens
	Requests int           // URIs that the page had not requested before
	Took     time.Duration // the step
	Ended    string        // why the step ended
	Entries  Entries       // of the list that grew; zero unless the step reached its end
}

const (
	defaultStep = time.Minute
	appearTime  = 2 * time.Second  // maximum wait for what is to be clicked
	clickTime   = 30 * time.Second // maximum wait for the requests of a click
	screenTime  = 10 * time.Second // maximum wait for the pictures of a screen
	scriptTime  = 8 * time.Second  // maximum of a script
	stepRest    = 100 * time.Millisecond
	searched    = 20 // in which something to click is looked for
	world       = "arcrawl"
)

// Why a step ended.
const (
	endNone     = "nothing matches"
	endGone     = "nothing matches any more"
	endIdle     = "nothing new was requested"
	endTimes    = "it was done as often as it may"
	endKnown    = "the rest was captured before"
	endLeads    = "it leads to another page, which is prevented"
	endForm     = "it submits a form, which is prevented"
	endRefused  = "what it requests cannot be answered from an archive"
	endRequests = "the page has made render.max_requests requests"
	endBottom   = "the end of the page"
	endThere    = "it is there"
	endStored   = "it is stored"
	endChanged  = "the page has not kept it"
	endLimit    = "the limit of the step"
	endLate     = "render.limit"
	endHung     = "the page did not answer"
	endScript   = "the document is gone"
	endSelector = "the browser does not accept the selector"
)

//go:embed steps.js
var stepFunctions string

// errHung says that a page did not answer a script of a step in time.
var errHung = errors.New("the page did not answer")

// prepareSteps makes the browser set what the steps store, before the scripts of the page run.
func (pg *page) prepareSteps() error {
	values := map[string]string{}
	for _, s := range pg.job.Steps {
		maps.Copy(values, s.Store)
	}
	if len(values) == 0 {
		return nil
	}
	source := fmt.Sprintf(`try { if (window === window.top && location.href.split("#")[0] === %s.split("#")[0])
		for (const [k, v] of Object.entries(%s)) Storage.prototype.setItem.call(localStorage, k, v) } catch {}`,
		literal(pg.job.URI), literal(values))
	_, err := cdp.Call(pg.tab, pg.session, cdppage.AddScriptToEvaluateOnNewDocument,
		cdppage.AddScriptToEvaluateOnNewDocumentParams{Source: source, WorldName: world})
	return err
}

// literal returns a value as an expression of JavaScript.
func literal(v any) string {
	b, err := json.Marshal(v)
	if err != nil { // texts, and lists and maps of texts, cannot fail
		return "null"
	}
	return string(b)
}

// runSteps does the steps of the job until ctx ends, which is when the limit of the rendering is reached.
func (pg *page) runSteps(ctx context.Context) {
	pg.show(ctx, 0)
	for i, s := range pg.job.Steps {
		d := Done{Step: s.Name}
		began, requested := time.Now(), pg.counted().distinct
		within, end := context.WithTimeout(ctx, cmp.Or(s.Limit, defaultStep))
		d.Ended = pg.do(within, s, &d)
		end()
		switch {
		case ctx.Err() != nil:
			d.Ended = endLate
		case errors.Is(within.Err(), context.DeadlineExceeded):
			d.Ended = endLimit
		}
		pg.mu.Lock()
		pg.storedOnly = false
		pg.mu.Unlock()
		d.Took, d.Requests = time.Since(began), pg.counted().distinct-requested
		pg.steps = append(pg.steps, d)
		pg.show(ctx, i+1)
	}
}

// skipSteps notes the steps that were not begun.
func (pg *page) skipSteps() {
	for _, s := range pg.job.Steps[len(pg.steps):] {
		pg.steps = append(pg.steps, Done{Step: s.Name, Ended: endLate})
	}
}

// do does a step, and returns why it ended.
func (pg *page) do(ctx context.Context, s Step, d *Done) string {
	switch {
	case ctx.Err() != nil:
		return endLate
	case s.Scroll:
		return pg.scrollSlowly(ctx, cmp.Or(s.Times, maxScrolls), d)
	case s.Wait != "":
		return pg.waitFor(ctx, "steps.has("+literal(s.Wait)+")", endThere)
	case s.Store != nil:
		kept, err := evaluateIn[bool](ctx, pg, pg.mainFrame(), "steps.holds("+literal(s.Store)+")")
		if err != nil || !kept {
			return endChanged
		}
		return endStored
	}
	return pg.click(ctx, s, d)
}

// show passes a picture of the page on after a step, if somebody wants one.
func (pg *page) show(ctx context.Context, step int) {
	if pg.job.Pictured == nil || len(pg.job.Steps) == 0 {
		return
	}
	height, err := evaluateIn[int64](ctx, pg, pg.mainFrame(), `Math.max(document.documentElement?.scrollHeight ?? 1, 1)`)
	if err != nil {
		return
	}
	ctx, end := pg.bounded(ctx, screenTime)
	defer end()
	if picture, err := pg.picture(ctx, height); err == nil {
		pg.job.Pictured(step, picture)
	}
}

// waitFor waits until an expression is true in the page.
func (pg *page) waitFor(ctx context.Context, expression, ended string) string {
	for {
		there, err := evaluateIn[bool](ctx, pg, pg.mainFrame(), expression)
		if why := whyOf(err); why != "" {
			return why
		}
		if there {
			return ended
		}
		if !rest(ctx, stepRest) {
			return endLimit
		}
	}
}

// whyOf returns why a step ends after an error of a script; "" if there was none.
func whyOf(err error) string {
	switch {
	case err == nil:
		return ""
	case errors.Is(err, errScript) && strings.Contains(err.Error(), "SyntaxError"):
		return endSelector
	case errors.Is(err, errScript):
		return endScript
	}
	return endHung
}

// rest waits. It reports false if ctx ended before.
func rest(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// scrollSlowly scrolls from the top to the end of the page by screens, each when the pictures of the one before are
// complete.
func (pg *page) scrollSlowly(ctx context.Context, most int, d *Done) string {
	if _, err := evaluateIn[bool](ctx, pg, pg.mainFrame(), scrollUp); err != nil {
		return whyOf(err)
	}
	for d.Times < most {
		more, err := evaluateIn[bool](ctx, pg, pg.mainFrame(), scrollDown)
		if why := whyOf(err); why != "" {
			return why
		}
		d.Times++
		screen, end := context.WithTimeout(ctx, screenTime)
		quiet := pg.quiet(screen, scrollRest)
		if quiet {
			pg.waitFor(screen, "steps.loading() === 0", "")
		}
		end()
		if ctx.Err() != nil {
			return endLimit
		}
		if more {
			continue
		}
		if more, err = evaluateIn[bool](ctx, pg, pg.mainFrame(), hasMore); err != nil || !more {
			return cmp.Or(whyOf(err), endBottom)
		}
	}
	return endTimes
}

// mainFrame returns the frame of the page itself.
func (pg *page) mainFrame() cdp.FrameID { return cdp.FrameID(pg.target) }

// frames returns the frames of the page, the page itself first.
func (pg *page) frames(ctx context.Context) []cdp.FrameID {
	ctx, end := pg.bounded(ctx, scriptTime)
	defer end()
	list := []cdp.FrameID{pg.mainFrame()}
	tree, err := cdp.Call(ctx, pg.session, cdppage.GetFrameTree, cdp.Empty{})
	if err != nil || tree.FrameTree == nil {
		return list
	}
	for waiting := tree.FrameTree.ChildFrames; len(waiting) > 0 && len(list) < searched; waiting = waiting[1:] {
		if f := waiting[0]; f != nil && f.Frame != nil {
			list = append(list, f.Frame.ID)
			waiting = append(waiting, f.ChildFrames...)
		}
	}
	return list
}

// bounded returns a context of the tab that ends after d, and when ctx ends.
func (pg *page) bounded(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	within, end := context.WithTimeout(pg.tab, d)
	stop := context.AfterFunc(ctx, end)
	return within, func() { stop(); end() }
}

// evaluateIn returns the value of an expression in a world of its own in a frame, with the functions of steps.js. A
// page that does not answer in time is interrupted, whatever it does.
func evaluateIn[T any](ctx context.Context, pg *page, frame cdp.FrameID, expression string) (v T, err error) {
	within, end := pg.bounded(ctx, scriptTime+scriptTime/2)
	defer end()
	isolated, err := cdp.Call(within, pg.session, cdppage.CreateIsolatedWorld, cdppage.CreateIsolatedWorldParams{
		FrameID: frame, WorldName: world,
	})
	byValue := true
	var res *runtime.EvaluateResult
	if err == nil {
		var r runtime.EvaluateResult
		r, err = cdp.Call(within, pg.session, runtime.Evaluate, runtime.EvaluateParams{
			Expression: stepFunctions + "\n;" + expression, ContextID: isolated.ExecutionContextID, ReturnByValue: &byValue,
			Timeout: runtime.TimeDelta(scriptTime.Milliseconds()),
		})
		res = &r
	}
	switch {
	case err != nil && within.Err() != nil && pg.tab.Err() == nil:
		pg.interrupt()
		return v, errHung
	case err != nil:
		return v, err
	case res.ExceptionDetails != nil:
		return v, scriptError(res.ExceptionDetails)
	case res.Result == nil:
		return v, errScript
	}
	return v, json.Unmarshal(res.Result.Value, &v)
}

// interrupt ends the script that is running. One that never ends would also keep the page from being read.
func (pg *page) interrupt() {
	within, end := context.WithTimeout(pg.tab, scriptTime)
	defer end()
	_, _ = cdp.Call(within, pg.session, runtime.TerminateExecution, cdp.Empty{})
}
