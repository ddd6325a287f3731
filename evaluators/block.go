package evaluators

import (
	"bytes"
	"net/http"
	"regexp"
	"slices"
	"strings"
)

// Answer is what is known of an answer that may not be the page that was asked for.
type Answer struct {
	Status  int
	Header  http.Header
	Content []byte // how an HTML page begins, at most [BlockReads] bytes without content coding; nil for other types
}

// BlockReads is how much of a page is looked at. Pages that stand in for others say so at once.
const BlockReads = 64 << 10

// fingerprint is how an answer gives itself away. Texts of bodies are parts of addresses and of markup that a page
// about the subject does not have; words that it might have are not enough.
type fingerprint struct {
	name   string
	header string   // a header that must be there…
	value  string   // … and have this in it
	body   []string // any of these is in the body; none = the header suffices
}

// fingerprints are the stand-ins that are known. Names are stored in logs: they are only ever added to.
var fingerprints = []fingerprint{
	{name: "challenge:cloudflare", header: "Cf-Mitigated", value: "challenge"},
	{name: "challenge:cloudflare", body: []string{
		"/cdn-cgi/challenge-platform/h/", "window._cf_chl_opt", "id=\"cf-challenge-running\"", "/cdn-cgi/styles/cf.errors.css",
	}},
	{name: "challenge:aws-waf", header: "X-Amzn-Waf-Action", value: ""},
	{name: "challenge:aws-waf", body: []string{"window.awsWafCookieDomainList", ".token.awswaf.com/"}},
	{name: "challenge:akamai", body: []string{"https://errors.edgesuite.net/", "/_sec/cp_challenge/"}},
	{name: "challenge:imperva", body: []string{"/_Incapsula_Resource?", "Request unsuccessful. Incapsula incident ID"}},
	{name: "challenge:datadome", body: []string{
		"geo.captcha-delivery.com/captcha", "ct.captcha-delivery.com/c.js", "geo.captcha-delivery.com/interstitial",
	}},
	{name: "challenge:human", body: []string{"id=\"px-captcha\"", "window._pxAppId"}},
	{name: "challenge:sucuri", body: []string{"sucuri_cloudproxy_js", "https://cdn.sucuri.net/sucuri-firewall-block.css"}},
	{name: "challenge:ddos-guard", body: []string{"/.well-known/ddos-guard/js-challenge/", "data-ddg-origin"}},
	{name: "challenge:anubis", body: []string{"id=\"anubis_challenge\"", "/.within.website/x/cmd/anubis/"}},
	{name: "challenge:kasada", header: "X-Kpsdk-Ct", value: ""},
	{name: "challenge:radware", header: "Location", value: "validate.perfdrive.com"},
	{name: "challenge:distil", body: []string{"/distil_r_captcha.html", "distilCallbackGuard"}},
	{name: "consent:google", header: "Location", value: "://consent.google."},
	{name: "consent:google", header: "Location", value: "://consent.youtube."},
	{name: "consent:google", body: []string{"action=\"https://consent.google.", "action=\"https://consent.youtube."}},
	{name: "consent:yahoo", header: "Location", value: "://guce."},
	{name: "consent:yahoo", body: []string{"action=\"/v2/collectConsent", "/collectConsent?sessionId="}},
	{name: "consent:dpg", header: "Location", value: "://myprivacy."},
}

// bodies are the texts of all fingerprints, each with the number of its own.
var bodies = newTexts(textsOf(fingerprints))

func textsOf(all []fingerprint) []text {
	var out []text
	for i, f := range all {
		for _, what := range f.body {
			out = append(out, text{what: what, of: i})
		}
	}
	return out
}

// notFoundTitle matches at the beginning of the title of pages that say with status 200 that there is no such page.
var notFoundTitle = regexp.MustCompile(`(?i)^<title[^>]*>\s*(?:` +
	`(?:error|fehler|erreur|fout|virhe|villa|feil|fel)?[\s:–-]*404\b|` +
	`[^<]{0,80}\b(?:page|file) (?:was |could |can)?(?:not|n't|n’t) (?:be )?found\b|` +
	`[^<]{0,80}\bseite (?:wurde |konnte )?(?:leider )?nicht gefunden\b|[^<]{0,80}\bpage (?:non trouv|introuvable)|` +
	`[^<]{0,80}\bp[áa]gina no encontrada\b|[^<]{0,80}\bpagina non trovata\b|[^<]{0,80}\bpagina niet gevonden\b|` +
	`[^<]{0,80}\bsidan (?:kunde )?(?:hittades inte|inte hittas)\b|[^<]{0,80}\bsiden (?:blev |ble )?ikke funnet\b|[^<]{0,80}\bs[íi]ða fannst ekki\b` +
	`)`)

// NotFound begins the names that [Block] gives to pages that say with status 200 that there is no such page.
const NotFound = "notFound:"

// Block recognises an answer that stands in for the page that was asked for: a challenge to prove oneself human, a
// wall that asks for consent, a page "not found" with status 200. The name is "challenge:", "consent:" or "notFound:"
// and whose it is or what gave it away, without spaces; it is empty for everything else.
func Block(a Answer) string {
	found := bodies.in(a.Content)
	for i, f := range fingerprints {
		if f.header != "" {
			values := a.Header.Values(f.header)
			if len(values) == 0 || !strings.Contains(strings.Join(values, " "), f.value) {
				continue
			}
		}
		if len(f.body) == 0 || found&(1<<i) != 0 {
			return f.name
		}
	}
	if a.Status == http.StatusOK && titleSaysNotFound(a.Content[:min(len(a.Content), 8<<10)]) {
		return NotFound + "title"
	}
	return ""
}

// titleSaysNotFound asks the expression only where a title begins: that is the most expensive question about a page.
func titleSaysNotFound(content []byte) bool {
	const begins = "<title"
	for {
		i := bytes.IndexByte(content, '<')
		if i < 0 || len(content)-i < len(begins) {
			return false
		}
		content = content[i:]
		if bytes.EqualFold(content[:len(begins)], []byte(begins)) && mayBeNotFound(content) && notFoundTitle.Match(content) {
			return true
		}
		content = content[1:]
	}
}

// notFoundWords are what titles have that notFoundTitle matches, each at least one of these.
var notFoundWords = []string{
	"404", "found", "gefunden", "trouv", "encontrada", "trovata", "gevonden", "hitta", "funnet", "fannst",
}

// mayBeNotFound asks first what is asked quickly, of the title that begins here.
func mayBeNotFound(content []byte) bool {
	_, title, _ := bytes.Cut(content, []byte(">"))
	title, _, _ = bytes.Cut(title, []byte("<"))
	title = bytes.ToLower(title)
	return slices.ContainsFunc(notFoundWords, func(word string) bool { return bytes.Contains(title, []byte(word)) })
}
