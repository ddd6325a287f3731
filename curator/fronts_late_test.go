package curator

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/crawler/whatif"
	"github.com/arcrawl/arcrawl/internal/archivetest"
	"github.com/arcrawl/arcrawl/internal/browser"
)

// fakeBrowser asks for the page and for some other URIs, and returns a picture.
type fakeBrowser struct {
	asks    []string
	picture []byte
	err     error

	mu      sync.Mutex // guards the fields below
	answers map[string]whatif.Answer
}

func (b *fakeBrowser) Load(ctx context.Context, p whatif.Page) (whatif.Shown, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.answers = map[string]whatif.Answer{p.URI: p.Answer(ctx, p.URI, true)}
	for _, u := range b.asks {
		b.answers[u] = p.Answer(ctx, u, false)
	}
	if !p.Picture || p.Limit <= 0 || p.MaxRequests <= 0 {
		return whatif.Shown{}, errors.New("no picture is wanted, or nothing bounds the page")
	}
	return whatif.Shown{Picture: b.picture}, b.err
}

// opens lets the curators of a world have this browser.
func (b *fakeBrowser) opens(w *world) {
	w.curation.browser = func(*config.Config) (whatif.Browser, func(), error) { return b, func() {}, nil }
}

// madeLater orders the picture of a version and waits until it is made or has failed.
func madeLater(t *testing.T, w *world, page, at string) PictureState {
	t.Helper()
	state := post[PictureState](w, api.Base+"/fronts/picture", PictureOrder{URI: page, At: at})
	for end := time.Now().Add(time.Minute); state.State == waiting && time.Now().Before(end); {
		time.Sleep(10 * time.Millisecond)
		state = get[PictureState](w, api.Base+"/fronts/picture?uri="+url.QueryEscape(page)+"&at="+at)
	}
	return state
}

// TestAVersionIsPicturedLater makes the picture of a version that was not rendered. The page gets what was archived
// nearest in time, and nothing that a replay of it would not show.
func TestAVersionIsPicturedLater(t *testing.T) {
	t.Parallel()
	a := newArchived(t)
	page := newspapers[0].uri
	a.add(a.Page(page, archivetest.HTMLHead, "first"), "text/html", 200)
	a.add(a.Page(page+"style.css", "HTTP/1.1 200 OK\r\nContent-Type: text/css\r\nAccess-Control-Allow-Origin: *", "old"), "text/css", 200)
	second := a.add(a.Page(page, archivetest.HTMLHead, "second"), "text/html", 200)
	a.Now = a.Now.Add(24 * time.Hour)
	a.add(a.Page(page+"style.css", "HTTP/1.1 200 OK\r\nContent-Type: text/css", "new"), "text/css", 200)
	a.Series = "vault"
	a.add(a.Page("http://vault.example/", archivetest.HTMLHead, "closed"), "text/html", 200)
	w := frontsWorld(t, a.live)
	b := &fakeBrowser{
		asks:    []string{page + "style.css", page + "missing.png", "http://vault.example/", "data:text/plain,x"},
		picture: newspapers[0].front(3, 8),
	}
	b.opens(w)
	at := stamp(second)
	if state := madeLater(t, w, page, at); state.State != done {
		t.Fatalf("%+v", state)
	}
	for u, want := range map[string]string{
		page: "second", page + "style.css": "old", page + "missing.png": "", "http://vault.example/": "", "data:text/plain,x": "",
	} {
		got := b.answers[u]
		if string(got.Body) != want || (got.Status == http.StatusOK) != (want != "") {
			t.Errorf("%s was answered with %d %q, want %q", u, got.Status, got.Body, want)
		}
	}
	u := "&uri=" + url.QueryEscape(page)
	day := get[FrontDay](w, api.Base+"/fronts/day?day=2026-11-21"+u)
	if len(day.Frames) != 2 || day.Frames[0].Picture != "" || day.Frames[1].Picture != at || !day.Frames[1].Late {
		t.Errorf("the day is %+v", day)
	}
	for _, size := range []string{"", "&size=thumb", "&size=sheet"} {
		w.serve(http.MethodGet, api.Base+"/picture?late=true&at="+at+u+size, "")
	}
	must(t, os.RemoveAll(filepath.Join(w.curation.o.Dir, lateFolder)))
	if status := w.Ask(http.MethodGet, api.Base+"/picture?late=true&at="+at+u, nil, nil); status != http.StatusNotFound {
		t.Errorf("the picture is gone: %d", status)
	}
	if state := madeLater(t, w, page, at); state.State != done {
		t.Errorf("it is not made again: %+v", state)
	}
}

// TestAPictureThatCannotBeMadeSaysWhy orders pictures without a browser, of no version, and of a page that fails.
func TestAPictureThatCannotBeMadeSaysWhy(t *testing.T) {
	t.Parallel()
	a := newArchived(t)
	page := newspapers[0].uri
	at := stamp(a.add(a.Page(page, archivetest.HTMLHead, "first"), "text/html", 200))
	w := frontsWorld(t, a.live)
	if state := madeLater(t, w, page, at); state.State != failed || !strings.Contains(state.Problem, "without the part that renders") {
		t.Errorf("without a browser: %+v", state)
	}
	b := &fakeBrowser{err: errors.New("it crashed")}
	b.opens(w)
	if state := madeLater(t, w, page, at); state.State != failed || !strings.Contains(state.Problem, "it crashed") {
		t.Errorf("the browser crashed: %+v", state)
	}
	b.err = nil
	if state := madeLater(t, w, page, at); state.State != failed || !strings.Contains(state.Problem, "made no picture") {
		t.Errorf("no picture: %+v", state)
	}
	for _, o := range []PictureOrder{{page, "20200101000000"}, {page, ""}, {"http://other.example/", at}} {
		if status := w.Ask(http.MethodPost, api.Base+"/fronts/picture", o, nil); status != http.StatusNotFound {
			t.Errorf("%+v: status %d, want 404", o, status)
		}
	}
}

// TestAFilmStripWorksWithoutAServer saves a day as a file, and opens that in Chromium. Texts are hostile.
func TestAFilmStripWorksWithoutAServer(t *testing.T) {
	t.Parallel()
	w := frontsWorld(t, frontsOf(t, 4).live)
	c := changeAt("courier.example", time.Date(2026, 11, 29, 3, 0, 9, 0, time.UTC), "headline")
	c.URI, c.Change.Headlines = newspapers[0].uri, []string{"old", "</script><img src=x onerror=\"document.title='taken'\">\u202e"}
	_, err := w.curation.changes.store.Add(c, c.At)
	must(t, err)
	q := "uri=" + url.QueryEscape(newspapers[0].uri) + "&uri=" + url.QueryEscape(newspapers[1].uri)
	text := w.serve(http.MethodGet, api.Base+"/film?since=2026-11-28&until=2026-11-29&"+q, "")
	if strings.Contains(string(text), "http://") && strings.Contains(string(text), "src=\"http") || strings.Contains(string(text), "<img src=x") {
		t.Error("the file loads something, or has a text of a stranger as HTML")
	}
	for bad, says := range map[string]string{
		"since=2026-11-29": "0 pages", "since=29.11.2026&" + q: "write a day", "since=2026-11-01&until=2026-12-31&" + q: "1 to 31",
		"since=2026-11-29&until=2026-11-01&" + q: "1 to 31", "since=2026-11-29&uri=x": "uri",
	} {
		var problem api.Problem
		if status := w.Ask(http.MethodGet, api.Base+"/film?"+bad, nil, &problem); status != 400 || !strings.Contains(problem.Error, says) {
			t.Errorf("%s: %d %q, want %q", bad, status, problem.Error, says)
		}
	}
	path := filepath.Join(t.TempDir(), "film.html")
	must(t, os.WriteFile(path, text, 0o640))
	p := browser.Open(t, 1280, 1000)
	p.Go("file://" + path)
	p.Says("Front pages, 28 November 2026 to 29 November 2026")
	p.Says("onerror=")
	p.Wait(`document.querySelectorAll(".film").length === 4 && document.querySelectorAll(".film img").length === 29`)
	p.Wait(`document.querySelector(".film img").naturalWidth === 320`)
	browser.Keep(t, "film-light", p.Screenshot())
	p.Eval(`document.querySelector(".film").focus()`)
	p.Eval(`(() => { const key = (k) => document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key: k, bubbles: true })); key("ArrowRight"); key("ArrowRight"); document.activeElement.click() })()`)
	p.Wait(`document.querySelectorAll("#large .stage img").length === 2`)
	p.Eval(`(() => { const r = document.querySelector("#large input"); r.value = 25; r.dispatchEvent(new Event("input")) })()`)
	if got := p.Eval(`document.querySelector(".stage .line").style.left + getComputedStyle(document.querySelector(".stage .old")).clipPath`); got != `"25%inset(0px 75% 0px 0px)"` {
		t.Errorf("the slider is at %s", got)
	}
	browser.Keep(t, "film-slider", p.Screenshot())
	p.Click("Later picture")
	p.Says("The Courier 2026-11-28 20:00")
	p.Eval(`(() => { const s = document.querySelector("#large select"); s.value = "20"; s.dispatchEvent(new Event("change")) })()`)
	p.Wait(`document.querySelector("#large .handle").textContent.includes("tidende")`)
	if title := p.Eval(`document.title`); strings.Contains(title, "taken") {
		t.Errorf("a text became a script: %s", title)
	}
	for _, host := range p.Requests() {
		t.Errorf("the file asked %s", host)
	}
}
