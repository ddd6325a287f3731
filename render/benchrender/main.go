// Command benchrender measures what the rendering of a page costs, compared with a plain Chromium that loads the same
// pages from a server on loopback.
//
//	make bench-render                        # 5 rounds of 20 pages
//	make bench-render ARGS='-rounds 0 -memory 1000'   # memory over 1000 short pages, a tenth of them hungry
//
// Both browsers get the same pages in turn, scroll them to their end and read their DOM. Both wait for the same: until
// no request was open for half a second, and after each scroll for 150 ms. CPU time is the user and system time of all
// processes of the browser. For the rendering it includes this program, which answers the requests.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	"github.com/arcrawl/arcrawl/render/chromium"
)

func main() {
	rounds := flag.Int("rounds", 5, "number of rounds of each browser")
	pages := flag.Int("pages", 20, "number of pages in a round")
	memory := flag.Int("memory", 0, "number of pages whose memory is measured (0 = none)")
	flag.Parse()
	if err := run(*rounds, *pages, *memory); err != nil {
		fmt.Fprintln(os.Stderr, "benchrender:", err)
		os.Exit(1)
	}
}

func run(rounds, pages, memory int) error {
	program, err := chromium.Find("")
	if err != nil {
		return err
	}
	var ratios, cpu, slower []float64
	for n := range rounds {
		plain, err := plainRound(pages)
		if err != nil {
			return fmt.Errorf("plain Chromium: %w", err)
		}
		own, err := renderRound(program, pages)
		if err != nil {
			return fmt.Errorf("rendering: %w", err)
		}
		ratio := own.cpu.Seconds() / plain.cpu.Seconds()
		ratios, cpu = append(ratios, ratio), append(cpu, own.cpu.Seconds()/float64(pages))
		slower = append(slower, own.wall.Seconds()/plain.wall.Seconds())
		fmt.Printf("round %d: plain %s, rendering %s, CPU × %.2f, time × %.2f\n",
			n+1, plain.per(pages), own.per(pages), ratio, slower[n])
		fmt.Printf("  plain:     %s\n  rendering: %s\n", plain.parts.per(pages), own.parts.per(pages))
	}
	if rounds > 0 {
		for _, list := range [][]float64{ratios, cpu, slower} {
			slices.Sort(list)
		}
		fmt.Printf("median: %.2f s CPU per rendered page, × %.2f of plain Chromium (%.2f to %.2f); time × %.2f (%.2f to %.2f)\n",
			cpu[rounds/2], ratios[rounds/2], ratios[0], ratios[rounds-1], slower[rounds/2], slower[0], slower[rounds-1])
	}
	if memory > 0 {
		return measureMemory(program, memory)
	}
	return nil
}

// cost holds the times that a round took.
type cost struct {
	cpu, wall time.Duration
	parts     parts
}

// parts holds the CPU time of each kind of process. Renderers that have ended count as zygote, which started them.
type parts map[string]time.Duration

// per returns the parts for each page, the largest first.
func (p parts) per(pages int) string {
	kinds := slices.SortedFunc(maps.Keys(p), func(a, b string) int { return cmp.Compare(p[b], p[a]) })
	var out []string
	for _, k := range kinds {
		out = append(out, fmt.Sprintf("%s %.2f s", k, p[k].Seconds()/float64(pages)))
	}
	return strings.Join(out, ", ")
}

// since returns what was added to other parts.
func (p parts) since(before parts) parts {
	out := parts{}
	for k, d := range p {
		if d -= before[k]; d > 0 {
			out[k] = d
		}
	}
	return out
}

func (c cost) per(pages int) string {
	return fmt.Sprintf(
		"%.2f s CPU a page, %.0f pages a minute",
		c.cpu.Seconds()/float64(pages),
		float64(pages)/c.wall.Minutes(),
	)
}

// script loads pictures, some of them when they come into view, and computes a little.
const script = `const n = location.pathname.match(/\d+/)[0];
fetch("/list" + n + ".json").then(r => r.json()).then(list => {
	if (location.pathname.startsWith("/short")) list.length = 4;
	for (const [i, t] of list.entries()) document.body.insertAdjacentHTML("beforeend",
		'<div style="height:300px"><a href="' + t.link + '">' + t.link + '</a><img ' + (i % 2 ? 'loading=lazy ' : '') + 'src="' + t.img + '"></div>');
});
let sum = 0; for (let i = 0; i < 3e6; i++) sum += Math.sqrt(i);
document.title = sum;`

// content returns the content of a path, and its type.
func content(path string) (text, contentType string) {
	number := strings.Trim(strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return r
		}
		return -1
	}, path), "")
	switch {
	case path == "/app.js":
		return script, "text/javascript"
	case path == "/style.css":
		return "body { font: 16px serif } img { width: 200px }", "text/css"
	case strings.HasSuffix(path, ".json"):
		var b strings.Builder
		for i := range 20 {
			fmt.Fprintf(&b, `,{"link": "/a%s-%d.html", "img": "/i%s-%d.svg"}`, number, i, number, i)
		}
		return "[" + b.String()[1:] + "]", "application/json"
	case strings.HasSuffix(path, ".svg"):
		const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="200" height="100">`
		return svg + `<text y="50">` + path + `</text></svg>`, "image/svg+xml"
	case strings.HasPrefix(path, "/page"), strings.HasPrefix(path, "/short"):
		return `<!DOCTYPE html><link rel=stylesheet href=/style.css><body>` + strings.Repeat(
			"<p>Some text of an article.",
			300,
		) +
			`<script src=/app.js></script>`, "text/html"
	case strings.HasPrefix(path, "/greedy"):
		return `<!DOCTYPE html><script>const all = [];
setInterval(() => { all.push(new Uint8Array(20 << 20).fill(1));
	fetch("/list" + all.length + ".json") }, 50)</script>`, "text/html"
	case strings.HasPrefix(path, "/hungry"):
		return `<!DOCTYPE html><script>const all = []; for (let i = 0; i < 10; i++) all.push(new Uint8Array(20 << 20).fill(i))</script>`, "text/html"
	}
	return "", ""
}

const host = "http://www.site.example"

func answer(_ context.Context, q chromium.Request) chromium.Answer {
	text, contentType := content(strings.TrimPrefix(q.URI, host))
	if text == "" {
		return chromium.Answer{Status: http.StatusNotFound}
	}
	return chromium.Answer{
		Status: http.StatusOK,
		Header: http.Header{"Content-Type": {contentType}},
		Body:   []byte(text),
	}
}

// renderRound renders pages in one browser.
func renderRound(program string, pages int) (cost, error) {
	b := chromium.NewBrowser(chromium.Options{Program: program, Memory: 2e9})
	defer b.Close()
	if err := renderPage(b, "/page999.html"); err != nil { // starts the browser
		return cost{}, err
	}
	before, own, began := treeOf(os.Getpid()), ownCPU(), time.Now()
	for i := range pages {
		if err := renderPage(b, fmt.Sprintf("/page%d.html", i)); err != nil {
			return cost{}, err
		}
	}
	after, mine := treeOf(os.Getpid()), ownCPU()-own
	c := cost{after.cpu - before.cpu + mine, time.Since(began), after.parts.since(before.parts)}
	c.parts["arcrawl"] = mine
	return c, nil
}

func renderPage(b *chromium.Browser, path string) error {
	r, err := b.Render(context.Background(), chromium.Job{URI: host + path, Answer: answer, Limit: time.Minute})
	want := 0
	switch {
	case strings.Contains(path, "page"):
		want = 20
	case strings.Contains(path, "short"):
		want = 6
	}
	if err == nil && len(r.Found) < want {
		err = fmt.Errorf("%s requested only %d URIs", path, len(r.Found))
	}
	return err
}

// The scripts of the plain browser do what a rendering does.
const (
	scroll = `(() => { for (const e of document.querySelectorAll("[loading=lazy]")) e.loading = "eager"; scrollBy({top: innerHeight * 0.9, behavior: "instant"}); const s = document.scrollingElement; return s.scrollTop + innerHeight < s.scrollHeight - 2 })()`
	read   = `document.documentElement.outerHTML + document.body.innerText`
)

// plainRound loads pages in one plain browser, from a server on loopback.
func plainRound(pages int) (c cost, err error) {
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, contentType := content(r.URL.Path)
		if text == "" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", contentType)
		_, _ = w.Write([]byte(text))
	}))
	defer site.Close()
	ctx, end := chromedp.NewContext(context.Background(), chromedp.WithErrorf(func(string, ...any) {}))
	defer end()
	if err := chromedp.Do(ctx); err != nil {
		return c, err
	}
	if err := plainPage(ctx, site.URL+"/page999.html"); err != nil {
		return c, err
	}
	before, began := treeOf(os.Getpid()), time.Now()
	for i := range pages {
		if err := plainPage(ctx, fmt.Sprintf("%s/page%d.html", site.URL, i)); err != nil {
			return c, err
		}
	}
	after := treeOf(os.Getpid())
	return cost{after.cpu - before.cpu, time.Since(began), after.parts.since(before.parts)}, nil
}

func plainPage(browser context.Context, uri string) error {
	tab, end := chromedp.NewContext(browser, chromedp.WithNewBrowserContext())
	defer end()
	if err := chromedp.Do(tab, chromedp.EmulateViewport(1280, 1024)); err != nil {
		return err
	}
	t := &traffic{open: map[network.RequestID]bool{}}
	if err := chromedp.Listen(tab, t.receive); err != nil {
		return err
	}
	if err := chromedp.Do(tab, chromedp.Navigate(uri)); err != nil {
		return err
	}
	t.quiet(500 * time.Millisecond)
	for range 40 {
		more, err := chromedp.Run(tab, chromedp.Evaluate[bool](scroll))
		if err != nil {
			return err
		}
		t.quiet(150 * time.Millisecond)
		if !more {
			break
		}
	}
	t.quiet(500 * time.Millisecond)
	_, err := chromedp.Run(tab, chromedp.Evaluate[string](read))
	return err
}

// traffic holds the requests of a page that are open.
type traffic struct {
	mu   sync.Mutex
	open map[network.RequestID]bool
	last time.Time // when the last request began or ended
}

// receive handles an event of the browser.
func (t *traffic) receive(event any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		t.open[e.RequestID] = true
	case *network.EventLoadingFinished:
		delete(t.open, e.RequestID)
	case *network.EventLoadingFailed:
		delete(t.open, e.RequestID)
	default:
		return
	}
	t.last = time.Now()
}

// quiet waits until no request was open for d.
func (t *traffic) quiet(d time.Duration) {
	for from := time.Now(); ; time.Sleep(time.Millisecond) {
		t.mu.Lock()
		done := len(t.open) == 0 && time.Since(t.last) >= d && time.Since(from) >= d
		t.mu.Unlock()
		if done {
			return
		}
	}
}

// measureMemory renders many pages, and says how much private memory the browser had at most. One page in ten takes
// 200 MB, and one in fifty takes ever more, so that the browser is ended.
func measureMemory(program string, pages int) error {
	const bound = 1 << 30
	b := chromium.NewBrowser(chromium.Options{Program: program, Memory: bound, Pages: 100})
	defer b.Close()
	var highest atomic.Int64
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-stop:
				return
			case <-time.After(50 * time.Millisecond):
				highest.Store(max(highest.Load(), treeOf(os.Getpid()).memory))
			}
		}
	}()
	failed, ended := 0, 0
	for i := range pages {
		path := fmt.Sprintf("/short%d.html", i)
		if i%10 == 9 {
			path = fmt.Sprintf("/hungry%d.html", i)
		}
		if i%50 == 25 {
			path = fmt.Sprintf("/greedy%d.html", i)
		}
		switch err := renderPage(b, path); {
		case errors.Is(err, chromium.ErrMemory):
			ended++
		case err != nil:
			failed++
			fmt.Println(err)
		}
		if i%100 == 99 || i == pages-1 {
			fmt.Printf("%d pages, %d ended for their memory, %d failed, at most %d MiB of private memory; the bound is %d MiB\n",
				i+1, ended, failed, highest.Load()>>20, bound>>20)
		}
	}
	close(stop)
	<-done
	return nil
}

// tree holds the use of the processes below one.
type tree struct {
	cpu    time.Duration // of running ones, and of those that they waited for
	memory int64         // private resident bytes
	parts  parts
}

// treeOf measures all processes that descend from one, without itself.
func treeOf(pid int) (t tree) {
	const tick = 10 * time.Millisecond // as Linux counts for programs
	type process struct {
		id, parent int
		cpu        time.Duration
	}
	var all []process
	t.parts = parts{}
	folders, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range folders {
		stat, err := os.ReadFile(filepath.Join(dir, "stat"))
		if err != nil {
			continue
		}
		fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
		number := func(i int) int { n, _ := strconv.Atoi(fields[i]); return n }
		id, _ := strconv.Atoi(filepath.Base(dir))
		all = append(
			all,
			process{id, number(1), time.Duration(number(11)+number(12)+number(13)+number(14)) * tick},
		)
	}
	for todo := []int{pid}; len(todo) > 0; todo = todo[1:] {
		for _, p := range all {
			if p.parent != todo[0] {
				continue
			}
			todo = append(todo, p.id)
			t.cpu += p.cpu
			t.parts[kindOf(p.id)] += p.cpu
			statm, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", p.id))
			if fields := strings.Fields(string(statm)); err == nil && len(fields) > 2 {
				resident, _ := strconv.ParseInt(fields[1], 10, 64)
				shared, _ := strconv.ParseInt(fields[2], 10, 64)
				t.memory += (resident - shared) * int64(os.Getpagesize())
			}
		}
	}
	return t
}

// ownCPU returns the user and system time of this process.
func ownCPU() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// kindOf returns the kind of a process of the browser, as its options name it.
func kindOf(id int) string {
	line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", id))
	if err != nil {
		return "ended"
	}
	kind := "browser"
	for _, option := range strings.FieldsFunc(string(line), func(r rune) bool { return r == 0 || r == ' ' }) {
		if k, ok := strings.CutPrefix(option, "--type="); ok {
			kind = k
		}
		if k, ok := strings.CutPrefix(option, "--utility-sub-type="); ok {
			kind = k
		}
	}
	return kind
}
