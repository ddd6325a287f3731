package evaluators

import (
	"bytes"
	"net/http"
	"regexp"

	"github.com/arcrawl/arcrawl/digest"
)

// RedirectLoop is the kind of answer that leads back to its own URI, directly or through another one.
const RedirectLoop = "loop:redirect"

// ForStrangers is the kind of answer that strangers get, sent to a crawler that is logged in.
const ForStrangers = "login:strangers"

// The bounds of a page that may be a cookie wall. A page with more content is a page with a banner.
const (
	wallWords = 40 // that a reader sees
	wallLinks = 2
)

var (
	reloads = regexp.MustCompile(`location\.(?:reload|replace|assign)\s*\(|location(?:\.href)?\s*=[^=]`)
	refresh = regexp.MustCompile(`(?i)<meta[^>]{0,40}http-equiv\s*=\s*["']?refresh`)
	asks    = regexp.MustCompile(`(?i)` +
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
	case asks.Match(a.Content):
		return "consent:cookies"
	}
	return ""
}
