package crawler

import (
	"bytes"
	"fmt"
	"net/http"
	"time"

	"github.com/arcrawl/arcrawl/aspects/misfortune"
	"github.com/arcrawl/arcrawl/aspects/robots"
	"github.com/arcrawl/arcrawl/crawler/history"
	"github.com/arcrawl/arcrawl/crawler/policy"
	"github.com/arcrawl/arcrawl/discover"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/uri"
)

// scheduleRobots completes the schedule of a robots.txt.
func (c *Crawler) scheduleRobots(v visit, s settings, next schedule) schedule {
	if misfortune.HostDown(v.capture.Status) && !v.isSubstitute() {
		next.wait.Reason += "; asked again when the host has rested"
		return next.robotsDue(v, frontier.RestWhenDown(v.claim.HostFailures+1, !v.claim.NeverAnswered))
	}
	next = c.takeRobots(v, s, next)
	next.wait.Reason = policy.Meaning(*next.robots)
	return next.robotsDue(v, next.robots.Expires.Sub(v.finished))
}

// takeRobots adds to the schedule of a robots.txt, or of a URI that replaces one, which copy comes into force, for
// how long, and whether the host rests meanwhile.
func (c *Crawler) takeRobots(v visit, s settings, next schedule) schedule {
	before, had, err := c.parts.Frontier.Substitute(v.uri())
	if err != nil {
		had = false
	}
	fresh := frontier.RobotsCopy{Fetched: v.finished, Expires: v.finished.Add(s.Robots.Wait), Status: v.capture.Status}
	switch {
	case policy.Unreachable(v.capture) || v.fault != nil && v.failed:
		fresh.Unreachable = true
	case discover.IsRedirect(v.capture.Status):
		fresh.Body = []byte(v.capture.Header.Get("Location"))
	case v.capture.Status < http.StatusMultipleChoices:
		fresh.Body, err = policy.ReadRobots(v.capture)
		fresh.Unreachable = err != nil
		if v.isSubstitute() && policy.IsHTML(fresh.Body) {
			fresh.Body = nil // a page that the site sends for every unknown path has no rules
		}
	}
	if fresh.Unreachable {
		fresh.Body = before.Body
		wait := min(s.Robots.UnreachableWait, s.Retry.Wait(max(1, next.record.Failures)))
		asked := policy.RetryAfter(v.capture.Status, v.capture.Header, v.finished, s.Robots.UnreachableWait)
		fresh.Expires = later(v.finished.Add(wait), asked)
		needed := !s.Robots.Permits("", v.finished)
		if robots.IsFile(v.uri()) && needed { // what only replaces the robots.txt of others says nothing about its own host
			next.rest = fresh.Expires
		}
	}
	next.robots = &fresh
	next.reopen = had && !fresh.Unreachable && (before.Unreachable || !bytes.Equal(before.Body, fresh.Body))
	return next
}

// scheduleSubstitute completes the schedule of a URI that replaces a robots.txt. It is a page like any other, but its
// copy is renewed when it expires. Only a page in HTML need not be: it has no rules, and may be the front page.
func (c *Crawler) scheduleSubstitute(v visit, s settings, next schedule) schedule {
	next = c.takeRobots(v, s, next)
	bare := next.robots.Status == http.StatusOK && !next.robots.Unreachable && next.robots.Body == nil
	if expires := next.robots.Expires; !bare && next.record.Due.After(expires) {
		next.record.Due = expires
	}
	return next
}

// robotsDue sets the due time of a robots.txt. Usually there is none, because the URIs of the host ask for robots.txt
// when they need it. If it was in the queue like any URI, as the target of another host's redirect, it is due after
// its wait.
func (next schedule) robotsDue(v visit, wait time.Duration) schedule {
	next.wait.Interval, next.wait.Evaluator = wait, history.WaitRobots
	next.record.Wait = 0
	if v.record().Due.IsZero() {
		next.record.Due = time.Time{}
		return next
	}
	next.record.Due = v.finished.Add(wait)
	return next
}

// isRobots reports whether a URI is a robots.txt or replaces one.
func isRobots(r frontier.Record) bool { return r.RobotsVia != "" || robots.IsFile(r.URI) }

// isSubstitute reports whether a robots.txt redirects to the URI of a visit.
func (v visit) isSubstitute() bool { return v.record().RobotsVia != "" }

// requestSubstitute sees to it that the URI is fetched that the robots.txt of a claimed URI redirects to. On the same
// host it spends the claim on that URI. On another host it makes the URI due, and the host of the claim rests
// meanwhile.
func (c *Crawler) requestSubstitute(claim frontier.Claim, wanted, from uri.URI, now time.Time) (admission, error) {
	if wanted.Host() == claim.Record.URI.Host() {
		a, err := c.divert(claim, wanted, now)
		a.claim.Record.RobotsVia = from.String()
		return a, err
	}
	_, err := c.parts.Frontier.Add(now, policy.Substitute(claim.Record.Seed, wanted, from, now))
	if err != nil {
		return admission{}, fmt.Errorf("make %s due, where %s redirects to: %w", wanted, from, err)
	}
	return admission{restUntil: now.Add(substituteRest)}, nil
}
