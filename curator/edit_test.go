package curator

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/arcrawl/arcrawl/admin/access"
	"github.com/arcrawl/arcrawl/admin/audit"
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
	dir := t.TempDir()
	file := filepath.Join(dir, "hosts.d", "news.example.toml")
	const before = "# by maria\n[seeds]\nuris = [\"http://news.example/\"] # the front page\n"
	if err := os.Mkdir(filepath.Dir(file), 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(before), 0o640); err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, dir, strings.Split(everyHour, "[seeds]")[0])
	defer w.Close()
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
		p.Eval(axe + "; 0")
		var faults []string
		got := p.Eval(`axe.run(document).then((r) => r.violations.map((v) => v.id + ": " + v.nodes.map((n) => n.html).join(" ").slice(0, 400)))`)
		if err := json.Unmarshal([]byte(got), &faults); err != nil || len(faults) > 0 {
			t.Errorf("axe-core finds in %s: %v, %v", name, faults, err)
		}
		browser.Keep(t, name, p.Screenshot())
	}
	click := func(text string) {
		t.Helper()
		p.Wait(`[...document.querySelectorAll("main button")].some(b => b.textContent === ` + quoted(text) + ` && !b.disabled)`)
		p.Eval(`[...document.querySelectorAll("main button")].find(b => b.textContent === ` + quoted(text) + `).click()`)
	}
	typed := func(name, text string) {
		t.Helper()
		p.Eval(`{ const e = document.querySelector("[name=" + CSS.escape(` + quoted(name) + `) + "]"); e.value = ` + quoted(text) + `; e.dispatchEvent(new Event("input", {bubbles: true})) }`)
	}
	says := func(text string) { t.Helper(); p.Wait(`document.body.innerText.includes(` + quoted(text) + `)`) }
	onDisk := func() string { text, _ := os.ReadFile(file); return string(text) }

	p.Go(site.URL + "/#/edit")
	says("With a token: leave the name empty")
	look("light-signin")
	p.Eval(`document.querySelector("#password").value = "the-token-of-maria"; document.querySelector("form").requestSubmit()`)
	<-signedIn // the browser has left the page to sign in
	says("1 host file")
	says("maria (curate)")
	look("light-edit-list")
	p.Go(site.URL + "/#/edit?host=news.example")
	says("Edit news.example.toml")
	typed("title", "The <b>News</b>")
	typed("politeness.min_delay", "20s")
	click("Check")
	says("What would change")
	look("light-edit-plan")
	if onDisk() != before {
		t.Errorf("the check wrote\n%s", onDisk())
	}
	click("Save")
	says("Saved " + file)
	if got := onDisk(); !strings.HasPrefix(got, "# by maria\n") || !strings.Contains(got, "# the front page") || !strings.Contains(got, `min_delay = "20s"`) {
		t.Errorf("on disk there is\n%s", got)
	}
	saved := onDisk()
	typed("text", saved+"[politeness]\nvalence = 99\n")
	click("Check")
	says("Nothing can be saved before they are gone.")
	if p.Eval(`[...document.querySelectorAll("main button")].find(b => b.textContent === "Save").disabled`) != "true" {
		t.Error("a text with faults can be saved")
	}
	look("light-edit-faults")

	typed("text", saved+"# mine\n")
	theirs := saved + "# theirs\n"
	if err := os.WriteFile(file, []byte(theirs), 0o640); err != nil {
		t.Fatal(err)
	}
	click("Check")
	says("Somebody else has changed the file since you opened it.")
	look("light-edit-conflict")
	if got := p.Eval(`[...document.querySelectorAll("section textarea")].map(a => a.value.includes("# mine") + " " + a.value.includes("# theirs")).join()`); got != `"true false,false true"` || onDisk() != theirs {
		t.Errorf("the conflict shows %s; on disk there is\n%s", got, onDisk())
	}
	click("Continue with the text on disk")
	says("Nothing would change.")
	p.Dark()
	p.Resize(390, 800)
	typed("note", "ask first")
	click("Check")
	says("What would change")
	look("dark-edit-plan")
	if got := p.Eval(`document.documentElement.scrollWidth`); got != "390" {
		t.Errorf("on a phone the page is %s wide", got)
	}

	ended.Store(true) // what was written stays when the session ends
	typed("note", "written for an hour")
	click("Check")
	says("The session has ended.")
	ended.Store(false)
	click("Check")
	says("written for an hour")

	p.Go(site.URL + "/#/edit?host=blog.example")
	says("New file blog.example.toml")
	click("Check")
	says("1 new seed: https://blog.example/")
	click("Save")
	says("Saved " + filepath.Join(filepath.Dir(file), "blog.example.toml"))
	p.Go(site.URL + "/#/main")
	says("the main file needs the role operate")
	entries, err := audit.Read(dir, audit.Filter{What: "edit/save"})
	if err != nil || len(entries) != 2 || entries[1].Who != "maria" || entries[1].Answer != nil ||
		!strings.Contains(string(entries[1].Order), "news.example.toml") || strings.Contains(string(entries[1].Order), "min_delay") {
		t.Errorf("the audit log has %+v, %v", entries, err)
	}
}

// quoted returns a text as JavaScript.
func quoted(text string) string {
	b, _ := json.Marshal(text)
	return string(b)
}
