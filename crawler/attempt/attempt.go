// Package attempt shows what a request would get, without changing anything: nothing is archived, logged or stored.
package attempt

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/crawler/policy"
	"github.com/arcrawl/arcrawl/crawler/request"
	"github.com/arcrawl/arcrawl/crawler/wall"
	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/fetch"
	"github.com/arcrawl/arcrawl/scope/robots"
	"github.com/arcrawl/arcrawl/uri"
)

// Result holds what one request got.
type Result struct {
	Name        string   `json:"name"`   // of the request
	Sent        []string `json:"sent"`   // its header fields; secrets are redacted
	Status      int      `json:"status"` // of HTTP, or a negative code of Heritrix
	Error       string   `json:"error,omitempty"`
	Location    string   `json:"location,omitempty"`
	ContentType string   `json:"content_type,omitempty"`
	Size        int64    `json:"size"`                 // of the content, in bytes
	Cookies     []string `json:"cookies,omitempty"`    // names of the cookies that the site sets
	InsteadOf   string   `json:"instead_of,omitempty"` // the kind of answer that came instead of the page
	Hint        string   `json:"hint,omitempty"`       // what usually helps
	Digest      string   `json:"digest,omitempty"`     // of the content
}

// Trial is a request as the crawl makes it, and perhaps another one.
type Trial struct {
	Config  *config.Config
	Version string // of the program
	// Other holds the fields that another request sends in addition; nil = there is no other request.
	Other []fetch.Field
	// Wait waits between two requests.
	Wait func(context.Context, time.Duration) error
}

// Run makes the requests, after it has asked robots.txt.
func (t *Trial) Run(ctx context.Context, client *fetch.Client, u uri.URI, now time.Time) (all []Result, err error) {
	s := t.Config.For(config.About{URI: u, Now: now})
	if place := s.Request.Unread(); place != "" {
		return nil, fmt.Errorf("try %s: cannot read the secret %s; run the command as the user of the daemon", u, place)
	}
	rest := max(s.Politeness.MinDelay, time.Second)
	if err := t.askRobots(ctx, client, u, &s, now); err != nil {
		return nil, err
	}
	x := request.Exchange(u, t.Config, &s, t.Version, now)
	requests := []named{{"as configured", x}}
	if t.Other != nil {
		x.Header = slices.Clone(x.Header)
		for _, f := range t.Other {
			same := func(o fetch.Field) bool { return strings.EqualFold(o.Name, f.Name) }
			x.Header = append(slices.DeleteFunc(x.Header, same), f)
			x.Secrets = slices.DeleteFunc(slices.Clone(x.Secrets), same)
		}
		requests = append(requests, named{"as given", x})
	}
	for _, r := range requests {
		if err := t.Wait(ctx, rest); err != nil {
			return all, err
		}
		one, err := r.run(ctx, client, s.Trouble)
		if err != nil {
			return all, err
		}
		all = append(all, one)
	}
	return all, nil
}

// askRobots returns an error if robots.txt forbids a URI, or could not be fetched, and no setting permits it.
func (t *Trial) askRobots(
	ctx context.Context, client *fetch.Client, u uri.URI, s *config.Settings, now time.Time,
) error {
	at := u.Robots()
	if u == at || s.Robots.Permits("", now) {
		return nil
	}
	for range maxRedirects {
		next, err := t.askRules(ctx, client, u, at, now)
		if err != nil || next.IsZero() {
			return err
		}
		if err := t.Wait(ctx, max(s.Politeness.MinDelay, time.Second)); err != nil {
			return err
		}
		at = next
	}
	return nil // RFC 9309, 2.3.1.2: more redirects mean that there are no rules
}

// maxRedirects is how many redirects of a robots.txt are followed.
const maxRedirects = 5

// askRules returns an error if the rules at a URI forbid another one, or could not be fetched. If they are elsewhere,
// it returns where.
func (t *Trial) askRules(
	ctx context.Context, client *fetch.Client, u, at uri.URI, now time.Time,
) (next uri.URI, err error) {
	own := t.Config.For(config.About{URI: at, Now: now})
	got, err := client.Fetch(ctx, request.Exchange(at, t.Config, &own, t.Version, now))
	if err != nil {
		return next, err
	}
	defer func() { err = errors.Join(err, got.Close()) }()
	switch {
	case policy.Unreachable(got):
		return next, fmt.Errorf("fetch %s: status %d, so it is not known whether %s may be fetched; try again later",
			at, got.Status, u)
	case policy.IsRedirect(got.Status):
		next, err = at.Join(got.Header.Get("Location"))
		if err != nil {
			return uri.URI{}, fmt.Errorf("follow the redirect of %s: %w", at, err)
		}
		return next, nil
	case got.Status != http.StatusOK:
		return next, nil
	}
	rules, err := policy.ReadRobots(got)
	if err == nil && !robots.Parse(rules).Allowed(policy.Agent, u) {
		err = fmt.Errorf("%s forbids fetching %s; ask the site, or see robots.obey", at, u)
	}
	return next, err
}

// named is a request with a name.
type named struct {
	name string
	fetch.Request
}

// run makes one request.
func (r named) run(ctx context.Context, client *fetch.Client, s config.Trouble) (out Result, err error) {
	got, err := client.Fetch(ctx, r.Request)
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, got.Close()) }()
	out = Result{Name: r.name, Status: got.Status, Size: got.ContentSize}
	for _, f := range r.Header {
		out.Sent = append(out.Sent, f.Name+": "+f.Value)
	}
	for _, f := range r.Secrets {
		out.Sent = append(out.Sent, f.Name+": "+fetch.Redacted)
	}
	if got.Misfortune != nil {
		out.Error = got.Misfortune.Error()
	}
	if got.Status < 0 {
		return out, nil
	}
	out.Location, out.ContentType = got.Header.Get("Location"), got.Header.Get("Content-Type")
	for _, c := range (&http.Response{Header: got.Header}).Cookies() {
		out.Cookies = append(out.Cookies, c.Name)
	}
	if !got.ContentDigest.IsZero() {
		out.Digest = got.ContentDigest.String()
	}
	if to, err := r.URI.Join(out.Location); err == nil && out.Location != "" && to == r.URI {
		out.InsteadOf = evaluators.RedirectLoop
	} else if out.InsteadOf, err = wall.Detect(got, s); err != nil {
		return out, err
	}
	out.Hint = strings.Replace(wall.Hint(out.InsteadOf, got.Status), "--try URI", "--try "+r.URI.String(), 1)
	return out, nil
}
