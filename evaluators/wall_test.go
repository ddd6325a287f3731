package evaluators_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/arcrawl/arcrawl/evaluators"
)

func TestCookieWallsAreRecognised(t *testing.T) {
	t.Parallel()
	sets := http.Header{"Set-Cookie": {"seen=1"}, "Content-Type": {"text/html; charset=utf-8"}}
	plain := http.Header{"Content-Type": {"text/html; charset=utf-8"}}
	story := "<p>" + strings.Repeat("The council met on Tuesday to discuss the new ferry terminal. ", 8) + "</p>"
	for _, c := range []struct {
		name   string
		header http.Header
		page   string
		want   string
	}{
		{"a script sets a cookie and reloads", plain, `<html><script>document.cookie="ok=1";location.reload();</script></html>`, "consent:cookie-script"},
		{"a script sets a cookie and leads to the page", plain, `<script>document.cookie = "a=b"; window.location.href = "/";</script><p>One moment</p>`, "consent:cookie-script"},
		{"a refresh after Set-Cookie", sets, `<head><meta http-equiv="refresh" content="0; url=/"></head><p>Please wait</p>`, "consent:cookie-refresh"},
		{"English words", plain, `<h1>Cookies required</h1><p>Please enable cookies in your browser.</p>`, "consent:cookies"},
		{"German words", plain, `<p>Bitte aktivieren Sie Cookies, um fortzufahren.</p>`, "consent:cookies"},
		{"French words", plain, `<p>Vous devez accepter les cookies pour lire ce journal.</p>`, "consent:cookies"},
		{"Danish words", plain, `<p>Accepter cookies for at læse videre</p>`, "consent:cookies"},
		{"Swedish words", plain, `<p>Du måste acceptera kakor för att läsa vidare.</p>`, "consent:cookies"},
		{"a story with a banner", plain, story + `<div>We use cookies. <button>Accept all cookies</button></div>`, ""},
		{"a short page with links and a banner", plain, `<a href=/1>1</a> <a href=/2>2</a> <a href=/3>3</a> Accept cookies`, ""},
		{"a story about biscuits", plain, `<h1>Recipe</h1><p>Bake the cookies for ten minutes.</p>`, ""},
		{"a page that sets a cookie", sets, `<h1>Timetable</h1><p>The ferry leaves at seven.</p>`, ""},
		{"a refresh without a cookie", plain, `<meta http-equiv=refresh content=300><p>Score: 2 to 1</p>`, ""},
		{"a story whose script writes a cookie", plain, story + `<script>document.cookie="a=b"; x.onclick = function() { location.reload() }</script>`, ""},
	} {
		got := evaluators.Block(evaluators.Answer{Status: http.StatusOK, Header: c.header, Content: []byte(c.page)})
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
