package evaluators

import (
	"bytes"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/internal/slow"
)

func TestBlockRecognisesReplacementPages(t *testing.T) {
	t.Parallel()
	sets := http.Header{"Set-Cookie": {"seen=1"}, "Content-Type": {"text/html; charset=utf-8"}}
	plain := http.Header{"Content-Type": {"text/html; charset=utf-8"}}
	story := "<p>" + strings.Repeat("The council met on Tuesday to discuss the new ferry terminal. ", 8) + "</p>"
	for _, row := range []struct {
		name   string
		status int
		header http.Header
		body   string
		want   string
	}{
		{"a challenge by its header", 403, http.Header{"Cf-Mitigated": {"challenge"}}, "", "challenge:cloudflare"},
		{"a challenge with status 200 by its script", 200, nil, `<title>Just a moment...</title><script src="/cdn-cgi/challenge-platform/h/g/orchestrate/chl_page/v1"></script>`, "challenge:cloudflare"},
		{"a captcha", 200, nil, `<script src="https://geo.captcha-delivery.com/captcha/?x"></script>`, "challenge:datadome"},
		{"a wall in front of a search", 302, http.Header{
			"Location": {"https://consent.google.com/m?continue=x"},
		}, "", "consent:google"},
		{"a soft 404", 200, nil, "<html><head><title>\n404 - Not Found</title>", "notFound:title"},
		{"a soft 404 in German", 200, nil, "<title>Zeitung – Seite nicht gefunden</title>", "notFound:title"},
		{"a soft 404 in Icelandic", 200, nil, "<title>Síða fannst ekki</title>", "notFound:title"},
		{"a real 404 is not a replacement", 404, nil, "<title>404 Not Found</title>", ""},
		{"an article about them", 200, nil, "<title>Why “Just a moment” pages and captchas break archives</title><p>Error 404, page not found, Access Denied, Cloudflare", ""},
		{"an article with the number in its title", 200, nil, "<title>Peugeot 404 turns sixty</title>", ""},
		{"a redirect elsewhere", 302, http.Header{"Location": {"https://www.example/consent"}}, "", ""},
		{"a page behind Cloudflare", 200, http.Header{"Server": {"cloudflare"}, "Cf-Ray": {"x"}}, "<p>news", ""},
		{"nothing", 200, nil, "", ""},

		{"a script sets a cookie and reloads", 200, plain, `<html><script>document.cookie="ok=1";location.reload();</script></html>`, "consent:cookie-script"},
		{"a script sets a cookie and leads to the page", 200, plain, `<script>document.cookie = "a=b"; window.location.href = "/";</script><p>One moment</p>`, "consent:cookie-script"},
		{"a refresh after Set-Cookie", 200, sets, `<head><meta http-equiv="refresh" content="0; url=/"></head><p>Please wait</p>`, "consent:cookie-refresh"},
		{"English words", 200, plain, `<h1>Cookies required</h1><p>Please enable cookies in your browser.</p>`, "consent:cookies"},
		{"German words", 200, plain, `<p>Bitte aktivieren Sie Cookies, um fortzufahren.</p>`, "consent:cookies"},
		{"French words", 200, plain, `<p>Vous devez accepter les cookies pour lire ce journal.</p>`, "consent:cookies"},
		{"Danish words", 200, plain, `<p>Accepter cookies for at læse videre</p>`, "consent:cookies"},
		{"Swedish words", 200, plain, `<p>Du måste acceptera kakor för att läsa vidare.</p>`, "consent:cookies"},
		{"a story with a banner", 200, plain, story + `<div>We use cookies. <button>Accept all cookies</button></div>`, ""},
		{"a short page with links and a banner", 200, plain, `<a href=/1>1</a> <a href=/2>2</a> <a href=/3>3</a> Accept cookies`, ""},
		{"a story about biscuits", 200, plain, `<h1>Recipe</h1><p>Bake the cookies for ten minutes.</p>`, ""},
		{"a page that sets a cookie", 200, sets, `<h1>Timetable</h1><p>The ferry leaves at seven.</p>`, ""},
		{"a refresh without a cookie", 200, plain, `<meta http-equiv=refresh content=300><p>Score: 2 to 1</p>`, ""},
		{"a story whose script writes a cookie", 200, plain, story + `<script>document.cookie="a=b"; x.onclick = function() { location.reload() }</script>`, ""},
	} {
		if got := Block(Answer{
			Status: row.status, Header: row.header, Content: []byte(row.body),
		}); got != row.want {
			t.Errorf("%s: %q, want %q", row.name, got, row.want)
		}
		if strings.ContainsAny(row.want, " ,") {
			t.Errorf("%q cannot be written to crawl.log", row.want)
		}
	}
}

func TestTextsAreFoundAnywhere(t *testing.T) {
	t.Parallel()
	for i, f := range fingerprints {
		for _, what := range f.body {
			for _, before := range []int{0, 1, 2, 13, 14, 15, 16, 200} {
				content := strings.Repeat("x", before) + what + "tail"
				if bodies().in([]byte(content))&(1<<i) == 0 {
					t.Errorf("%q is not found after %d bytes", what, before)
				}
				if before == 0 && bodies().in([]byte(what)) == 0 {
					t.Errorf("%q is not found alone", what)
				}
			}
		}
	}
	if len(fingerprints) > 64 {
		t.Errorf("%d fingerprints do not fit into 64 bits", len(fingerprints))
	}
}

func FuzzTextsInOnePassAreThoseOneByOne(f *testing.F) {
	f.Add([]byte("window._pxAppId"), uint16(3))
	f.Add([]byte("<a href=\"/_sec/cp_challenge/\">window._cf_chl_opt"), uint16(40))
	f.Fuzz(func(t *testing.T, content []byte, at uint16) {
		// A text somewhere in the content, since chance does not write one.
		x := bodies().all[int(at)%len(bodies().all)].what
		cut := int(at) % (len(content) + 1)
		content = append(append(bytes.Clone(content[:cut]), x...), content[cut:]...)
		var want uint64
		for _, x := range bodies().all {
			if bytes.Contains(content, []byte(x.what)) {
				want |= 1 << x.set
			}
		}
		if got := bodies().in(content); got != want {
			t.Errorf("found %b in %q, want %b", got, content, want)
		}
	})
}

// FuzzAnswer reads arbitrary headers and pages. The kind of a block must be a word of crawl.log, a date of a change
// must not be in the future, and a validator is never longer than its header field.
func FuzzAnswer(f *testing.F) {
	f.Add(403, "Cf-Mitigated", "challenge", "<title>Just a moment...</title>", "Sat, 21 Nov 2026 10:00:00 GMT", `W/"a"`)
	f.Add(200, "Server", "cloudflare", "<title>Page not found</title><h1>404", "Thu, 01 Jan 2099 00:00:00 GMT", `"`)
	f.Add(200, "Set-Cookie", "datadome=x", "<div id=captcha>", "0", "\x00")
	f.Add(405, "X-Amzn-Waf-Action", "captcha", "", "", "")
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, status int, name, value, content, date, etag string) {
		h := http.Header{}
		h.Add("Last-Modified", date)
		h.Add("Date", date)
		h.Add("Age", value)
		h.Add("ETag", etag)
		h.Add(name, value)
		got := Block(Answer{Status: status, Header: h, Content: []byte(content)})
		if strings.ContainsAny(got, " \t\r\n") {
			t.Errorf("the block is %q, which has spaces", got)
		}
		if at, ok := ChangedAt(h, now); ok && at.After(now) {
			t.Errorf("changed at %s, which is in the future", at)
		}
		ChangedBefore(h, time.Hour)
		v := ValidatorsOf(h)
		if len(v.ETag) > max(len(h.Get("ETag")), len(value)) || len(v.LastModified) > max(len(date), len(value)) {
			t.Errorf("the validators of %v are %+v", h, v)
		}
	})
}

func TestWorkOfBlocksGrowsWithThePage(t *testing.T) {
	t.Parallel()
	for _, piece := range []string{"<title>", "<h1>not found", "captcha ", "<div class=consent>", "<script>", "\xff", "<!--"} {
		t.Run(piece, func(t *testing.T) {
			slow.Linear(t, func(n int) string { return strings.Repeat(piece, n/len(piece)) }, func(text string) {
				Block(Answer{Status: 200, Header: http.Header{}, Content: []byte(text)})
			})
		})
	}
}
