package admin

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"github.com/arcrawl/arcrawl/admin/access"
	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/internal/archivetest"
	"github.com/arcrawl/arcrawl/internal/browser"
	"github.com/arcrawl/arcrawl/internal/foreign"
	"github.com/arcrawl/arcrawl/internal/slow"
)

// TestAUserChangesThePasswordInTheBrowser signs in, changes the password and sees the list of users, in both themes, on
// a wide and a narrow screen. axe-core looks at each page.
func TestAUserChangesThePasswordInTheBrowser(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	axe := foreign.Axe(t)
	dir := t.TempDir()
	w := newWorld(t, dir, everyHour)
	defer w.Close()
	c := w.window.o.Config().Config.Admin
	archivetest.Must(t, access.AddUser(c.UserFile, "maria", access.Operate, "correct horse battery"))
	o, err := access.Open(c, w.window.o.Now, zerolog.Nop())
	archivetest.Must(t, err)
	handler, shown := w.window.Handler(o), make(chan struct{}, 100)
	site := httptest.NewServer(http.HandlerFunc(func(to http.ResponseWriter, from *http.Request) {
		handler.ServeHTTP(to, from)
		if from.URL.Path == "/style.css" { // the browser has left the page before
			shown <- struct{}{}
		}
	}))
	t.Cleanup(site.Close)
	p := browser.Open(t, 1000, 700)
	says := func(text string) {
		t.Helper()
		p.Wait(`document.body?.innerText.includes(` + strconv.Quote(text) + `)`)
	}
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
	fill := func(fields map[string]string) {
		t.Helper()
		for id, text := range fields {
			p.Eval(`document.getElementById(` + strconv.Quote(id) + `).value = ` + strconv.Quote(text))
		}
		for len(shown) > 0 {
			<-shown
		}
		p.Eval(`document.querySelector("main form").requestSubmit()`)
		<-shown
	}
	p.Go(site.URL + "/")
	says("Sign in")
	p.Dark()
	look("dark-signin")
	fill(map[string]string{"name": "maria", "password": "correct horse battery"})
	says("maria (operate)")
	if at := p.Eval(`document.querySelector("#me a").getAttribute("href")`); at != `"/password"` {
		t.Errorf("the name at the top leads to %s", at)
	}
	p.Go(site.URL + "/password")
	says("Password of maria")
	look("dark-password")
	fill(map[string]string{"now": "wrong horse battery", "new": "a library of words", "again": "a library of words"})
	says("The current password is wrong.")
	p.Resize(390, 800)
	look("dark-password-wrong")
	fill(map[string]string{"now": "correct horse battery", "new": "a library of words", "again": "a library of words"})
	says("The password was changed.")
	look("dark-password-changed")
	p.Go(site.URL + "/#/users")
	says("with a password")
	says("Change your password")
	look("dark-users-phone")
	entries, err := access.ReadAudit(dir, api.AuditFilter{What: access.ChangePassword})
	if err != nil || len(entries) != 1 || entries[0].Who != "maria" {
		t.Errorf("the audit log has %+v, %v", entries, err)
	}
	if text, err := os.ReadFile(c.UserFile); err != nil || strings.Contains(string(text), "library of words") {
		t.Errorf("the file of users is %q, %v", text, err)
	}
	if answer, err := http.Get(site.URL + "/password"); err != nil || !strings.HasSuffix(answer.Request.URL.Path, "/login") {
		t.Errorf("without a session /password answers %v, %v", answer, err)
	} else {
		_ = answer.Body.Close()
	}
}
