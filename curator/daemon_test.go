package curator

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/daemon"
	"github.com/arcrawl/arcrawl/internal/browser"
	"github.com/arcrawl/arcrawl/internal/daemontest"
	"github.com/arcrawl/arcrawl/internal/foreign"
	"github.com/arcrawl/arcrawl/internal/slow"
)

// withReplay adds an address for archived versions, and the folder of the engine.
func withReplay(engine string) func(dir, main string) string {
	return func(_, main string) string {
		return strings.Replace(main, "[admin]\n", fmt.Sprintf("[admin]\nreplay_listen = \"127.0.0.1:0\"\nreplay_assets = %q\n", engine), 1)
	}
}

// withSeed replaces the seeds of the configuration by the root of a site.
func withSeed(site *httptest.Server) func(dir, main string) string {
	return func(_, main string) string {
		return regexp.MustCompile(`uris = \[.*\]`).ReplaceAllString(main, fmt.Sprintf("uris = [%q]", site.URL+"/"))
	}
}

// dashboard returns the address of the dashboard and its token, and the URI of the seed.
func dashboard(t *testing.T, l *daemontest.Life) (address, token, seed string) {
	t.Helper()
	l.WaitFor(t, "serving the admin API")
	at := regexp.MustCompile(`"at":"(http://[^"]+)","tokens"`).FindStringSubmatch(l.Text())
	text, err := os.ReadFile(filepath.Join(l.Dir, "admin.token"))
	if err != nil || at == nil {
		t.Fatalf("no address or no token: %v\n%s", err, l.Text())
	}
	main, err := os.ReadFile(l.Path)
	if err != nil {
		t.Fatal(err)
	}
	uris := regexp.MustCompile(`uris = \["([^"]+)"`).FindSubmatch(main)
	fields := strings.Fields(string(text))
	return at[1], fields[len(fields)-1], string(uris[1])
}

// signIn opens the dashboard in a browser.
func signIn(t *testing.T, l *daemontest.Life) (b *browser.Page, address, seed string) {
	t.Helper()
	address, token, seed := dashboard(t, l)
	b = browser.Open(t, 1100, 800)
	b.Go(address + "?token=" + token)
	return b, address, seed
}

// fits makes sure that the page is not wider than the window.
func fits(t *testing.T, b *browser.Page, page string) {
	t.Helper()
	if got := b.Eval(`document.documentElement.scrollWidth - innerWidth`); got != "0" {
		t.Errorf("the page %q is %s pixels too wide", page, got)
	}
}

// TestAVersionIsSeenInTheDashboard crawls a page, finds its version in the dashboard, and sees it in its frame.
func TestAVersionIsSeenInTheDashboard(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	slow.Unraced(t, browser.Races)
	wings := []func() daemon.Wing{Wing}
	l := daemontest.StartIn(t, t.TempDir(), wings, withReplay(filepath.Dir(foreign.ReplayWorker(t))))
	l.Visited(t)
	b, origin, seed := signIn(t, l)
	b.Go(origin + "#/uri?u=" + url.QueryEscape(seed))
	b.Click("view")
	frame := b.Frame(`location.pathname.startsWith("/w/") && document.title`)
	if got := frame(`document.title`); got != `"one page"` {
		t.Errorf("the frame shows a page with the title %s", got)
	}
	if got := b.Eval(`document.querySelector("h1").textContent`); !strings.HasPrefix(got, `"Version of 20`) {
		t.Errorf("the heading is %s", got)
	}
	fits(t, b, "view")
	browser.Keep(t, "view-light", b.Screenshot())
	b.Dark()
	browser.Keep(t, "view-dark", b.Screenshot())
	b.Resize(390, 844)
	browser.Keep(t, "view-phone", b.Screenshot())
	stamp := b.Eval(`new URLSearchParams(location.hash.split("?")[1]).get("at")`)
	b.Go(origin + "view/" + strings.Trim(stamp, `"`) + "/" + seed)
	b.Frame(`location.pathname.startsWith("/w/") && document.title == "one page"`)
	b.Go(origin + "#/view?u=" + url.QueryEscape(seed+"never-archived"))
	b.Wait(`document.querySelector("h1").textContent === "Error"`)
	if got := b.Eval(`document.getElementById("view").innerText`); !strings.Contains(got, "no version of "+seed) {
		t.Errorf("for a page without a version the dashboard says %s", got)
	}
	for _, host := range b.Requests() {
		if !strings.HasPrefix(host, "127.0.0.1:") && !strings.HasPrefix(host, "localhost:") {
			t.Errorf("the browser asked %s", host)
		}
	}
}

// TestWithoutTheEngineTheDashboardSaysWhatToInstall starts a daemon with an address for versions, but without an
// engine.
func TestWithoutTheEngineTheDashboardSaysWhatToInstall(t *testing.T) {
	t.Parallel()
	empty := t.TempDir()
	l := daemontest.StartIn(t, t.TempDir(), []func() daemon.Wing{Wing}, withReplay(empty))
	l.Visited(t)
	_, _, seed := dashboard(t, l)
	l.WaitFor(t, "the folder has no engine")
	view := ask(t, l, "view", seed)
	if !strings.Contains(view, "Install the package arcrawl-replay") || !strings.Contains(view, empty) || strings.Contains(view, `"frame"`) {
		t.Errorf("the answer is %s", view)
	}
	versions := ask(t, l, "versions", seed)
	if !strings.Contains(versions, `"count":1`) || !strings.Contains(versions, `"changed":true`) {
		t.Errorf("the list of versions is %s", versions)
	}
}

// TestTwoVersionsAreComparedInTheDashboard crawls a page that changes, and compares its first two versions in each way.
func TestTwoVersionsAreComparedInTheDashboard(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	visits := 0
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/" {
			http.NotFound(w, r)
			return
		}
		visits = min(visits+1, 2) // more versions would push the first ones out of the list
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprintf(w, "<title>Harbour news</title>\n<h1>The ferry leaves at %d:30</h1>\n<p class=clock>%d visits</p>\n<p class=readers>Now %d readers</p>\n%s<p>%s", 6+visits, visits, 40+visits,
			strings.Repeat("<p>Tickets are sold on board. The crossing takes twenty minutes.</p>\n", 12),
			"<script>document.title = 'taken'</script>a \u202ereversed\u202c sign &lt;img src=x onerror=alert(1)>"+strings.Repeat("long ", 40*visits))
	}))
	t.Cleanup(site.Close)
	l := daemontest.StartIn(t, t.TempDir(), []func() daemon.Wing{Wing}, withSeed(site), func(_, main string) string {
		return main + "[change]\nscrub_css = [\"p.clock\"]\n[[wait]]\nmime = \".*\"\nrule = \"classic\"\ninitial = \"1s\"\nmin = \"1s\"\nmax = \"1s\"\n"
	})
	_, _, seed := dashboard(t, l)
	for n := 0; n < 2; {
		r := <-l.Visits
		if r.URI.String() == seed && r.Status == http.StatusOK {
			n++
		}
	}
	b, origin, _ := signIn(t, l)
	b.Go(origin + "#/uri?u=" + url.QueryEscape(seed))
	b.ClickOn(`[...document.querySelectorAll("a")].findLast(a => a.textContent === "compare")`)
	ready := func(want string) {
		t.Helper()
		b.Wait(`document.querySelector("h1").textContent === "Comparison" && document.getElementById("view").innerText.includes(` + strconv.Quote(want) + `)`)
		fits(t, b, want)
	}
	ready("unchanged lines")
	text := b.Eval(`document.querySelector("table.compare").innerText`)
	for _, want := range []string{"The ferry leaves at ", "visits", "rule 1", "[U+202E]reversed", "<img src=x onerror=alert(1)>", "unchanged lines"} {
		if !strings.Contains(text, strings.Trim(strconv.Quote(want), `"`)) {
			t.Errorf("the comparison lacks %q: %s", want, text)
		}
	}
	if got := b.Eval(`[...document.querySelectorAll("td del")].map(e => e.textContent).join() + " " + [...document.querySelectorAll("td ins")].map(e => e.textContent.trim()).join().slice(0, 4)`); got != `"7,41 8,42"` {
		t.Errorf("marked as different: %s", got)
	}
	browser.Keep(t, "compare-light", b.Screenshot())
	const later = `document.querySelectorAll("main .row select")[1]`
	if b.Eval(later+`.options.length > 1`) == "true" { // the browser was slower than a second visit: choose the newest
		before := b.Eval(`location.hash`)
		b.Eval(later + `.selectedIndex = 0`)
		b.Eval(later + `.dispatchEvent(new Event("change"))`)
		b.Wait(`location.hash !== ` + before)
		b.Eval(`history.back()`)
		b.Wait(`location.hash === ` + before)
		ready("unchanged lines")
	}
	b.Click("Inline")
	ready("in one column")
	b.Dark()
	browser.Keep(t, "compare-inline-dark", b.Screenshot())
	b.Click("Source")
	ready("<title>Harbour news</title>")
	b.Resize(390, 844)
	browser.Keep(t, "compare-source-phone", b.Screenshot())
	b.Click("Response header")
	ready("Content-Type")
	if got := b.Eval(`document.title`); got != `"Comparison – arcrawl"` && !strings.HasPrefix(got, `"Comparison`) {
		t.Errorf("the title is %s", got)
	}
}

// TestAPageIsCapturedNowWithItsEmbeds orders a capture of a page that waits for a day, of a page that is new, and of
// one on another host, and follows them in the dashboard.
func TestAPageIsCapturedNowWithItsEmbeds(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/", "/fresh":
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			fmt.Fprintf(w, "<title>%s</title><link rel=stylesheet href=/style.css><img src=/gone.png>%s", r.URL.Path, time.Now())
		case "/style.css":
			w.Header().Set("Content-Type", "text/css")
			fmt.Fprint(w, "body { color: red }")
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(site.Close)
	l := daemontest.StartIn(t, t.TempDir(), []func() daemon.Wing{Wing}, withSeed(site))
	l.Visited(t)
	b, origin, seed := signIn(t, l)
	b.Go(origin + "#/capture?u=" + url.QueryEscape(seed+"\n"+seed+"fresh\n"+seed+"gone\nhttp://elsewhere.example/"))
	b.Wait(`document.querySelector("textarea")?.value.includes("fresh")`)
	b.Click("Capture now")
	b.Wait(`document.querySelector("#view .notice.good")?.textContent === "All done: 3 pages."`)
	text := b.Eval(`document.getElementById("view").innerText`)
	for _, want := range []string{
		"http://elsewhere.example/ is on a site without a seed", "archived, view", "2 of 2 archived",
		"archived (the site answered 404 Not Found), view",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %q: %s", want, text)
		}
	}
	browser.Keep(t, "capture-light", b.Screenshot())
	b.Dark()
	b.Resize(390, 844)
	fits(t, b, "capture")
	browser.Keep(t, "capture-phone-dark", b.Screenshot())
	b.Click("view")
	b.Wait(`document.querySelector("h1").textContent.startsWith("Version of")`)
	versions := ask(t, l, "versions", seed)
	if !strings.Contains(versions, `"count":2`) {
		t.Errorf("the page has not two versions: %s", versions)
	}
	b.Eval(`history.back()`)
	b.Wait(`document.querySelector("textarea")?.value.includes("fresh")`)
	b.Click("Capture now")
	b.Wait(`[...document.querySelectorAll("a")].some((a) => a.textContent === "Add it as a seed")`)
	b.Click("Add it as a seed")
	b.Wait(`document.querySelector("textarea[name=list]")?.value === "http://elsewhere.example/"`)
	b.Go(origin + "#/uri?u=" + url.QueryEscape(seed))
	b.Wait(`document.getElementById("view").innerText.includes("not known yet how often it changes: every visit found a change")`)
}

// ask asks the API of a daemon about a URI, and returns the answer.
func ask(t *testing.T, l *daemontest.Life, question, about string) string {
	t.Helper()
	address, token, _ := dashboard(t, l)
	address += "api/v1/" + question + "?uri=" + url.QueryEscape(about)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	answer, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s %s, %v", address, answer.Status, text, err)
	}
	return string(text)
}
