package evaluators

import (
	"bytes"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/arcrawl/arcrawl/digest"
)

// Answer describes an answer that may not be the requested page.
type Answer struct {
	Status  int
	Header  http.Header
	Content []byte // the first [BlockReads] bytes of an HTML page, without content coding; nil for other types
}

// BlockReads is the number of bytes of a page that [Block] reads. Replacement pages can be recognised at once.
const BlockReads = 64 << 10

// fingerprint identifies a replacement page. The texts of bodies are parts of addresses and of markup that only a
// replacement page contains. Words that an ordinary page about the subject may contain are not used.
type fingerprint struct {
	name   string
	header string   // a header that must be present…
	value  string   // … and contain this
	body   []string // the body contains one of these; none = the header suffices
}

// fingerprints holds the known replacement pages. Names are stored in logs: do not change or reuse them.
var fingerprints = []fingerprint{
	{name: "challenge:cloudflare", header: "Cf-Mitigated", value: "challenge"},
	{name: "challenge:cloudflare", body: []string{
		"/cdn-cgi/challenge-platform/h/", "window._cf_chl_opt",
		"id=\"cf-challenge-running\"", "/cdn-cgi/styles/cf.errors.css",
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

// bodies searches for the texts of all fingerprints. It is made at the first use, like a [digest.Expression].
var bodies = sync.OnceValue(func() *texts { return newTexts(bodyTexts(fingerprints)) })

func bodyTexts(all []fingerprint) []text {
	var out []text
	for i, f := range all {
		for _, what := range f.body {
			out = append(out, text{what: what, set: i})
		}
	}
	return out
}

// notFoundTitle matches the beginning of the title of a page with status 200 that says that the page does not exist.
var notFoundTitle = digest.Expression(`(?i)^<title[^>]*>\s*(?:` +
	`(?:error|fehler|erreur|fout|virhe|villa|feil|fel)?[\s:–-]*404\b|` +
	`[^<]{0,80}\b(?:page|file) (?:was |could |can)?(?:not|n't|n’t) (?:be )?found\b|` +
	`[^<]{0,80}\bseite (?:wurde |konnte )?(?:leider )?nicht gefunden\b|[^<]{0,80}\bpage (?:non trouv|introuvable)|` +
	`[^<]{0,80}\bp[áa]gina no encontrada\b|[^<]{0,80}\bpagina non trovata\b|[^<]{0,80}\bpagina niet gevonden\b|` +
	`[^<]{0,80}\bsidan (?:kunde )?(?:hittades inte|inte hittas)\b|[^<]{0,80}\bsiden (?:blev |ble )?ikke funnet\b|[^<]{0,80}\bs[íi]ða fannst ekki\b` +
	`)`)

// NotFound begins the names that [Block] returns for pages with status 200 that say that the page does not exist.
const NotFound = "notFound:"

// Block recognises an answer that replaces the requested page: a challenge to prove oneself human, a consent wall, or
// a page "not found" with status 200. The result is "challenge:", "consent:" or "notFound:", followed by the vendor or
// the evidence, without spaces. It is empty for all other answers. A page that only sets or asks for cookies is a
// consent wall.
func Block(a Answer) string {
	hits := bodies().in(a.Content)
	for i, f := range fingerprints {
		if f.header != "" {
			values := a.Header.Values(f.header)
			if len(values) == 0 || !strings.Contains(strings.Join(values, " "), f.value) {
				continue
			}
		}
		if len(f.body) == 0 || hits&(1<<i) != 0 {
			return f.name
		}
	}
	if a.Status == http.StatusOK && titleSaysNotFound(a.Content[:min(len(a.Content), 8<<10)]) {
		return NotFound + "title"
	}
	return cookieWall(a)
}

// titleSaysNotFound applies notFoundTitle only where a title begins, because the expression is slow.
func titleSaysNotFound(content []byte) bool {
	const begins = "<title"
	for {
		i := bytes.IndexByte(content, '<')
		if i < 0 || len(content)-i < len(begins) {
			return false
		}
		content = content[i:]
		if bytes.EqualFold(content[:len(begins)], []byte(begins)) && mayBeNotFound(content) &&
			notFoundTitle().Match(content) {
			return true
		}
		content = content[1:]
	}
}

// notFoundWords holds words. Every title that notFoundTitle matches contains at least one of them.
var notFoundWords = []string{
	"404", "found", "gefunden", "trouv", "encontrada", "trovata", "gevonden", "hitta", "funnet", "fannst",
}

// mayBeNotFound reports whether the title at the beginning of content contains one of notFoundWords.
func mayBeNotFound(content []byte) bool {
	_, title, _ := bytes.Cut(content, []byte(">"))
	title, _, _ = bytes.Cut(title, []byte("<"))
	title = bytes.ToLower(title)
	return slices.ContainsFunc(notFoundWords, func(word string) bool { return bytes.Contains(title, []byte(word)) })
}

// The bounds of a page that may be a cookie wall. A page with more content is a page with a banner.
const (
	wallWords = 40 // that a reader sees
	wallLinks = 2
)

var (
	reloads = regexp.MustCompile(`location\.(?:reload|replace|assign)\s*\(|location(?:\.href)?\s*=[^=]`)
	refresh = regexp.MustCompile(`(?i)<meta[^>]{0,40}http-equiv\s*=\s*["']?refresh`)
	asks    = digest.Expression(`(?i)` +
		`(?:enabl|accept|allow|activat|requir|need|turn on)[a-z]*\b[^.<>]{0,40}\bcookies?\b|` +
		`\bcookies?\b[^.<>]{0,40}\b(?:enabled?|required|disabled|accepted|blocked|needed)\b|` +
		`\bcookies?\b[^.<>]{0,40}\b(?:aktivier|akzeptier|zulassen|erlauben|zustimm)|(?:aktivier|akzeptier|erlaub)[^.<>]{0,40}\bcookies?\b|` +
		`\b(?:accepte[rz]|active[rz]|autorise[rz])[^.<>]{0,40}\bcookies?\b|\b(?:accept[eé]r|tillad|godkend|aktiv[eé]r)[^.<>]{0,40}\bcookies?\b|` +
		`\b(?:acceptera|godkänn|tillåt|aksepter|godta)[^.<>]{0,40}\b(?:cookies?|kakor|informasjonskapsler)\b|` +
		`\b(?:accepteer|accepteren|toestaan|schakel)[^.<>]{0,40}\bcookies?\b|\b(?:acept[ae]r?|habilit[ae]r?|permit[ae])[^.<>]{0,40}\bcookies?\b|` +
		`\b(?:accett[ai]|abilit[ai]|consent[ai])[a-z]*\b[^.<>]{0,40}\bcookies?\b`)
)

// hasMoreLinks reports whether a page has more than n links. It reads only as far as it must.
func hasMoreLinks(content []byte, n int) bool {
	link := []byte("<a ")
	for range n + 1 {
		i := bytes.Index(content, link)
		if i < 0 {
			return false
		}
		content = content[i+len(link):]
	}
	return true
}

// cookieWall recognises a page that only sets or asks for cookies and then loads itself again. It returns a result as
// [Block] does.
func cookieWall(a Answer) string {
	if a.Status != http.StatusOK || len(a.Content) >= BlockReads || hasMoreLinks(a.Content, wallLinks) {
		return "" // nearly all pages end here
	}
	text, err := digest.Compile(digest.Spec{Text: true})
	if err != nil || len(bytes.Fields(text.Scrub(a.Content, a.Header.Get("Content-Type")))) > wallWords {
		return ""
	}
	sets := a.Header.Get("Set-Cookie") != ""
	switch {
	case bytes.Contains(a.Content, []byte("document.cookie")) && reloads.Match(a.Content):
		return "consent:cookie-script"
	case sets && refresh.Match(a.Content):
		return "consent:cookie-refresh"
	case asks().Match(a.Content):
		return "consent:cookies"
	}
	return ""
}

// texts searches a content for several texts in one pass that skips most bytes: the method of Wu and Manber ("A fast
// algorithm for multi-pattern searching", 1994). It examines blocks of three bytes, at a distance that is short
// enough to find every text.
type texts struct {
	all    []text
	window int              // length of the shortest text
	skip   [1 << 13]uint8   // hash of a block → how far the window may move when it ends with that block
	ending map[uint16][]int // hash of the block at the end of the window → the texts that have it there
}

// text is a text to search for, and a number below 64 for the set that it belongs to.
type text struct {
	what string
	set  int
}

// block is the number of bytes that are compared together.
const block = 3

// newTexts prepares the search. No text is shorter than block.
func newTexts(all []text) *texts {
	t := &texts{all: all, window: 255, ending: make(map[uint16][]int)}
	for _, x := range all {
		t.window = min(t.window, len(x.what))
	}
	for i := range t.skip {
		t.skip[i] = uint8(t.window - block + 1)
	}
	for n, x := range all {
		for end := block; end <= t.window; end++ {
			h := blockHash([]byte(x.what[end-block : end]))
			t.skip[h] = min(t.skip[h], uint8(t.window-end))
			if end == t.window {
				t.ending[h] = append(t.ending[h], n)
			}
		}
	}
	return t
}

func blockHash(b []byte) uint16 {
	_ = b[2]
	return uint16((uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16) * 0x9e3779b1 >> 19)
}

// in returns, as bits, the numbers of the texts that content contains.
func (t *texts) in(content []byte) (hits uint64) {
	for end := t.window; end <= len(content); {
		h := blockHash(content[end-block : end])
		if s := int(t.skip[h]); s > 0 {
			end += s
			continue
		}
		for _, n := range t.ending[h] {
			if x := t.all[n]; bytes.HasPrefix(content[end-t.window:], []byte(x.what)) {
				hits |= 1 << x.set
			}
		}
		end++
	}
	return hits
}
