package chromium

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"
	cdpfetch "github.com/chromedp/cdproto/fetch"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"
)

// Options are the options of a browser. Zero is no bound.
type Options struct {
	Program string // path of the browser, see [Find]
	// Memory is the maximum of private memory of all processes of the browser, in bytes. Beyond it they are killed.
	Memory int64
	// Pages is the number of pages after which the process is replaced.
	Pages int
	// Niceness is the nice value that is added to the one of this process, from 0 to 19.
	Niceness int
	// Start is the maximum time for the start of the process; zero is two minutes.
	Start time.Duration
	// NoNamespace forbids the network namespace. It is for tests of the second line of defence.
	NoNamespace bool
}

const (
	defaultStart = 2 * time.Minute  // see [Options]
	defaultGrace = 30 * time.Second // see [Job]
)

// ErrStart says that the browser could not be started, so that no other page could be rendered either.
var ErrStart = errors.New("could not start the browser")

// ErrMemory says that a page needed too much memory.
var ErrMemory = errors.New("the page needs more memory than render.memory")

// Browser is a browser that is started when it is needed. It renders one page at a time.
type Browser struct {
	o Options

	mu   sync.Mutex // held while a page is rendered
	proc *process   // nil = not running
}

// NewBrowser returns a browser. It starts no process yet.
func NewBrowser(o Options) *Browser {
	return &Browser{o: o}
}

// Render renders a page. After an error the next page gets a new process. When ctx ends, the process is killed.
func (b *Browser) Render(ctx context.Context, j Job) (Result, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return Result{}, err
	}
	if b.proc != nil && (b.o.Pages > 0 && b.proc.pages >= b.o.Pages || b.proc.lost()) {
		b.stop()
	}
	if b.proc == nil {
		p, err := b.start(ctx)
		if err != nil {
			return Result{}, fmt.Errorf("%w %s: %w", ErrStart, b.o.Program, err)
		}
		b.proc = p
	}
	b.proc.pages++
	within, end := context.WithTimeout(ctx, j.Limit+cmp.Or(j.Grace, defaultGrace))
	defer end()
	r, err := b.proc.render(within, j)
	if b.proc.overMemory.Load() {
		err = ErrMemory
	}
	if err != nil {
		b.stop()
		return r, fmt.Errorf("render %s: %w", j.URI, err)
	}
	return r, nil
}

// Namespace reports whether the running process has a network namespace of its own.
func (b *Browser) Namespace() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.proc != nil && b.proc.namespace
}

// Close ends the process.
func (b *Browser) Close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.stop()
}

func (b *Browser) stop() {
	if b.proc != nil {
		b.proc.stop()
		b.proc = nil
	}
}

// process is a running browser.
type process struct {
	ctx       context.Context // of chromedp
	kill      func()          // ends the process at once: all calls return. It waits for nothing, and may be called again
	end       []func()        // waits for the end of the process and of what it needs, in this order
	dir       string
	namespace bool
	pages     int // rendered so far

	current    atomic.Pointer[page] // nil between two pages
	refused    refusals
	overMemory atomic.Bool
}

// start starts a process, in a network namespace if the system permits one. It gives up when ctx ends.
func (b *Browser) start(ctx context.Context) (*process, error) {
	if !b.o.NoNamespace && namespaces {
		p, err := b.startIn(ctx, true)
		if err == nil || !isDenied(err) {
			return p, err
		}
	}
	return b.startIn(ctx, false)
}

func (b *Browser) startIn(within context.Context, namespace bool) (p *process, err error) {
	p = &process{namespace: namespace, kill: func() {}}
	if p.dir, err = os.MkdirTemp("", "arcrawl-render"); err != nil {
		return nil, err
	}
	p.end = append(p.end, func() { _ = os.RemoveAll(p.dir) })
	defer func() {
		if err != nil {
			p.stop()
		}
	}()
	user, err := userOf(p.dir)
	if err != nil {
		return nil, err
	}
	options := append(b.flags(p.dir), chromedp.ModifyCmdFunc(func(c *exec.Cmd) {
		if nice, err := exec.LookPath("nice"); err == nil && b.o.Niceness > 0 {
			c.Path, c.Args = nice, append([]string{nice, "-n", strconv.Itoa(b.o.Niceness), c.Path}, c.Args[1:]...)
		}
		confine(c, user, namespace)
	}))
	ctx, kill := context.WithCancel(context.Background())
	p.kill = kill
	ctx, endAll := chromedp.NewExecAllocator(ctx, options...)
	// endBrowser waits for a token that chromedp has only once if the process did not start: it is called once.
	var endBrowser context.CancelFunc
	p.ctx, endBrowser = chromedp.NewContext(ctx, chromedp.WithErrorf(quietly), chromedp.WithLogf(quietly))
	p.end = append([]func(){endBrowser, endAll}, p.end...)
	within, end := context.WithTimeout(within, cmp.Or(b.o.Start, defaultStart))
	defer end()
	defer context.AfterFunc(within, kill)()
	return p, errors.Join(p.open(b.o), within.Err())
}

// quietly drops the messages of chromedp, which are about the protocol.
func quietly(string, ...any) {}

// open starts the process, and intercepts all its requests.
func (p *process) open(o Options) error {
	if err := chromedp.Do(p.ctx); err != nil {
		return err
	}
	if err := chromedp.ListenBrowser(p.ctx, p.receive); err != nil {
		return err
	}
	if _, err := chromedp.CallBrowser(p.ctx, cdpfetch.Enable, cdpfetch.EnableParams{}); err != nil {
		return err
	}
	discover := target.SetDiscoverTargetsParams{Discover: true}
	if _, err := chromedp.CallBrowser(p.ctx, target.SetDiscoverTargets, discover); err != nil {
		return err
	}
	deny := browser.SetDownloadBehaviorParams{Behavior: browser.SetDownloadBehaviorBehaviorDeny}
	if _, err := chromedp.CallBrowser(p.ctx, browser.SetDownloadBehavior, deny); err != nil {
		return err
	}
	watching, stop := context.WithCancel(p.ctx)
	var running sync.WaitGroup
	pid := chromedp.FromContext(p.ctx).Browser.Process().Pid
	running.Go(func() { p.watchMemory(watching, pid, o.Memory) })
	p.refused.more = make(chan struct{}, 1)
	running.Go(func() { p.failAll(watching) })
	p.end = append([]func(){func() { stop(); running.Wait() }}, p.end...)
	return nil
}

// watchMemory ends the process, with all that it has started, when it has too much memory or soon will.
func (p *process) watchMemory(ctx context.Context, pid int, limit int64) {
	if limit <= 0 {
		return
	}
	timer := time.NewTimer(watchSeldom)
	defer timer.Stop()
	m := meter{proc: "/proc", root: pid}
	for last, when := int64(0), time.Now(); ; {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		used := m.memory()
		if exceeds(last, used, limit, time.Since(when)) {
			p.overMemory.Store(true)
			m.kill()
			return
		}
		last, when = used, time.Now()
		timer.Reset(watchPause(used, limit))
	}
}

// exceeds reports whether memory is beyond a limit, or will be in two looks if it grows as it did since the last one.
func exceeds(last, used, limit int64, since time.Duration) bool {
	growth := float64(max(used-last, 0)) * float64(2*watchOften) / float64(max(since, watchOften))
	return used+int64(growth) > limit
}

// The pauses between two looks at the memory of the browser.
const (
	watchSeldom = 500 * time.Millisecond
	watchOften  = 50 * time.Millisecond
)

// watchPause returns the pause until the next look. A page can take 400 MB in a second.
func watchPause(used, limit int64) time.Duration {
	if used > limit/2 {
		return watchOften
	}
	return watchSeldom
}

// lost reports whether the process has ended.
func (p *process) lost() bool {
	select {
	case <-chromedp.FromContext(p.ctx).Browser.LostConnection:
		return true
	default:
		return p.ctx.Err() != nil
	}
}

// stop ends the process and waits for it. It is called once.
func (p *process) stop() {
	p.kill() // a browser that does not answer would block what is waited for
	for _, end := range p.end {
		end()
	}
}

// receive handles an event of the browser. It must not block.
func (p *process) receive(event any) {
	switch e := event.(type) {
	case *cdpfetch.EventRequestPaused:
		if pg := p.current.Load(); pg != nil {
			pg.request(e)
			return
		}
		p.refused.add(e.RequestID)
	case *target.EventTargetCreated:
		pg := p.current.Load()
		if pg != nil && e.TargetInfo.Type == "page" && e.TargetInfo.TargetID != pg.target {
			window := target.CloseTargetParams{TargetID: e.TargetInfo.TargetID}
			go func() { _, _ = cdp.Call(p.ctx, chromedp.FromContext(p.ctx).Browser, target.CloseTarget, window) }()
		}
	}
}

// flags returns the options of the process.
func (b *Browser) flags(dir string) []chromedp.ExecAllocatorOption {
	off := []string{
		"background-networking", "breakpad", "client-side-phishing-detection", "component-update", "default-apps",
		"dev-shm-usage", "domain-reliability", "extensions", "hang-monitor", "prompt-on-repost", "sync", "gpu", "translate",
		"site-isolation-trials", "remote-fonts-cache", "lcd-text", "quic", "background-timer-throttling",
		"renderer-backgrounding",
	}
	on := []string{"dns-prefetch-disable", "no-pings", "mute-audio", "hide-scrollbars", "metrics-recording-only"}
	options := []chromedp.ExecAllocatorOption{
		chromedp.ExecPath(b.o.Program), chromedp.Headless, chromedp.NoFirstRun, chromedp.NoDefaultBrowserCheck,
		chromedp.UserDataDir(filepath.Join(dir, "profile")), chromedp.NoInheritEnv,
		chromedp.Env(
			"PATH="+programs,
			"HOME="+dir,
			"TMPDIR="+dir,
			"XDG_CONFIG_HOME="+dir,
			"XDG_CACHE_HOME="+dir,
			"LANG=C.UTF-8",
		),
		chromedp.Flag("no-sandbox", false),
		// The second line of defence, should there be no network namespace.
		chromedp.ProxyServer("socks5://127.0.0.1:1"), chromedp.Flag("proxy-bypass-list", "<-loopback>"),
		chromedp.Flag("host-resolver-rules", "MAP * ~NOTFOUND"),
		chromedp.Flag("webrtc-ip-handling-policy", "disable_non_proxied_udp"),
		chromedp.Flag("force-webrtc-ip-handling-policy", "disable_non_proxied_udp"),
		chromedp.Flag("disable-features", strings.Join([]string{
			"Translate", "BackForwardCache", "AcceptCHFrame", "MediaRouter", "OptimizationHints", "HttpsUpgrades",
			"HttpsFirstBalancedModeAutoEnable", "LocalNetworkAccessChecks", "Prerender2", "SpareRendererForSitePerProcess",
			"AutofillServerCommunication", "CertificateTransparencyComponentUpdater", "NetworkPrediction", "AsyncDns",
			"IsolateOrigins", "site-per-process", "InterestFeedContentSuggestions",
		}, ",")),
		chromedp.Flag("password-store", "basic"), chromedp.Flag("autoplay-policy", "user-gesture-required"),
	}
	if b.o.Memory > 0 {
		heap := fmt.Sprintf("--max-old-space-size=%d", b.o.Memory>>21) // half of it, in MiB
		options = append(options, chromedp.Flag("js-flags", heap))
	}
	for _, name := range off {
		options = append(options, chromedp.Flag("disable-"+name, true))
	}
	for _, name := range on {
		options = append(options, chromedp.Flag(name, true))
	}
	return options
}

// programs is where the browser finds other programs.
const programs = "/usr/local/bin:/usr/bin:/bin"
