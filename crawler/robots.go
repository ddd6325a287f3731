package crawler

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/crawler/history"
	"github.com/arcrawl/arcrawl/crawler/policy"
	"github.com/arcrawl/arcrawl/fetch"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/scope"
	"github.com/arcrawl/arcrawl/scope/robots"
	"github.com/arcrawl/arcrawl/uri"
)

const (
	// maxRobots is how much of a robots.txt is read (RFC 9309, 2.5).
	maxRobots = 500 << 10
	// robotsPatience is how long a URI is put off while the robots.txt that its own one redirects to is being fetched.
	robotsPatience = 30 * time.Second
	// robotsTurn is how long a slot of a host waits at least while its robots.txt is being fetched through another one.
	robotsTurn = time.Second
)

// enter asks scope and robots.txt about a claimed URI. When the copy of robots.txt in force is missing or stale, the
// claim is spent on robots.txt itself and the URI stays due.
func (c *Crawler) enter(claim frontier.Claim, s terms, now time.Time) (entry, error) {
	r := claim.Record
	if robots.IsFile(r.URI) {
		return entry{claim: claim}, nil
	}
	inScope := policy.Scope(s.config, r.Seed, r.URI, now, c.rooms.Frontier)
	if !inScope.Accepts(scope.Discovery{URI: r.URI, Hops: r.Hops, Via: uri.FromCanonical(r.Via)}) {
		return entry{refused: &refusal{history.StatusOutOfScope, s.Robots.ForbiddenWait, "outOfScope"}}, nil
	}
	if trap, err := c.isTrapped(r, s.Settings, now); trap != nil || err != nil {
		return entry{refused: trap}, err
	}
	holder, err := c.rooms.Frontier.VisitedFor(r)
	if err != nil {
		return entry{}, err
	}
	if holder != r.URI {
		return entry{refused: &refusal{history.StatusOutOfScope, s.Robots.ForbiddenWait, "sameAs:" + holder.String()}}, nil
	}
	copied, ok, err := c.rooms.Frontier.Robots(r.URI.Origin())
	if err != nil {
		return entry{}, fmt.Errorf("look up robots.txt for %s: %w", r.URI, err)
	}
	if !ok || !now.Before(copied.Expires) {
		spent, err := c.rooms.Frontier.Divert(claim, r.URI.Robots(), now)
		if errors.Is(err, frontier.ErrClaimed) { // another worker was first: a host of several slots
			return entry{early: true}, nil
		}
		if err != nil {
			return entry{}, fmt.Errorf("turn from %s to its robots.txt: %w", r.URI, err)
		}
		if spent.Record.Seed == "" {
			spent.Record.Seed, spent.Record.Via = r.Seed, r.URI.String()
		}
		return entry{claim: spent}, nil
	}
	if copied.Unreachable {
		return entry{refused: &refusal{history.StatusForbidden, copied.Expires.Sub(now), "robotsUnreachable"}}, nil
	}
	rules, ready, err := c.robots.Rules(r.URI.Origin(), copied)
	if err != nil {
		return entry{}, err
	}
	if !ready {
		return entry{deferUntil: now.Add(robotsPatience)}, nil
	}
	if !rules.Allowed(policy.Agent, r.URI) {
		return entry{refused: &refusal{history.StatusForbidden, s.Robots.ForbiddenWait, "robotsExcluded"}}, nil
	}
	return entry{claim: claim}, nil
}

// nextRobots is next for a robots.txt: what comes into force, for how long, and what happens to the host meanwhile.
func (c *Crawler) nextRobots(v visit, s config.Settings, n next) next {
	before, had, err := c.rooms.Frontier.Robots(v.uri().Origin())
	if err != nil {
		had = false
	}
	copied := frontier.RobotsCopy{Fetched: v.finished, Expires: v.finished.Add(s.Robots.Wait), Status: v.capture.Status}
	unreachable := func() {
		copied.Unreachable, copied.Body = true, before.Body
		patience := min(s.Robots.UnreachableWait, s.Retry.Wait(max(1, n.record.Failures)))
		copied.Expires = later(v.finished.Add(patience), n.rest)
		n.rest = copied.Expires
	}
	switch {
	case hostDown(v.capture.Status):
		n.wait.Reason += "; asked again when the host has rested"
		return n.onDemand(v, frontier.RestWhenDown(n.record.Failures))
	case robotsUnreachable(v):
		unreachable()
	case policy.IsRedirect(v.capture.Status):
		copied.Body = []byte(v.capture.Header.Get("Location"))
	case v.capture.Status < http.StatusMultipleChoices:
		if copied.Body, err = readRobots(v.capture); err != nil {
			unreachable()
		}
	}
	n.robots = &copied
	n.wait.Reason = inForce(copied)
	n.reopen = had && !copied.Unreachable && (before.Unreachable || !bytes.Equal(before.Body, copied.Body))
	return n.onDemand(v, copied.Expires.Sub(v.finished))
}

// inForce says in words what an answer for robots.txt means.
func inForce(c frontier.RobotsCopy) string {
	switch {
	case c.Unreachable:
		return "robots.txt unreachable: nothing of the host is visited meanwhile"
	case policy.IsRedirect(c.Status):
		return "robots.txt is elsewhere: the rules there are in force"
	case c.Status >= http.StatusBadRequest:
		return "no robots.txt: everything is allowed"
	}
	return "robots.txt is in force"
}

// onDemand gives a robots.txt its due time: none when its host's URIs ask for it when they need it, and its own wait
// when it was in the queue like any URI, as the target of another one's redirect.
func (n next) onDemand(v visit, wait time.Duration) next {
	n.wait.Interval, n.wait.Evaluator = wait, history.WaitRobots
	n.record.Wait = 0
	if v.record().Due.IsZero() {
		n.record.Due = time.Time{}
		return n
	}
	n.record.Due = v.finished.Add(wait)
	return n
}

// robotsUnreachable reports whether a robots.txt could not be had, so that everything is forbidden for a while
// (RFC 9309, 2.3.1.4). 429 is a server in trouble, not a missing file; the other 4xx mean that there are no rules.
func robotsUnreachable(v visit) bool {
	status := v.capture.Status
	return status < http.StatusOK || status >= http.StatusInternalServerError || status == http.StatusTooManyRequests ||
		status < http.StatusMultipleChoices && !v.capture.Complete && v.capture.Truncated != fetch.TruncatedLength
}

func readRobots(got *fetch.Capture) ([]byte, error) {
	content, err := got.Content()
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", got.URI, err)
	}
	defer content.Close()
	body, err := io.ReadAll(io.LimitReader(content, maxRobots))
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, fmt.Errorf("read %s: %w", got.URI, err)
	}
	return body, nil
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
