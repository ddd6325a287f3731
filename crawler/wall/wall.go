// Package wall recognises answers that come instead of a page: challenges, consent and cookie walls, pages that say
// "not found", and redirects that lead back to where they came from.
package wall

import (
	"net/http"
	"regexp"
	"strings"

	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/fetch"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/internal/mediatype"
	"github.com/arcrawl/arcrawl/uri"
)

// Detect returns the kind of an answer that came instead of the page, as [evaluators.Block] does, or "". An error is
// our own: the content could not be read again from where it was spooled.
func Detect(got *fetch.Capture, s config.Trouble) (kind string, err error) {
	if got.Status <= 0 || !s.KnownBlocks && len(s.Blocked)+len(s.NotFound) == 0 {
		return "", nil
	}
	answer := evaluators.Answer{Status: got.Status, Header: got.Header}
	if mediatype.IsHTML(got.Header.Get("Content-Type")) {
		if answer.Content, err = got.Beginning(evaluators.BlockReads); err != nil {
			return "", err
		}
	}
	if s.KnownBlocks {
		kind = evaluators.Block(answer)
	}
	if kind != "" || got.Status != http.StatusOK {
		return kind, nil
	}
	switch {
	case anyMatches(s.NotFound, answer.Content):
		return evaluators.NotFound + "configured", nil
	case anyMatches(s.Blocked, answer.Content):
		return "challenge:configured", nil
	}
	return "", nil
}

func anyMatches(all []*regexp.Regexp, content []byte) bool {
	for _, re := range all {
		if re.Match(content) {
			return true
		}
	}
	return false
}

// LeadsBack reports whether an answer is a redirect that leads back to its own URI, so that nobody without a cookie
// reaches a page: directly, or, if the URI is a seed or the target of a seed's redirects, through one other URI. get
// returns what is remembered of that one.
func LeadsBack(
	r frontier.Record, got *fetch.Capture, get func(uri.URI) (frontier.Record, bool, error),
) (bool, error) {
	target, ok := redirected(r.URI, got.Status, got.Header.Get("Location"))
	switch {
	case !ok:
		return false, nil
	case target == r.URI:
		return true, nil
	case r.Hops.Count(uri.Redirect) != len(r.Hops):
		return false, nil
	}
	other, known, err := get(target)
	if err != nil || !known {
		return false, err
	}
	if other.Via == r.URI.String() && strings.HasSuffix(other.LastError, evaluators.RedirectLoop) {
		return true, nil // found out at the last visit of the target
	}
	back, ok := redirected(other.URI, other.Status, other.Location)
	return ok && r.Via == other.URI.String() && back == r.URI, nil
}

// redirected returns the target of a redirect.
func redirected(u uri.URI, status int, location string) (uri.URI, bool) {
	switch status {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther,
		http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		target, err := u.Join(location)
		return target, err == nil && location != ""
	}
	return uri.URI{}, false
}
