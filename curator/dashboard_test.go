package curator

import (
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/arcrawl/arcrawl/admin"
	"github.com/arcrawl/arcrawl/admin/access"
	"github.com/arcrawl/arcrawl/admin/alarm"
	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/internal/browser"
	"github.com/arcrawl/arcrawl/internal/slow"
	"github.com/arcrawl/arcrawl/internal/testcrawl"
)

// recorded serves the dashboard with recorded answers. The window answers in virtual time, but a browser needs real
// time.
type recorded struct {
	pages http.Handler
	now   time.Time
	down  atomic.Bool // no request is answered

	mu      sync.Mutex        // guards the fields below
	answers map[string][]byte // by path and query
	posts   map[string][]byte // answers to orders, by path
	asked   []string          // orders that were received
}

func (r *recorded) ServeHTTP(to http.ResponseWriter, from *http.Request) {
	to.Header().Set("Date", r.now.UTC().Format(http.TimeFormat))
	if !strings.HasPrefix(from.URL.Path, api.Base) {
		r.pages.ServeHTTP(to, from)
		return
	}
	if r.down.Load() {
		panic(http.ErrAbortHandler)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if from.Method != http.MethodGet {
		r.asked = append(r.asked, from.Method+" "+from.URL.Path)
		_, _ = to.Write(r.posts[from.URL.Path])
		return
	}
	answer, ok := r.answers[from.URL.Path+"?"+from.URL.Query().Encode()]
	if !ok {
		to.WriteHeader(http.StatusNotFound)
	}
	_, _ = to.Write(answer)
}

func newRecorded() *recorded {
	return &recorded{
		pages: admin.Dashboard(new(curation).extension()), answers: map[string][]byte{}, posts: map[string][]byte{},
	}
}

// record records the answers of a world to questions, and the time.
func (r *recorded) record(w *world, questions ...string) {
	w.Helper()
	for _, q := range questions {
		r.answers[api.Base+"/"+q] = w.serve(http.MethodGet, api.Base+"/"+strings.TrimSuffix(q, "?"), "")
	}
	r.now = time.Now()
}

// changeStatus changes the recorded status of the crawl, also while a browser asks for it.
func (r *recorded) changeStatus(t *testing.T, change func(s *api.Status)) {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	var s api.Status
	path := api.Base + "/status?"
	err := json.Unmarshal(r.answers[path], &s)
	change(&s)
	if err == nil {
		r.answers[path], err = json.Marshal(s)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// aDayOfNews crawls a front page that changes each hour, a page that never does, and a host that is down.
func aDayOfNews(t *testing.T) *recorded {
	t.Helper()
	dir := t.TempDir()
	r := newRecorded()
	synctest.Test(t, func(t *testing.T) {
		toml := "[dedup]\nmin_size = \"0B\"\n" + everyHour // the pages are small
		w := newWorld(t, dir, strings.Replace(toml, "uris = [", "uris = [\"http://down.example/\", ", 1))
		defer w.Close()
		w.Trap("http://news.example/calendar/2031/07/x/x/x/")
		w.Set("http://news.example/", testcrawl.Page{Every: 2 * time.Hour})
		w.Run(24*time.Hour - time.Minute)
		const home, no = "http%3A%2F%2Fnews.example%2F", "http%3A%2F%2Fnews.example%2Fno"
		r.record(w, "status?", "new?", "series?span=1d", "series?span=7d", "hosts?limit=10&sort=overdue&state=overdue",
			"hosts?limit=10&sort=failures&state=down", "hosts?limit=50&offset=0&q=&sort=overdue&state=",
			"overdue?by=host&latest=true", "why?uri="+home, "why-not?uri="+no, "hosts/news.example?",
			"hosts/news.example/queue?limit=20", "hosts/news.example/site?", "hosts/down.example/site?",
			"search?cursor=&host=&limit=100&q=news", "traps?host=news.example", "traps?host=down.example",
			"hosts/down.example?", "hosts/down.example/queue?limit=20",
			"config?", "packages?", "new?limit=1", "uri?uri="+home)
	})
	return r
}

// serveADayOfNews serves the dashboard of a day of news until the test ends.
func serveADayOfNews(t *testing.T) (day *recorded, site *httptest.Server) {
	t.Helper()
	day = aDayOfNews(t)
	site = httptest.NewServer(day)
	t.Cleanup(site.Close)
	return day, site
}

// TestTheDashboardInABrowser opens the pages as an operator does and checks what they show. It saves
// screenshots in the folder that ARCRAWL_SCREENSHOTS names.
func TestTheDashboardInABrowser(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	day, site := serveADayOfNews(t)
	p := browser.Open(t, 1280, 1500)
	show := func(address, ready string) string {
		t.Helper()
		p.Go(site.URL + "/#/" + address)
		p.Wait(`document.getElementById("view").dataset.ready === ` + strconv.Quote(ready))
		p.Eval(`new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))`)
		text, err := strconv.Unquote(p.Eval(`document.body.innerText`))
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	for _, c := range []struct {
		address, ready string
		want           []string
	}{
		{"", "new", []string{"What is new", "news.example", "first capture", "words", "version", "Unreachable sites", "down.example", "Nothing new for long"}},
		{"operations", "operations", []string{"Crawling", "crawling", "Visits in the last hour", "Longest overdue URI", "down.example", "Unreachable sites"}},
		{"hosts", "hosts", []string{"news.example", "down.example", "1 to 2 of 2"}},
		{"host/news.example", "host/news.example", []string{"news.example", "Pause the site", "On time.", "http://news.example/", "front page", "latest captures", "Settings from files", "Queue", "Politeness and numbers", "resting", "Release the trap", "reject ^https?://news\\.example", "1 URI kept out"}},
		{"host/down.example", "host/down.example", []string{"Unreachable", "Its URIs keep their places", "No traps found"}},
		{"uri?u=http%3A%2F%2Fnews.example%2F", "uri?u=http%3A%2F%2Fnews.example%2F", []string{"as a seed", "Visit now", "because", ".*: unchanged:", "Scope and robots.txt"}},
		{"uri?u=http%3A%2F%2Fnews.example%2Fno", "uri?u=http%3A%2F%2Fnews.example%2Fno", []string{"It is not known: never found", "scope.by", "is a host of the seeds"}},
		{"uri?q=news", "uri?q=news", []string{"Sites:", "http://news.example/", "Pages with this text"}},
		{"packages", "packages", []string{"Packages", "keeps no index of its archive", "No package was made yet"}},
		{"config", "config", []string{"In force since", "arcrawl.toml"}},
	} {
		text := show(c.address, c.ready)
		for _, want := range c.want {
			if !strings.Contains(text, want) {
				t.Errorf("the page %q lacks the text %q:\n%s", c.address, want, text)
			}
		}
		if strings.Contains(text, "Error") || strings.Contains(text, "undefined") || strings.Contains(text, "NaN") {
			t.Errorf("the page %q shows a fault:\n%s", c.address, text)
		}
		browser.Keep(t, "light-"+c.ready, p.Screenshot())
	}
	show("uri?u=http%3A%2F%2Fnews.example%2F", "uri?u=http%3A%2F%2Fnews.example%2F")
	if got := p.Eval(`[...document.querySelectorAll("main dt")].filter((e) => !e.closest("details:not([open])")).length`); len(got) > 1 && got != "10" {
		t.Errorf("the page of a URI has %s facts that are not folded, want ten at most", got)
	}
	show("", "new")
	if got := p.Eval(`(() => { const all = [...document.querySelectorAll(".stream .what > a")].map((a) => a.href); return all.length > 0 && new Set(all).size === all.length })()`); got != "true" {
		t.Error("the news name a URI of a day more than once")
	}
	show("operations", "operations")
	light := p.Screenshot()
	if n := colored(light, color.RGBA{0x2a, 0x6f, 0x97, 0xff}); n < 200 {
		t.Errorf("%d pixels have the color of versions: want drawn charts", n)
	}
	if got := p.Eval(`document.querySelectorAll(".chart canvas").length`); got != "6" {
		t.Errorf("%s charts, want 6", got)
	}
	if title := p.Eval(`document.title + " | " + document.getElementById("instance").innerText`); title != `"Crawling \u2013 Test Library \u2013 arcrawl | Test Library"` {
		t.Errorf("the title of the page and the name at its top are %s", title)
	}
	day.changeStatus(t, manyAlarms)
	show("config", "config")
	text := show("operations", "operations")
	for want, times := range map[string]int{
		"40 alarms of kind feed-gap": 1, "1 alarm acknowledged": 1, "the disk is nearly full": 1, "feed-1.example may": 0,
		"Acknowledge\n": 1, "no such host": 1,
	} {
		if got := strings.Count(text+"\n", want); got < times || times == 0 && got > 0 {
			t.Errorf("with many alarms the overview has %q %d times, want %d:\n%s", want, got, times, text)
		}
	}
	browser.Keep(t, "light-alarms", p.Screenshot())
	p.Eval(`document.querySelector("#state a").click()`)
	p.Wait(`document.activeElement.id === "alarm" && document.activeElement.textContent.includes("no such host")`)
	p.Eval(`{ const send = window.fetch; window.fetch = async (...a) => {
		const answer = await send(...a); window.sent ||= String(a[0]).includes("alarms/acknowledge"); return answer } }`)
	p.Eval(`[...document.querySelectorAll("p.notice button")].find(b => b.textContent === "Acknowledge").click()`)
	p.Says("Note for others (optional)")
	p.Eval(`document.querySelector("dialog input").value = "moves on Monday"`)
	browser.Keep(t, "light-acknowledge", p.Screenshot())
	p.Click("Acknowledge")
	p.Wait(`window.sent`)
	day.mu.Lock()
	asked := slices.Clone(day.asked)
	day.mu.Unlock()
	if !slices.Contains(asked, "POST /api/v1/alarms/acknowledge") {
		t.Errorf("the button sent %q, want an acknowledgement", asked)
	}
	p.Dark()
	show("hosts", "hosts")
	show("operations", "operations")
	dark := p.Screenshot()
	browser.Keep(t, "dark-overview", dark)
	if luminance(dark) > 0.3 || luminance(light) < 0.7 {
		t.Errorf("the light theme has the luminance %.2f and the dark one %.2f", luminance(light), luminance(dark))
	}
}

// TestAPageKeepsWhatAUserDidWhileItIsUpdated sorts and opens tables, lets the daemon go away and come back, and pauses
// the crawl.
func TestAPageKeepsWhatAUserDidWhileItIsUpdated(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	day, site := serveADayOfNews(t)
	p := browser.Open(t, 1280, 1500)
	p.Go(site.URL + "/#/operations")
	p.Wait(`document.getElementById("view").dataset.ready === "operations"`)
	update := func(done string) {
		t.Helper()
		p.Eval(`document.querySelector("h1").dataset.old = "yes"`)
		p.Eval(`dispatchEvent(new Event("hashchange"))`)
		p.Wait(done)
	}
	const updated = `!document.querySelector("h1").dataset.old`
	check := func(what, expression, want string) {
		t.Helper()
		if got := p.Eval(expression); got != want {
			t.Errorf("%s: %s is %s, want %s", what, expression, got, want)
		}
	}
	p.Eval(`document.querySelectorAll("details")[1].open = true`)
	const click = `document.querySelector("details[open] th button").click()`
	first := p.Eval(`document.querySelector("details[open] tbody td").textContent`)
	p.Eval(click)
	p.Eval(`document.querySelector("details[open] th button").focus()`)
	sorted := p.Eval(`document.querySelector("details[open] tbody td").textContent + document.querySelector("details[open] th").getAttribute("aria-sort")`)
	if sorted == first || !strings.Contains(sorted, "ascending") && !strings.Contains(sorted, "descending") {
		t.Errorf("a click on a heading shows %s first, before %s", sorted, first)
	}
	update(updated)
	check("after an update", `[...document.querySelectorAll("details")].findIndex(d => d.open)`, "1")
	check("after an update", `document.querySelector("details[open] tbody td").textContent + document.querySelector("details[open] th").getAttribute("aria-sort")`, sorted)
	check("after an update", `document.activeElement.className`, `"sort"`)

	day.down.Store(true)
	update(`document.getElementById("stale").textContent.includes("Not up to date: this is the state of")`)
	check("without an answer", `document.querySelectorAll(".tile").length`, "12")
	browser.Keep(t, "light-stale", p.Screenshot())
	day.down.Store(false)
	update(updated)
	check("with an answer again", `document.getElementById("stale").textContent`, `""`)

	day.changeStatus(t, func(s *api.Status) { s.Condition = api.Condition{State: api.Paused, Why: "a test"} })
	p.Eval(`import("./page.js").then(m => m.ask("status"))`) // as the pill asks from time to time
	p.Wait(`document.getElementById("state").textContent.startsWith("paused")`)
	check("when the pill says that the crawl is paused", `document.querySelector("h1").textContent`, `"The crawl is paused: a test"`)
}

// TestSeedsAreImportedInTheBrowser pastes a list with a fault and a hostile value, sees what would change, writes and
// undoes it.
func TestSeedsAreImportedInTheBrowser(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	dir := t.TempDir()
	w := newWorld(t, dir, everyHour)
	defer w.Close()
	site := httptest.NewServer(w.window.Handler(access.Options{}))
	t.Cleanup(site.Close)
	p := browser.Open(t, 1280, 1000)
	p.Go(site.URL + "/#/import")
	p.Wait(`document.getElementById("view").dataset.ready === "import"`)
	p.Eval(`{ const a = document.querySelector("textarea"); a.value = "uri,label,note\nhttps://a.example/,papers,\n<img src=x onerror=document.title='broken'>,,\n";
		a.dispatchEvent(new Event("input")); document.querySelector("form").requestSubmit() }`)
	p.Says("1 new seed, 0 changed, 0 known, 1 faulty line; 1 host file to write")
	if got := p.Eval(`document.querySelectorAll("main img").length + document.querySelector("table").innerText`); !strings.Contains(got, "0Lines") || !strings.Contains(got, "is not a URI") {
		t.Errorf("the faults are %s", got)
	}
	browser.Keep(t, "light-import", p.Screenshot())
	file := w.hostFile("a")
	if _, err := os.Stat(file); err == nil {
		t.Error("the preview wrote a file")
	}
	p.Click("Write 1 host file")
	p.Says("Wrote 1 host file with 1 new seed")
	if text, err := os.ReadFile(file); err != nil || !strings.Contains(string(text), `labels = ["papers"]`) {
		t.Errorf("the host file: %v\n%s", err, text)
	}
	p.Click("Undo the last change")
	p.Click("Cancel")
	if _, err := os.Stat(file); err != nil {
		t.Errorf("without consent the undo changed the file: %v", err)
	}
	p.Click("Undo the last change")
	p.Says("Restore the host files as they were before the last import")
	p.Click("Undo the last change")
	p.Says("Undone: import in the dashboard")
	if _, err := os.Stat(file); err == nil {
		t.Error("the undo left the file")
	}
}

// TestASeedWithoutAPageLeadsToTheSettingThatHelps opens the notices of a seed that robots.txt forbids and of one that
// scripts make, on the home page and on the pages of their sites, and follows their buttons into the forms.
func TestASeedWithoutAPageLeadsToTheSettingThatHelps(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	dir := t.TempDir()
	r := newRecorded()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, dir, strings.Replace(everyHour, "uris = [", "uris = [\"http://closed.example/\", \"http://app.example/\", ", 1))
		defer w.Close()
		w.Set("http://closed.example/robots.txt", testcrawl.Page{Body: "User-agent: *\nDisallow: /\n"})
		w.Set("http://app.example/", testcrawl.Page{Body: "<div id=root></div><script>start()</script>"})
		w.Run(time.Hour)
		r.record(w, "status?", "names?", "new?")
		for _, host := range []string{"closed.example", "app.example"} {
			r.record(w, "hosts/"+host+"?", "hosts/"+host+"/queue?limit=20", "hosts/"+host+"/site?", "new?host="+host+"&limit=1",
				"edit/file?host="+host)
		}
	})
	site := httptest.NewServer(r)
	t.Cleanup(site.Close)
	p := browser.Open(t, 1280, 1000)
	for _, c := range []struct{ host, says, key string }{
		{"closed.example", "is forbidden by robots.txt", "robots.obey"},
		{"app.example", "is made by scripts and has hardly any text", "render.pages"},
	} {
		p.Go(site.URL + "/#/")
		p.Says("Seeds without a page")
		p.Says(c.says)
		browser.Keep(t, "light-seeds-without", p.Screenshot())
		p.Go(site.URL + "/#/host/" + c.host)
		p.Wait(`document.getElementById("view").dataset.ready === ` + strconv.Quote("host/"+c.host))
		p.Says("the seed http://" + c.host + "/ " + c.says)
		if c.key == "robots.obey" {
			p.Says("not visited: robots.txt forbids it")
		}
		browser.Keep(t, "light-host-without", p.Screenshot())
		p.Click("Open the setting")
		p.Wait(`document.activeElement.name === ` + strconv.Quote(c.key))
		browser.Keep(t, "light-setting", p.Screenshot())
	}
}

// manyAlarms adds forty gaps of feeds, a full disk and an acknowledged alarm to the status.
func manyAlarms(s *api.Status) {
	s.Alarms = append(s.Alarms, api.Alarm{Kind: alarm.Disk, Text: "the disk is nearly full", Since: s.Now})
	for i := range 40 {
		host := fmt.Sprintf("feed-%d.example", i)
		s.Alarms = append(s.Alarms, api.Alarm{Kind: alarm.FeedGap, About: host, Host: host, Text: host + " may have lost entries", Since: s.Now})
	}
	s.Alarms = append(s.Alarms, api.Alarm{
		Kind: alarm.Host, About: "b.example", Host: "b.example", Text: "b.example is down", Since: s.Now,
		Acknowledged: &api.Acknowledgement{Who: "maria", At: s.Now, Note: "moves"},
	})
}

// TestTheDashboardWithAKeyboard checks that the pages need no mouse.
func TestTheDashboardWithAKeyboard(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	_, site := serveADayOfNews(t)
	p := browser.Open(t, 390, 844)
	p.Go(site.URL + "/#/")
	p.Wait(`document.getElementById("view").dataset.ready === "new"`)
	p.Press("\t")
	if got := p.Eval(`document.activeElement.className`); got != `"skip"` {
		t.Errorf("the first Tab moves the focus to %s, want the link that skips to the content", got)
	}
	for range 4 { // the name of the crawl, and its state if that is known already
		if p.Press("\t"); p.Eval(`document.activeElement.id`) == `"menu"` {
			break
		}
	}
	p.Press("\r\t\t\t\r") // behind what is new and the front pages
	p.Wait(`document.getElementById("view").dataset.ready === "hosts"`)
	if got := p.Eval(`document.activeElement.id`); got != `"view"` {
		t.Errorf("after a page was chosen the focus is on %s, want its content", got)
	}
	if got := p.Eval(`document.querySelector("header nav [aria-current]").textContent`); got != `"Sites"` {
		t.Errorf("the current page in the menu is %s, want Sites", got)
	}
	if got := p.Eval(`document.getElementById("menu").ariaExpanded`); got != `"false"` {
		t.Error("the menu is still open when the page has changed")
	}
}

// TestTheDashboardLoadsNothingFromElsewhere reads all embedded files.
func TestTheDashboardLoadsNothingFromElsewhere(t *testing.T) {
	t.Parallel()
	testcrawl.LoadsNothing(t, files, "dashboard")
}

// colored returns the number of pixels of a color.
func colored(shot image.Image, c color.RGBA) (n int) {
	wr, wg, wb, _ := c.RGBA()
	for y := shot.Bounds().Min.Y; y < shot.Bounds().Max.Y; y++ {
		for x := shot.Bounds().Min.X; x < shot.Bounds().Max.X; x++ {
			if r, g, b, _ := shot.At(x, y).RGBA(); r == wr && g == wg && b == wb {
				n++
			}
		}
	}
	return n
}

// luminance returns the mean brightness of a picture, from 0 to 1.
func luminance(shot image.Image) float64 {
	var sum, n float64
	for y := shot.Bounds().Min.Y; y < shot.Bounds().Max.Y; y += 4 {
		for x := shot.Bounds().Min.X; x < shot.Bounds().Max.X; x += 4 {
			r, g, b, _ := shot.At(x, y).RGBA()
			sum += (0.2126*float64(r) + 0.7152*float64(g) + 0.0722*float64(b)) / 0xffff
			n++
		}
	}
	return sum / n
}
