package main

import (
	"fmt"
	"image/png"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/admin/access"
	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
	"github.com/arcrawl/arcrawl/internal/browser"
	"github.com/arcrawl/arcrawl/internal/daemontest"
	"github.com/arcrawl/arcrawl/internal/demosite"
	"github.com/arcrawl/arcrawl/internal/foreign"
	"github.com/arcrawl/arcrawl/internal/slow"
)

// sitesOfTheDay serves n small sites: a page with a style sheet and a clock. It returns their addresses.
func sitesOfTheDay(t *testing.T, n int) (sites []string) {
	t.Helper()
	for i := range n {
		site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			switch r.URL.Path {
			case "/":
				w.Header().Set("Content-Type", "text/html; charset=utf-8")
				fmt.Fprintf(w, `<!doctype html><title>Candidate %d</title><link rel=stylesheet href="/s.css"><main><h1>Candidate %d</h1>`+
					`<p>%s</p></main><p class="clock">It is %d.</p>`, i, i, strings.Repeat("A long text that stays. ", 20), time.Now().UnixNano())
			case "/s.css":
				w.Header().Set("Content-Type", "text/css")
				_, _ = io.WriteString(w, "h1 { color: rgb(1, 2, 3) }")
			default:
				http.NotFound(w, r)
			}
		}))
		t.Cleanup(site.Close)
		sites = append(sites, site.URL)
	}
	return sites
}

// played is a page with ReplayWeb.page's own element, which opens the package.
const played = `<!doctype html><script src="/ui.js"></script>
<replay-web-page source="/day.wacz" url="%s" replaybase="/replay/" embed="replayonly" nosandbox
	style="width:600px;height:300px;display:block"></replay-web-page>
` + foreign.Replayed

// TestACuratorsDayWithoutATerminal does in a browser what a curator does on the first day: adds ten sites from a list,
// watches the first captures come, opens one, compares two versions, silences a clock, and packs the collection into a
// package that ReplayWeb.page plays. ARCRAWL_SCREENSHOTS names a folder for the pictures of it.
func TestACuratorsDayWithoutATerminal(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	app := foreign.ReplayApp(t)
	sites := sitesOfTheDay(t, 10)
	dashboard, dir := aDaemonForCurators(t, filepath.Dir(foreign.ReplayWorker(t)))
	list := "uri,collection,owner\n"
	for _, site := range sites {
		list += site + "/,elections,maria\n"
	}
	p := browser.Open(t, 1280, 900)
	shows := func(text string) { t.Helper(); p.Wait(`document.body.innerText.includes(` + strconv.Quote(text) + `)`) }
	press := func(name string) {
		t.Helper()
		p.ClickOn(`[...document.querySelectorAll("button, a")].find((e) => e.textContent.startsWith(` + strconv.Quote(name) + `) && !e.disabled)`)
	}
	p.Go(dashboard.signIn)
	shows("Nothing was captured yet")

	press("Sites")
	press("Add sites")
	p.Wait(`document.querySelector("textarea") !== null`)
	p.Eval(`(() => { const a = document.querySelector("textarea"); a.value = ` + strconv.Quote(list) + `; a.dispatchEvent(new Event("input")) })()`)
	press("Check the list")
	shows("10 new seeds")
	photograph(t, p, "1-import")
	press("Write 10 host files")
	shows("Wrote 10 host files")

	press("What is new")
	p.Wait(`new Set([...document.querySelectorAll("h3 a[href^='#/host/']")].map((a) => a.getAttribute("href"))).size === 10`)
	shows("Candidate 9")
	photograph(t, p, "2-captures")
	press("view")
	frame := p.Frame(`location.pathname.startsWith("/w/") && document.querySelector("h1") && getComputedStyle(document.querySelector("h1")).color === "rgb(1, 2, 3)"`)
	if title := frame(`document.title`); !strings.HasPrefix(title, `"Candidate `) {
		t.Errorf("the version is shown with the title %s", title)
	}
	photograph(t, p, "3-view")

	p = browser.Open(t, 1280, 900)
	p.Go(dashboard.signIn)
	p.ClickOn(`document.querySelector("ol.stream a[href='#/uri?u=` + url.QueryEscape(sites[0]+"/") + `']")`)
	p.Wait(`document.querySelector("h1").textContent === "Candidate 0"`) // news have links to compare, too
	press("compare")
	shows("1 line differs.")
	photograph(t, p, "4-compare")
	press("Ignore")
	press("Save to ")
	shows("Saved to ")
	photograph(t, p, "5-ignore")
	p.Eval(`history.back()`)
	p.Wait(`[...document.querySelectorAll("table td")].some((e) => e.textContent === "unchanged")`)

	press("Packages")
	press("Make the package")
	p.Wait(`document.querySelector("a[download]") !== null`)
	photograph(t, p, "6-package")
	pack := filepath.Join(dir, "day.wacz")
	dashboard.fetch(t, p.Eval(`document.querySelector("a[download]").getAttribute("href")`), pack)

	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/":
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprintf(w, played, sites[7]+"/")
		case "/ui.js", "/replay/ui.js":
			http.ServeFile(w, r, filepath.Join(app, "ui.js"))
		case "/replay/sw.js":
			http.ServeFile(w, r, filepath.Join(app, "sw.js"))
		case "/day.wacz":
			http.ServeFile(w, r, pack)
		default:
			http.NotFound(w, r) // archived URIs are never requested from this server
		}
	}))
	t.Cleanup(site.Close)
	p = browser.Open(t, 640, 340)
	p.Go(site.URL)
	p.Wait(`replayed() && replayed().querySelector("h1") && replayed().defaultView.getComputedStyle(replayed().querySelector("h1")).color === "rgb(1, 2, 3)"`)
	if got := p.Eval(`replayed().querySelector("h1").textContent`); got != `"Candidate 7"` {
		t.Errorf("ReplayWeb.page shows %s", got)
	}
	photograph(t, p, "7-replay")
}

// curatorsDashboard is the dashboard of a running daemon.
type curatorsDashboard struct{ at, signIn, token string }

// aDaemonForCurators starts a daemon without sites and returns its dashboard, and the folder of its configuration.
func aDaemonForCurators(t *testing.T, engine string) (d curatorsDashboard, dir string) {
	t.Helper()
	listen, err := demosite.FreeAddress()
	if err != nil {
		t.Fatal(err)
	}
	replay, err := demosite.FreeAddress()
	if err != nil {
		t.Fatal(err)
	}
	dir = t.TempDir()
	conf := filepath.Join(dir, "arcrawl.toml")
	ending(t, cli.ExitOK, "init", dir)
	daemontest.WriteFile(t, conf, fmt.Sprintf("[operator]\nname = \"National Library\"\ncontact = \"https://library.example/crawler\"\n"+
		"[storage]\nmin_free = \"1MB\"\n[fetch]\nallow_networks = [\"127.0.0.0/8\"]\n[politeness]\nmin_delay = \"50ms\"\n"+
		"[feeds]\nusual_sitemap = false\n[[wait]]\nmime = \".*\"\nrule = \"classic\"\ninitial = \"1s\"\nmin = \"1s\"\nmax = \"4s\"\n"+
		"[admin]\nlisten = %q\nreplay_listen = %q\nreplay_assets = %q\n", listen, replay, engine))
	process := daemontest.StartProcess(t, built.In(t, dir), conf)
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(process.Output())
		}
	})
	file := filepath.Join(dir, "state", "admin.token")
	for giveUp := time.Now().Add(daemontest.Patience); time.Now().Before(giveUp); time.Sleep(100 * time.Millisecond) {
		tokens, err := access.List(file)
		if err == nil && len(tokens) == 1 {
			d = curatorsDashboard{"http://" + listen, "http://" + listen + "/?token=" + tokens[0].Secret, tokens[0].Secret}
			if got, err := http.Get(d.at + "/readyz"); err == nil && got.Body.Close() == nil {
				return d, dir
			}
		}
	}
	t.Fatalf("the daemon serves no dashboard:\n%s", process.Output())
	return d, dir
}

// fetch stores what the dashboard has at a path, given as a JSON string.
func (d curatorsDashboard) fetch(t *testing.T, path, file string) {
	t.Helper()
	path, err := strconv.Unquote(path)
	if err != nil {
		t.Fatal(err)
	}
	ask, err := http.NewRequestWithContext(t.Context(), http.MethodGet, d.at+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	ask.Header.Set("Authorization", "Bearer "+d.token)
	got, err := http.DefaultClient.Do(ask)
	if err != nil {
		t.Fatal(err)
	}
	defer got.Body.Close()
	content, err := io.ReadAll(got.Body)
	if err != nil || got.StatusCode != http.StatusOK {
		t.Fatalf("GET %s: %s, %v", path, got.Status, err)
	}
	if err := os.WriteFile(file, content, 0o600); err != nil {
		t.Fatal(err)
	}
}

// photograph saves a picture of the page, if ARCRAWL_SCREENSHOTS names a folder.
func photograph(t *testing.T, p *browser.Page, name string) {
	t.Helper()
	dir := os.Getenv("ARCRAWL_SCREENSHOTS")
	if dir == "" {
		return
	}
	f, err := os.Create(filepath.Join(dir, "day-"+name+".png"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := png.Encode(f, p.Screenshot()); err != nil {
		t.Fatal(err)
	}
}
