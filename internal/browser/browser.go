// Package browser shows pages in a real browser in tests: Debian's Chromium, without a window. What our own reader makes of an
// archive, or our own test of a page, may still be wrong; what a browser shows is what people see.
//
// It needs chromium. Without it the tests that want it are skipped, or fail when the environment has
// ARCRAWL_REQUIRE_FOREIGN=1. Only test code imports this package.
package browser

import (
	"bytes"
	"context"
	"image"
	"image/png"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// limit ends a browser that does not come to an end by itself.
const limit = time.Minute

// Page is a tab of a browser of its own, which ends with the test. It is for one goroutine.
type Page struct {
	t   testing.TB
	ctx context.Context
}

// Open starts a browser with an empty page of so many pixels, or skips the test.
func Open(t testing.TB, width, height int64) *Page {
	t.Helper()
	program, err := exec.LookPath("chromium")
	if err != nil {
		missing := t.Skipf
		if os.Getenv("ARCRAWL_REQUIRE_FOREIGN") == "1" {
			missing = t.Fatalf
		}
		missing("Chromium is not installed (run scripts/test-deps): %v", err)
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(program), chromedp.NoSandbox, // root has none
		chromedp.UserDataDir(t.TempDir()), chromedp.Flag("no-proxy-server", true), chromedp.Flag("disable-dev-shm-usage", true),
		chromedp.Flag("hide-scrollbars", true), chromedp.WSURLReadTimeout(limit))
	ctx, end := context.WithTimeout(context.Background(), limit)
	ctx, endBrowser := chromedp.NewExecAllocator(ctx, options...)
	ctx, endTab := chromedp.NewContext(ctx)
	p := &Page{t: t, ctx: ctx}
	t.Cleanup(func() {
		if err := chromedp.Cancel(ctx); err != nil { // waits for the process, so that its folder can be removed
			t.Errorf("end Chromium: %v", err)
		}
		endTab()
		endBrowser()
		end()
	})
	p.do("start Chromium", chromedp.EmulateViewport(width, height))
	return p
}

func (p *Page) do(what string, action chromedp.Action[chromedp.Void]) { run(p, what, action) }

func run[T any](p *Page, what string, action chromedp.Action[T]) T {
	p.t.Helper()
	v, err := chromedp.Run(p.ctx, action)
	if err != nil {
		p.t.Fatalf("%s: %v", what, err)
	}
	return v
}

// Go opens a URI and waits until the page and what it shows have been loaded.
func (p *Page) Go(uri string) {
	p.t.Helper()
	p.do("open "+uri, chromedp.Navigate(uri))
}

// Eval is the value of an expression of JavaScript as JSON. It waits for a promise.
func (p *Page) Eval(expression string) string {
	p.t.Helper()
	return string(run(p, "evaluate "+expression, chromedp.Evaluate[[]byte](expression, chromedp.EvalAwaitPromise)))
}

// Wait waits until an expression of JavaScript is true.
func (p *Page) Wait(expression string) {
	p.t.Helper()
	p.do("wait for "+expression, chromedp.Poll[chromedp.Void](expression, chromedp.WithPollingInterval(50*time.Millisecond)))
}

// Screenshot is what is seen of the page.
func (p *Page) Screenshot() image.Image {
	p.t.Helper()
	shot, err := png.Decode(bytes.NewReader(run(p, "take a screenshot", chromedp.CaptureScreenshot())))
	if err != nil {
		p.t.Fatalf("read the screenshot: %v", err)
	}
	return shot
}

// Resize changes the size of the page, in pixels.
func (p *Page) Resize(width, height int64) {
	p.t.Helper()
	p.do("resize", chromedp.EmulateViewport(width, height))
}

// Dark has the page shown as to those who prefer dark colors.
func (p *Page) Dark() {
	p.t.Helper()
	p.do("prefer dark colors", chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		_, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "dark"}},
		})
		return err
	}))
}

// Press presses keys one after the other, as "\t" or "\r".
func (p *Page) Press(keys string) {
	p.t.Helper()
	p.do("press keys", chromedp.KeyEvent(keys))
}
