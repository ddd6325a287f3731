package crawler

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/arcrawl/arcrawl/aspects"
	"github.com/arcrawl/arcrawl/aspects/misfortune"
	"github.com/arcrawl/arcrawl/crawllog"
	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/fetch"
	"github.com/arcrawl/arcrawl/frontier"
)

// ownFault is an error of ours that leaves the store sound: the claim is released and the crawl is held.
type ownFault struct{ err error }

func (f ownFault) Error() string { return f.err.Error() }
func (f ownFault) Unwrap() error { return f.err }

// release releases a claim before any request was made. If the daemon is stopping, that is not a fault.
func (c *Crawler) release(ctx context.Context, claim frontier.Claim, cause error) error {
	return released(ctx, claim, cause, c.parts.Frontier.Release(claim, c.parts.Now()))
}

// abandon releases a claim after a request was made: the host rests as after any other visit.
func (c *Crawler) abandon(ctx context.Context, v *aspects.Visit, got *fetch.Capture, cause error) error {
	return released(ctx, v.Claim, cause, c.abandonClaim(v, got))
}

// endIfVoid reports whether an exchange says nothing about its URI, and then ends the claim: another node may own the
// crawl, our own network or a proxy is down, or the server closed an idle connection instead of answering.
func (c *Crawler) endIfVoid(ctx context.Context, v *aspects.Visit, got *fetch.Capture) (void bool, err error) {
	claim, s := v.Claim, settingsOf(v)
	if c.parts.Void != nil {
		if err := c.parts.Void(got.Started); err != nil {
			return true, c.abandon(ctx, v, got, err)
		}
	}
	if got.Repeat {
		return true, c.repeatLater(v, got)
	}
	if proxy := s.Way.Proxy(); proxy != "" {
		switch {
		case errors.Is(got.Misfortune, fetch.ErrProxy):
			return true, c.restBehindProxy(claim, proxy, got)
		case errors.Is(got.Misfortune, fetch.ErrProxySilent):
			if c.proxies.Silent(proxy, !claim.NeverAnswered, got.Misfortune, got.Started.Add(got.Took)) {
				c.logProxyDown(got)
			}
		case got.Status != fetch.DNSFailed && c.proxies.Works(proxy):
			c.parts.Log.Info().Str("proxy", proxy).Msg("the proxy works again: visiting the hosts behind it")
		}
	}
	if s.Way.Proxy() == s.config.Way().Proxy() { // otherwise it says nothing about our own network
		if err := c.checkUplink(ctx, v, got); err != nil {
			return true, c.release(ctx, claim, err)
		}
	}
	return false, nil
}

// restBehindProxy ends a claim whose proxy does not work. Nothing of that is held against the host.
func (c *Crawler) restBehindProxy(claim frontier.Claim, proxy string, got *fetch.Capture) error {
	now := got.Started.Add(got.Took)
	until, first := c.proxies.Failed(proxy, got.Misfortune, now)
	if first {
		c.logProxyDown(got)
	}
	return c.restHost(claim, until, now)
}

func (c *Crawler) logProxyDown(got *fetch.Capture) {
	c.parts.Log.Error().Err(got.Misfortune).Msg("the proxy does not work: the hosts behind it rest, others are visited")
}

// repeatLater releases a claim whose request was not answered. The URI stays due, and the host rests first.
func (c *Crawler) repeatLater(v *aspects.Visit, got *fetch.Capture) error {
	c.parts.Log.Debug().Str("uri", v.URI().String()).AnErr("error", got.Misfortune).
		Msg("the server closed an idle connection instead of answering: asking again when the host has rested")
	if err := c.abandonClaim(v, got); err != nil {
		return fmt.Errorf("release %s: %w", v.URI(), err)
	}
	return nil
}

// abandonClaim ends a claim after a request was made. The URI keeps its due time.
func (c *Crawler) abandonClaim(v *aspects.Visit, got *fetch.Capture) error {
	finished, p := got.Started.Add(got.Took), &settingsOf(v).Politeness
	rest := c.robots.Politeness(v.URI(), p.Politeness, p.CrawlDelayUpTo, nil, finished).Rest(got.Took)
	rest = max(rest, misfortune.RetryAfter(got.Status, got.Header, finished, frontier.MaxLoneRest).Sub(finished))
	return c.parts.Frontier.Abandon(v.Claim, finished, rest)
}

// released returns the error of a walk whose claim was released because of cause. err is the error of the release.
func released(ctx context.Context, claim frontier.Claim, cause, err error) error {
	if err != nil {
		return fmt.Errorf("release %s: %w (after: %w)", claim.Record.URI, err, cause)
	}
	if ctx.Err() != nil {
		return nil
	}
	return ownFault{cause}
}

// restHost releases a claim and lets its host rest, because the host is held or its rules are not known yet.
func (c *Crawler) restHost(claim frontier.Claim, until, now time.Time) error {
	host := string(claim.Record.URI.Host())
	rest := frontier.HostAction{Verb: frontier.Rest, Until: until}
	_, _, err := c.parts.Frontier.SteerHosts(now, host, rest)
	if err = errors.Join(err, c.parts.Frontier.Release(claim, now)); err != nil {
		return fmt.Errorf("let the host %s rest: %w", host, err)
	}
	return nil
}

// skip ends a claim that admits no visit now.
func (c *Crawler) skip(ctx context.Context, v *aspects.Visit, a aspects.Admission) error {
	switch {
	case a.Refused != nil:
		return c.refuse(ctx, v, *a.Refused)
	case a.Again > 0:
		if err := c.parts.Frontier.Abandon(v.Claim, v.Began, a.Again); err != nil {
			return fmt.Errorf("abandon %s: %w", v.URI(), err)
		}
		return nil
	}
	return c.restHost(v.Claim, a.RestUntil, v.Began)
}

// refuse logs and settles a URI that is not visited. The host need not rest, because no request was made.
func (c *Crawler) refuse(ctx context.Context, v *aspects.Visit, why aspects.Refusal) error {
	claim, now := v.Claim, v.Began
	r := claim.Record
	r.LastStatus, r.Why, r.Chain = why.Status, why.Why, ""
	if why.ByConfig {
		r = settleOutOfScope(r, now.Add(why.Wait))
	} else {
		r.Due, r.DueInScope, r.Urgent = now.Add(why.Wait), time.Time{}, false
	}
	var extra *crawllog.Extra
	if claim.Record.Visits == 0 && claim.Record.LastStatus == 0 {
		extra = &crawllog.Extra{FirstSeen: r.FirstSeen}
	}
	err := c.parts.CrawlLog.Write(crawllog.Entry{
		Extra: extra, Logged: now, Status: why.Status, Size: -1, URI: r.URI.String(), Hops: r.Hops, Via: r.Via, Seed: r.Seed,
		Worker: v.Worker, Annotations: []string{why.Why},
		Schedule: &crawllog.Schedule{Wait: why.Wait, Visits: r.Visits, Versions: r.Versions, Overdue: claim.Overdue},
	})
	if err != nil {
		return c.release(ctx, claim, fmt.Errorf("log %s: %w", r.URI, err))
	}
	_, err = c.parts.Frontier.Settle(claim, frontier.Settlement{
		Record: r, Finished: now, NoRequest: true, Forbidden: why.Status == aspects.StatusForbidden,
	})
	if err != nil {
		return fmt.Errorf("settle %s: %w", r.URI, err)
	}
	if why.ByConfig && c.parts.Config.Current() != settingsOf(v).config {
		signal(c.scopeChanged) // the new configuration may admit it
	}
	signal(c.dirty)
	c.parts.Observe(Report{
		URI: r.URI, Hops: r.Hops, Finished: now, Status: why.Status, Due: r.Due, Visits: r.Visits, Versions: r.Versions,
		Wait: evaluators.Wait{Interval: why.Wait, Reason: why.Why},
	})
	return nil
}
