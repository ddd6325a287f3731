package crawler

import (
	"context"
	"fmt"
	"time"

	"github.com/arcrawl/arcrawl/crawler/request"
	"github.com/arcrawl/arcrawl/fetch"
	"github.com/arcrawl/arcrawl/frontier"
)

// LoginFailures returns the hosts whose logins fail.
func (c *Crawler) LoginFailures() []request.LoginFailure { return c.requests.LoginFailures() }

// prepareHost reports whether a claim is spent on what its host needs first: a rest while its proxy does not work, or
// the next step of a login. The URI stays due, and the host rests as after any other request. Nothing of a login is
// archived.
func (c *Crawler) prepareHost(
	ctx context.Context, claim frontier.Claim, s settings, now time.Time,
) (spent bool, err error) {
	u := claim.Record.URI
	if until, rests := c.proxies.Rest(s.Way.Proxy(), now); rests {
		return true, c.restHost(claim, until, now)
	}
	if !s.Request.Login.On() || isRobots(claim.Record) {
		return false, nil
	}
	step, err := c.requests.LoginStep(u, s.config, &s.Settings, now)
	if err != nil || step == nil {
		return err != nil, err
	}
	if !step.Rest.IsZero() {
		return true, c.restHost(claim, step.Rest, now)
	}
	got, err := c.parts.Fetch.Fetch(ctx, step.Exchange)
	if err != nil {
		step.Leave()
		return true, c.abandon(ctx, claim, s, &fetch.Capture{Started: now, Took: c.parts.Now().Sub(now)}, err)
	}
	defer got.Close()
	if void, err := c.endIfVoid(ctx, claim, s, got); void {
		step.Leave()
		return true, err
	}
	rest, failed, err := step.Take(got, &s.Settings)
	if err != nil {
		return true, c.abandon(ctx, claim, s, got, fmt.Errorf("log in to %s: %w", u.Host(), err))
	}
	if failed != nil {
		c.parts.Log.Warn().Str("host", string(u.Host())).Err(failed).Time("until", rest).
			Msg("could not log in: the host rests")
		return true, c.restHost(claim, rest, got.Started.Add(got.Took))
	}
	return true, c.abandonClaim(claim, s, got)
}

// endIfLoggedOut reports whether an answer is for strangers, although the crawler is logged in, and then ends the
// claim. The URI stays due.
func (c *Crawler) endIfLoggedOut(
	ctx context.Context, claim frontier.Claim, s settings, got *fetch.Capture,
) (ended bool, err error) {
	if !s.Request.Login.On() || isRobots(claim.Record) {
		return false, nil
	}
	out, failed, err := c.requests.LoggedOut(got, &s.Settings)
	if err != nil {
		return true, c.abandon(ctx, claim, s, got, fmt.Errorf("judge %s: %w", claim.Record.URI, err))
	}
	if out {
		c.parts.Log.Info().Str("uri", claim.Record.URI.String()).AnErr("error", failed).
			Msg("the site has ended the login: logging in again")
		return true, c.abandonClaim(claim, s, got)
	}
	return false, nil
}
