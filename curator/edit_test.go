package curator

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/arcrawl/arcrawl/admin/access"
	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/internal/browser"
	"github.com/arcrawl/arcrawl/internal/foreign"
	"github.com/arcrawl/arcrawl/internal/slow"
)

// TestACuratorEditsAHostFileInTheBrowser signs in, edits a host file with the form and the text, makes a fault, meets
// another editor, adds a host and removes it. Each page is looked at by axe-core, in both themes.
func TestACuratorEditsAHostFileInTheBrowser(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	axe := foreign.Axe(t)
	const before = "# by maria\n[seeds]\nuris = [\"http://news.example/\"] # the front page\n"
	w := newWorld(t, hostFiles(t, map[string]string{"news": before}), withoutSeeds)
	defer w.Close()
	file := w.hostFile("news")
	tokens := []access.Token{{Name: "maria", Role: access.Curate, Secret: "the-token-of-maria"}}
	handler := w.window.Handler(access.Options{
		Tokens: func() []access.Token { return tokens }, SignIns: access.NewSignIns(w.window.Options().Now),
	})
	signedIn := make(chan struct{}, 100)
	var ended atomic.Bool // the session
	site := httptest.NewServer(http.HandlerFunc(func(to http.ResponseWriter, from *http.Request) {
		if ended.Load() {
			from.Header.Del("Cookie")
		}
		handler.ServeHTTP(to, from)
		if from.URL.Path == "/api/v1/me" && from.Header.Get("Cookie") != "" {
			signedIn <- struct{}{}
		}
	}))
	t.Cleanup(site.Close)
	p := browser.Open(t, 1280, 1000)
	look := func(name string) {
		t.Helper()
		if faults := p.Axe(axe, "{}"); len(faults) > 0 {
			t.Errorf("axe-core finds in %s: %v", name, faults)
		}
		browser.Keep(t, name, p.Screenshot())
	}
	typed := func(name, text string) {
		t.Helper()
		p.Eval(fmt.Sprintf(`{ const e = document.querySelector("[name=" + CSS.escape(%q) + "]"); e.value = %q;
			e.dispatchEvent(new Event("input", {bubbles: true})) }`, name, text))
	}
	onDisk := func() string { text, _ := os.ReadFile(file); return string(text) }

	p.Go(site.URL + "/#/edit")
	p.Says("With a token: leave the name empty")
	p.Says("Sign in to the web archive of Test Library")
	look("light-signin")
	p.Eval(`document.querySelector("#password").value = "the-token-of-maria"; document.querySelector("form").requestSubmit()`)
	<-signedIn // the browser has left the page to sign in
	p.Says("1 host file")
	p.Says("maria (curate)")
	look("light-edit-list")
	p.Go(site.URL + "/#/edit?host=news.example")
	p.Says("Edit news.example.toml")
	typed("title", "The <b>News</b>")
	typed("politeness.min_delay", "20s")
	p.Eval(`{ const e = document.querySelector("[name=wait]"); e.value = "target"; e.dispatchEvent(new Event("change")) }`)
	p.Says("missing at most 20 % of versions: 2.2 visits for each change")
	p.Eval(`{ const e = document.querySelector("[type=range]"); e.value = "10"; e.dispatchEvent(new Event("input")) }`)
	p.Says("missing at most 10 % of versions: 4.7 visits for each change")
	p.Eval(`{ const e = document.querySelector("[name='when.wait']"); e.value = "every"; e.dispatchEvent(new Event("change")) }`)
	p.Eval(`{ const e = document.querySelector(".seed input"); e.value = "Front page"; e.dispatchEvent(new Event("input")) }`)
	look("light-edit-form")
	p.Click("Check")
	p.Says("What would change")
	p.Says("title = \"Front page\"")
	p.Says("rule = \"fixed\", every = \"1d\"")
	if got := p.Eval(`document.querySelector(".seed summary").textContent`); got != `"http://news.example/ Front page"` {
		t.Errorf("the form says of the seed %s", got)
	}
	look("light-edit-plan")
	p.Says("capture_target = 0.9")
	if onDisk() != before {
		t.Errorf("the check wrote\n%s", onDisk())
	}
	p.Click("Save")
	p.Says("Saved " + file)
	if got := onDisk(); !strings.HasPrefix(got, "# by maria\n") || !strings.Contains(got, "# the front page") || !strings.Contains(got, `min_delay = "20s"`) {
		t.Errorf("on disk there is\n%s", got)
	}
	saved := onDisk()
	typed("text", saved+"[politeness]\nvalence = 99\n")
	p.Click("Check")
	p.Says("Nothing can be saved before they are gone.")
	if p.Eval(`[...document.querySelectorAll("main button")].find(b => b.textContent === "Save").disabled`) != "true" {
		t.Error("a text with faults can be saved")
	}
	look("light-edit-faults")

	typed("text", saved+"# mine\n")
	theirs := saved + "# theirs\n"
	if err := os.WriteFile(file, []byte(theirs), 0o640); err != nil {
		t.Fatal(err)
	}
	p.Click("Check")
	p.Says("Somebody else has changed the file since you opened it.")
	look("light-edit-conflict")
	if got := p.Eval(`[...document.querySelectorAll("section[aria-label=Conflict] textarea")].map(a => a.value.includes("# mine") + " " + a.value.includes("# theirs")).join()`); got != `"true false,false true"` || onDisk() != theirs {
		t.Errorf("the conflict shows %s; on disk there is\n%s", got, onDisk())
	}
	p.Click("Continue with the text on disk")
	p.Says("Nothing would change.")
	p.Dark()
	p.Resize(390, 800)
	typed("note", "ask first")
	p.Click("Check")
	p.Says("What would change")
	look("dark-edit-plan")
	if got := p.Eval(`document.documentElement.scrollWidth`); got != "390" {
		t.Errorf("on a phone the page is %s wide", got)
	}

	ended.Store(true) // what was written stays when the session ends
	typed("note", "written for an hour")
	p.Click("Check")
	p.Says("The session has ended.")
	ended.Store(false)
	p.Click("Check")
	p.Says("written for an hour")

	p.Go(site.URL + "/#/edit?host=blog.example")
	p.Says("New file blog.example.toml")
	p.Click("Check")
	p.Says("1 new seed: https://blog.example/")
	p.Click("Save")
	p.Says("Saved " + w.hostFile("blog"))
	p.Go(site.URL + "/#/main")
	p.Says("This page needs the role operate.")
	entries, err := access.ReadAudit(w.Dir, api.AuditFilter{What: "edit/save"})
	if err != nil || len(entries) != 2 || entries[1].Who != "maria" || entries[1].Answer != nil ||
		!strings.Contains(string(entries[1].Order), "news.example.toml") || strings.Contains(string(entries[1].Order), "min_delay") {
		t.Errorf("the audit log has %+v, %v", entries, err)
	}
}
