package crawler

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/arcrawl/arcrawl/aspects/scope"
	"github.com/arcrawl/arcrawl/aspects/spaces"
	"github.com/arcrawl/arcrawl/aspects/spaces/traps"
	"github.com/arcrawl/arcrawl/crawler/history"
	"github.com/arcrawl/arcrawl/crawler/policy"
	"github.com/arcrawl/arcrawl/crawler/untrap"
	"github.com/arcrawl/arcrawl/crawllog"
	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/internal/panics"
	"github.com/arcrawl/arcrawl/uri"
)

const (
	// heldRest is how long a held host rests until it is checked again. Its URIs keep their due times.
	heldRest = time.Minute
	// substituteRest is how long a host rests while the URI of another host is fetched that its robots.txt redirects to.
	substituteRest = 30 * time.Second
	// robotsBusyRest is the minimum rest of a host's slot while its robots.txt is fetched through another slot.
	robotsBusyRest = time.Second
)

// admission says whether a claimed URI may be visited now. Exactly one field is set, except that permission comes with
// claim.
type admission struct {
	claim      frontier.Claim // of the URI to visit: the claimed one, or the robots.txt of its host
	refused    *refusal
	permission string    // why claim may be visited although robots.txt forbids it; "" = it does not
	robotsBusy bool      // robots.txt is being fetched through another slot of the host
	restUntil  time.Time // the whole host rests until then, because its rules are not known yet
}

// refusal says why a URI that is due is not visited.
type refusal struct {
	status   int
	wait     time.Duration
	why      string // an annotation of crawl.log
	byConfig bool   // another configuration may admit the URI, which then is due as it was
}

// admit checks a claimed URI against scope, traps, names and robots.txt. If the copy of robots.txt in force is missing
// or stale, the claim is spent on robots.txt itself and the URI stays due.
func (c *Crawler) admit(claim frontier.Claim, s settings, now time.Time) (a admission, err error) {
	defer panics.Recover(&err)
	r := &claim.Record
	if r.RobotsVia != "" && !c.robots.LeadsTo(uri.FromCanonical(r.RobotsVia), r.URI) {
		r.RobotsVia = "" // nothing redirects here any more
	}
	if isRobots(*r) {
		return admission{claim: claim}, nil
	}
	if refused, err := c.keepOut(*r, s, now); refused != nil || err != nil {
		return admission{refused: refused}, err
	}
	return c.obeyRobots(claim, s, now)
}

// keepOut returns a refusal if a URI is out of scope, part of a trap, or visited under another name.
func (c *Crawler) keepOut(r frontier.Record, s settings, now time.Time) (*refusal, error) {
	decider := policy.Scope(s.config, r.Seed, r.URI, now, c.parts.Frontier)
	if !decider.Accepts(scope.Discovery{URI: r.URI, Hops: r.Hops, Via: uri.FromCanonical(r.Via)}) {
		return &refusal{history.StatusOutOfScope, s.Robots.ForbiddenWait, "outOfScope", true}, nil
	}
	if trapped, err := c.refuseTrapped(r, s, now); trapped != nil || err != nil {
		return trapped, err
	}
	visited, err := c.parts.Frontier.VisitedFor(r)
	if err != nil || visited == r.URI {
		return nil, err
	}
	return &refusal{history.StatusOutOfScope, s.Robots.ForbiddenWait, "sameAs:" + visited.String(), true}, nil
}

// obeyRobots checks a URI against the robots.txt of its host.
func (c *Crawler) obeyRobots(claim frontier.Claim, s settings, now time.Time) (admission, error) {
	r := claim.Record
	inForce, ok, err := c.parts.Frontier.Robots(r.URI.Origin())
	if err != nil {
		return admission{}, fmt.Errorf("look up robots.txt for %s: %w", r.URI, err)
	}
	if !ok || policy.Expired(inForce, s.Robots, now) {
		return c.divert(claim, r.URI.Robots(), now)
	}
	permitted := s.Robots.Permits(r.Hops, now)
	if inForce.Unreachable && permitted {
		return admission{claim: claim, permission: s.Robots.Reason}, nil
	}
	if inForce.Unreachable {
		wait := inForce.Expires.Sub(now)
		return admission{refused: &refusal{history.StatusForbidden, wait, history.RobotsUnreachable, false}}, nil
	}
	ruling, err := c.robots.Rules(r.URI.Origin(), inForce, now)
	switch {
	case err != nil:
		return admission{}, err
	case !ruling.Wanted.IsZero():
		return c.requestSubstitute(claim, ruling.Wanted, ruling.From, now)
	case ruling.Known() && ruling.Rules.Allowed(policy.Agent, r.URI):
		return admission{claim: claim}, nil
	case permitted:
		return admission{claim: claim, permission: s.Robots.Reason}, nil
	case !ruling.Known():
		return admission{restUntil: later(now, ruling.UnreachableUntil).Add(substituteRest)}, nil
	}
	return admission{refused: &refusal{history.StatusForbidden, s.Robots.ForbiddenWait, "robotsExcluded", false}}, nil
}

// refuseTrapped returns a refusal if a URI is part of a trap.
func (c *Crawler) refuseTrapped(r frontier.Record, s settings, now time.Time) (*refusal, error) {
	if r.Hops == "" || !s.Scope.Traps {
		return nil, nil // a seed is never part of a trap
	}
	t, ok, err := c.parts.Traps.Judge(r.URI, uri.FromCanonical(r.Via), r.Hops, now)
	if err == nil && !ok {
		return c.refuseForBudget(r, s, now)
	}
	if err != nil || !ok {
		return nil, err
	}
	if t.Suspect {
		wait := min(traps.SuspectWait, s.Scope.TrapWait)
		return &refusal{history.StatusOutOfScope, wait, untrap.RefusedByTrap + untrap.Suspect, false}, nil
	}
	return &refusal{history.StatusOutOfScope, s.Scope.TrapWait, untrap.RefusedByTrap + t.Kind.String(), false}, nil
}

// refuseForBudget returns a refusal if a URI has to wait for the budget of its pattern.
func (c *Crawler) refuseForBudget(r frontier.Record, s settings, now time.Time) (*refusal, error) {
	wait, held, err := c.trapped.Hold(spaces.Wanted{
		URI: r.URI, Via: uri.FromCanonical(r.Via), Hops: r.Hops, First: r.Visits == 0, Now: now,
	}, true)
	if err != nil || !held {
		return nil, err
	}
	why := untrap.RefusedByTrap + untrap.Budget
	return &refusal{history.StatusOutOfScope, min(wait, s.Scope.TrapWait), why, false}, nil
}

// divert spends a claim on the robots.txt of its host, or on another URI of the host that replaces it.
func (c *Crawler) divert(claim frontier.Claim, to uri.URI, now time.Time) (admission, error) {
	r := claim.Record
	diverted, err := c.parts.Frontier.Divert(claim, to, now)
	if errors.Is(err, frontier.ErrClaimed) { // another worker was first, on a host with several slots
		return admission{robotsBusy: true}, nil
	}
	if err != nil {
		return admission{}, fmt.Errorf("divert from %s to its robots.txt: %w", r.URI, err)
	}
	if diverted.Record.Seed == "" {
		diverted.Record.Seed, diverted.Record.Via = r.Seed, r.URI.String()
	}
	return admission{claim: diverted}, nil
}

// skip ends a claim that admits no visit now.
func (c *Crawler) skip(
	ctx context.Context, claim frontier.Claim, s settings, a admission, began time.Time, worker int,
) error {
	switch {
	case a.refused != nil:
		return c.refuse(ctx, claim, s, *a.refused, began, worker)
	case a.robotsBusy:
		if err := c.parts.Frontier.Abandon(claim, began, robotsBusyRest); err != nil {
			return fmt.Errorf("abandon %s: %w", claim.Record.URI, err)
		}
		return nil
	}
	return c.restHost(claim, a.restUntil, began)
}

// refuse logs and settles a URI that is not visited. The host need not rest, because no request was made.
func (c *Crawler) refuse(
	ctx context.Context, claim frontier.Claim, s settings, why refusal, now time.Time, worker int,
) error {
	r := claim.Record
	r.LastStatus, r.Why = why.status, why.why
	if why.byConfig {
		r = settleOutOfScope(r, now.Add(why.wait))
	} else {
		r.Due, r.DueInScope, r.Urgent = now.Add(why.wait), time.Time{}, false
	}
	var extra *crawllog.Extra
	if claim.Record.Visits == 0 && claim.Record.LastStatus == 0 {
		extra = &crawllog.Extra{FirstSeen: r.FirstSeen}
	}
	err := c.parts.CrawlLog.Write(crawllog.Entry{
		Extra: extra, Logged: now, Status: why.status, Size: -1, URI: r.URI.String(), Hops: r.Hops, Via: r.Via, Seed: r.Seed,
		Worker: worker, Annotations: []string{why.why},
		Schedule: &crawllog.Schedule{Wait: why.wait, Visits: r.Visits, Versions: r.Versions, Overdue: claim.Overdue},
	})
	if err != nil {
		return c.release(ctx, claim, fmt.Errorf("log %s: %w", r.URI, err))
	}
	_, err = c.parts.Frontier.Settle(claim, frontier.Settlement{
		Record: r, Finished: now, NoRequest: true, Forbidden: why.status == history.StatusForbidden,
	})
	if err != nil {
		return fmt.Errorf("settle %s: %w", r.URI, err)
	}
	if why.byConfig && c.parts.Config.Current() != s.config {
		c.returns.Check() // the new configuration may admit it
	}
	signal(c.dirty)
	c.parts.Observe(Report{
		URI: r.URI, Hops: r.Hops, Finished: now, Status: why.status, Due: r.Due, Visits: r.Visits, Versions: r.Versions,
		Wait: evaluators.Wait{Interval: why.wait, Reason: why.why},
	})
	return nil
}
