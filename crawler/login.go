package crawler

import (
	"context"
	"fmt"
	"time"

	"github.com/arcrawl/arcrawl/aspects"
	"github.com/arcrawl/arcrawl/aspects/login"
	"github.com/arcrawl/arcrawl/aspects/misfortune"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/frontier"
)

// LoginFailures returns the hosts whose logins fail.
func (c *Crawler) LoginFailures() []login.LoginFailure {
	return c.aspects.login.LoginFailures(loginsOf(c.parts.Config.Current()), c.parts.Now())
}

// loginsOf returns the logins of a configuration.
func loginsOf(c *config.Config) login.InForce {
	return func(a config.About) *login.Options { return config.OwnFor[login.Options](c, a) }
}

// prepareHost reports whether a claim is spent on what its host needs first: a rest while its proxy does not work, or
// the next step of a login. The URI stays due, and the host rests as after any other request. Nothing of a login is
// archived. An error with a claim that is not spent concerns this URI alone.
func (c *Crawler) prepareHost(ctx context.Context, v *aspects.Visit) (spent bool, err error) {
	claim, s, o, now := v.Claim, settingsOf(v), aspects.OptionsOf[login.Options](v), v.Began
	u := claim.Record.URI
	if until, rests := c.proxies.Rest(s.Way.Proxy(), now); rests {
		return true, c.restHost(claim, until, now)
	}
	if !o.Login.On() || v.IsPrerequisite() {
		return false, nil
	}
	plain := s.config.Request(u, &s.Settings, c.parts.Version, now)
	step, err := c.aspects.login.LoginStep(aboutOf(claim.Record, now), plain, loginsOf(s.config))
	switch {
	case misfortune.IsOurs(err):
		return true, c.release(ctx, claim, fmt.Errorf("log in to %s: %w", u.Host(), err))
	case err != nil || step == nil:
		return false, err
	}
	if !step.Rest.IsZero() {
		return true, c.restHost(claim, step.Rest, now)
	}
	got, err := c.parts.Fetch.Fetch(ctx, step.Exchange)
	if misfortune.IsOurs(err) {
		step.Leave()
		return true, c.abandon(ctx, v, c.noAnswer(now), err)
	}
	if err != nil {
		return true, c.restAfterLogin(claim, step.Fail(u, err, now), now, err)
	}
	defer got.Close()
	if void, err := c.endIfVoid(ctx, v, got); void {
		step.Leave()
		return true, err
	}
	finished := got.Started.Add(got.Took)
	rest, failed, err := step.Take(got, o)
	switch {
	case misfortune.IsOurs(err):
		return true, c.abandon(ctx, v, got, fmt.Errorf("log in to %s: %w", u.Host(), err))
	case err != nil:
		return true, c.restAfterLogin(claim, step.Fail(u, err, finished), finished, err)
	case failed != nil:
		return true, c.restAfterLogin(claim, rest, finished, failed)
	}
	return true, c.abandonClaim(v, got)
}

// restAfterLogin ends a claim whose host rests because a login failed.
func (c *Crawler) restAfterLogin(claim frontier.Claim, until, now time.Time, failed error) error {
	c.parts.Log.Warn().Str("host", string(claim.Record.URI.Host())).Err(failed).Time("until", until).
		Msg("could not log in: the host rests")
	return c.restHost(claim, until, now)
}

// endEarly reports whether an exchange says nothing about its URI, or its answer is for strangers although the crawler
// is logged in, and then ends the claim. The URI stays due. If members see nothing else there, judge fails the visit.
func (c *Crawler) endEarly(ctx context.Context, v *aspects.Visit) (ended bool, err error) {
	o, got, claim := aspects.OptionsOf[login.Options](v), v.Capture, &v.Claim
	if void, err := c.endIfVoid(ctx, v, got); void || !o.Login.On() || v.IsPrerequisite() {
		return void, err
	}
	j, err := c.aspects.login.Judge(got, o)
	if misfortune.IsOurs(err) {
		return true, c.abandon(ctx, v, got, fmt.Errorf("judge %s: %w", claim.Record.URI, err))
	}
	v.Request.Strangers = j.Strangers || err != nil
	switch {
	case j.Failed != nil:
		c.parts.Log.Warn().Str("uri", claim.Record.URI.String()).Err(j.Failed).
			Msg("the login has no effect: the host rests before the next one")
	case j.Out:
		c.parts.Log.Info().Str("uri", claim.Record.URI.String()).Msg("the site has ended the login: logging in again")
	default:
		return false, nil
	}
	return true, c.abandonClaim(v, got)
}
