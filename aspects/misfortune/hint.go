package misfortune

import (
	"net/http"
	"strings"
)

// What helps against answers that come instead of a page.
const (
	openCookie = "set fetch.cookies = \"session\" in its host file, " +
		"or fetch.cookie to the cookie that a browser has after consent " +
		"(try it first: arcrawl fetch --try URI --header 'Cookie: NAME=VALUE'), " +
		"ask the site to let the crawler in, or name a feed or another page as seed"
	openDoor = "ask the site to let the User-Agent or the address of the crawler in, " +
		"or for a key that the crawler sends (request.secret_headers)"
	logIn = "ask the site for an account, and set request.basic, request.bearer or [login] in its host file"
)

// Hint returns what usually helps against an answer that came instead of the page. kind is a text that has the kind of
// the answer, as [Detect] returns it. Hint returns "" for answers against which nothing helps but waiting.
func Hint(kind string, status int) string {
	switch {
	case strings.Contains(kind, "loop:"), strings.Contains(kind, "consent:"):
		return openCookie
	case strings.Contains(kind, "challenge:"):
		return openDoor
	case strings.Contains(kind, "login:"):
		return "check which pages the account in [login] may see, and login.logged_out"
	}
	switch status {
	case http.StatusUnauthorized:
		return logIn
	case http.StatusForbidden, http.StatusTooManyRequests, http.StatusUnavailableForLegalReasons:
		return openDoor
	}
	return ""
}
