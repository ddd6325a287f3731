package access

import (
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/arcrawl/arcrawl/internal/archivetest"
)

func change(now, wanted, again string) url.Values {
	return url.Values{"now": {now}, "new": {wanted}, "again": {again}}
}

// TestUsersChangeTheirOwnPasswords changes a password in one of two browsers. The other session ends, faults say what
// is wrong, and only a page of the dashboard may ask for it.
func TestUsersChangeTheirOwnPasswords(t *testing.T) {
	t.Parallel()
	d := newGuarded(t)
	d.o.SetPassword = func(name, password string) error {
		at := userAt(d.users, name)
		d.users[at].Hash = hashPassword(password, cheap)
		return nil
	}
	const old, wanted = "correct horse battery", "a library of words"
	here := with(d.send("POST", "/login", form("maria", old), nil).Cookies())
	there := with(d.send("POST", "/login", form("maria", old), nil).Cookies())
	page := func(answer *http.Response) string {
		t.Helper()
		text, err := io.ReadAll(answer.Body)
		archivetest.Must(t, err)
		return string(text)
	}
	if text := page(d.send("GET", "/password", nil, here)); !strings.Contains(text, "New password") || !strings.Contains(text, "maria") {
		t.Errorf("the page is\n%s", text)
	}
	for _, c := range []struct {
		form   url.Values
		status int
		says   string
	}{
		{change("wrong horse battery", wanted, wanted), 401, "current password is wrong"},
		{change(old, wanted, wanted+"!"), 400, "are not the same"},
		{change(old, "short", "short"), 400, "fewer than 12 characters"},
		{change(old, strings.Repeat("x", 2000), strings.Repeat("x", 2000)), 400, "more than 1024"},
		{change(old, old, old), 400, "is the current one"},
		{change("", wanted, wanted), 400, "Write your current password"},
	} {
		answer := d.send("POST", "/password", c.form, here)
		if text := page(answer); answer.StatusCode != c.status || !strings.Contains(text, c.says) {
			t.Errorf("%v: %d\n%s", c.form, answer.StatusCode, text)
		}
	}
	foreign := func(r *http.Request) { here(r); r.Header.Set("Sec-Fetch-Site", "same-site") }
	if answer := d.send("POST", "/password", change(old, wanted, wanted), foreign); answer.StatusCode != http.StatusForbidden {
		t.Errorf("another page changes the password: %d", answer.StatusCode)
	}
	answer := d.send("POST", "/password", change(old, wanted, wanted), here)
	if answer.StatusCode != http.StatusSeeOther || answer.Header.Get("Location") != "/password?changed=" {
		t.Fatalf("changed: %d\n%s", answer.StatusCode, page(answer))
	}
	if got := d.reports[len(d.reports)-1]; got != (SignIn{d.now, ChangePassword, "maria", "192.0.2.7", BySession, true}) {
		t.Errorf("reported %+v", got)
	}
	renewed := with(answer.Cookies())
	if d.send("GET", "/", nil, renewed); d.caller.Name != "maria" {
		t.Error("the browser that changed the password has no session any more")
	}
	if text := page(d.send("GET", "/password?changed=", nil, renewed)); !strings.Contains(text, "Other browsers have to sign in again") {
		t.Errorf("after the change the page is\n%s", text)
	}
	if d.send("GET", "/", nil, there); d.caller.Name == "maria" {
		t.Error("the other browser still has its session")
	}
	if status := d.send("POST", "/login", form("maria", old), nil).StatusCode; status != http.StatusUnauthorized {
		t.Errorf("the old password: %d", status)
	}
	if status := d.send("POST", "/login", form("maria", wanted), nil).StatusCode; status != http.StatusSeeOther {
		t.Errorf("the new password: %d", status)
	}
	d.o.SetPassword = func(string, string) error { return errors.New("read-only file system") }
	answer = d.send("POST", "/password", change(wanted, old, old), renewed)
	if text := page(answer); answer.StatusCode != http.StatusInternalServerError || !strings.Contains(text, "arcrawl user add --change --password maria") {
		t.Errorf("a file that cannot be written: %d\n%s", answer.StatusCode, text)
	}
}

// TestGuessesOfTheCurrentPasswordAreLimited guesses in a browser that somebody has left open.
func TestGuessesOfTheCurrentPasswordAreLimited(t *testing.T) {
	t.Parallel()
	d := newGuarded(t)
	d.o.SetPassword = func(string, string) error { return errors.New("must not be asked for") }
	open := with(d.send("POST", "/login", form("maria", "correct horse battery"), nil).Cookies())
	for range limitDevice {
		d.send("POST", "/password", change("wrong horse battery", "a library of words", "a library of words"), open)
	}
	answer := d.send("POST", "/password", change("correct horse battery", "a library of words", "a library of words"), open)
	if answer.StatusCode != http.StatusTooManyRequests || answer.Header.Get("Retry-After") == "" {
		t.Errorf("after %d guesses: %d", limitDevice, answer.StatusCode)
	}
}

// TestOnlyUsersWithASessionChangePasswords asks as nobody, with a token, and as somebody whom a proxy names.
func TestOnlyUsersWithASessionChangePasswords(t *testing.T) {
	t.Parallel()
	d := newGuarded(t)
	d.o.SetPassword = func(string, string) error { t.Error("a password was changed"); return nil }
	words := change("correct horse battery", "a library of words", "a library of words")
	token := with(d.send("POST", "/login", form("", "a-token-of-some-length"), nil).Cookies())
	for what, as := range map[string]func(*http.Request){"nobody": nil, "a token": token} {
		for _, method := range []string{"GET", "POST"} {
			body := words
			if method == "GET" {
				body = nil
			}
			answer := d.send(method, "/password", body, as)
			if at := answer.Header.Get("Location"); answer.StatusCode != http.StatusSeeOther || at != "/login?to=%2Fpassword" {
				t.Errorf("%s, %s: %d, to %q", what, method, answer.StatusCode, at)
			}
		}
	}
}
