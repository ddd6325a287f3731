// Package browser shows pages in a real browser in tests: Debian's Chromium, without a window. Tests without a browser
// may be wrong about what people see.
//
// It needs chromium. Without it its tests are skipped, or fail if the environment has ARCRAWL_REQUIRE_FOREIGN=1. Only
// test code imports this package.
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

// limit ends a browser that does not end by itself.
const limit = time.Minute

// Page is a tab in a browser of its own, which ends with the test. It is not safe for concurrent use.
type Page struct {
	t   testing.TB
	ctx context.Context
}

// Open starts a browser with an empty page of the given size in pixels, or skips the test.
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
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(program),
		chromedp.NoSandbox, // Chromium has no sandbox for root
		chromedp.UserDataDir(t.TempDir()),
		chromedp.Flag("no-proxy-server", true), chromedp.Flag("disable-dev-shm-usage", true),
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

// Go opens a URI and waits until the page and its embedded resources are loaded.
func (p *Page) Go(uri string) {
	p.t.Helper()
	p.do("open "+uri, chromedp.Navigate(uri))
}

// Eval returns the value of a JavaScript expression as JSON. It waits for a promise.
func (p *Page) Eval(expression string) string {
	p.t.Helper()
	return string(run(p, "evaluate "+expression, chromedp.Evaluate[[]byte](expression, chromedp.EvalAwaitPromise)))
}

// Wait waits until a JavaScript expression is true.
func (p *Page) Wait(expression string) {
	p.t.Helper()
	interval := chromedp.WithPollingInterval(50 * time.Millisecond)
	p.do("wait for "+expression, chromedp.Poll[chromedp.Void](expression, interval))
}

// Screenshot returns the visible part of the page.
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

// Dark shows the page with the preference for dark colours.
func (p *Page) Dark() {
	p.t.Helper()
	p.do("prefer dark colors", chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		_, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "dark"}},
		})
		return err
	}))
}

// Press presses keys one after the other, for example "\t" or "\r".
func (p *Page) Press(keys string) {
	p.t.Helper()
	p.do("press keys", chromedp.KeyEvent(keys))
}
