// Package browser shows pages in a real browser in tests: Debian's Chromium, without a window. Tests without a browser
// may be wrong about what people see.
//
// It needs chromium. Without it its tests are skipped, or fail if the environment has ARCRAWL_REQUIRE_FOREIGN=1. Only
// test code imports this package.
package browser

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"
)

// limit ends a browser that does not end by itself. A busy machine needs minutes for a test of many pages.
const limit = 10 * time.Minute

// patience is how long a page may take until it shows what a test waits for. A busy machine needs a minute for what
// usually takes a second.
const patience = 2 * time.Minute

// says is an expression for the address of a page and its visible text.
const says = `location.href + " says " + document.body?.innerText.slice(0, 3000)`

// Page is a tab in a browser of its own, which ends with the test. It is not safe for concurrent use.
type Page struct {
	t       testing.TB
	ctx     context.Context
	netLog  string // file of the browser's network log
	endOnce func() // ends the browser
}

// Flag is a flag of the browser's command line.
type Flag struct{ Name, Value string }

// Open starts a browser with an empty page of the given size in pixels, or skips the test.
func Open(t testing.TB, width, height int64, flags ...Flag) *Page {
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
	netLog := filepath.Join(t.TempDir(), "net.json")
	options = append(options, chromedp.Flag("log-net-log", netLog))
	for _, f := range flags {
		options = append(options, chromedp.Flag(f.Name, f.Value))
	}
	ctx, end := context.WithTimeout(context.Background(), limit)
	ctx, endBrowser := chromedp.NewExecAllocator(ctx, options...)
	ctx, endTab := chromedp.NewContext(ctx)
	p := &Page{t: t, ctx: ctx, netLog: netLog}
	p.endOnce = sync.OnceFunc(func() {
		if err := chromedp.Cancel(ctx); err != nil { // waits for the process, so that its folder can be removed
			t.Errorf("end Chromium: %v", err)
		}
		endTab()
		endBrowser()
		end()
	})
	t.Cleanup(p.endOnce)
	p.do("start Chromium", chromedp.EmulateViewport(width, height))
	p.Go("about:blank") // in a tab that was never sent anywhere, Wait would never end
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

// Go opens a URI and waits until the page and its embedded resources are loaded. On a busy machine Chromium may never
// say that they are: then it is asked again.
func (p *Page) Go(uri string) {
	p.t.Helper()
	if err := p.open(uri, patience); err != nil {
		p.t.Fatal(err)
	}
}

// open opens a URI, twice at most, and waits for so long each time.
func (p *Page) open(uri string, most time.Duration) error {
	for again := false; ; again = true {
		ctx, end := context.WithTimeout(p.ctx, most)
		_, err := chromedp.Run(ctx, chromedp.Navigate(uri))
		end()
		if err == nil {
			return nil
		}
		err = fmt.Errorf("open %s: %w; %s", uri, err, p.says())
		if again || ctx.Err() == nil || p.ctx.Err() != nil {
			return err
		}
		p.t.Log(err, "; it is opened again")
	}
}

// Eval returns the value of a JavaScript expression as JSON. It waits for a promise.
func (p *Page) Eval(expression string) string {
	p.t.Helper()
	return string(run(p, "evaluate "+expression, chromedp.Evaluate[[]byte](expression, chromedp.EvalAwaitPromise)))
}

// Wait waits until a JavaScript expression is true. The page may be left for another one meanwhile. If the page needs
// longer than [patience], the test fails and says what the page shows.
func (p *Page) Wait(expression string) {
	p.t.Helper()
	if err := p.within(patience, expression); err != nil {
		p.t.Fatal(err)
	}
}

// within waits until a JavaScript expression is true, for so long at most.
func (p *Page) within(most time.Duration, expression string) error {
	ctx, end := context.WithTimeout(p.ctx, most)
	defer end()
	poll := chromedp.Poll[chromedp.Void](expression,
		chromedp.WithPollingInterval(50*time.Millisecond), chromedp.WithPollingTimeout(0))
	start := time.Now()
	for {
		_, err := chromedp.Run(ctx, poll)
		if err == nil {
			return nil
		}
		if left := strings.Contains(err.Error(), "context with specified id"); ctx.Err() != nil || !left {
			took := time.Since(start).Round(time.Millisecond)
			return fmt.Errorf("wait for %s: %w after %s; %s", expression, err, took, p.says())
		}
	}
}

// says returns the address of the page and its visible text.
func (p *Page) says() string {
	ctx, end := context.WithTimeout(p.ctx, 5*time.Second) // a script may never let the browser answer
	defer end()
	text, err := chromedp.Run(ctx, chromedp.Evaluate[string](says))
	if err != nil {
		return "the page cannot be read: " + err.Error()
	}
	return text
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

// Races is why tests of frames run without the race detector.
const Races = "chromedp has a data race of its own when it attaches to a frame of another site"

// Frame waits for a frame of another site in which a JavaScript expression is true, and returns a function that
// evaluates expressions in the frame.
func (p *Page) Frame(ready string) (eval func(expression string) string) {
	p.t.Helper()
	attached := map[target.ID]context.Context{} // until the test ends: to detach would close the frame
	last := "there is no frame of another site"
	for end := time.Now().Add(limit / 2); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		targets, err := chromedp.Targets(p.ctx)
		if err != nil {
			p.t.Fatalf("list the frames: %v", err)
		}
		for _, info := range targets {
			if info.Type != "iframe" {
				continue
			}
			if attached[info.TargetID] == nil {
				ctx, detach := chromedp.NewContext(p.ctx, chromedp.WithTargetID(info.TargetID))
				p.t.Cleanup(detach)
				attached[info.TargetID] = ctx
			}
			ctx := attached[info.TargetID]
			got, err := chromedp.Run(ctx, chromedp.Evaluate[[]byte]("!!("+ready+")"))
			if err == nil && string(got) == "true" {
				return func(expression string) string {
					p.t.Helper()
					v, err := chromedp.Run(ctx, chromedp.Evaluate[[]byte](expression, chromedp.EvalAwaitPromise))
					if err != nil {
						p.t.Fatalf("evaluate %s in the frame: %v", expression, err)
					}
					return string(v)
				}
			}
			last, _ = chromedp.Run(ctx, chromedp.Evaluate[string](says))
		}
	}
	p.t.Fatalf("no frame fulfils %s in time; the last one: %s", ready, last)
	return nil
}

// Requests ends the browser and returns the hosts, with ports, of all requests and connections that it tried to make,
// from the log of its network, including requests of workers and frames. It leaves out the
// servers of the browser's maker, which the browser asks on its own.
func (p *Page) Requests() []string {
	p.t.Helper()
	p.endOnce()
	text, err := os.ReadFile(p.netLog)
	if err != nil {
		p.t.Fatalf("read the network log: %v", err)
	}
	var hosts []string
	for _, found := range hostsIn(text) {
		host, _, _ := strings.Cut(found, " ")
		if !strings.HasSuffix(host, ".google.com") && !strings.HasSuffix(host, ".googleapis.com") {
			hosts = append(hosts, host)
		}
	}
	slices.Sort(hosts)
	return slices.Compact(hosts)
}

// hostsIn returns what a network log has as hosts in its URLs, and in its keys of groups of connections. A log has many
// megabytes; under the race detector one expression for all of them takes 200 times as long.
func hostsIn(log []byte) (hosts []string) {
	for {
		before, after, found := bytes.Cut(log, []byte("://"))
		if !found {
			return hosts
		}
		log = after
		start := bytes.LastIndexByte(before, '"')
		end := bytes.IndexAny(after, `/"`)
		if start >= 0 && end > 0 && isScheme(before[start+1:]) && isNamed(before[:start]) {
			hosts = append(hosts, string(after[:end]))
		}
	}
}

// isScheme reports whether something ends with a scheme of the web, and has only what keys of groups have before it.
func isScheme(b []byte) bool {
	for _, scheme := range []string{"http", "https", "ws", "wss"} {
		if bytes.HasSuffix(b, []byte(scheme)) {
			return len(bytes.Trim(b, "abcdefghijklmnopqrstuvwxyz/_")) == 0
		}
	}
	return false
}

// isNamed reports whether something ends with the name of a value that is an address.
func isNamed(b []byte) bool {
	for _, name := range []string{`"url":`, `"group_id":`, `"origin":`, `"host":`} {
		if bytes.HasSuffix(b, []byte(name)) {
			return true
		}
	}
	return false
}
