// This file recognises answers that come instead of a page: challenges, consent and cookie walls, pages that say
// "not found", and redirects that lead back to where they came from.

package misfortune

import (
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/arcrawl/arcrawl/aspects"
	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/fetch"
	"github.com/arcrawl/arcrawl/uri"
)

// RedirectLoop is the kind of answer that leads back to its own URI, directly or through another one.
const RedirectLoop = "loop:redirect"

// ForStrangers is the kind of answer that strangers get, sent to a crawler that is logged in.
const ForStrangers = "login:strangers"

// Detect returns the kind of an answer that came instead of the page, as [evaluators.Block] does, or "". An error is
// our own: the content could not be read again from where it was spooled.
func Detect(got *fetch.Capture, s Options) (kind string, err error) {
	if got.Status <= 0 || !s.KnownBlocks && len(s.Blocked)+len(s.NotFound) == 0 {
		return "", nil
	}
	answer := evaluators.Answer{Status: got.Status, Header: got.Header}
	if got.IsHTML() {
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
	case slices.ContainsFunc(s.NotFound, func(re *regexp.Regexp) bool { return re.Match(answer.Content) }):
		return evaluators.NotFound + "configured", nil
	case slices.ContainsFunc(s.Blocked, func(re *regexp.Regexp) bool { return re.Match(answer.Content) }):
		return "challenge:configured", nil
	}
	return "", nil
}

// maxChain is the number of remembered redirects that are followed.
const maxChain = 6

// leadsBack reports whether an answer is a redirect that leads back to its own URI or into an endless chain, so that
// nobody without a cookie reaches a page. From a URI that is a seed or that a seed redirects to, it also follows what
// is remembered of the targets: one that leads back here, or that itself was found to lead nowhere.
func (a *Aspect) leadsBack(v *aspects.Visit) (bool, error) {
	r := v.Record()
	target, ok := Redirected(r.URI, v.Capture.Status, v.Capture.Header.Get("Location"))
	switch {
	case !ok:
		return false, nil
	case target == r.URI:
		return true, nil
	case r.Hops.Count(uri.Redirect) != len(r.Hops):
		return false, nil
	}
	via := uri.FromCanonical(r.Via)
	if len(r.Hops) > 1 && alike(via, r.URI) && alike(r.URI, target) && via != target {
		return true, nil // /?c=1 led to /?c=2, and that leads to /?c=3
	}
	other, known, err := a.Frontier.Get(target)
	if err != nil {
		return false, err
	}
	if known {
		back, ok := Redirected(other.URI, other.Status, other.Location)
		if ok && r.Via == other.URI.String() && back == r.URI {
			return true, nil
		}
	}
	if !known {
		// A new session at each visit: its chain is like the one of the last visit.
		if last, ok := Redirected(r.URI, r.Status, r.Location); ok && alike(last, target) {
			target = last
		}
	}
	return a.leadsNowhere(r.URI, target)
}

// leadsNowhere reports whether the chain of remembered redirects from one URI to the next ends at one that leads
// nowhere.
func (a *Aspect) leadsNowhere(from, to uri.URI) (bool, error) {
	for range maxChain {
		r, known, err := a.Frontier.Get(to)
		if err != nil || !known || r.Via != from.String() {
			return false, err
		}
		if strings.HasSuffix(r.LastError, RedirectLoop) {
			return true, nil // found out at its last visit
		}
		next, ok := Redirected(r.URI, r.Status, r.Location)
		if !ok {
			return false, nil
		}
		from, to = to, next
	}
	return false, nil
}

// alike reports whether two different URIs differ only in the values of their queries.
func alike(a, b uri.URI) bool {
	if a.IsZero() || b.IsZero() || a == b || a.Authority() != b.Authority() || a.Path() != b.Path() {
		return false
	}
	names := func(u uri.URI) string {
		_, query, _ := strings.Cut(u.RequestTarget(), "?")
		var b strings.Builder
		for part := range strings.SplitSeq(query, "&") {
			name, _, _ := strings.Cut(part, "=")
			b.WriteString(name + "&")
		}
		return b.String()
	}
	return strings.Contains(a.RequestTarget(), "=") && names(a) == names(b)
}

// Redirected returns the target of a redirect.
func Redirected(u uri.URI, status int, location string) (uri.URI, bool) {
	switch status {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther,
		http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		target, err := u.Join(location)
		return target, err == nil && location != ""
	}
	return uri.URI{}, false
}
