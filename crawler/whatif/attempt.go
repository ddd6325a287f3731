package whatif

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/aspects/login"
	"github.com/arcrawl/arcrawl/aspects/misfortune"
	"github.com/arcrawl/arcrawl/aspects/robots"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/discover"
	"github.com/arcrawl/arcrawl/fetch"
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

	Rendering *Rendering `json:"rendering,omitempty"` // of the request with the name Rendered
}

// The names of requests.
const (
	Login      = "login"         // to the page with the form, or of the form
	Configured = "as configured" // as the crawl makes it
	Given      = "as given"      // with other header fields
	Rendered   = "rendered"      // the answer to the last request, in a browser
)

// Trial is a request as the crawl makes it, and perhaps another one.
type Trial struct {
	Config  *config.Config
	Version string // of the program
	// Other holds the fields that another request sends in addition; nil = there is no other request.
	Other []fetch.Field
	// Browser renders the answer to the last request; nil = it is not rendered.
	Browser Browser
	// Do holds the steps of the rendering instead of render.do; nil = what render.do says.
	Do []config.Step
	// Pictured, when set, is called with a picture of the rendered page before the first step, and after each.
	Pictured func(step int, png []byte)
	// Look, when set, is called with each answer of the page. Then the request is made twice, as the crawl makes it.
	Look func(*fetch.Capture) error
	// Wait waits between two requests.
	Wait func(context.Context, time.Duration) error
}

// Run makes the requests, after it has asked robots.txt and logged in as far as the settings say so. If the login
// fails, it makes no other.
func (t *Trial) Run(ctx context.Context, client *fetch.Client, u uri.URI, now time.Time) (all []Result, err error) {
	s := t.Config.For(config.About{URI: u, Now: now})
	own := config.Own[login.Options](&s)
	if place := own.Unread(); place != "" {
		return nil, fmt.Errorf("try %s: cannot read the secret %s; run the command as the user of the daemon", u, place)
	}
	rest := max(s.Politeness.MinDelay, time.Second)
	rules, err := t.askRobots(ctx, client, u, &s, now)
	if err != nil {
		return nil, err
	}
	logins := new(login.Aspect)
	all, in, err := t.logIn(ctx, client, logins, config.About{URI: u, Now: now}, &s, rest)
	if err != nil || !in {
		return all, err
	}
	x := t.Config.Request(u, &s, t.Version, now)
	if _, err := logins.AddTo(&x, own, now); err != nil {
		return all, err
	}
	g := &stage{
		t: t, client: client, logins: logins, page: u, rest: rest, now: now, rules: rules,
		before: map[string]Answer{},
	}
	notShown := errNoPage
	for _, r := range t.requests(x) {
		if err := t.Wait(ctx, rest); err != nil {
			return all, err
		}
		one, err := r.run(ctx, client, *config.Own[misfortune.Options](&s), func(got *fetch.Capture, out *Result) error {
			j, err := logins.Judge(got, own)
			if j.Failed != nil {
				out.InsteadOf, out.Error = misfortune.ForStrangers, j.Failed.Error()
			}
			if err == nil && t.Browser != nil {
				notShown = g.keep(got)
			}
			if err == nil && t.Look != nil {
				err = t.Look(got)
			}
			return err
		})
		if err != nil {
			return all, err
		}
		all = append(all, one)
	}
	if t.Browser == nil {
		return all, nil
	}
	out := Result{Name: Rendered, Status: g.main.Status, ContentType: g.main.Header.Get("Content-Type")}
	if notShown != nil {
		out.Status, out.Error = all[len(all)-1].Status, notShown.Error()
	} else if out.Rendering, err = g.run(ctx, t.Browser, &s); err != nil {
		out.Error = err.Error()
	}
	return append(all, out), nil
}

// requests returns the requests of the page. x is the one that the crawl makes.
func (t *Trial) requests(x fetch.Request) []named {
	all := []named{{Configured, x}}
	if t.Other != nil {
		all = append(all, named{Given, t.withOther(x)})
	}
	if t.Look != nil {
		all = append(all, named{Configured, x})
	}
	return all
}

// logIn makes the login of the settings, if there is one. in reports whether the page can be requested then.
func (t *Trial) logIn(
	ctx context.Context, client *fetch.Client, logins *login.Aspect, visit config.About, s *config.Settings,
	rest time.Duration,
) (all []Result, in bool, err error) {
	own := func(a config.About) *login.Options { return config.OwnFor[login.Options](t.Config, a) }
	for {
		step, err := logins.LoginStep(visit, t.Config.Request(visit.URI, s, t.Version, visit.Now), own)
		if err != nil || step == nil {
			return all, err == nil, err
		}
		if !step.Rest.IsZero() {
			return all, false, fmt.Errorf("log in to %s: no request can be made; check login.page", visit.URI.Host())
		}
		if err := t.Wait(ctx, rest); err != nil {
			return all, false, err
		}
		failed := false
		trouble := *config.Own[misfortune.Options](s)
		one, err := named{Login, step.Exchange}.run(ctx, client, trouble, func(got *fetch.Capture, out *Result) error {
			_, why, err := step.Take(got, own(visit))
			if failed = why != nil; failed {
				out.Error = why.Error()
			}
			out.InsteadOf, out.Hint = "", "" // a form is no wall
			return err
		})
		if err != nil {
			return all, false, err
		}
		if all = append(all, one); failed {
			return all, false, nil
		}
	}
}

// askRobots returns the rules of the host of a URI; nil if there are none, or if a setting permits to break them. It
// returns an error if they forbid the URI, or could not be fetched.
func (t *Trial) askRobots(
	ctx context.Context, client *fetch.Client, u uri.URI, s *config.Settings, now time.Time,
) (*robots.Rules, error) {
	at := u.Robots()
	if u == at || config.Own[robots.Options](s).Permits("", now) {
		return nil, nil
	}
	for range maxRedirects {
		rules, next, err := t.askRules(ctx, client, u, at, now)
		if err != nil || next.IsZero() {
			return rules, err
		}
		if err := t.Wait(ctx, max(s.Politeness.MinDelay, time.Second)); err != nil {
			return nil, err
		}
		at = next
	}
	return nil, nil // RFC 9309, 2.3.1.2: more redirects mean that there are no rules
}

// maxRedirects is how many redirects of a robots.txt are followed.
const maxRedirects = 5

// askRules returns the rules at a URI, and an error if they forbid another one, or could not be fetched. If they are
// elsewhere, it returns where.
func (t *Trial) askRules(
	ctx context.Context, client *fetch.Client, u, at uri.URI, now time.Time,
) (rules *robots.Rules, next uri.URI, err error) {
	own := t.Config.For(config.About{URI: at, Now: now})
	x := t.Config.Request(at, &own, t.Version, now)
	config.Own[login.Options](&own).AddTo(&x)
	got, err := client.Fetch(ctx, x)
	if err != nil {
		return nil, next, err
	}
	defer func() { err = errors.Join(err, got.Close()) }()
	switch {
	case robots.Unreachable(got):
		return nil, next, fmt.Errorf("fetch %s: status %d, so it is not known whether %s may be fetched; try again later",
			at, got.Status, u)
	case discover.IsRedirect(got.Status):
		next, err = at.Join(got.Header.Get("Location"))
		if err != nil {
			return nil, uri.URI{}, fmt.Errorf("follow the redirect of %s: %w", at, err)
		}
		return nil, next, nil
	case got.Status != http.StatusOK:
		return nil, next, nil
	}
	text, err := robots.Read(got)
	if err != nil {
		return nil, next, err
	}
	found := robots.Parse(text)
	if !found.Allowed(robots.Agent, u) {
		err = fmt.Errorf("%s forbids fetching %s; ask the site, or see robots.obey", at, u)
	}
	return &found, next, err
}

// named is a request with a name.
type named struct {
	name string
	fetch.Request
}

// run makes one request. judge adds to its result what its answer means for the login to the site.
func (r named) run(
	ctx context.Context, client *fetch.Client, s misfortune.Options, judge func(*fetch.Capture, *Result) error,
) (out Result, err error) {
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
	if len(r.Form) > 0 {
		out.Sent = append(out.Sent, "form: "+fetch.Redacted)
	}
	defer func() {
		if err == nil {
			err = judge(got, &out)
		}
	}()
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
		out.InsteadOf = misfortune.RedirectLoop
	} else if out.InsteadOf, err = misfortune.Detect(got, s); err != nil {
		return out, err
	}
	out.Hint = strings.Replace(misfortune.Hint(out.InsteadOf, got.Status), "--try URI", "--try "+r.URI.String(), 1)
	return out, nil
}
