package robots

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/aspects"
	"github.com/arcrawl/arcrawl/discover"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/uri"
)

const (
	// substituteRest is how long a host rests while the URI of another host is fetched that its robots.txt redirects to.
	substituteRest = 30 * time.Second
	// busyRest is the minimum rest of a host's slot while its robots.txt is fetched through another slot.
	busyRest = time.Second
)

// The words of the aspect in crawl.log and in the reasons of refusals.
const (
	Wait      = "robots" // the name of the wait of a robots.txt
	Forbidden = "robotsExcluded"
)

// Aspect obeys robots.txt, and keeps the copies of it fresh.
type Aspect struct {
	Options aspects.Options[Options]
	// Retry returns the wait after a number of failures in a row.
	Retry func(v *aspects.Visit, failures int) time.Duration
	// Sitemaps reports whether sitemaps that robots.txt names are followed, and else the usual one.
	Sitemaps func(*aspects.Visit) (named, usual bool)

	Frontier *frontier.Frontier
	Copies   *Copies
	// AddSitemap adds a sitemap to what the visit found.
	AddSitemap func(v *aspects.Visit, at uri.URI, due time.Time)
	// AskedUntil returns the time before which the server wants no request, within a limit.
	AskedUntil func(v *aspects.Visit, limit time.Duration) time.Time
	// IsHostDown reports whether a status says that the host could not be reached.
	IsHostDown func(status int) bool
}

// Begin forgets that a URI replaces a robots.txt if nothing redirects to it any more.
func (a *Aspect) Begin(v *aspects.Visit) {
	r := &v.Claim.Record
	if r.RobotsVia != "" && !a.Copies.LeadsTo(uri.FromCanonical(r.RobotsVia), r.URI) {
		r.RobotsVia = ""
	}
	v.IsRobots = r.URI.IsRobots()
}

// Admit checks a URI against the robots.txt of its host. If the copy in force is missing or stale, the claim is spent
// on robots.txt itself and the URI stays due.
func (a *Aspect) Admit(v *aspects.Visit) (admitted aspects.Admission, err error) {
	r, now, o := v.Record(), v.Began, a.Options(v)
	if v.IsPrerequisite() {
		return admitted, nil
	}
	inForce, ok, err := a.Frontier.Robots(r.URI.Origin())
	if err != nil {
		return admitted, fmt.Errorf("look up robots.txt for %s: %w", r.URI, err)
	}
	if !ok || Expired(inForce, *o, now) {
		return a.divert(v, r.URI.Robots(), now)
	}
	permitted := o.Permits(r.Hops, now)
	if inForce.Unreachable && permitted {
		v.Request.Permission = o.Reason
		return admitted, nil
	}
	if inForce.Unreachable {
		return refuse(inForce.Expires.Sub(now), aspects.Unreached), nil
	}
	ruling, err := a.Copies.Rules(r.URI.Origin(), inForce, now)
	switch {
	case err != nil:
		return admitted, err
	case !ruling.Wanted.IsZero():
		return a.requestSubstitute(v, ruling.Wanted, ruling.From, now)
	case ruling.Known() && ruling.Rules.Allowed(Agent, r.URI):
		return admitted, nil
	case permitted:
		v.Request.Permission = o.Reason
		return admitted, nil
	case !ruling.Known():
		until := now
		if ruling.UnreachableUntil.After(now) {
			until = ruling.UnreachableUntil
		}
		return aspects.Admission{RestUntil: until.Add(substituteRest)}, nil
	}
	return refuse(o.ForbiddenWait, Forbidden), nil
}

func refuse(wait time.Duration, why string) aspects.Admission {
	return aspects.Admission{Refused: &aspects.Refusal{Status: aspects.StatusForbidden, Wait: wait, Why: why}}
}

// divert spends a claim on the robots.txt of its host, or on another URI of the host that replaces it.
func (a *Aspect) divert(v *aspects.Visit, to uri.URI, now time.Time) (admitted aspects.Admission, err error) {
	r := v.Record()
	diverted, err := a.Frontier.Divert(v.Claim, to, now)
	if errors.Is(err, frontier.ErrClaimed) { // another worker was first, on a host with several slots
		return aspects.Admission{Again: busyRest}, nil
	}
	if err != nil {
		return admitted, fmt.Errorf("divert from %s to its robots.txt: %w", r.URI, err)
	}
	if diverted.Record.Seed == "" {
		diverted.Record.Seed, diverted.Record.Via = r.Seed, r.URI.String()
	}
	return aspects.Admission{Instead: &diverted}, nil
}

// requestSubstitute sees to it that the URI is fetched that the robots.txt of a claimed URI redirects to. On the same
// host it spends the claim on that URI. On another host it makes the URI due, and the host of the claim rests
// meanwhile.
func (a *Aspect) requestSubstitute(
	v *aspects.Visit, wanted, from uri.URI, now time.Time,
) (admitted aspects.Admission, err error) {
	if wanted.Host() == v.URI().Host() {
		admitted, err = a.divert(v, wanted, now)
		if admitted.Instead != nil {
			admitted.Instead.Record.RobotsVia = from.String()
		}
		return admitted, err
	}
	_, err = a.Frontier.Add(now, Candidate(v.Record().Seed, wanted, from, now))
	if err != nil {
		return admitted, fmt.Errorf("make %s due, where %s redirects to: %w", wanted, from, err)
	}
	return aspects.Admission{RestUntil: now.Add(substituteRest)}, nil
}

// Ask reads the body of a robots.txt whole.
func (*Aspect) Ask(v *aspects.Visit) error {
	v.Request.Whole = v.Request.Whole || v.IsPrerequisite()
	return nil
}

// UsualSitemap is the path at which a sitemap is looked for if no robots.txt names one.
const UsualSitemap = "/sitemap.xml"

// usualSitemapAfter is how long the first pages of a host go before the usual sitemap.
const usualSitemapAfter = 10 * time.Minute

// Read adds the sitemaps that a robots.txt names, or the URI that it redirects to. If none is named, it adds the usual
// one. If the robots.txt redirects to another host, it adds the URI there, whether it is in scope or not. One on the
// same host is fetched before the next visit.
func (a *Aspect) Read(ctx context.Context, v *aspects.Visit) error {
	if !v.IsPrerequisite() || !v.Found.Read && !v.Failed {
		return nil
	}
	if named, usual := a.Sitemaps(v); named {
		if err := a.addSitemaps(ctx, v, usual); err != nil {
			return err
		}
	}
	if !v.IsRobots || v.Failed || !discover.IsRedirect(v.Capture.Status) {
		return nil
	}
	u, err := v.URI().Join(v.Capture.Header.Get("Location"))
	if err == nil && u.Host() != v.URI().Host() && !u.HasBadPort() {
		v.Found.Candidates = append(v.Found.Candidates, Candidate(v.Record().Seed, u, v.URI(), v.Finished))
	}
	return nil
}

func (a *Aspect) addSitemaps(ctx context.Context, v *aspects.Visit, usual bool) error {
	named, ok := Sitemaps(v.Capture)
	if !ok {
		return nil
	}
	add := func(from uri.URI, ref string, due time.Time) {
		if u, err := from.Join(ref); err == nil && u != v.URI() {
			a.AddSitemap(v, u, due)
		}
	}
	for _, ref := range named {
		if err := ctx.Err(); err != nil {
			return err
		}
		add(v.URI(), ref, v.Finished)
	}
	if len(named) == 0 && usual {
		home := v.URI()
		if via := uri.FromCanonical(v.Record().RobotsVia); !via.IsZero() && via.Host() != home.Host() {
			home = via // the sitemap is where the pages are
		}
		add(home, UsualSitemap, v.Finished.Add(usualSitemapAfter))
	}
	return nil
}

// Decide completes the schedule of a robots.txt. Usually it has no due time, because the URIs of the host ask for
// robots.txt when they need it. If it was in the queue like any URI, as the target of another host's redirect, it is
// due after its wait.
func (a *Aspect) Decide(_ context.Context, v *aspects.Visit) error {
	n := &v.Next
	switch {
	case !v.IsRobots:
		return nil
	case a.IsHostDown(v.Capture.Status) && !v.IsSubstitute():
		n.Wait.Reason += "; asked again when the host has rested"
		a.due(v, frontier.RestWhenDown(v.Claim.HostFailures+1, !v.Claim.NeverAnswered))
		return nil
	}
	a.take(v)
	n.Wait.Reason = Meaning(*n.Robots)
	a.due(v, n.Robots.Expires.Sub(v.Finished))
	return nil
}

// due sets the due time of a robots.txt.
func (*Aspect) due(v *aspects.Visit, wait time.Duration) {
	n := &v.Next
	n.Wait.Interval, n.Wait.Evaluator = wait, Wait
	n.Record.Wait = 0
	if n.Record.Due = (time.Time{}); !v.Record().Due.IsZero() {
		n.Record.Due = v.Finished.Add(wait)
	}
}

// DecideSubstitute completes the schedule of a URI that replaces a robots.txt. It is a page like any other, but its
// copy is renewed when it expires. Only a page in HTML need not be: it has no rules, and may be the front page.
func (a *Aspect) DecideSubstitute(_ context.Context, v *aspects.Visit) error {
	if v.IsRobots || !v.IsSubstitute() {
		return nil
	}
	a.take(v)
	n := &v.Next
	bare := n.Robots.Status == http.StatusOK && !n.Robots.Unreachable && n.Robots.Body == nil
	if expires := n.Robots.Expires; !bare && n.Record.Due.After(expires) {
		n.Record.Due, n.Because = expires, "it replaces a robots.txt, whose copy expires"
	}
	return nil
}

// Quarantine schedules a robots.txt that could not be processed.
func (a *Aspect) Quarantine(v *aspects.Visit) {
	if !v.IsPrerequisite() {
		return
	}
	n := &v.Next
	n.Robots = &frontier.RobotsCopy{Fetched: v.Finished, Expires: n.Record.Due, Unreachable: true}
	if v.IsRobots {
		a.due(v, n.Wait.Interval)
	}
}

// take notes which copy of robots.txt comes into force, for how long, and whether the host rests meanwhile.
func (a *Aspect) take(v *aspects.Visit) {
	n, o := &v.Next, a.Options(v)
	before, had, err := a.Frontier.Substitute(v.URI())
	if err != nil {
		had = false
	}
	fresh := frontier.RobotsCopy{Fetched: v.Finished, Expires: v.Finished.Add(o.Wait), Status: v.Capture.Status}
	switch {
	case Unreachable(v.Capture) || v.Fault != nil && v.Failed:
		fresh.Unreachable = true
	case discover.IsRedirect(v.Capture.Status):
		fresh.Body = []byte(v.Capture.Header.Get("Location"))
	case v.Capture.Status < http.StatusMultipleChoices:
		fresh.Body, err = Read(v.Capture)
		fresh.Unreachable = err != nil
		if v.IsSubstitute() && IsHTML(fresh.Body) {
			fresh.Body = nil // a page that the site sends for every unknown path has no rules
		}
	}
	if fresh.Unreachable {
		fresh.Body = before.Body
		fresh.Expires = v.Finished.Add(min(o.UnreachableWait, a.Retry(v, max(1, n.Record.Failures))))
		if asked := a.AskedUntil(v, o.UnreachableWait); asked.After(fresh.Expires) {
			fresh.Expires = asked
		}
		needed := !o.Permits("", v.Finished)
		if v.IsRobots && needed { // what only replaces the robots.txt of others says nothing about its own host
			n.Rest = fresh.Expires
		}
	}
	n.Robots = &fresh
	n.Reopen = had && !fresh.Unreachable && (before.Unreachable || !bytes.Equal(before.Body, fresh.Body))
}

// Options say how long the answers of robots.txt are used, and whether they are obeyed.
type Options struct {
	Obey            Obey
	Reason          string        // why it may be ignored; not empty unless Obey is ObeyAll
	Until           time.Time     // when it is obeyed again; zero = never
	Wait            time.Duration // how long a fetched copy is used
	ForbiddenWait   time.Duration // until a forbidden URI is checked again, unless the rules change earlier
	UnreachableWait time.Duration // rest of the host after a server error or network failure on robots.txt
}

// Obey says which URIs robots.txt decides about.
type Obey string

// The values of Obey. A file writes ObeyAll as true.
const (
	ObeyAll  Obey = ""          // all
	ObeyHTML Obey = "html-only" // pages, but not what they embed
	ObeyNone Obey = "false"     // none
)

// Permits reports whether a URI may be visited although robots.txt forbids it.
func (r Options) Permits(hops uri.HopPath, now time.Time) bool {
	if r.Obey == ObeyAll || !r.Until.IsZero() && !now.Before(r.Until) {
		return false
	}
	if r.Obey == ObeyNone {
		return true
	}
	path := strings.TrimRight(string(hops), string(uri.Redirect))
	return strings.HasSuffix(path, string(uri.Embed))
}

// DefaultOptions returns the options that apply where no file sets anything.
func DefaultOptions() Options {
	const day = 24 * time.Hour
	return Options{Wait: day, ForbiddenWait: day, UnreachableWait: time.Hour}
}
