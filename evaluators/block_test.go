package evaluators_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/arcrawl/arcrawl/evaluators"
)

func TestBlockRecognisesReplacementPages(t *testing.T) {
	t.Parallel()
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
	} {
		if got := evaluators.Block(evaluators.Answer{
			Status: row.status, Header: row.header, Content: []byte(row.body),
		}); got != row.want {
			t.Errorf("%s: %q, want %q", row.name, got, row.want)
		}
		if strings.ContainsAny(row.want, " ,") {
			t.Errorf("%q cannot be written to crawl.log", row.want)
		}
	}
}
