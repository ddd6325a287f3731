package curator

import (
	"fmt"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/arcrawl/arcrawl/admin/access"
	"github.com/arcrawl/arcrawl/internal/browser"
	"github.com/arcrawl/arcrawl/internal/foreign"
	"github.com/arcrawl/arcrawl/internal/slow"
)

// TestAnOperatorMakesAUserInTheBrowser signs in with a token, adds a reader, makes the user a curator, makes a new
// password and removes the user. Between, the user signs in and sees only buttons of the own role.
func TestAnOperatorMakesAUserInTheBrowser(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	axe := foreign.Axe(t)
	w := newWorld(t, t.TempDir(), everyHour)
	defer w.Close()
	file := w.window.Options().Config().Config.Admin.UserFile
	handler := w.window.Handler(access.Options{
		Tokens: func() []access.Token {
			return []access.Token{{Name: "jan", Role: access.Operate, Secret: "the-token-of-jan"}}
		},
		Users:   func() []access.User { all, _ := access.Users(file); return all },
		SignIns: access.NewSignIns(w.window.Options().Now),
	})
	site := httptest.NewServer(handler)
	t.Cleanup(site.Close)
	operator, reader := browser.Open(t, 1280, 1000), browser.Open(t, 390, 800)
	signIn := func(p *browser.Page, name, secret, page string) {
		t.Helper()
		p.Go(site.URL + "/login")
		p.Eval(fmt.Sprintf(`fetch("/login", {method: "POST", body: new URLSearchParams({name: %q, password: %q})}).then(() => 1)`, name, secret))
		p.Go(site.URL + "/#/" + page)
		p.Wait(`document.getElementById("view").dataset.ready === ` + strconv.Quote(page))
	}
	look := func(p *browser.Page, name string) {
		t.Helper()
		if faults := p.Axe(axe, "{}"); len(faults) > 0 {
			t.Errorf("axe-core finds in %s: %v", name, faults)
		}
		browser.Keep(t, name, p.Screenshot())
	}
	buttons := func(p *browser.Page) string {
		return p.Eval(`[...document.querySelectorAll("main button, main a.button")].map((b) => b.textContent).join()`)
	}
	secret := func() string {
		text, _ := strconv.Unquote(operator.Eval(`document.querySelector(".notice code").textContent`))
		return text
	}
	signIn(operator, "", "the-token-of-jan", "users")
	operator.Eval(`{ document.querySelector("[name=name]").value = "maria"; document.querySelector("main form select[name=role]").value = "read";
		document.querySelector("main form").requestSubmit() }`)
	operator.Says("The password of maria: ")
	operator.Says("users\nadd maria")
	look(operator, "light-users")

	signIn(reader, "maria", secret(), "host/news.example")
	if got := buttons(reader); strings.Contains(got, "Pause") || strings.Contains(got, "Edit") {
		t.Errorf("a reader has the buttons %s", got)
	}
	if reader.Eval(`document.querySelector("nav [data-page=capture]").hidden`) != "true" {
		t.Error("a reader has the page to capture in the menu")
	}
	reader.Go(site.URL + "/#/capture")
	reader.Says("This page needs the role curate.")
	look(reader, "light-reader")

	operator.Eval(`{ const e = document.querySelector("[aria-label='Role of maria']"); e.value = "curate"; e.dispatchEvent(new Event("change")) }`)
	operator.Says("Give maria the role curate instead of read?")
	look(operator, "light-role")
	operator.Click("Change the role")
	operator.Says("users\nrole maria")
	reader.Go(site.URL + "/")
	reader.Go(site.URL + "/#/host/news.example")
	reader.Says("Edit the settings")
	if got := buttons(reader); strings.Contains(got, "Pause") {
		t.Errorf("a curator has the buttons %s", got)
	}

	operator.Click("New password")
	operator.Click("New password")
	operator.Says("users\npassword maria")
	operator.Says("The password of maria: ")
	operator.Click("Remove")
	operator.Says("Remove maria?")
	operator.Click("Remove")
	operator.Says("No users.")
	operator.Eval(`{ document.querySelector("[name=name]").value = "two words"; document.querySelector("main form").requestSubmit() }`)
	operator.Wait(`document.getElementById("problem").textContent.includes("is not a name")`)
	look(operator, "light-users-problem")
}
